//===- FindContractions.cpp - Recognise products of matrices --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LeafGraph.h"

using namespace mlir;
using namespace mlir::ft::leaf;

void mlir::ft::leaf::findContractions(LeafGraph &, const CpuTarget &) {}
