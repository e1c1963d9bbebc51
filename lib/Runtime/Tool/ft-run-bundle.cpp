//===- ft-run-bundle.cpp - runs bundles without a compiler ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Runtime/Program/RunBundle.h"

int main(int argc, char **argv) { return ft::rt::runBundleMain(argc, argv); }
