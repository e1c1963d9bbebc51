//===- Storage.cpp - live planes and shared memory ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The phase `storage` (docs/optimiser.md, Storage). Asked exactly by Presburger sets, of
// the order that the schedules give (ScheduledOrder.h).
//
//===----------------------------------------------------------------------===//
#include "ft/Analysis/Accesses.h"
#include "ft/Analysis/ScheduledOrder.h"
#include "ft/Dialect/ETDG/IR/AttributeNames.h"
#include "ft/Dialect/ETDG/IR/InPlace.h"
#include "ft/Dialect/ETDG/IR/Variants.h"
#include "ft/Dialect/ETDG/Transforms/Passes.h"
#include "mlir/IR/Remarks.h"
#include <map>
#include <numeric>

namespace mlir::etdg {
#define GEN_PASS_DEF_ETDGSTORAGE
#include "ft/Dialect/ETDG/Transforms/Passes.h.inc"
} // namespace mlir::etdg

using namespace mlir;
using namespace mlir::etdg;

//===----------------------------------------------------------------------===//
// Live planes
//===----------------------------------------------------------------------===//

namespace {
/// Finds how many planes of a buffer must exist at a time.
class Planes {
public:
  Planes(const SymbolSpace &space, const GraphAccesses &accesses, unsigned maxPlanes)
      : space(space), accesses(accesses), maxPlanes(maxPlanes) {}

  /// One entry for each dimension, -1 for all.
  SmallVector<int64_t> find(Value buffer);

private:
  /// Whether planes that lie at least `live[d]` apart in contracted dimensions
  /// (live[d] > 0) and agree in the others may share memory.
  bool areEnough(Value buffer, ArrayRef<int64_t> live);
  bool hasConflict(Access &read, Access &write, Access &clobber, ArrayRef<int64_t> live);
  bool mayBeContracted(Value buffer, unsigned d);

  const SymbolSpace &space;
  const GraphAccesses &accesses;
  unsigned maxPlanes;
};
} // namespace

/// Where several writes have one index each, or one that only parallel loops move, planes
/// exist together. Data may ask for any plane.
bool Planes::mayBeContracted(Value buffer, unsigned d) {
  for (const Access &read : accesses.getReads(buffer))
    if (read.getGather(d))
      return false;
  // What thread blocks of a GPU run side by side has all its planes.
  for (ArrayRef<Access> list : {accesses.getWrites(buffer), accesses.getReads(buffer)})
    for (const Access &access : list)
      for (unsigned dim : getDealtDims(access.block))
        if (access.map.getResult(d).isFunctionOfDim(dim))
          return false;
  // One plane alone is ever there: the last state of a reduction whose shares have theirs elsewhere.
  ArrayRef<Access> writes = accesses.getWrites(buffer);
  bool moves = writes.size() == 1 && llvm::none_of(llvm::seq(writes[0].map.getNumDims()), [&](unsigned dim) {
                 return writes[0].map.getResult(d).isFunctionOfDim(dim);
               });
  for (const Access &write : writes)
    for (AffineExpr row : getSequentialRows(write.block))
      for (unsigned dim = 0; dim < BlockOp(write.block).getNumDims(); ++dim)
        moves |= row.isFunctionOfDim(dim) && write.map.getResult(d).isFunctionOfDim(dim);
  return moves;
}

/// Equates the planes of two accesses but for dimensions that `except` lists.
static LogicalResult addSamePlane(SetBuilder &builder, Access &a, unsigned offsetA, Access &b,
                                  unsigned offsetB, llvm::function_ref<bool(unsigned)> except,
                                  SmallVectorImpl<LinearExpr> *differences = nullptr) {
  auto planeA = getPlane(builder, a, offsetA), planeB = getPlane(builder, b, offsetB);
  if (failed(planeA) || failed(planeB))
    return failure();
  for (auto [d, pair] : llvm::enumerate(llvm::zip(*planeA, *planeB))) {
    auto &[x, y] = pair;
    LinearExpr difference;
    if (x && y) {
      difference = *x;
      difference *= -1;
      difference += *y;
      if (!except(d))
        builder.add(difference, /*isEq=*/true);
    }
    if (differences)
      differences->push_back(difference);
  }
  return success();
}

