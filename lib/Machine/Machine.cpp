//===- Machine.cpp - what a machine can do --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ft/Machine/FindMachine.h"

#include "BuiltinMachines.inc"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <vector>

using namespace mlir::ft;
using llvm::StringRef;

StringRef mlir::ft::stringifyKind(Machine::Kind kind) {
  switch (kind) {
  case Machine::Kind::CPU:
    return "cpu";
  case Machine::Kind::GPU:
    return "gpu";
  case Machine::Kind::Array:
    return "array";
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Finding one
//===----------------------------------------------------------------------===//

using MachineRef = std::shared_ptr<const Machine>;

/// The machines of machine/ as they were when this library was built: it runs without its sources.
static const std::vector<std::pair<StringRef, MachineRef>> &builtins() {
  static const auto machines = [] {
    std::vector<std::pair<StringRef, MachineRef>> all;
    for (auto [name, text] : builtinMachines) {
      llvm::Expected<Machine> machine = Machine::parse(text, ("machine/" + StringRef(name) + ".json").str());
      if (!machine)
        llvm::report_fatal_error(machine.takeError());
      machine->reference = name;
      all.push_back({name, std::make_shared<const Machine>(std::move(*machine))});
    }
    return all;
  }();
  return machines;
}

llvm::ArrayRef<StringRef> Machine::builtinNames() {
  static const auto names = llvm::map_to_vector(builtins(), [](const auto &entry) { return entry.first; });
  return names;
}

llvm::SmallVector<StringRef> mlir::ft::targetsOf(Machine::Kind kind) {
  llvm::SmallVector<StringRef> targets;
  for (auto &[name, machine] : builtins())
    if (machine->kind == kind)
      llvm::append_range(targets, machine->targets);
  llvm::sort(targets);
  targets.erase(llvm::unique(targets), targets.end()); // several machines may serve one
  return targets;
}

static llvm::Expected<MachineRef> load(StringRef path, StringRef reference) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer)
    return llvm::createStringError("can't read the machine file '" + path + "': " + buffer.getError().message());
  llvm::Expected<Machine> machine = Machine::parse((*buffer)->getBuffer(), path);
  if (!machine)
    return machine.takeError();
  machine->reference = reference.str();
  return std::make_shared<const Machine>(std::move(*machine));
}

/// The file of this name in the folder that FT_MACHINES names: who measured a processor puts it there,
/// and tests have theirs. Null where there is none.
static llvm::Expected<MachineRef> findInFolder(StringRef name) {
  static const char *const folder = std::getenv("FT_MACHINES");
  if (!folder || !*folder)
    return nullptr;
  static std::mutex lock;
  static llvm::StringMap<MachineRef> found;
  std::lock_guard<std::mutex> guard(lock);
  if (MachineRef machine = found.lookup(name))
    return machine;
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, name + ".json");
  if (!llvm::sys::fs::exists(path))
    return nullptr;
  llvm::Expected<MachineRef> machine = load(path, name);
  if (machine)
    found[name] = *machine;
  return machine;
}

llvm::Expected<MachineRef> Machine::find(StringRef nameOrPath) {
  bool isName = !nameOrPath.contains('/') && !nameOrPath.ends_with(".json");
  if (isName)
    if (llvm::Expected<MachineRef> own = findInFolder(nameOrPath); !own || *own)
      return own;
  for (auto &[name, machine] : builtins())
    if (name == nameOrPath)
      return machine;
  if (isName)
    return llvm::createStringError("no machine '" + nameOrPath + "': expected " + llvm::join(builtinNames(), ", ") +
                                   ", or the path of a file");
  return load(nameOrPath, nameOrPath);
}

llvm::Expected<MachineRef> Machine::find(StringRef nameOrPath, Kind kind) {
  llvm::Expected<MachineRef> machine = find(nameOrPath);
  if (machine && (*machine)->kind != kind)
    return llvm::createStringError((*machine)->file + ": expected a machine of kind '" + stringifyKind(kind) +
                                   "', found one of kind '" + stringifyKind((*machine)->kind) + "'");
  return machine;
}

