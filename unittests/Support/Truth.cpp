//===- Truth.cpp - is a graph right at given sizes? By enumeration --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Dialect/ETDG/IR/AttributeNames.h"
#include "fttest/Truth.h"
#include "fttest/AffineEval.h"
#include "ft/Dialect/ETDG/IR/InPlace.h"

using namespace mlir;
using namespace mlir::etdg;
using ft::test::contains, ft::test::evaluate, ft::test::floorDiv;

namespace {
using Point = std::vector<int64_t>;

int lastDimOf(AffineExpr expr, unsigned numDims) {
  for (int d = numDims; d-- > 0;)
    if (expr.isFunctionOfDim(d))
      return d;
  return -1;
}

/// A step to an iteration: those that differ in an unordered one run at once.
struct Stop {
  int64_t key;
  bool unordered = false;
  // Of a loop: what runs its iterations, whether always the same unit runs one, which loop it is; who waits after each.
  LoopLevel level = LoopLevel::None;
  bool isFixed = false;
  std::pair<Operation *, size_t> loop = {nullptr, 0};
  SyncKind sync = SyncKind::None;
  // Of a body: who waits before each operation, and whether each is a launch, of any target or of a CPU.
  std::vector<SyncKind> before;
  bool isLaunch = false, isCpuLaunch = false;

