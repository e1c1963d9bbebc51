//===- HostKernels.h - GPU kernels as functions of this process -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles a module of kernels, in the LLVM and NVVM dialects, for the processor
// that runs this program. What a GPU does for a thread (its numbers, barriers,
// shuffles, shared memory) becomes a call into the grid that runs, and so does
// a look before each access of memory.
//
//===----------------------------------------------------------------------===//
#ifndef FT_LIB_ENGINE_EMULATOR_HOSTKERNELS_H
#define FT_LIB_ENGINE_EMULATOR_HOSTKERNELS_H

#include "Grid.h"

#include "mlir/IR/BuiltinOps.h"

namespace llvm::orc {
class LLJIT;
}

namespace ft::emulate {

class HostKernels {
public:
  ~HostKernels();

  /// Emits an error at the module, and fails, on an instruction of a GPU that the emulator has no
  /// rule for.
  /// `tiles`: the operations on tiles that became calls.
  static mlir::FailureOr<std::unique_ptr<HostKernels>> compile(mlir::ModuleOp module, std::vector<TileOperation> tiles = {});

  /// Null where there is no kernel of that name.
  Kernel lookup(const std::string &name);

  /// A variable of the module; all of them are constant.
  struct Global {
    std::string name;
    uint64_t bytes = 0;
    const void *address = nullptr;
  };
  std::vector<Global> globals;
  /// What an access's number stands for: the kernel and the instruction.
  std::vector<std::string> sites;
  std::vector<TileOperation> tiles;
  /// The least size of an element that kernels load or store.
  uint64_t granule = 8;

private:
  HostKernels();
  void addTiles(std::vector<TileOperation> operations);
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

} // namespace ft::emulate

#endif // FT_LIB_ENGINE_EMULATOR_HOSTKERNELS_H
