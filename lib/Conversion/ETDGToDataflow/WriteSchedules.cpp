//===- WriteSchedules.cpp - a dataflow as schedules of blocks -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a search decides of the dimensions of blocks: the order in which a nest
// walks its maps, and the tile of each. It is written in the form that the phase
// `schedule` completes: kinds and tiles, no levels.
//
//===----------------------------------------------------------------------===//
#include "WriteSchedules.h"

#include "mlir/IR/Remarks.h"

#include <set>

using namespace mlir;
using namespace mlir::etdg;
namespace df = ::ft::dataflow;

namespace {

/// An operator's plan, and the group that it runs in.
struct Planned {
  const df::exact::OpPlan *plan;
  unsigned group;
};

/// One nest or block at the top of a graph.
class ItemWriter {
public:
  ItemWriter(Operation *item, const df::Graph &dataflow, const DataflowOrigin &origin)
      : item(item), blocks(blocksOf(item)), dataflow(dataflow), origin(origin) {}

  bool isScheduled() {
    return scheduleOf(item) || llvm::any_of(blocks, [](BlockOp block) { return bool(block.getScheduleAttr()); });
  }
  bool contains(BlockOp leaf) { return leaf && item->isAncestor(leaf); }

  void write(ArrayRef<Planned> planned, const ScheduleTarget &target);

private:
  bool isMap(unsigned own) {
    return llvm::all_of(blocks, [&](BlockOp block) { return block.getOperator(own) == mlir::ft::OperatorKind::Map; });
  }
  void orderBy(const df::exact::OpPlan &plan, unsigned maps);
  void tileBy(ArrayRef<Planned> planned, unsigned maps, int64_t units);
  void fitCalls(ArrayRef<Planned> planned, unsigned maps, int64_t elements);
  void evenOut(unsigned maps, int64_t units);
  int64_t sizeOf(unsigned own) { return dims[own] < 0 ? 1 : dataflow.dims[dims[own]].size; }
  df::Count callElements(ArrayRef<Planned> planned);
  /// Whether iterations of a dimension have something in common: an operand that lacks it.
  bool isReused(ArrayRef<Planned> planned, unsigned own) {
    return llvm::any_of(planned, [&](const Planned &entry) {
      const df::Operator &op = dataflow.operators[entry.plan->op];
      const int local = op.local(dims[own]);
      for (unsigned k = 0; local >= 0 && k < op.numOperands(); ++k)
        if (!(op.mask(k) >> local & 1))
          return true;
      return false;
    });
  }
  std::string describe();

  Operation *item;
  const df::Graph &dataflow;
  const DataflowOrigin &origin;
  SmallVector<BlockOp> blocks;
  SmallVector<int> dims;       // of the operator graph, by own dimension
  std::set<int> blockDims;     // of all blocks of the item
  SmallVector<unsigned> order; // own dimensions, outermost first
  SmallVector<int64_t> tiles;  // by own dimension
};

} // namespace

static void tell(Location loc, bool isQuiet, const std::string &what) {
  if (isQuiet)
    remark::passed(loc, remark::RemarkOpts::name("dataflow").category("schedule")) << remark::reason("{0}", what);
  else
    emitRemark(loc) << "dataflow: " << what;
}

/// Maps in the order of the plan; those that it does not have, last.
void ItemWriter::orderBy(const df::exact::OpPlan &plan, unsigned maps) {
  const df::Operator &op = dataflow.operators[plan.op];
  auto place = [&](unsigned own) -> unsigned {
    for (auto [p, local] : llvm::enumerate(plan.order))
      if (op.dims[local] == dims[own])
        return p;
    return plan.order.size();
  };
  for (unsigned own = 0; own < dims.size(); ++own)
    order.push_back(own);
  std::stable_sort(order.begin(), order.begin() + maps,
                   [&](unsigned a, unsigned b) { return place(a) < place(b); });
}