  bool isDealt() const {
    return level == LoopLevel::Grid || level == LoopLevel::Cluster || level == LoopLevel::Block || level == LoopLevel::Core;
  }
};

struct Event {
  BlockOp leaf;
  Point point;
  std::vector<Stop> path;
  /// How many stops stand in front of each loop of the leaf's schedule.
  std::vector<size_t> loopsAt;
};

enum class Order { Before, After, AtOnce, Same };

/// From the narrowest set of units to the widest.
int rank(LoopLevel level) {
  return level == LoopLevel::Block ? 1 : level == LoopLevel::Cluster ? 2 : level == LoopLevel::Grid ? 3 : 0;
}
bool covers(SyncKind sync, LoopLevel level) {
  if (sync == SyncKind::Kernel)
    return true;
  if (level == LoopLevel::Core)
    return sync == SyncKind::Cores;
  int of = sync == SyncKind::Block ? 1 : sync == SyncKind::Cluster ? 2 : sync == SyncKind::Grid ? 3 : 0;
  return of >= rank(level);
}

/// Whether the unit of `b` sees what the one of `a` did, which came before it by stop `i`: it is the same one, or all have waited.
bool sees(const Event &a, const Event &b, size_t i) {
  std::vector<const Stop *> dealtA, dealtB;
  for (auto [event, dealt] : {std::pair(&a, &dealtA), {&b, &dealtB}})
    for (size_t s = i + 1; s < event->path.size(); ++s)
      if (event->path[s].isDealt())
        dealt->push_back(&event->path[s]);
  bool sameUnit = dealtA.size() == dealtB.size();
  for (size_t d = 0; sameUnit && d < dealtA.size(); ++d)
    sameUnit = dealtA[d]->isFixed && dealtA[d]->loop == dealtB[d]->loop && dealtA[d]->key == dealtB[d]->key;
  if (sameUnit)
    return true;
  bool onCpu = true;
  auto isWait = [&](SyncKind sync) {
    for (const std::vector<const Stop *> &dealt : {dealtA, dealtB})
      for (const Stop *stop : dealt)
        if (!covers(sync, stop->level))
          return false;
    return true;
  };
  for (const std::vector<const Stop *> &dealt : {dealtA, dealtB})
    for (const Stop *stop : dealt)
      onCpu &= stop->level == LoopLevel::Core;
  const Stop &atA = a.path[i], &atB = b.path[i];
  if (atA.isLaunch || (atA.isCpuLaunch && onCpu) || (isWait(atA.sync) && isWait(atB.sync)))
    return true;
  auto anyWait = [&](const Stop &body, int64_t first, int64_t last) {
    for (int64_t o = first; o <= last && o < int64_t(body.before.size()); ++o)
      if (isWait(body.before[size_t(o)]))
        return true;
    return false;
  };
  if (anyWait(atA, atA.key + 1, atB.key))
    return true;
  for (size_t s = i + 1; s < a.path.size() && !a.path[s].isDealt(); ++s)
    if (isWait(a.path[s].sync) || anyWait(a.path[s], a.path[s].key + 1, int64_t(a.path[s].before.size())))
      return true;
  for (size_t s = i + 1; s < b.path.size() && !b.path[s].isDealt(); ++s)
    if (anyWait(b.path[s], 0, b.path[s].key))
      return true;
  return false;
}

Order compare(const Event &a, const Event &b) {
  for (size_t i = 0; i < std::min(a.path.size(), b.path.size()); ++i)
    if (a.path[i].key != b.path[i].key) {
      if (a.path[i].unordered)
        return Order::AtOnce;
      bool isBefore = a.path[i].key < b.path[i].key;
      if (!(isBefore ? sees(a, b, i) : sees(b, a, i)))
        return Order::AtOnce;
      return isBefore ? Order::Before : Order::After;
    }
  return a.leaf == b.leaf && a.point == b.point ? Order::Same : Order::AtOnce;
}

struct Loop {
  AffineExpr expr; // over own dimensions
  int64_t tile;
  bool unordered;
  LoopLevel level = LoopLevel::None;
  bool isFixed = false;
  SyncKind sync = SyncKind::None;
  int64_t number = -1;    // in the schedule
  bool ofColumns = false; // of the leaf
};

class Truth {
public:
  Truth(GraphOp graph, const Sizes &sizes) : graph(graph), sizes(sizes) {
    for (auto &[name, size] : sizes)
      reach = std::max(reach, size);
    auto include = [&](Type type) {
      if (auto buffer = dyn_cast<BufferType>(type))
        for (ft::LengthAttr length : buffer.getLengths())
          reach = std::max(reach, lengthOf(length));
    };
    for (Type type : graph.getArgumentTypes())
      include(type);
    graph.walk([&](BufferOp op) { include(op.getType()); });
    // Sums of two dimensions, and offsets.
    reach = 2 * reach + 6;
  }
  std::string run();
  std::set<std::pair<Operation *, Operation *>> findCrossings();

private:
  Point symbolsOf(BlockOp block) {
    Point values;
    for (StringAttr name : block.getSymbolNames())
      values.push_back(sizes.at(name.str()));
    return values;
  }
  int64_t lengthOf(ft::LengthAttr length) {
    return *length.evaluate(
        [&](StringAttr name) -> std::optional<int64_t> { return sizes.at(name.str()); });
  }
  void fail(const std::string &text) {
    if (wrong.empty())
      wrong = text;
  }
  bool isBijection(AffineMap map, unsigned numDims);
  std::vector<Loop> loopsOf(BlockOp block, ScheduleAttr schedule);
  void walk(Region &body, const Point &ancestors, const std::vector<Stop> &path);
  void walkItem(ArrayRef<BlockOp> blocks, ScheduleAttr schedule, const Point &ancestors,
                const std::vector<Stop> &path, ArrayRef<Loop> shared, std::optional<Stop> inKernel);
  std::vector<Point> pointsOf(BlockOp block, const Point &ancestors);
  void access(const Event &event, size_t id);
  /// What a placement stages: nothing that agrees with the read in the stops in front of its loop writes it.
  void checkStaged(const Event &event, size_t id);
  void checkReads();
  void checkInPlace();
  /// The cell of a buffer as a key: buffer, owner's point, indices.
  Point cellOf(Value buffer, const Point &point, const Point &indices);
  bool inBounds(Value buffer, const Point &indices);

  GraphOp graph;
  const Sizes &sizes;
  int64_t reach = 0;
  std::string wrong;
  std::vector<Event> events;
  llvm::DenseMap<Value, int64_t> ids;
  std::vector<Value> buffers;
  std::map<Point, std::vector<size_t>> writes, reads, argumentReads; // events by cell
  std::map<std::pair<size_t, size_t>, std::vector<Point>> cellsOfRead; // by event and number of the read
};
} // namespace

