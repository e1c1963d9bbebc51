//===- ReadMachine.cpp - the fields of a machine's file -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// docs/machine.md describes the fields. Each number has to be positive and to have
// a source: a text for its object, or one of its own, there or further out. All
// that is wrong with a file is told at once.
//
//===----------------------------------------------------------------------===//

#include "CheckMachine.h"

#include "ft/Machine/Machine.h"
#include "ft/Support/LocatedJson.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace mlir::ft;
using llvm::StringRef;
using llvm::Twine;

namespace {
enum Need { Optional, Required };

/// Counts are multiplied with each other, bytes with counts of iterations: so great they may be without leaving 63 bits.
constexpr int64_t mostCount = int64_t(1) << 30, mostBytes = int64_t(1) << 50;

struct Reader {
  StringRef file;
  llvm::Error errors = llvm::Error::success();

  void fail(TextPosition at, const Twine &what) {
    errors = llvm::joinErrors(std::move(errors), llvm::make_error<FileError>(file, at, what));
  }
};

/// The members of one object as they are asked for; in the end, what nothing asked for is an error.
class Fields {
public:
  /// `object` may be null: then all of its fields are missing.
  Fields(Reader &reader, const LocatedJson *object, TextPosition at, std::string path, bool sourced)
      : reader(reader), object(object), at(at), path(std::move(path)), sourced(sourced) {
    if (object && object->kind != LocatedJson::Kind::Object) {
      expected(*object, this->path, "an object");
      this->object = nullptr;
      broken = true;
    }
    if (const LocatedJson *source = find("source"))
      this->sourced = sourced || isText(*source);
  }
  Fields(const Fields &) = delete;

  /// A member of any kind; null, and an error where it is needed, if there is none.
  const LocatedJson *get(StringRef name, Need need) {
    known.push_back(name);
    const LocatedJson *found = find(name);
    if (!found && need == Required && !broken)
      reader.fail(at, "missing field '" + inPath(name) + "'");
    return found;
  }