/// The least tile that an operator of the item has in each map; then smaller ones where the units would not all
/// have a part.
void ItemWriter::tileBy(ArrayRef<Planned> planned, unsigned maps, int64_t units) {
  tiles.assign(dims.size(), 1);
  int64_t parts = 1;
  for (unsigned own = 0; own < maps; ++own) {
    int64_t tile = isReused(planned, own) ? sizeOf(own) : 1;
    for (const Planned &entry : planned)
      if (int local = dataflow.operators[entry.plan->op].local(dims[own]); local >= 0)
        tile = std::min<int64_t>(tile, entry.plan->tiles[local]);
    tiles[own] = std::max<int64_t>(tile, 1);
    parts *= llvm::divideCeil(sizeOf(own), tiles[own]);
  }
  for (unsigned own : order) {
    if (own >= maps || parts >= units)
      continue;
    int64_t others = parts / llvm::divideCeil(sizeOf(own), tiles[own]);
    int64_t wanted = std::min<int64_t>(sizeOf(own), llvm::divideCeil(units, others));
    tiles[own] = std::min<int64_t>(tiles[own], llvm::divideCeil(sizeOf(own), wanted));
    parts = others * llvm::divideCeil(sizeOf(own), tiles[own]);
  }
}

/// Elements that one call of the item's leaves touches with these tiles: engines compute one operation of a leaf after
/// the other, each for all rows of the call, so what is between them is there whole. What comes from outside and goes
/// there is there twice, the next call's beside this one's.
df::Count ItemWriter::callElements(ArrayRef<Planned> planned) {
  std::set<int> seen, written;
  for (const Planned &entry : planned)
    written.insert(dataflow.operators[entry.plan->op].output.tensor);
  df::Count sum = 0;
  for (const Planned &entry : planned) {
    const df::Operator &op = dataflow.operators[entry.plan->op];
    for (unsigned k = 0; k < op.numOperands(); ++k) {
      const df::Operand &operand = op.operand(k);
      if (!seen.insert(operand.tensor).second)
        continue;
      df::Count size = 1;
      bool varies = false;
      for (int dim : operand.dims) {
        auto own = llvm::find(dims, dim);
        varies |= own != dims.end();
        if (own != dims.end())
          size = df::multiply(size, tiles[own - dims.begin()]);
        else if (!blockDims.count(dim))
          size = df::multiply(size, dataflow.dims[dim].size);
      }
      const bool inside = written.count(operand.tensor) && !dataflow.tensors[operand.tensor].isResult;
      sum = df::add(sum, df::multiply(size, varies && !inside ? 2 : 1));
    }
  }
  return sum;
}

/// Smaller tiles, the largest first, until a call's elements fit.
void ItemWriter::fitCalls(ArrayRef<Planned> planned, unsigned maps, int64_t elements) {
  while (callElements(planned) > elements) {
    auto largest = std::max_element(tiles.begin(), tiles.begin() + maps);
    if (largest == tiles.begin() + maps || *largest == 1)
      return; // one row is what there is
    int64_t low = 1, high = *largest; // the most that fits, if any does
    while (low < high) {
      *largest = low + (high - low + 1) / 2;
      if (callElements(planned) > elements)
        high = *largest - 1;
      else
        low = *largest;
    }
    *largest = low;
  }
}

/// Where the units would wait for the one with a task more than others, somewhat smaller tiles of which all have as many: no
/// less than half, as long as the busiest unit has fewer iterations then.
void ItemWriter::evenOut(unsigned maps, int64_t units) {
  for (unsigned own : order) {
    if (own >= maps || tiles[own] == 1)
      continue;
    int64_t others = 1;
    for (unsigned d = 0; d < maps; ++d)
      if (d != own)
        others *= llvm::divideCeil(sizeOf(d), tiles[d]);
    const int64_t size = sizeOf(own), fewest = llvm::divideCeil(size, tiles[own]);
    int64_t least = std::numeric_limits<int64_t>::max();
    for (int64_t parts = fewest; parts <= std::min(2 * fewest, size); ++parts) {
      const int64_t tile = llvm::divideCeil(size, parts);
      const int64_t busiest = int64_t(llvm::divideCeil(others * int64_t(llvm::divideCeil(size, tile)), units)) * tile;
      if (busiest < least) {
        least = busiest;
        tiles[own] = tile;
      }
    }
  }
}

std::string ItemWriter::describe() {
  std::string text;
  BlockOp front = blocks.front();
  for (unsigned own : order) {
    text += (text.empty() ? "" : ", ") +
            front.getDimNames()[front.getNumAncestors() + own].getValue().str();
    if (tiles[own] > 1)
      text += " in tiles of " + std::to_string(tiles[own]);
  }
  return text;
}

