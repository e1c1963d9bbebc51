//===- EmulatedTarget.cpp - plans over emulated kernels -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "EmulatedTarget.h"

#include <cstdlib>
#include <cstring>

using namespace ft::emulate;
using namespace ft::rt;

/// What the driver's call checks (CUDA driver API, "Tensor Map Object Management"), and the emulator's form of it.
static std::string encodeMap(const TensorMap &map, uint64_t address, const uint64_t *extents, const uint64_t *strides,
                             TensorMapData &out) {
  constexpr int64_t types[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2}; // bytes, by the driver's number: u8 to bf16
  constexpr int64_t swizzles[] = {0, 32, 64, 128}, mostBox = 256, unit = 16;
  size_t rank = map.extents.size();
  if (rank == 0 || rank > TensorMapData::mostDims || map.box.size() != rank || map.strides.size() + 1 != rank)
    return "a rank of " + std::to_string(rank);
  if (map.type < 0 || size_t(map.type) >= std::size(types))
    return "type " + std::to_string(map.type);
  if (map.swizzle < 0 || size_t(map.swizzle) >= std::size(swizzles) || map.interleave != 0)
    return "swizzle " + std::to_string(map.swizzle) + ", interleave " + std::to_string(map.interleave);
  int64_t bytes = types[map.type], inner = map.box[0] * bytes;
  if (address % unit != 0)
    return "an address that is no multiple of 16";
  if (inner % unit != 0 || (map.swizzle && inner > swizzles[map.swizzle]))
    return "a box of " + std::to_string(inner) + " bytes along the first dimension";
  out.magic = TensorMapData::isMap;
  out.rank = uint8_t(rank);
  out.elementBytes = uint8_t(bytes);
  out.swizzleBytes = uint8_t(swizzles[map.swizzle]);
  out.fillsWithNaN = map.oobFill != 0;
  out.base = address;
  for (size_t d = 0; d < rank; ++d) {
    if (extents[d] == 0 || map.box[d] <= 0 || map.box[d] > mostBox || map.elementStrides[d] != 1)
      return "dimension " + std::to_string(d);
    out.extents[d] = extents[d];
    out.box[d] = uint32_t(map.box[d]);
  }
  for (size_t d = 0; d + 1 < rank; ++d) {
    if (strides[d] % unit != 0)
      return "a stride of " + std::to_string(strides[d]) + " bytes";
    out.strides[d] = strides[d];
  }
  return {};
}

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
    shape.overlaps = asked.overlaps;
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
  Status encode(const TensorMap &map, uint64_t address, const uint64_t *extents, const uint64_t *strides, CUtensorMap &out) override {
    TensorMapData data;
    std::string problem = encodeMap(map, address, extents, strides, data);
    if (!problem.empty())
      return Status::error(Code::driver, "cuTensorMapEncodeTiled refuses " + problem);
    memset(&out, 0, sizeof(out));
    memcpy(&out, &data, sizeof(data));
    return {};
  }
  Status allocate(size_t bytes, uint64_t &out) override {
    // Room after, so that what lies after is never another piece.
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