  void number(StringRef name, double &into, Need need = Required) {
    if (const LocatedJson *json = get(name, need); json && isPositive(*json, inPath(name))) {
      into = json->number;
      needSource(name, *json);
    }
  }
  void count(StringRef name, int64_t &into, Need need = Required, int64_t most = mostCount) {
    if (const LocatedJson *json = get(name, need); json && isCount(*json, inPath(name), most)) {
      into = json->integer;
      needSource(name, *json);
    }
  }
  void text(StringRef name, std::string &into, Need need = Required) {
    const LocatedJson *json = get(name, need);
    if (json && json->kind != LocatedJson::Kind::String)
      expected(*json, inPath(name), "a text");
    else if (json && json->text.empty())
      reader.fail(json->at, "'" + inPath(name) + "': expected a text, found an empty one");
    else if (json)
      into = json->text;
  }
  /// Each item is read by `one`, which gets its path.
  void list(StringRef name, Need need,
            llvm::function_ref<void(const LocatedJson &, const std::string &, bool isLast)> one) {
    const LocatedJson *json = get(name, need);
    if (!json)
      return;
    if (json->kind != LocatedJson::Kind::Array)
      return expected(*json, inPath(name), "a list");
    if (json->items.empty())
      reader.fail(json->at, "'" + inPath(name) + "': expected at least one, found an empty list");
    for (auto [i, item] : llvm::enumerate(json->items))
      one(item, inPath(name) + "[" + std::to_string(i) + "]", i + 1 == json->items.size());
  }
  void numbers(StringRef name, llvm::SmallVectorImpl<double> &into, Need need = Required) {
    list(name, need, [&](const LocatedJson &json, const std::string &where, bool) {
      if (isPositive(json, where))
        into.push_back(json.number);
    });
    needSourceOf(name);
  }
  void counts(StringRef name, llvm::SmallVectorImpl<int64_t> &into, size_t size) {
    const LocatedJson *json = find(name);
    list(name, Required, [&](const LocatedJson &item, const std::string &where, bool) {
      if (isCount(item, where) && !into.empty() && item.integer <= into.back())
        reader.fail(item.at, "'" + where + "': expected more than " + Twine(into.back()) + " before it, found " +
                                 Twine(item.integer));
      else if (item.isInteger)
        into.push_back(item.integer);
    });
    if (json && json->kind == LocatedJson::Kind::Array && json->items.size() != size)
      reader.fail(json->at, "'" + inPath(name) + "': expected " + Twine(size) + " numbers, found " +
                                Twine(json->items.size()));
    needSourceOf(name);
  }
  /// `{"2": 1e-7, "4": …}`: a number for each size.
  template <typename T>
  void bySize(StringRef name, llvm::SmallVectorImpl<std::pair<int64_t, T>> &into) {
    const LocatedJson *json = get(name, Optional);
    if (!json)
      return;
    if (json->kind != LocatedJson::Kind::Object)
      return expected(*json, inPath(name), "an object");
    for (const LocatedJson::Member &member : json->members) {
      std::string where = inPath(name) + "." + member.name;
      int64_t size = 0;
      if (StringRef(member.name).getAsInteger(10, size) || size <= 0 || size > mostCount)
        reader.fail(member.at, "'" + where + "': expected a positive number as the name, found '" + member.name + "'");
      else if (isPositive(member.value, where))
        into.push_back({size, static_cast<T>(member.value.number)});
    }
    needSourceOf(name);
  }
  /// An object inside.
  void inside(StringRef name, Need need, llvm::function_ref<void(Fields &)> read) {
    const LocatedJson *json = get(name, need);
    if (!json)
      return;
    Fields inner(reader, json, json->at, inPath(name), hasSource(name));
    read(inner);
    inner.finish();
  }
  /// Objects in a list.
  void eachInside(StringRef name, Need need, llvm::function_ref<void(Fields &, bool isLast)> read) {
    list(name, need, [&](const LocatedJson &item, const std::string &where, bool isLast) {
      Fields inner(reader, &item, item.at, where, hasSource(name));
      read(inner, isLast);
      inner.finish();
    });
  }
  void boolean(StringRef name, bool &into) {
    const LocatedJson *json = get(name, Optional);
    if (json && json->kind != LocatedJson::Kind::Boolean)
      expected(*json, inPath(name), "true or false");
    else if (json)
      into = json->boolean;
  }
  /// What has not been asked for is not known.
  void finish() {
    if (!object)
      return;
    known.push_back("source");
    for (const LocatedJson::Member &member : object->members)
      if (!llvm::is_contained(known, member.name))
        reader.fail(member.at, "unknown field '" + inPath(member.name) + "': expected one of " + llvm::join(known, ", "));
    const LocatedJson *source = find("source");
    if (!source || isText(*source))
      return;
    if (source->kind != LocatedJson::Kind::Object)
      return expected(*source, inPath("source"), "a text, or a text for each field");
    for (const LocatedJson::Member &member : source->members)
      if (!find(member.name))
        reader.fail(member.at, "a source of '" + inPath(member.name) + "', which is not here");
      else if (!isText(member.value))
        expected(member.value, inPath("source") + "." + member.name, "a text");
  }

private:
  static bool isText(const LocatedJson &json) {
    return json.kind == LocatedJson::Kind::String && !json.text.empty();
  }
  const LocatedJson *find(StringRef name) const { return object ? object->find(name) : nullptr; }
  std::string inPath(StringRef name) const { return path.empty() ? name.str() : path + "." + name.str(); }