bool Planes::hasConflict(Access &read, Access &write, Access &clobber, ArrayRef<int64_t> live) {
  SmallVector<OrderCase> afterWrite, afterClobber;
  unsigned numOwner = getNumOwnerDims(read.buffer);
  for (const OrderCase &c : getCasesWithin(numOwner, getOrderCases(clobber.block, write.block)))
    if (c.order != Order::Before)
      afterWrite.push_back(c);
  for (const OrderCase &c : getCasesWithin(numOwner, getOrderCases(read.block, clobber.block)))
    if (c.order == Order::After || c.order == Order::Unordered)
      afterClobber.push_back(c);
  if (afterWrite.empty() || afterClobber.empty())
    return false;

  unsigned atWrite = read.getPointSize(), atClobber = atWrite + write.getPointSize();
  unsigned size = atClobber + clobber.getPointSize();
  SetBuilder base(space, size);
  SmallVector<LinearExpr> apart;
  auto isContracted = [&](unsigned d) { return d >= numOwner && live[d - numOwner] > 0; };
  if (failed(addPoint(base, read)) || failed(addPoint(base, write, atWrite)) ||
      failed(addPoint(base, clobber, atClobber)) ||
      failed(addSamePlane(base, read, 0, write, atWrite, [](unsigned) { return false; })) ||
      failed(addSamePlane(base, write, atWrite, clobber, atClobber, isContracted, &apart)))
    return true;
  if (isEmpty(base.get()))
    return false;

  // Every way in which the contracted dimensions differ, one of them at least.
  std::vector<SetBuilder> ways{base};
  SmallVector<bool> differs{false};
  for (auto [d, planes] : llvm::enumerate(live)) {
    if (planes <= 0)
      continue;
    std::vector<SetBuilder> more;
    SmallVector<bool> moreDiffers;
    for (auto [way, differ] : llvm::zip(ways, differs))
      for (int sign : {0, 1, -1}) {
        SetBuilder next = way;
        LinearExpr gap = apart[numOwner + d];
        if (sign) {
          gap *= sign;
          gap.constant -= planes;
        }
        next.add(gap, /*isEq=*/sign == 0);
        if (isEmpty(next.get()))
          continue;
        more.push_back(next);
        moreDiffers.push_back(differ || sign);
      }
    ways = std::move(more);
    differs = std::move(moreDiffers);
  }
  for (auto [way, differ] : llvm::zip(ways, differs)) {
    if (!differ)
      continue;
    for (const OrderCase &x : afterWrite) {
      SetBuilder first = way;
      if (failed(addOrderCase(first, x, atClobber, atWrite)))
        return true;
      if (isEmpty(first.get()))
        continue;
      for (const OrderCase &y : afterClobber) {
        SetBuilder second = first;
        if (failed(addOrderCase(second, y, 0, atClobber)) || !isEmpty(second.get()))
          return true;
      }
    }
  }
  return false;
}

bool Planes::areEnough(Value buffer, ArrayRef<int64_t> live) {
  SmallVector<Access, 0> writes(accesses.getWrites(buffer)), reads(accesses.getReads(buffer));
  for (Access &read : reads)
    for (Access &write : writes)
      for (Access &clobber : writes)
        if (hasConflict(read, write, clobber, live))
          return false;
  return true;
}

SmallVector<int64_t> Planes::find(Value buffer) {
  unsigned depth = cast<BufferType>(buffer.getType()).getDepth();
  SmallVector<int64_t> live(depth, -1);
  // Regions multiply the questions; a buffer that many blocks touch is left whole.
  size_t questions = accesses.getWrites(buffer).size() * accesses.getWrites(buffer).size() *
                     accesses.getReads(buffer).size();
  constexpr size_t mostQuestions = 4096; // each asks the sets
  if (questions == 0 || questions > mostQuestions)
    return live;
  unsigned contracted = 0;
  for (unsigned d = 0; d < depth && contracted < 2; ++d) {
    if (!mayBeContracted(buffer, d))
      continue;
    SmallVector<int64_t> tried = live;
    auto isEnough = [&](int64_t planes) {
      tried[d] = planes;
      return areEnough(buffer, tried);
    };
    // Most dimensions need all planes: one question finds out.
    if (!isEnough(maxPlanes))
      continue;
    int64_t planes = 1;
    while (planes < maxPlanes && !isEnough(planes))
      ++planes;
    // Nothing is saved where nearly all planes live.
    std::optional<int64_t> length =
        cast<BufferType>(buffer.getType()).getLengths()[d].getConstant();
    if (length && BufferOp::planesOf(planes) >= *length)
      continue;
    live[d] = planes;
    ++contracted;
  }
  return live;
}

