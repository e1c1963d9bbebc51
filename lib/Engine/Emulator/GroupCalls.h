//===- GroupCalls.h - products of wgmma as calls ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_LIB_ENGINE_EMULATOR_GROUPCALLS_H
#define FT_LIB_ENGINE_EMULATOR_GROUPCALLS_H

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace ft::emulate {

/// Makes calls of a module's products of wgmma, which LLVM has inline assembly for and no intrinsic.
/// Sums get the number of their product's group beside them, which is asked for wherever one is read.
/// `sites`: the places of the calls. Emits an error at a product that there is no rule for.
mlir::LogicalResult callGroupProducts(mlir::ModuleOp module, std::vector<std::string> &sites);

} // namespace ft::emulate

#endif // FT_LIB_ENGINE_EMULATOR_GROUPCALLS_H