bool Truth::isBijection(AffineMap map, unsigned numDims) {
  if (map.getNumDims() != numDims || map.getNumResults() != numDims || map.getNumSymbols())
    return false;
  if (numDims == 0)
    return true;
  // Every step along an axis of the image has a preimage, and zero only one.
  int64_t bound = numDims > 3 ? 2 : 4;
  Point x(numDims, -bound), zero(numDims, 0);
  Point origin;
  for (AffineExpr row : map.getResults())
    origin.push_back(evaluate(row, zero, {}));
  Point step(numDims);
  std::vector<bool> found(numDims, false);
  std::vector<Point> axes;
  for (unsigned d = 0; d < numDims; ++d) {
    Point unit(numDims, 0), image;
    unit[d] = 1;
    for (unsigned r = 0; r < numDims; ++r)
      image.push_back(evaluate(map.getResult(r), unit, {}) - origin[r]);
    axes.push_back(image);
  }
  for (;;) {
    Point linear(numDims, 0);
    unsigned ones = 0, zeros = 0, at = 0;
    for (unsigned r = 0; r < numDims; ++r) {
      for (unsigned d = 0; d < numDims; ++d)
        linear[r] += x[d] * axes[d][r];
      if (evaluate(map.getResult(r), x, {}) - origin[r] != linear[r])
        return false; // not linear
      zeros += linear[r] == 0;
      if (linear[r] == 1) {
        ++ones;
        at = r;
      }
    }
    if (zeros == numDims && x != zero)
      return false;
    if (zeros == numDims - 1 && ones == 1)
      found[at] = true;
    unsigned d = 0;
    while (d < numDims && ++x[d] > bound)
      x[d++] = -bound;
    if (d == numDims)
      break;
  }
  return llvm::all_of(found, [](bool f) { return f; });
}

std::vector<Loop> Truth::loopsOf(BlockOp block, ScheduleAttr schedule) {
  std::vector<Loop> loops;
  unsigned numOwn = block.getNumOwnDims();
  if (!schedule) {
    for (unsigned i = 0; i < numOwn; ++i)
      loops.push_back({getAffineDimExpr(i, block.getContext()), 1,
                       block.getOperator(i) == ft::OperatorKind::Map});
    return loops;
  }
  AffineMap map = schedule.getMap().getValue();
  if (!isBijection(map, numOwn)) {
    fail("a schedule is no bijection");
    return loops;
  }
  std::vector<bool> points(numOwn, false);
  for (auto [number, loop] : llvm::enumerate(schedule.getLoops())) {
    if (schedule.isOverColumns(loop)) {
      loops.push_back({getAffineConstantExpr(0, block.getContext()), 1, false, loop.getLevel(), false, SyncKind::None, int64_t(number), true});
      continue;
    }
    // Of all cuts of a range of tile `?`, single iterations leave the least order.
    loops.push_back({map.getResult(loop.getDimension()), loop.getProvenTile(), loop.isParallel(), loop.getLevel(),
                     loop.getMapping() == IterationMapping::Static && !loop.hasAnyTile(), loop.getSync(), int64_t(number)});
    if (loop.isOverPoints())
      points[loop.getDimension()] = true;
  }
  for (unsigned i = 0; i < numOwn; ++i)
    if (!points[i])
      loops.push_back({map.getResult(i), 1, false});
  return loops;
}

std::vector<Point> Truth::pointsOf(BlockOp block, const Point &ancestors) {
  IntegerSet domain = block.getDomainSet();
  Point symbols = symbolsOf(block);
  unsigned numDims = block.getNumDims();
  // Each constraint is asked once its last dimension is known.
  std::vector<std::vector<unsigned>> byDim(numDims + 1);
  for (unsigned i = 0; i < domain.getNumConstraints(); ++i) {
    int last = lastDimOf(domain.getConstraint(i), numDims);
    byDim[std::max<int>(last + 1, ancestors.size())].push_back(i);
  }
  auto holds = [&](const Point &point) {
    for (unsigned i : byDim[point.size()]) {
      Point wide = point;
      wide.resize(numDims, 0);
      int64_t value = evaluate(domain.getConstraint(i), wide, symbols);
      if (domain.isEq(i) ? value != 0 : value < 0)
        return false;
    }
    return true;
  };
  std::vector<Point> points;
  auto extend = [&](auto &self, Point &point) -> void {
    if (!holds(point))
      return;
    if (point.size() == numDims) {
      points.push_back(point);
      return;
    }
    for (int64_t value = -reach; value <= reach; ++value) {
      point.push_back(value);
      self(self, point);
      point.pop_back();
    }
  };
  Point point = ancestors;
  extend(extend, point);
  return points;
}

/// What all regions or nests say of a loop.
static void join(Loop &all, const Loop &loop) {
  all.unordered &= loop.unordered;
  if (all.sync != loop.sync)
    all.sync = SyncKind::None;
}