void ItemWriter::write(ArrayRef<Planned> planned, const ScheduleTarget &target) {
  BlockOp front = blocks.front();
  const unsigned own = front.getNumOwnDims();
  auto known = origin.dims.find(front);
  if (own == 0 || known == origin.dims.end())
    return;
  dims.assign(known->second.end() - own, known->second.end());
  // Maps outside of all else may be walked in any order.
  unsigned maps = 0;
  while (maps < own && isMap(maps))
    ++maps;
  const Planned *widest = &planned.front();
  auto count = [&](const Planned &entry) {
    return llvm::count_if(dims, [&](int dim) { return dataflow.operators[entry.plan->op].local(dim) >= 0; });
  };
  for (const Planned &entry : planned)
    if (count(entry) > count(*widest))
      widest = &entry;
  orderBy(*widest->plan, maps);
  for (auto &[block, all] : origin.dims)
    if (item->isAncestor(block))
      blockDims.insert(all.begin(), all.end());
  tileBy(planned, maps, target.units);
  fitCalls(planned, maps, target.elements);
  evenOut(maps, target.units);
  MLIRContext *context = item->getContext();
  SmallVector<LoopAttr> loops;
  for (bool points : {false, true})
    for (unsigned d : order) {
      const bool isTiled = d < maps && tiles[d] > 1;
      if (points ? isTiled : true)
        loops.push_back(LoopAttr::get(context, d, !points && isTiled ? tiles[d] : 1,
                                      d < maps ? LoopKind::Parallel : LoopKind::Sequential));
    }
  auto schedule = ScheduleAttr::get(
      context, AffineMapAttr::get(AffineMap::getMultiDimIdentityMap(own, context)), loops);
  setSchedule(item, schedule);
  tell(front.getLoc(), target.isQuiet, "walks " + describe());
}

/// Operators of other nests that run in the groups of this one's, by name.
static std::string fusedWith(ItemWriter &writer, ArrayRef<Planned> planned, const df::Graph &dataflow, const DataflowOrigin &origin,
                             ArrayRef<df::exact::GroupResult> groups) {
  std::string others;
  for (auto [g, group] : llvm::enumerate(groups)) {
    if (llvm::none_of(planned, [&, g = g](const Planned &entry) { return entry.group == g; }))
      continue;
    for (const df::exact::OpPlan &plan : group.group.ops)
      if (const std::string &name = dataflow.operators[plan.op].name; !writer.contains(origin.leaves.lookup(name)))
        others += (others.empty() ? "" : ", ") + name;
  }
  return others;
}

bool etdg::hasOpenNests(GraphOp graph) {
  return llvm::any_of(graph.getBody().front(), [](Operation &op) {
    auto scheduled = dyn_cast<ScheduledOpInterface>(op);
    return scheduled && !scheduled.getScheduleAttr();
  });
}

void etdg::writeSchedules(GraphOp graph, const df::Graph &dataflow, const DataflowOrigin &origin,
                          ArrayRef<df::exact::GroupResult> groups, const ScheduleTarget &target) {
  for (Operation &op : llvm::make_early_inc_range(graph.getBody().front())) {
    if (!isa<NestOp, BlockOp>(op))
      continue;
    ItemWriter writer(&op, dataflow, origin);
    if (writer.isScheduled())
      continue;
    SmallVector<Planned> planned;
    for (auto [g, group] : llvm::enumerate(groups))
      for (const df::exact::OpPlan &plan : group.group.ops)
        if (writer.contains(origin.leaves.lookup(dataflow.operators[plan.op].name)))
          planned.push_back({&plan, unsigned(g)});
    if (planned.empty())
      continue;
    const std::string others = fusedWith(writer, planned, dataflow, origin, groups);
    if (!others.empty())
      tell(op.getLoc(), target.isQuiet,
           "fused with " + others + " of other nests: " +
               (target.isCoarsened ? "coarsening left them apart, each walks its dimensions by itself"
                                   : "coarsening joins them before they are scheduled"));
    if (others.empty() || target.isCoarsened)
      writer.write(planned, target);
  }
}