StringRef Machine::nameForTarget(StringRef target) {
  for (auto &[name, machine] : builtins())
    if (machine->serves(target))
      return name;
  // Classes of processors (x86-64-v3, …) are planned alike.
  return target.starts_with("sm_") ? "" : "cpu";
}

MachineRef Machine::forTarget(StringRef target) {
  StringRef wanted = nameForTarget(target);
  if (wanted.empty())
    return nullptr;
  llvm::Expected<MachineRef> machine = find(wanted);
  if (machine)
    return *machine;
  // Who names a machine, or a target, has been told what is wrong with the file.
  llvm::consumeError(machine.takeError());
  for (auto &[name, builtin] : builtins())
    if (name == wanted)
      return builtin;
  return nullptr;
}

const Machine &Machine::cpuDefault() {
  static const MachineRef machine = forTarget("cpu");
  return *machine;
}

bool Machine::serves(StringRef target) const { return llvm::is_contained(targets, target); }

//===----------------------------------------------------------------------===//
// Memory and products
//===----------------------------------------------------------------------===//

double Machine::productFlops() const {
  return kind == Kind::CPU ? unit.productFlopsByRows.back() : rates.f32Flops / units;
}
double Machine::elementwise() const {
  return kind == Kind::CPU ? unit.elementwise : rates.f32Flops / 2 / units; // a fused multiply-add counts twice
}
double Machine::elementary() const { return kind == Kind::CPU ? unit.elementary : rates.exponentials / units; }

int64_t Machine::lineBytes() const {
  for (const Level &level : levels)
    if (level.lineBytes > 0)
      return level.lineBytes;
  return 0;
}

const Machine::Level *Machine::findLevel(StringRef name) const {
  for (const Level &level : levels)
    if (level.name == name)
      return &level;
  return nullptr;
}

const Machine::Level &Machine::levelFor(double bytes) const {
  for (const Level &level : levels)
    if (level.hasRate() && (level.bytes == 0 || bytes <= level.bytes))
      return level;
  return levels.back();
}

Machine::Source Machine::sourceFor(double bytes) const {
  const Level &level = levelFor(bytes);
  unsigned number = &level - levels.begin();
  if (number < 2)
    return {number, level.rateOfUnit(units)};
  const Level &nearer = levels[number - 1];
  double hits = std::clamp(2 - bytes / nearer.bytes, 0.0, 1.0);
  return {hits < 0.5 ? number : number - 1,
          1 / (hits / nearer.rateOfUnit(units) + (1 - hits) / level.rateOfUnit(units))};
}

RowTiles Machine::rowTiles() const {
  RowTiles tiles;
  tiles.rows = unit.productFlopsByRows.size();
  auto seconds = [&](int64_t rows) { return double(rows) / tileFlops(rows); };
  if (tiles.rows > 1)
    for (int64_t rows = int64_t(llvm::bit_floor(uint64_t(tiles.rows - 1))); rows > 0; rows /= 2)
      tiles.rests.push_back(rows);
  if (tiles.rests.empty())
    return tiles;
  // Two tiles of the next size may take less time than a full one and what it leaves: 8 rows are two of 4, not 6 and 2.
  int64_t left = 2 * tiles.rests.front() - tiles.rows;
  double apart = seconds(tiles.rows), together = 2 * seconds(tiles.rests.front());
  int64_t rest = left;
  for (int64_t rows : tiles.rests)
    for (; rest >= rows; rest -= rows)
      apart += seconds(rows);
  if (left > 0 && together < apart)
    tiles.join = left;
  return tiles;
}

llvm::SmallVector<std::pair<int64_t, int64_t>, 4> Machine::tilesOf(int64_t rows) const {
  const RowTiles cut = rowTiles();
  rows = std::max<int64_t>(rows, 1);
  llvm::SmallVector<std::pair<int64_t, int64_t>, 4> tiles;
  auto take = [&](int64_t size, int64_t part) {
    if (int64_t count = part / size)
      tiles.push_back({size, count});
    return part % size;
  };
  int64_t joined = cut.join && rows >= cut.rows + cut.join && rows % cut.rows == cut.join ? cut.rows + cut.join : 0;
  int64_t rest = take(cut.rows, rows - joined) + joined;
  for (int64_t size : cut.rests)
    rest = take(size, rest);
  return tiles;
}