static std::vector<Loop> withoutColumns(std::vector<Loop> loops) {
  llvm::erase_if(loops, [](const Loop &loop) { return loop.ofColumns; });
  return loops;
}

void Truth::walkItem(ArrayRef<BlockOp> blocks, ScheduleAttr schedule, const Point &ancestors,
                     const std::vector<Stop> &path, ArrayRef<Loop> shared, std::optional<Stop> inKernel) {
  std::vector<std::vector<Loop>> loops;
  for (BlockOp block : blocks)
    loops.push_back(loopsOf(block, schedule ? schedule : block.getScheduleAttr()));
  if (!wrong.empty())
    return;
  for (auto &own : loops)
    if (own.size() != loops.front().size())
      return fail("different numbers of loops");
  std::vector<Loop> all = loops.front();
  for (auto &own : loops)
    for (size_t l = 0; l < own.size(); ++l)
      join(all[l], own[l]);
  std::vector<Point> seen;
  for (size_t b = 0; b < blocks.size(); ++b) {
    BlockOp block = blocks[b];
    for (const Point &point : pointsOf(block, ancestors)) {
      if (llvm::is_contained(seen, point))
        fail("regions overlap");
      if (blocks.size() > 1)
        seen.push_back(point);
      Point own(point.begin() + ancestors.size(), point.end());
      Event event{block, point, path, std::vector<size_t>(loops[b].size())};
      std::vector<Stop> &inner = event.path;
      size_t points = 0;
      bool isInside = !inKernel;
      for (size_t l = 0; l <= loops[b].size(); ++l) {
        // The nest stands in its kernel after the loops that all share.
        if (!isInside && points == shared.size()) {
          inner.push_back(*inKernel);
          isInside = true;
        }
        if (l == loops[b].size())
          break;
        const Loop &loop = loops[b][l];
        const Loop &said = !loop.ofColumns && points < shared.size() ? shared[points] : all[l];
        if (loop.number >= 0)
          event.loopsAt[size_t(loop.number)] = inner.size();
        Stop stop{floorDiv(evaluate(loop.expr, own, {}), loop.tile), said.unordered};
        stop.level = loop.level;
        stop.isFixed = loop.isFixed;
        stop.loop = {blocks.front(), l};
        stop.sync = said.sync;
        inner.push_back(stop);
        points += !loop.ofColumns;
      }
      if (blocks.size() > 1)
        inner.push_back({static_cast<int64_t>(b), true});
      if (block.isLeaf())
        events.push_back(event);
      else
        walk(block.getBody(), point, inner);
      if (!wrong.empty())
        return;
    }
  }
}

void Truth::walk(Region &body, const Point &ancestors, const std::vector<Stop> &path) {
  auto blocksOf = [](Operation *op) {
    SmallVector<BlockOp> blocks;
    if (auto nest = dyn_cast<NestOp>(op))
      blocks.append(nest.getBody().getOps<BlockOp>().begin(),
                    nest.getBody().getOps<BlockOp>().end());
    else
      blocks.push_back(cast<BlockOp>(op));
    return blocks;
  };
  auto ofNest = [](Operation *op) { return isa<NestOp>(op) ? scheduleOf(op) : ScheduleAttr(); };
  auto waitsIn = [](Region &of) {
    std::vector<SyncKind> before;
    for (Operation &op : of.front()) {
      ScheduleAttr schedule = scheduleOf(&op);
      before.push_back(schedule ? schedule.getBefore() : SyncKind::None);
    }
    return before;
  };
  Stop at{0};
  at.before = waitsIn(body);
  at.isLaunch = body.getParentOp() == graph;
  for (Operation &op : body.front()) {
    std::vector<Stop> inner = path;
    inner.push_back(at);
    ++at.key;
    if (isa<BlockOp, NestOp>(op)) {
      walkItem(blocksOf(&op), ofNest(&op), ancestors, inner, {}, std::nullopt);
    } else if (auto kernel = dyn_cast<KernelOp>(op)) {
      unsigned count = kernel.getShared();
      std::vector<Loop> shared;
      for (Operation &nested : kernel.getBody().front())
        for (BlockOp block : blocksOf(&nested)) {
          ScheduleAttr schedule = ofNest(&nested);
          std::vector<Loop> loops = withoutColumns(loopsOf(block, schedule ? schedule : block.getScheduleAttr()));
          if (!wrong.empty())
            return;
          if (loops.size() < count)
            return fail("too many shared loops");
          if (shared.empty())
            shared.assign(loops.begin(), loops.begin() + count);
          for (unsigned l = 0; l < count; ++l)
            join(shared[l], loops[l]);
        }
      Stop in{0};
      in.before = waitsIn(kernel.getBody());
      in.isCpuLaunch = count == 0 && kernel->getParentOp() == graph;
      for (Operation &nested : kernel.getBody().front()) {
        walkItem(blocksOf(&nested), ofNest(&nested), ancestors, inner, shared, in);
        ++in.key;
      }
    }
    if (!wrong.empty())
      return;
  }
}