//===----------------------------------------------------------------------===//
// Slots
//===----------------------------------------------------------------------===//

namespace {
/// Gives the graph's own buffers slots of one arena.
class Slots {
public:
  Slots(GraphOp graph, const GraphAccesses &accesses) : graph(graph), accesses(accesses) {}
  unsigned assign(); // how many buffers share

private:
  struct Use {
    BufferOp op;
    std::string size;
    unsigned first = ~0u, last = 0;
    std::optional<unsigned> slot;
  };
  Operation *getItem(Operation *op);
  static std::string getSize(BufferOp op);
  /// Whether `to` may lie where `from` lies: one leaf reads `from`, makes `to` of it in place
  /// (isMadeInPlace) at the same index, and nothing else of that item reads it.
  bool mayTakePlaceOf(Use &from, Use &to);

  GraphOp graph;
  const GraphAccesses &accesses;
};
} // namespace

Operation *Slots::getItem(Operation *op) {
  while (op->getParentOp() != graph)
    op = op->getParentOp();
  return op;
}

/// Equal text: equal numbers of bytes.
std::string Slots::getSize(BufferOp op) {
  BufferType type = op.getType();
  Type element = type.getElement().getElementType();
  int64_t count = type.getElement().getNumElements() *
                  (element.isIndex() ? 64 : element.getIntOrFloatBitWidth());
  std::vector<std::string> names;
  for (auto [d, length] : llvm::enumerate(type.getLengths())) {
    int64_t planes = op.getLiveAttr() ? (*op.getLive())[d] : -1;
    if (planes > 0)
      names.push_back("live " + std::to_string(planes));
    else
      names.push_back(length.str());
  }
  llvm::sort(names);
  std::string text = std::to_string(count);
  for (const std::string &name : names)
    text += " x " + name;
  return text;
}

bool Slots::mayTakePlaceOf(Use &from, Use &to) {
  ArrayRef<Access> reads = accesses.getReads(from.op), writes = accesses.getWrites(to.op);
  if (writes.size() != 1)
    return false;
  BlockOp leaf = writes.front().block;
  // With several results one may be written before another is computed. And lanes of a GPU that have no element of
  // their own read one of another lane's.
  auto layouts = leaf->getAttrOfType<ArrayAttr>(etdg::names::layouts);
  if (leaf.getNumWrites() != 1 || (layouts && llvm::any_of(layouts, llvm::IsaPred<RowLanesAttr>)))
    return false;
  Operation *item = getItem(leaf);
  // What is still being written may take a place that is read already.
  for (const Access &write : accesses.getWrites(from.op))
    if (getItem(write.block) == item)
      return false;
  const Access *only = nullptr;
  for (const Access &read : reads) {
    if (getItem(read.block) != item)
      continue;
    if (only || read.block != leaf || read.kind != Access::Read || !read.gathers.empty() ||
        !read.elementShape.empty() || leaf.getRead(read.index).getPieces().size() != 1)
      return false;
    only = &read;
  }
  if (!only || only->map != writes.front().map || from.op.getType() != to.op.getType() ||
      from.op.getLiveAttr() != to.op.getLiveAttr())
    return false;
  return isMadeInPlace(leaf.getBody().front(), only->index, /*output=*/0);
}

