//===- EmulatedTarget.cpp - plans over emulated kernels -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "EmulatedTarget.h"

#include <cstdlib>
#include <cstring>

using namespace ft::emulate;
using namespace ft::rt;

namespace {
class EmulatedTarget : public Target {
public:
  explicit EmulatedTarget(Machine &machine) : machine(machine) {
    machine.memories.add("the error record", &record, sizeof(record), /*isDefined=*/true);
  }
  ~EmulatedTarget() override {
    while (!blocks.empty())
      release(blocks.begin()->first);
    machine.memories.remove(&record);
  }

  Status load(const Plan &plan) {
    for (const std::string &name : plan.kernels) {
      Kernel kernel = machine.kernels->lookup(name);
      if (!kernel)
        return Status::error(Code::notFound, "no kernel \"" + name + "\"");
      kernels.push_back({name, kernel});
    }
    return {};
  }

  /// A call begins: scratch memory holds nonsense again.
  Status enter() override {
    for (auto &[address, block] : blocks)
      if (!block.isKept)
        poison(address, block.bytes);
    return {};
  }
  void leave() override {}

  Status launch(int64_t number, const LaunchShape &asked, void **parameters, void *) override {
    Shape shape;
    std::copy_n(asked.grid, 3, shape.grid);
    std::copy_n(asked.block, 3, shape.block);
    shape.sharedBytes = asked.sharedBytes;
    shape.cooperative = asked.cooperative;
    if (asked.cluster[0] * asked.cluster[1] * asked.cluster[2] != 1)
      return Status::error(Code::unsupportedFormat, "the emulator has no clusters");
    if (asked.shrinks) // any number of blocks must do
      shape.grid[0] = uint32_t(1 + machine.random() % shape.grid[0]);
    ++machine.launches;
    machine.threads += int64_t(shape.grid[0]) * shape.grid[1] * shape.grid[2] * shape.block[0] * shape.block[1] *
                       shape.block[2];
    auto &[name, kernel] = kernels[size_t(number)];
    std::string error = machine.grid.run(name, kernel, shape, parameters);
    return error.empty() ? Status() : Status::error(Code::internal, error);
  }
  Status fill(uint64_t to, int value, size_t bytes, void *) override {
    memset(reinterpret_cast<void *>(to), value, bytes);
    define(to, bytes);
    if (auto it = blocks.find(to); it != blocks.end())
      it->second.isKept = true;
    return {};
  }
  Status copy(uint64_t to, uint64_t from, size_t bytes, void *) override {
    memmove(reinterpret_cast<void *>(to), reinterpret_cast<const void *>(from), bytes);
    define(to, bytes);
    return {};
  }
  Status readWord(uint64_t from, int32_t &value, void *) override {
    memcpy(&value, reinterpret_cast<const void *>(from), sizeof(value));
    return {};
  }
  Status encode(const TensorMap &, uint64_t, const uint64_t *, const uint64_t *, CUtensorMap &) override {
    return Status::error(Code::unsupportedFormat, "the emulator has no tensor maps");
  }
  Status allocate(size_t bytes, uint64_t &out) override {
    // Room behind, so that what lies behind is never another piece.
    void *memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256 + 256);
    if (!memory)
      return Status::error(Code::outOfMemory, "no memory for " + std::to_string(bytes) + " bytes");
    out = reinterpret_cast<uint64_t>(memory);
    blocks[out] = {bytes, false};
    machine.memories.add("the workspace", memory, bytes, /*isDefined=*/false);
    poison(out, bytes);
    return {};
  }
  void release(uint64_t memory) override {
    if (blocks.erase(memory) == 0)
      return;
    machine.memories.remove(reinterpret_cast<void *>(memory));
    std::free(reinterpret_cast<void *>(memory));
  }
  Status synchronize(void *) override { return {}; }
  Status synchronizeAll() override { return {}; }
  uint64_t constant(int64_t) const override { return 0; }
  uint64_t constantBytes(int64_t) const override { return 0; }
  uint64_t errorAddress() const override { return reinterpret_cast<uint64_t>(&record); }
  ErrorRecord *errorRecord() override { return &record; }

private:
  struct Block {
    size_t bytes = 0;
    bool isKept = false; // counters, which are filled once
  };

  void poison(uint64_t address, size_t bytes) {
    memset(reinterpret_cast<void *>(address), machine.random() % 2 ? 0xff : 0x7b, bytes);
    if (Memory *memory = machine.memories.find(address))
      memory->setDefined(false);
  }
  void define(uint64_t address, size_t bytes) {
    if (Memory *memory = machine.memories.find(address); memory && memory->contains(address, bytes))
      memory->setDefined(address, bytes);
  }

  Machine &machine;
  std::vector<std::pair<std::string, Kernel>> kernels;
  std::map<uint64_t, Block> blocks;
  alignas(64) ErrorRecord record{};
};
} // namespace

Status ft::emulate::makeEmulatedTarget(Machine &machine, const Plan &plan, std::unique_ptr<Target> &out) {
  auto target = std::make_unique<EmulatedTarget>(machine);
  FT_RT_TRY(target->load(plan));
  out = std::move(target);
  return {};
}