Point Truth::cellOf(Value buffer, const Point &point, const Point &indices) {
  auto [it, isNew] = ids.insert({buffer, buffers.size()});
  if (isNew)
    buffers.push_back(buffer);
  Point cell{it->second};
  Operation *def = buffer.getDefiningOp();
  BlockOp owner = def ? def->getParentOfType<BlockOp>() : BlockOp();
  cell.insert(cell.end(), point.begin(), point.begin() + (owner ? owner.getNumDims() : 0));
  cell.insert(cell.end(), indices.begin(), indices.end());
  return cell;
}

bool Truth::inBounds(Value buffer, const Point &indices) {
  auto type = cast<BufferType>(buffer.getType());
  for (auto [d, index] : llvm::enumerate(indices)) {
    int64_t size = d < type.getDepth() ? lengthOf(type.getLengths()[d])
                                       : type.getElement().getDimSize(d - type.getDepth());
    if (index < 0 || index >= size)
      return false;
  }
  return true;
}

void Truth::access(const Event &event, size_t id) {
  BlockOp block = event.leaf;
  Point symbols = symbolsOf(block);
  auto mapped = [&](AffineMap map, const Point &at) {
    Point indices;
    for (AffineExpr expr : map.getResults())
      indices.push_back(evaluate(expr, at, symbols));
    return indices;
  };
  size_t ofRead = 0;
  auto readCell = [&](Value buffer, Point indices) {
    if (!inBounds(buffer, indices))
      return fail("a read is out of bounds");
    indices.resize(cast<BufferType>(buffer.getType()).getDepth());
    Point cell = cellOf(buffer, event.point, indices);
    if (!buffer.getDefiningOp<BufferOp>()) {
      argumentReads[cell].push_back(id);
      return;
    }
    reads[cell].push_back(id);
    cellsOfRead[{id, ofRead}].push_back(cell);
  };
  auto readAt = [&](ReadAttr read, const Point &at) {
    unsigned holding = 0;
    for (PieceAttr piece : read.getPieces()) {
      if (!contains(piece.getSet().getValue(), at, symbols))
        continue;
      ++holding;
      if (piece.getKind() != SourceKind::Buffer)
        continue;
      Value buffer = block.getBuffers()[piece.getOperand()];
      auto type = cast<BufferType>(buffer.getType());
      std::vector<Point> all{mapped(piece.getMap().getValue(), at)};
      for (GatherAttr gather : piece.getGathers()) {
        readCell(block.getBuffers()[gather.getOperand()], mapped(gather.getMap().getValue(), at));
        // Data may choose any index.
        std::vector<Point> more;
        int64_t d = gather.getPosition();
        int64_t size = d < type.getDepth() ? lengthOf(type.getLengths()[d]) : 1;
        for (Point indices : all)
          for (int64_t v = 0; v < size; ++v) {
            indices[d] = v;
            more.push_back(indices);
          }
        all = more;
      }
      for (const Point &indices : all)
        readCell(buffer, indices);
    }
    if (holding != 1)
      fail("pieces overlap or leave a point out");
  };
  for (auto [i, read] : llvm::enumerate(block.getReads().getAsRange<ReadAttr>())) {
    ofRead = i;
    if (!read.getElementRank()) {
      readAt(read, event.point);
      continue;
    }
    auto shape = cast<RankedTensorType>(block.getBody().getArgument(i).getType()).getShape();
    Point at = event.point;
    at.resize(event.point.size() + shape.size(), 0);
    for (bool more = !llvm::is_contained(shape, 0); more && wrong.empty();) {
      readAt(read, at);
      size_t d = shape.size();
      while (d > 0 && ++at[event.point.size() + d - 1] == shape[d - 1])
        at[event.point.size() + --d] = 0;
      more = d > 0;
    }
  }
  for (ReadAttr read : block.getIdentity().getAsRange<ReadAttr>())
    if (!read.getElementRank())
      readAt(read, event.point);
  for (WriteAttr write : block.getWrites().getAsRange<WriteAttr>()) {
    Value buffer = block.getBuffers()[write.getOperand()];
    Point indices = mapped(write.getMap().getValue(), event.point);
    if (!inBounds(buffer, indices))
      return fail("a write is out of bounds");
    writes[cellOf(buffer, event.point, indices)].push_back(id);
  }
}