  void expected(const LocatedJson &json, const std::string &where, const Twine &what) {
    reader.fail(json.at, (where.empty() ? Twine("") : "'" + Twine(where) + "': ") + "expected " + what + ", found " +
                             json.describeKind());
  }
  bool isPositive(const LocatedJson &json, const std::string &where) {
    if (json.kind != LocatedJson::Kind::Number) {
      expected(json, where, "a positive number");
      return false;
    }
    if (json.number > 0 && std::isfinite(json.number))
      return true;
    reader.fail(json.at, "'" + where + "': expected a positive number, found " + formatNumber(json));
    return false;
  }
  bool isCount(const LocatedJson &json, const std::string &where, int64_t most = mostCount) {
    if (!isPositive(json, where))
      return false;
    if (json.isInteger && json.integer <= most)
      return true;
    reader.fail(json.at, "'" + where + "': expected a whole number of at most " + Twine(most) + ", found " + formatNumber(json));
    return false;
  }
  static std::string formatNumber(const LocatedJson &json) {
    return json.isInteger ? std::to_string(json.integer) : llvm::formatv("{0}", json.number).str();
  }
  bool hasSource(StringRef name) const {
    const LocatedJson *source = find("source");
    return sourced || (source && source->find(name));
  }
  void needSource(StringRef name, const LocatedJson &json) {
    if (!hasSource(name))
      reader.fail(json.at, "'" + inPath(name) + "' has no source: expected a 'source' of its object, or one that names it");
  }
  void needSourceOf(StringRef name) {
    if (const LocatedJson *json = find(name))
      needSource(name, *json);
  }

  Reader &reader;
  const LocatedJson *object;
  TextPosition at;
  std::string path;
  bool sourced, broken = false;
  llvm::SmallVector<StringRef> known;
};
} // namespace

static void readLevel(Fields &fields, bool isLast, Machine &machine) {
  Machine::Level level;
  fields.text("level", level.name);
  fields.boolean("shared", level.shared);
  fields.count("bytes", level.bytes, isLast ? Optional : Required, mostBytes);
  fields.count("line_bytes", level.lineBytes, Optional);
  bool isCpu = machine.kind == Machine::Kind::CPU, isGpu = machine.kind == Machine::Kind::GPU;
  fields.number("unit_read_bytes_per_second", level.unitReadBytesPerSecond, isCpu ? Required : Optional);
  // The registers and the shared memory of a GPU have no rate that something asks for.
  fields.number("read_bytes_per_second", level.readBytesPerSecond,
                isCpu || (isGpu && !level.shared) || level.unitReadBytesPerSecond > 0 ? Optional : Required);
  fields.number("copy_bytes_per_second", level.copyBytesPerSecond, Optional);
  fields.number("latency_seconds", level.latencySeconds, Optional);
  if (isGpu && level.shared)
    fields.count("parts", machine.kernels.cacheParts, Optional);
  fields.number("joules_per_byte", level.joulesPerByte, machine.kind == Machine::Kind::Array ? Required : Optional);
  machine.levels.push_back(std::move(level));
}

static void readRates(Fields &root, Machine &machine) {
  bool isCpu = machine.kind == Machine::Kind::CPU, isGpu = machine.kind == Machine::Kind::GPU;
  bool isArray = machine.kind == Machine::Kind::Array;
  root.inside("unit_rates", isCpu ? Required : Optional, [&](Fields &fields) {
    Need need = isCpu ? Required : Optional;
    fields.numbers("f32_product_flop_per_second_by_rows", machine.unit.productFlopsByRows, need);
    fields.number("f32_elementwise_per_second", machine.unit.elementwise, need);
    fields.number("f32_elementary_per_second", machine.unit.elementary, need);
  });
  root.inside("rates", isCpu ? Optional : Required, [&](Fields &fields) {
    fields.number("f32_flop_per_second", machine.rates.f32Flops, isGpu ? Required : Optional);
    fields.number("f64_flop_per_second", machine.rates.f64Flops, Optional);
    fields.number("bf16_mma_flop_per_second", machine.rates.bf16MmaFlops, Optional);
    fields.number("exponentials_per_second", machine.rates.exponentials, isCpu ? Optional : Required);
    fields.number("conversions_per_second", machine.kernels.conversions, isGpu ? Required : Optional);
    fields.number("macs_per_second", machine.rates.macs, isArray ? Required : Optional);
  });
}