unsigned Slots::assign() {
  llvm::DenseMap<Operation *, unsigned> positions;
  llvm::SmallDenseSet<Value> results;
  for (auto [i, op] : llvm::enumerate(graph.getBody().front())) {
    positions[&op] = i;
    if (auto end = dyn_cast<ReturnOp>(op))
      results.insert(end.getOperands().begin(), end.getOperands().end());
  }
  std::vector<Use> uses;
  for (BufferOp op : graph.getBody().getOps<BufferOp>()) {
    op->removeAttr(etdg::names::slot);
    if (results.contains(op.getResult()))
      continue;
    Use use{op, getSize(op), ~0u, 0, std::nullopt};
    for (ArrayRef<Access> list : {accesses.getWrites(op), accesses.getReads(op)})
      for (const Access &access : list) {
        unsigned position = positions.lookup(getItem(access.block));
        use.first = std::min(use.first, position);
        use.last = std::max(use.last, position);
      }
    if (use.first != ~0u)
      uses.push_back(use);
  }
  SmallVector<unsigned> order(uses.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](unsigned a, unsigned b) {
    return std::pair(uses[a].first, a) < std::pair(uses[b].first, b);
  });

  // The slots that are free now, by size; and those in use, by when they become free.
  std::map<std::string, SmallVector<unsigned>> free;
  std::multimap<unsigned, unsigned> ends;
  unsigned numSlots = 0, numShared = 0;
  for (unsigned i : order) {
    Use &use = uses[i];
    for (auto it = ends.begin(); it != ends.end() && it->first < use.first; it = ends.erase(it))
      free[uses[it->second].size].push_back(*uses[it->second].slot);
    auto place = ends.equal_range(use.first);
    for (auto it = place.first; it != place.second; ++it) {
      Use &from = uses[it->second];
      if (from.size != use.size || !mayTakePlaceOf(from, use))
        continue;
      use.slot = from.slot;
      ends.erase(it);
      remark::passed(use.op.getLoc(),
                     remark::RemarkOpts::name("in-place").category("storage"))
          << remark::reason("written in place of a buffer that is read here for the last time");
      break;
    }
    SmallVector<unsigned> &list = free[use.size];
    numShared += use.slot || !list.empty();
    if (!use.slot)
      use.slot = list.empty() ? numSlots++ : list.pop_back_val();
    ends.insert({use.last, i});
  }
  Builder builder(graph.getContext());
  for (Use &use : uses)
    use.op->setAttr(etdg::names::slot, builder.getI64IntegerAttr(*use.slot));
  return numShared;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct ETDGStorage : etdg::impl::ETDGStorageBase<ETDGStorage> {
  using ETDGStorageBase::ETDGStorageBase;
  void runOnOperation() override {
    GraphOp graph = getOperation();
    if (graph.isExternal())
      return;
    findPlanes(graph);
    for (auto &[owner, live] : planesOf) {
      auto op = cast<BufferOp>(owner);
      bool all = llvm::all_of(live, [](int64_t p) { return p < 0; });
      for (auto [d, count] : llvm::enumerate(live)) {
        if (count < 0)
          continue;
        ++numContracted;
        remark::passed(op.getLoc(), remark::RemarkOpts::name("live-planes").category("storage"))
            << remark::reason("{0} of the {1} planes of dimension {2} are live", count,
                              op.getType().getLengths()[d].str(), d);
      }
      if (all)
        op.removeLiveAttr();
      else
        op.setLive(live);
    }
    GraphAccesses accesses(graph);
    numShared += Slots(graph, accesses).assign();
  }

private:
  /// As many planes of each buffer as all variants need, each with the others' choice made alike: what an order
  /// asks of a buffer between two nests is the same for all of them.
  void findPlanes(GraphOp graph) {
    planesOf.clear();
    forEachUniformChoice(graph, [&](unsigned choice, GraphOp chosen, const IRMapping &mapping) {
      SymbolSpace space(chosen);
      GraphAccesses accesses(chosen);
      Planes planes(space, accesses, std::max(1u, maxPlanes.getValue()));
      auto results = cast<ReturnOp>(graph.getBody().front().back()).getOperands();
      graph.walk([&](BufferOp op) {
        // (Who says where it lies says how many planes it has.)
        if (op.getType().getDepth() == 0 || llvm::is_contained(results, op.getResult()) || !isChosen(op, choice) || op.getMemory())
          return;
        SmallVector<int64_t> live = planes.find(mapping.lookupOrDefault(op.getResult()));
        auto [entry, isNew] = planesOf.try_emplace(op, live);
        for (auto [all, own] : llvm::zip_equal(entry->second, live))
          all = all < 0 || own < 0 ? -1 : std::max(all, own);
      });
    });
  }

  llvm::MapVector<Operation *, SmallVector<int64_t>> planesOf;
};
} // namespace