void Truth::checkStaged(const Event &event, size_t id) {
  BlockOp block = event.leaf;
  ScheduleAttr schedule = scheduleOf(block.getNest() ? block.getNest().getOperation() : block.getOperation());
  for (PlacementAttr placement : schedule ? schedule.getPlacements() : ArrayRef<PlacementAttr>()) {
    if (placement.getRead() >= int64_t(block.getNumReads()))
      return fail("a placement of a read that does not exist");
    size_t loop = size_t(placement.getLoop());
    size_t front = loop < schedule.getLoops().size() ? event.loopsAt[loop] : event.path.size();
    const int64_t ahead = placement.getStages() - 1;
    if (ahead > 0 && (front == 0 || !event.path[front - 1].loop.first || schedule.isOverColumns(schedule.getLoops()[loop - 1])))
      return fail("a placement that is ahead of no loop");
    for (const Point &cell : cellsOfRead[{id, size_t(placement.getRead())}])
      for (size_t writer : writes[cell]) {
        bool agrees = events[writer].path.size() >= front;
        for (size_t s = 0; agrees && s < front; ++s) {
          int64_t behind = events[writer].path[s].key - event.path[s].key;
          agrees = ahead > 0 && s + 1 == front ? behind >= -ahead : behind == 0;
        }
        if (agrees && compare(events[writer], event) != Order::Same)
          fail("a read is staged before it is written");
      }
  }
}

void Truth::checkReads() {
  for (auto &[cell, by] : reads) {
    auto it = writes.find(cell);
    if (it == writes.end())
      return fail("what is read is never written");
    for (size_t reader : by)
      if (compare(events[it->second.front()], events[reader]) != Order::Before)
        return fail("a read does not come after its write");
  }
  for (size_t i = 0; i < events.size() && wrong.empty(); ++i)
    checkStaged(events[i], i);
}

/// Where a result lies in an argument's memory, nothing reads an element of that after its new one has been written.
void Truth::checkInPlace() {
  auto pairs = graph->getAttrOfType<DenseI64ArrayAttr>("etdg.in_place");
  for (int64_t i = 0; pairs && i + 1 < pairs.size(); i += 2) {
    Value argument = graph.getBody().getArgument(unsigned(pairs[i]));
    Value result = graph.getBody().front().getTerminator()->getOperand(unsigned(pairs[i + 1]));
    for (auto &[cell, readers] : argumentReads) {
      Point same = cell;
      same[0] = cellOf(result, {}, {})[0];
      if (buffers[size_t(cell[0])] != argument || !writes.count(same))
        continue;
      const Event &writer = events[writes.at(same).front()];
      BlockOp block = writer.leaf;
      // (A copy of the element itself moves nothing.)
      bool copies = llvm::any_of(llvm::seq(block.getNumWrites()), [&](unsigned w) {
        return block.getBuffers()[block.getWrite(w).getOperand()] == result && isCopyFrom(block, w, argument);
      });
      for (size_t reader : readers)
        if (Order order = compare(events[reader], writer); !copies && order != Order::Before && order != Order::Same)
          return fail("an argument is overwritten too early");
    }
  }
}

