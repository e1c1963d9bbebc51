//===- CpuMachine.cpp - what a processor can do ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ft/Machine/CpuMachine.h"

#include "BuiltinMachine.inc"

#include "llvm/ADT/Twine.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

#include <algorithm>

using namespace mlir::ft;

static llvm::Error wrong(const llvm::Twine &what) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), "machine model: " + what);
}

/// A positive number of the object.
static llvm::Error read(const llvm::json::Object &object, llvm::StringRef key, double &value) {
  std::optional<double> found = object.getNumber(key);
  if (!found || !(*found > 0))
    return wrong("'" + key + "' must be a positive number");
  value = *found;
  return llvm::Error::success();
}

llvm::Expected<CpuMachine> CpuMachine::parse(llvm::StringRef text) {
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(text);
  if (!value)
    return value.takeError();
  const llvm::json::Object *root = value->getAsObject();
  if (!root)
    return wrong("expected an object");
  CpuMachine machine;
  machine.name = root->getString("name").value_or("").str();
  double cores = 0;
  if (llvm::Error error = read(*root, "cores", cores))
    return std::move(error);
  machine.cores = static_cast<unsigned>(cores);
  const llvm::json::Array *levels = root->getArray("memory");
  const llvm::json::Object *units = root->getObject("units"),
                           *sync = root->getObject("sync_seconds");
  if (!levels || levels->empty() || !units || !sync)
    return wrong("expected 'memory', 'units' and 'sync_seconds' of a CPU");
  for (const llvm::json::Value &entry : *levels) {
    const llvm::json::Object *object = entry.getAsObject();
    if (!object)
      return wrong("a level of 'memory' is an object");
    Level level;
    level.name = object->getString("level").value_or("").str();
    level.shared = object->getBoolean("shared").value_or(false);
    bool last = machine.levels.size() + 1 == levels->size();
    double bytes = 0;
    if (!last)
      if (llvm::Error error = read(*object, "bytes", bytes))
        return std::move(error);
    level.bytes = static_cast<int64_t>(bytes);
    if (llvm::Error error = read(*object, "read_bytes_per_second", level.bytesPerSecond))
      return std::move(error);
    machine.levels.push_back(level);
  }
  const llvm::json::Array *products = units->getArray("f32_product_flop_per_second_by_rows");
  if (!products || products->empty())
    return wrong("'f32_product_flop_per_second_by_rows' is a list of rates");
  for (const llvm::json::Value &rate : *products) {
    std::optional<double> number = rate.getAsNumber();
    if (!number || !(*number > 0))
      return wrong("'f32_product_flop_per_second_by_rows' is a list of positive numbers");
    machine.productFlopsByRows.push_back(*number);
  }
  llvm::Error errors = llvm::Error::success();
  auto add = [&](const llvm::json::Object &object, llvm::StringRef key, double &into) {
    errors = llvm::joinErrors(std::move(errors), read(object, key, into));
  };
  add(*units, "f32_elementwise_per_second", machine.elementwisePerSecond);
  add(*units, "f32_elementary_per_second", machine.elementaryPerSecond);
  add(*sync, "launch", machine.launchSeconds);
  add(*sync, "barrier", machine.barrierSeconds);
  add(*sync, "leaf_call", machine.leafCallSeconds);
  if (errors)
    return std::move(errors);
  return machine;
}

llvm::Expected<CpuMachine> CpuMachine::load(llvm::StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer)
    return wrong("can't read '" + path + "': " + buffer.getError().message());
  return parse((*buffer)->getBuffer());
}

const CpuMachine &CpuMachine::builtin() {
  static const CpuMachine machine = [] {
    llvm::Expected<CpuMachine> parsed = parse(builtinCpu);
    if (!parsed)
      llvm::report_fatal_error(parsed.takeError());
    return *parsed;
  }();
  return machine;
}

const CpuMachine::Level &CpuMachine::levelFor(double bytes) const {
  for (const Level &level : levels)
    if (level.bytes == 0 || bytes <= level.bytes)
      return level;
  return levels.back();
}

CpuMachine::Source CpuMachine::sourceFor(double bytes) const {
  const Level &level = levelFor(bytes);
  unsigned number = &level - levels.begin();
  if (number < 2)
    return {number, level.bytesPerSecond};
  const Level &nearer = levels[number - 1];
  double hits = std::clamp(2 - bytes / nearer.bytes, 0.0, 1.0);
  return {hits < 0.5 ? number : number - 1,
          1 / (hits / nearer.bytesPerSecond + (1 - hits) / level.bytesPerSecond)};
}

llvm::SmallVector<std::pair<int64_t, int64_t>, 4> CpuMachine::tilesOf(int64_t rows) const {
  const int64_t tile = productFlopsByRows.size();
  rows = std::max<int64_t>(rows, 1);
  llvm::SmallVector<std::pair<int64_t, int64_t>, 4> tiles;
  auto take = [&](int64_t size, int64_t part) {
    if (int64_t count = part / size)
      tiles.push_back({size, count});
    return part % size;
  };
  // Two tiles of four for the last eight rows.
  bool eight = tile == 6 && rows >= 8 && rows % tile == 2;
  int64_t rest = take(tile, eight ? rows - 8 : rows) + (eight ? 8 : 0);
  for (int64_t size : {4, 2, 1})
    if (size < tile)
      rest = take(size, rest);
  return tiles;
}
