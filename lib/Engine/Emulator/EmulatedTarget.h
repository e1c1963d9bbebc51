//===- EmulatedTarget.h - plans over emulated kernels -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_LIB_ENGINE_EMULATOR_EMULATEDTARGET_H
#define FT_LIB_ENGINE_EMULATOR_EMULATEDTARGET_H

#include "HostKernels.h"

#include "ft/Runtime/Program/Target.h"

namespace ft::emulate {

/// What the emulator and its target share; it outlives the target.
struct Machine {
  Machine(std::unique_ptr<HostKernels> code, uint64_t seed)
      : kernels(std::move(code)), random(seed), grid(memories, kernels->sites, seed, std::move(kernels->tiles)) {
    memories.granule = kernels->granule;
    for (const HostKernels::Global &global : kernels->globals)
      memories.add("constant " + global.name, global.address, global.bytes, /*isDefined=*/true, /*isConstant=*/true);
  }

  std::unique_ptr<HostKernels> kernels;
  Memories memories;
  std::mt19937_64 random;
  Grid grid;
  int64_t launches = 0, threads = 0;
};

/// Loads a plan's kernels.
rt::Status makeEmulatedTarget(Machine &machine, const rt::Plan &plan, std::unique_ptr<rt::Target> &out);

} // namespace ft::emulate

#endif // FT_LIB_ENGINE_EMULATOR_EMULATEDTARGET_H
