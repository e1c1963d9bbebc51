//===- EmitContraction.cpp - Register-tiled products ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Emitter.h"

using namespace mlir::ft::leaf;

void Emitter::emitContraction(const Nest &nest) { emitNest(nest); }