std::string Truth::run() {
  // Also of blocks that have no iteration at these sizes.
  graph.walk([&](BlockOp block) {
    auto nest = dyn_cast<NestOp>(block->getParentOp());
    loopsOf(block, nest && nest.getScheduleAttr() ? nest.getScheduleAttr() : block.getScheduleAttr());
  });
  walk(graph.getBody(), {}, {});
  for (size_t i = 0; i < events.size() && wrong.empty(); ++i)
    access(events[i], i);
  if (!wrong.empty())
    return wrong;
  for (auto &[cell, by] : writes)
    if (by.size() > 1)
      return "an element is written twice";
  checkReads();
  if (!wrong.empty())
    return wrong;
  for (Value result : graph.getBody().front().getTerminator()->getOperands()) {
    auto type = cast<BufferType>(result.getType());
    Point indices(type.getDepth(), 0);
    auto ask = [&](auto &self, unsigned d) -> bool {
      if (d == indices.size())
        return writes.count(cellOf(result, {}, indices)) != 0;
      for (indices[d] = 0; indices[d] < lengthOf(type.getLengths()[d]); ++indices[d])
        if (!self(self, d + 1))
          return false;
      return true;
    };
    if (!ask(ask, 0))
      return "part of a result is not written";
    auto op = result.getDefiningOp<BufferOp>();
    if (!op.keepsAllPlanes())
      return "a result does not keep its planes";
    if (op->hasAttr(etdg::names::slot))
      return "a result has a slot";
  }
  // Memory: two elements lie in one place if they are planes that agree modulo `live`,
  // or of two buffers of one slot; where those are not laid out alike, always.
  std::map<int64_t, std::vector<Point>> memories;
  auto slotOf = [](BufferOp op) { return op->getAttrOfType<IntegerAttr>(etdg::names::slot); };
  for (auto &[cell, by] : writes) {
    auto op = buffers[cell[0]].getDefiningOp<BufferOp>();
    auto slot = slotOf(op);
    if (slot || !op.keepsAllPlanes())
      memories[slot ? -1 - slot.getInt() : cell[0]].push_back(cell);
  }
  auto isOnePlace = [&](const Point &a, const Point &b) {
    auto x = buffers[a[0]].getDefiningOp<BufferOp>(), y = buffers[b[0]].getDefiningOp<BufferOp>();
    if (x.getType() != y.getType() || x.getLiveAttr() != y.getLiveAttr())
      return true;
    size_t numOwner = a.size() - x.getType().getDepth();
    for (size_t i = 1; i < a.size(); ++i) {
      int64_t planes = i >= numOwner && x.getLiveAttr() ? (*x.getLive())[i - numOwner] : -1;
      if (planes > 0 ? (a[i] - b[i]) % planes != 0 : a[i] != b[i])
        return false;
    }
    return true;
  };
  for (auto &[memory, cells] : memories)
    for (const Point &cell : cells)
      for (size_t reader : reads.count(cell) ? reads.at(cell) : std::vector<size_t>())
        for (const Point &other : cells) {
          if (other == cell || !isOnePlace(cell, other))
            continue;
          const Event &write = events[writes.at(cell).front()], &read = events[reader],
                      &clobber = events[writes.at(other).front()];
          bool late = compare(clobber, write) != Order::Before;
          Order toRead = compare(read, clobber);
          if (late && toRead != Order::Before && toRead != Order::Same)
            return "an element is overwritten too early";
        }
  checkInPlace();
  return wrong;
}

/// The operation of a top-level kernel that a leaf is inside of.
static Operation *itemOf(BlockOp leaf) {
  auto isTop = [](Operation *op) { return isa<GraphOp>(op) || (isa<KernelOp>(op) && isa<GraphOp>(op->getParentOp())); };
  Operation *item = leaf;
  while (!isTop(item->getParentOp()))
    item = item->getParentOp();
  return item;
}

std::set<std::pair<Operation *, Operation *>> Truth::findCrossings() {
  std::set<std::pair<Operation *, Operation *>> found;
  walk(graph.getBody(), {}, {});
  for (size_t i = 0; i < events.size() && wrong.empty(); ++i)
    access(events[i], i);
  for (auto &[cell, readers] : reads)
    if (auto it = writes.find(cell); it != writes.end())
      for (size_t writer : it->second)
        for (size_t reader : readers)
          found.insert({itemOf(events[writer].leaf), itemOf(events[reader].leaf)});
  return found;
}

std::set<std::pair<Operation *, Operation *>> etdg::findCrossings(GraphOp graph, const Sizes &sizes) { return Truth(graph, sizes).findCrossings(); }

std::string etdg::findWrong(GraphOp graph, const Sizes &sizes) { return Truth(graph, sizes).run(); }
