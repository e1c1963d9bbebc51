//===- CheckMachine.cpp - fields of a machine that contradict each other --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A limit that is less than what is to be in it would be found later, as an error of a schedule that nothing wrote:
// here it is one of the file.
//
//===----------------------------------------------------------------------===//

#include "CheckMachine.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir::ft;
using llvm::StringRef;
using llvm::Twine;

/// Threads that shuffle with each other in PTX, whatever the device (WARP_SZ of the PTX ISA).
static constexpr int64_t ptxWarp = 32;

namespace {
class MachineCheck {
public:
  using Wrong = llvm::function_ref<void(StringRef, const Twine &)>;
  MachineCheck(const Machine &machine, Wrong wrong) : machine(machine), wrong(wrong) {}

  void memory();
  void cpu();
  void gpu();

private:
  void atMost(const Twine &field, double found, double most, const Twine &of) {
    if (found > most)
      wrong(field.str(), "expected at most " + text(most) + " (" + of + "), found " + text(found));
  }
  /// A number that most often is a whole one.
  static std::string text(double number) {
    bool isWhole = number == double(int64_t(number));
    return isWhole ? std::to_string(int64_t(number)) : std::to_string(number);
  }
  void blockThreads();

  const Machine &machine;
  Wrong wrong;
};
} // namespace

void MachineCheck::memory() {
  llvm::StringSet<> names;
  for (auto [i, level] : llvm::enumerate(machine.levels))
    if (!names.insert(level.name).second)
      wrong(("memory[" + Twine(i) + "].level").str(), "expected a name that no level before it has, found '" + level.name + "'");
}

void MachineCheck::cpu() {
  for (size_t i = 1; i < machine.levels.size(); ++i) {
    const Machine::Level &nearer = machine.levels[i - 1], &level = machine.levels[i];
    if (level.bytes && level.bytes < nearer.bytes)
      wrong(("memory[" + Twine(i) + "].bytes").str(), "expected no less than the " + Twine(nearer.bytes) + " of '" + nearer.name +
                                                          "', which is nearer, found " + Twine(level.bytes));
  }
  atMost("unit_rates.f32_product_flop_per_second_by_rows", double(machine.unit.productFlopsByRows.size()), double(machine.cpu.mostRows),
         "planning.most_rows, the rows of a call: a tile has no more");
  for (auto [field, share] : {std::pair("planning.sure_gain", machine.cpu.sureGain), std::pair("planning.plan_gain", machine.cpu.planGain),
                              std::pair("planning.tie_bytes", machine.cpu.tieBytes)})
    atMost(field, share, 1, "it is a share");
}

void MachineCheck::blockThreads() {
  const Machine::Occupancy &limits = machine.occupancy;
  for (auto [i, threads] : llvm::enumerate(machine.gpu.blockThreads)) {
    std::string field = ("planning.block_threads[" + Twine(i) + "]").str();
    atMost(field, double(threads), double(limits.threadsPerBlock), "occupancy.threads_per_block");
    if (threads % limits.warp != 0)
      wrong(field, "expected a multiple of " + Twine(limits.warp) + " (occupancy.threads_per_warp), found " + Twine(threads));
  }
}

void MachineCheck::gpu() {
  const Machine::Occupancy &limits = machine.occupancy;
  bool isForPtx = llvm::any_of(machine.targets, [](StringRef target) { return target.starts_with("sm_"); });
  if (isForPtx && limits.warp != ptxWarp)
    return wrong("occupancy.threads_per_warp", "expected " + Twine(ptxWarp) + ", as code for the machine's targets has it, found " + Twine(limits.warp));
  atMost("occupancy.threads_per_block", double(limits.threadsPerBlock), double(limits.threadsPerUnit), "occupancy.threads_per_multiprocessor");
  atMost("occupancy.registers_per_thread", double(limits.registersPerThread), double(limits.registersPerUnit),
         "occupancy.registers_per_multiprocessor");
  atMost("occupancy.shared_bytes_per_block", double(limits.sharedBytesPerBlock), double(limits.sharedBytesPerUnit),
         "occupancy.shared_bytes_per_multiprocessor");
  for (auto [field, bytes] : {std::pair("planning.shared_bytes_of_two", machine.gpu.sharedBytesOfTwo),
                              std::pair("planning.shared_bytes_alone", machine.gpu.sharedBytesAlone)})
    atMost(field, double(bytes), double(limits.sharedBytesPerBlock), "occupancy.shared_bytes_per_block");
  constexpr double percent = 100; // of what the share is of
  for (auto [field, share] : {std::pair("planning.product_share", machine.gpu.productShare),
                              std::pair("planning.division_share", machine.gpu.divisionShare),
                              std::pair("planning.iterations_share", machine.gpu.iterationsShare)})
    atMost(field, double(share), percent, "it is in percent");
  blockThreads();
}

void mlir::ft::checkMachine(const Machine &machine, llvm::function_ref<void(StringRef, const Twine &)> wrong) {
  MachineCheck check(machine, wrong);
  check.memory();
  if (machine.kind == Machine::Kind::CPU)
    check.cpu();
  if (machine.kind == Machine::Kind::GPU)
    check.gpu();
}