static void readSync(Fields &root, Machine &machine) {
  bool isCpu = machine.kind == Machine::Kind::CPU, isGpu = machine.kind == Machine::Kind::GPU;
  root.inside("sync_seconds", isCpu || isGpu ? Required : Optional, [&](Fields &fields) {
    fields.number("launch", machine.sync.launch, isCpu || isGpu ? Required : Optional);
    fields.number("barrier", machine.sync.barrier, isCpu ? Required : Optional);
    fields.number("leaf_call", machine.sync.leafCall, isCpu || isGpu ? Required : Optional);
    fields.number("grid", machine.sync.grid, isGpu ? Required : Optional);
    Need ofGpu = isGpu ? Required : Optional;
    fields.number("boundary", machine.sync.boundary, ofGpu);
    fields.number("boundary_overlapped", machine.sync.boundaryOverlapped, ofGpu);
    fields.number("boundary_per_byte", machine.sync.boundaryPerByte, ofGpu);
    fields.number("boundary_overlapped_per_byte", machine.sync.boundaryOverlappedPerByte, ofGpu);
    fields.number("flag", machine.sync.flag, Optional);
    fields.number("operation", machine.kernels.operation, isGpu ? Required : Optional);
    fields.bySize("cluster", machine.sync.cluster);
  });
}

static void readLinks(Fields &root, Machine &machine) {
  root.eachInside("links", Optional, [&](Fields &fields, bool) {
    Machine::Link link;
    fields.count("ranks", link.ranks);
    auto message = [&](StringRef name, Machine::Link::Message &into) {
      fields.inside(name, Required, [&](Fields &inner) {
        inner.number("seconds", into.seconds);
        inner.number("captured_seconds", into.capturedSeconds, Optional);
        inner.number("bytes_per_second", into.bytesPerSecond);
      });
    };
    message("send", link.send);
    message("all_gather", link.allGather);
    message("all_reduce", link.allReduce);
    machine.links.push_back(link);
  });
}

static void readOccupancy(Fields &root, Machine &machine) {
  root.inside("occupancy", machine.kind == Machine::Kind::GPU ? Required : Optional, [&](Fields &fields) {
    Machine::Occupancy &limits = machine.occupancy;
    fields.count("threads_per_multiprocessor", limits.threadsPerUnit);
    fields.count("blocks_per_multiprocessor", limits.blocksPerUnit);
    fields.count("threads_per_block", limits.threadsPerBlock);
    fields.count("threads_per_warp", limits.warp);
    fields.count("registers_per_multiprocessor", limits.registersPerUnit);
    fields.count("registers_per_thread", limits.registersPerThread);
    fields.count("shared_bytes_per_multiprocessor", limits.sharedBytesPerUnit);
    fields.count("shared_bytes_per_block", limits.sharedBytesPerBlock);
    fields.count("shared_bytes_reserved", machine.kernels.reserved);
    fields.bySize("clusters_resident_with_all_shared_memory", limits.residentClusters);
  });
}

