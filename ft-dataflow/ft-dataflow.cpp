//===- ft-dataflow.cpp - Thin main ----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Dataflow/Tool.h"

int main(int argc, char **argv) { return ft::dataflow::dataflowMain(argc, argv); }
