//===- Pipelined.h - kernels with roles -------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_LIB_DIALECT_TILE_TRANSFORMS_PIPELINED_H
#define FT_LIB_DIALECT_TILE_TRANSFORMS_PIPELINED_H

#include "ft/Dialect/Tile/IR/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::tile {

/// Calls `change` with each kernel of `root` that has a pipeline, until one fails.
llvm::LogicalResult eachPipelined(Operation *root, llvm::function_ref<llvm::LogicalResult(LLVM::LLVMFuncOp, PipelineAttr)> change);
/// The same with the roles of each kernel that has been divided.
llvm::LogicalResult eachRoles(Operation *root, llvm::function_ref<llvm::LogicalResult(RolesOp)> change);

/// Whether thread blocks wait for each other in a kernel: its loading role goes on after its computing one.
bool hasJoins(RolesOp roles);

/// Adds threads to each launch of a kernel in the launch plan beside it, and to the kernel's own limit; where no plan is, to that alone.
llvm::LogicalResult addThreads(LLVM::LLVMFuncOp kernel, int64_t threads);
/// Adds shared memory to each launch, of which the result is the first byte, at a multiple of `alignment`; at most so many bytes in all, 0: no limit.
/// Without a plan it begins after so many bytes.
llvm::FailureOr<int64_t> addSharedMemory(LLVM::LLVMFuncOp kernel, int64_t bytes, int64_t alignment, int64_t most, int64_t after);

/// The same, as a pointer to the memory's first byte.
llvm::FailureOr<Value> makeSharedMemory(ImplicitLocOpBuilder &b, LLVM::LLVMFuncOp kernel, int64_t bytes, int64_t alignment, int64_t most, int64_t &after);

/// Whether what a kernel's launches say of its arguments keeps those that it writes apart from all others.
bool areApart(LLVM::LLVMFuncOp kernel, llvm::ArrayRef<unsigned> written);

/// Whether a tensor map is of memory that no launch of a call writes, in all launches of the kernel.
bool isNeverWritten(LLVM::LLVMFuncOp kernel, Value map);

} // namespace mlir::tile

#endif // FT_LIB_DIALECT_TILE_TRANSFORMS_PIPELINED_H