static void readGpuPlanning(Fields &fields, Machine::GpuPlanning &gpu) {
  fields.count("shared_bytes_of_two", gpu.sharedBytesOfTwo);
  fields.count("shared_bytes_alone", gpu.sharedBytesAlone);
  fields.counts("block_threads", gpu.blockThreads, 3);
  fields.counts("block_elements", gpu.blockElements, 2);
  fields.count("task_elements", gpu.taskElements);
  fields.count("stream_elements", gpu.streamElements);
  fields.count("weight_bytes", gpu.weightBytes);
  fields.count("weight_rows", gpu.weightRows);
  fields.count("task_bytes", gpu.taskBytes);
  fields.count("tasks_per_multiprocessor", gpu.tasksPerUnit);
  fields.count("workspace_blocks_per_multiprocessor", gpu.workspaceBlocksPerUnit);
  fields.count("stream_threads_per_multiprocessor", gpu.streamThreadsPerUnit);
  fields.count("column_weight_bytes", gpu.columnWeightBytes);
  fields.count("column_rows", gpu.columnRows);
  fields.count("step_tasks_per_multiprocessor", gpu.stepTasksPerUnit);
  fields.count("step_weight_bytes", gpu.stepWeightBytes);
  fields.count("step_weight_tasks_per_multiprocessor", gpu.stepWeightTasksPerUnit);
  fields.count("row_words_in_warp", gpu.rowWordsInWarp);
  fields.count("row_words", gpu.rowWords);
  fields.count("least_sliced_sum", gpu.leastSlicedSum);
  fields.count("row_tile", gpu.rowTile);
  fields.count("loop_tile", gpu.loopTile);
  fields.count("large_tile", gpu.largeTile);
  fields.count("large_tile_copies", gpu.largeTileCopies);
  fields.count("small_tile_copies", gpu.smallTileCopies);
  fields.count("thread_tiles", gpu.threadTiles);
  fields.count("adjacent_gain", gpu.adjacentGain);
  fields.count("strided_read_loss", gpu.stridedReadLoss);
  fields.count("strided_write_loss", gpu.stridedWriteLoss);
  fields.count("access_bytes", gpu.accessBytes);
  fields.count("idle_threads", gpu.idleThreads);
  fields.count("least_slice", gpu.leastSlice);
  fields.count("most_slices", gpu.mostSlices);
  fields.count("lifted_iterations", gpu.liftedIterations);
  fields.count("column_bytes", gpu.columnBytes);
  fields.count("least_columns", gpu.leastColumns);
  fields.count("column_repeat", gpu.columnRepeat);
  fields.count("column_sharers", gpu.columnSharers);
  fields.count("step_blocks_per_multiprocessor", gpu.stepBlocksPerUnit);
  fields.count("row_lane_words", gpu.rowLaneWords);
  fields.count("row_block_words", gpu.rowBlockWords);
  fields.count("row_block_threads", gpu.rowBlockThreads);
  fields.count("row_registers_beside", gpu.rowRegistersBeside);
  fields.count("row_least_lanes", gpu.rowLeastLanes);
  fields.count("row_parts", gpu.rowParts);
  fields.count("row_shift_lines", gpu.rowShiftLines);
  fields.count("least_row", gpu.leastRow);
  fields.count("product_share", gpu.productShare);
  fields.count("division_share", gpu.divisionShare);
  fields.count("iterations_share", gpu.iterationsShare);
  fields.count("product_terms", gpu.productTerms);
  fields.count("product_side", gpu.productSide);
  fields.count("product_step_bytes", gpu.productStepBytes);
  fields.count("product_long_steps", gpu.productLongSteps);
  fields.count("product_registers", gpu.productRegisters);
  fields.count("fragment_registers", gpu.fragmentRegisters);
  fields.count("fused_registers", gpu.fusedRegisters);
  fields.count("operand_read_cost", gpu.operandReadCost);
  fields.count("shared_copy_cost", gpu.sharedCopyCost);
  fields.count("fused_ops", gpu.fusedOps);
  fields.number("point_seconds", gpu.pointSeconds);
  fields.count("leaf_registers", gpu.leafRegisters);
}

/// Of choices that any target has.
static void readGroups(Fields &fields, Machine &machine) {
  fields.number("tile_seconds", machine.groups.tileSeconds, Optional);
  fields.number("apart_seconds", machine.groups.apartSeconds, Optional);
  fields.number("compute_intensive", machine.groups.computeIntensive);
}

