//===- Jit.h - machine code in this process ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles a module of LLVM's dialect for the processor that runs this program,
// its parts on all threads of the runtime's pool.
//
//===----------------------------------------------------------------------===//
#ifndef FT_LIB_ENGINE_CPU_JIT_H
#define FT_LIB_ENGINE_CPU_JIT_H

#include "mlir/IR/BuiltinOps.h"

#include <memory>

namespace llvm::orc {
class LLJIT;
}

namespace mlir::ft {

class JitCode {
public:
  ~JitCode();

  /// Translates and compiles `code`, which holds nothing but LLVM's dialect. Functions named in
  /// `entries` can be looked up; all others belong to the module and may vanish. Emits an error at
  /// the module and fails when LLVM refuses it.
  static FailureOr<std::shared_ptr<JitCode>> compile(ModuleOp code, ArrayRef<std::string> entries);

  /// The address of an entry; null (and an error at `loc`) if there is none of that name.
  void *lookup(Location loc, StringRef name);

  /// How much was compiled: instructions of LLVM's representation before and after optimization,
  /// and bytes of object files. They are the same in every run, so that tests can bound them.
  struct Size {
    int64_t translated = 0, optimized = 0, bytes = 0;
  };
  const Size &getSize() const { return size; }

private:
  JitCode();
  std::unique_ptr<llvm::orc::LLJIT> jit;
  Size size;
};

} // namespace mlir::ft

#endif // FT_LIB_ENGINE_CPU_JIT_H