static void readPlanning(Fields &root, Machine &machine) {
  if (machine.kind == Machine::Kind::CPU)
    root.inside("planning", Required, [&](Fields &fields) {
      CpuPlanning::forEachCount(machine.cpu, [&](StringRef name, int64_t &number) { fields.count(name, number); });
      CpuPlanning::forEachShare(machine.cpu, [&](StringRef name, double &number) { fields.number(name, number); });
      fields.number("ahead_seconds", machine.cpu.aheadSeconds, Optional);
      readGroups(fields, machine);
    });
  else if (machine.kind == Machine::Kind::GPU)
    root.inside("planning", Required, [&](Fields &fields) {
      readGpuPlanning(fields, machine.gpu);
      readGroups(fields, machine);
    });
}

static void readKind(Reader &reader, const LocatedJson &json, Machine &machine) {
  if (json.text == "cpu")
    machine.kind = Machine::Kind::CPU;
  else if (json.text == "gpu")
    machine.kind = Machine::Kind::GPU;
  else if (json.text == "array")
    machine.kind = Machine::Kind::Array;
  else
    reader.fail(json.at, "'kind': expected \"cpu\", \"gpu\" or \"array\", found " +
                             (json.kind == LocatedJson::Kind::String ? "\"" + json.text + "\"" : json.describeKind().str()));
}

/// Where a field stands that has been read: `planning.block_threads[1]`.
static TextPosition positionOf(const LocatedJson &root, StringRef path) {
  const LocatedJson *json = &root;
  for (StringRef part : llvm::split(path, '.')) {
    auto [name, index] = part.split('[');
    json = json->find(name);
    size_t number = 0;
    if (json && !index.empty() && !index.consumeInteger(10, number))
      json = &json->items[number];
    if (!json)
      return root.at;
  }
  return json->at;
}

llvm::Expected<Machine> Machine::parse(StringRef text, StringRef file) {
  llvm::Expected<LocatedJson> json = LocatedJson::parse(text, file);
  if (!json)
    return json.takeError();
  Reader reader{file};
  Machine machine;
  machine.file = file.str();
  {
    Fields root(reader, &*json, json->at, "", /*sourced=*/false);
    root.text("name", machine.name);
    if (const LocatedJson *kind = root.get("kind", Required))
      readKind(reader, *kind, machine);
    root.list("targets", Optional, [&](const LocatedJson &item, const std::string &where, bool) {
      if (item.kind != LocatedJson::Kind::String)
        reader.fail(item.at, "'" + where + "': expected the name of a target, found " + item.describeKind());
      else
        machine.targets.push_back(item.text);
    });
    root.inside("unit", Required, [&](Fields &fields) {
      fields.text("name", machine.unitName);
      int64_t count = 1;
      fields.count("count", count);
      machine.units = unsigned(count);
    });
    root.count("element_bytes", machine.elementBytes, machine.kind == Kind::Array ? Required : Optional);
    root.eachInside("memory", Required, [&](Fields &fields, bool isLast) { readLevel(fields, isLast, machine); });
    if (machine.kind != Kind::Array && !machine.levels.empty() && machine.lineBytes() == 0)
      reader.fail(json->find("memory")->at, "'memory': expected 'line_bytes' of the nearest level whose lines are known, found none");
    readRates(root, machine);
    readSync(root, machine);
    readLinks(root, machine);
    readOccupancy(root, machine);
    root.inside("energy", machine.kind == Kind::Array ? Required : Optional,
                 [&](Fields &fields) { fields.number("mac_joules", machine.energy.mac); });
    readPlanning(root, machine);
    root.finish();
  }
  if (reader.errors)
    return std::move(reader.errors);
  checkMachine(machine, [&](StringRef field, const Twine &what) { reader.fail(positionOf(*json, field), "'" + field + "': " + what); });
  if (reader.errors)
    return std::move(reader.errors);
  return machine;
}
