//===- Mutants.cpp - one small change of a scheduled graph ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Some changes keep a graph right, most don't; which is which is not said here.
//
//===----------------------------------------------------------------------===//
#include "ft/Dialect/ETDG/IR/AttributeNames.h"
#include "fttest/Mutants.h"

using namespace mlir;
using namespace mlir::etdg;

namespace {
class Maker {
public:
  explicit Maker(GraphOp graph) : graph(graph), context(graph.getContext()) {}
  std::vector<Mutant> make();

private:
  /// Operations are found again in a copy by their number.
  static Operation *find(GraphOp graph, unsigned number) {
    Operation *found = nullptr;
    graph.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (number-- != 0)
        return WalkResult::advance();
      found = op;
      return WalkResult::interrupt();
    });
    return found;
  }
  void add(const std::string &kind, const std::string &what, unsigned op,
           std::function<void(Operation *)> change) {
    mutants.push_back({kind, what + " of operation " + std::to_string(op),
                       [=](GraphOp copy) { change(find(copy, op)); }});
  }
  static void setSchedule(Operation *op, ScheduleAttr schedule) {
    op->removeAttr(etdg::names::candidates);
    etdg::setSchedule(op, schedule);
  }
  void addSchedule(const std::string &kind, const std::string &what, unsigned op, AffineMap map,
                   ArrayRef<LoopAttr> loops) {
    addWhole(kind, what, op, map, loops, old.getPlacements(), old.getBefore());
  }
  void addWhole(const std::string &kind, const std::string &what, unsigned op, AffineMap map, ArrayRef<LoopAttr> loops,
                ArrayRef<PlacementAttr> placements, SyncKind before) {
    auto schedule = ScheduleAttr::get(context, AffineMapAttr::get(map), loops, placements, before, old.getWeights(), old.getBlock(),
                                      old.getColumns(), old.getTarget());
    add(kind, what, op, [=](Operation *at) { setSchedule(at, schedule); });
  }
  AffineMap withRow(AffineMap map, unsigned row, AffineExpr expr) {
    SmallVector<AffineExpr> rows(map.getResults());
    rows[row] = expr;
    return AffineMap::get(map.getNumDims(), 0, rows, context);
  }
  void makeSchedules(Operation *op, unsigned number);
  void makeDecisions(Operation *op, unsigned number);
  void makeDomains(BlockOp block, unsigned number);
  void makeAccesses(BlockOp block, unsigned number);
  void makeBodies(Operation *op, unsigned number);

  GraphOp graph;
  MLIRContext *context;
  ScheduleAttr old; // of the operation that is changed
  std::vector<Mutant> mutants;
};
} // namespace

void Maker::makeSchedules(Operation *op, unsigned number) {
  old = scheduleOf(op);
  if (!old)
    return;
  makeDecisions(op, number);
  AffineMap map = old.getMap().getValue();
  SmallVector<LoopAttr> loops(old.getLoops());
  for (unsigned r = 0; r < map.getNumResults(); ++r) {
    AffineExpr row = map.getResult(r);
    std::string at = "row " + std::to_string(r);
    addSchedule("sign", at, number, withRow(map, r, -row), loops);
    addSchedule("not unimodular", at + " doubled", number, withRow(map, r, row * 2), loops);
    for (int offset : {-2, -1, 1, 2})
      addSchedule("offset", at + (offset > 0 ? " +" : " ") + std::to_string(offset), number,
                  withRow(map, r, row + offset), loops);
    for (unsigned d = 0; d < map.getNumDims(); ++d)
      for (int factor : {1, -1})
        addSchedule("skew", at + " with dimension " + std::to_string(d), number,
                    withRow(map, r, row + getAffineDimExpr(d, context) * factor), loops);
    for (unsigned q = 0; q < r; ++q) {
      addSchedule("not unimodular", at + " twice", number, withRow(map, r, map.getResult(q)),
                  loops);
      addSchedule("swapped rows", at + " and " + std::to_string(q), number,
                  withRow(withRow(map, r, map.getResult(q)), q, row), loops);
    }
  }
  for (unsigned l = 0; l < loops.size(); ++l) {
    LoopAttr loop = loops[l];
    auto with = [&](LoopKind kind, int64_t tile = 1) {
      return LoopAttr::get(context, loop.getDimension(), tile, kind);
    };
    bool sequential = loop.getKind() == LoopKind::Sequential;
    SmallVector<LoopAttr> changed = loops;
    changed[l] = with(sequential ? LoopKind::Parallel : LoopKind::Sequential);
    addSchedule(sequential ? "dropped dependence" : "made sequential", "loop " + std::to_string(l),
                number, map, changed);
    changed[l] = with(sequential ? LoopKind::Vector : LoopKind::Unroll);
    addSchedule(sequential ? "dropped dependence" : "made sequential",
                "loop " + std::to_string(l) + " (vector)", number, map, changed);
    if (loop.getTile() == 1)
      for (int64_t tile : {2, 3})
        for (bool outerParallel : {false, true}) {
          SmallVector<LoopAttr> tiled = loops;
          tiled[l] = with(outerParallel ? LoopKind::Sequential : LoopKind::Parallel);
          tiled.insert(tiled.begin() + l,
                       with(outerParallel ? LoopKind::Parallel : LoopKind::Sequential, tile));
          addSchedule("tile", "loop " + std::to_string(l), number, map, tiled);
        }
    for (unsigned m = 0; m < l; ++m) {
      SmallVector<LoopAttr> swapped = loops;
      std::swap(swapped[l], swapped[m]);
      addSchedule("swapped loops", std::to_string(m) + " and " + std::to_string(l), number, map,
                  swapped);
    }
  }
}

static bool isDealtTo(LoopLevel level) { return level == LoopLevel::Core || level == LoopLevel::Grid; }

/// Who runs iterations, who waits, what is staged.
void Maker::makeDecisions(Operation *op, unsigned number) {
  AffineMap map = old.getMap().getValue();
  SmallVector<LoopAttr> loops(old.getLoops());
  for (auto [l, loop] : llvm::enumerate(loops)) {
    std::string at = "loop " + std::to_string(l);
    auto with = [&, l = l](LoopLevel level, IterationMapping mapping, SyncKind sync) {
      SmallVector<LoopAttr> changed = loops;
      changed[l] = LoopAttr::get(context, loops[l].getDimension(), loops[l].getTile(), loops[l].getMost(), loops[l].getUnit(),
                                 loops[l].getKind(), level, mapping, sync);
      return changed;
    };
    if (loop.isParallel()) {
      for (LoopLevel level : {LoopLevel::None, LoopLevel::Core, LoopLevel::Grid, LoopLevel::Rows})
        if (level != loop.getLevel())
          addSchedule("level", at + " " + stringifyLoopLevel(level).str(), number, map, with(level, IterationMapping::None, SyncKind::None));
      const IterationMapping first = loop.getLevel() == LoopLevel::Core ? IterationMapping::Dynamic : IterationMapping::Cyclic;
      for (IterationMapping mapping : {first, IterationMapping::Block, IterationMapping::Static})
        if (isDealtTo(loop.getLevel()) && mapping != loop.getMapping())
          addSchedule("mapping", at + " " + stringifyIterationMapping(mapping).str(), number, map, with(loop.getLevel(), mapping, SyncKind::None));
    } else if (loop.getKind() == LoopKind::Sequential) {
      for (SyncKind sync : {SyncKind::None, SyncKind::Block, SyncKind::Grid, SyncKind::Cores})
        if (sync != loop.getSync())
          addSchedule("sync", at + " " + stringifySyncKind(sync).str(), number, map, with(LoopLevel::None, IterationMapping::None, sync));
      // Without a wait, by units that always have the same iterations, where one loop is left to say so.
      SmallVector<LoopAttr> changed = with(LoopLevel::None, IterationMapping::None, SyncKind::None);
      for (LoopAttr &inner : changed)
        if (isDealtTo(inner.getLevel()))
          inner = LoopAttr::get(context, inner.getDimension(), inner.hasAnyTile() ? 1 : inner.getTile(), 0, 1, inner.getKind(),
                                inner.getLevel(), IterationMapping::Static, SyncKind::None);
      SmallVector<LoopAttr> points; // (a dimension has one loop over its points)
      for (LoopAttr inner : changed)
        if (!inner.isOverPoints() || llvm::none_of(points, [&](LoopAttr p) {
              return p.getDimension() == inner.getDimension() && p.isOverPoints();
            }))
          points.push_back(inner);
      addSchedule("mapping", at + " static, without a wait", number, map, points);
    }
  }
  for (SyncKind before : {SyncKind::None, SyncKind::Block, SyncKind::Grid, SyncKind::Cores})
    if (before != old.getBefore())
      addWhole("sync", "before " + stringifySyncKind(before).str(), number, map, loops, old.getPlacements(), before);
  auto block = dyn_cast<BlockOp>(op);
  if (auto nest = dyn_cast<NestOp>(op))
    block = *nest.getBody().getOps<BlockOp>().begin();
  for (unsigned read = 0; block.isLeaf() && read < block.getNumReads(); ++read)
    for (size_t l = 0; l < loops.size(); ++l)
      for (int64_t stages : {1, 3})
        if (stages == 1 || l > 0)
          addWhole("placement", "read " + std::to_string(read) + " at loop " + std::to_string(l) + " in " + std::to_string(stages) + " stages",
                   number, map, loops, {PlacementAttr::get(context, read, int64_t(l), MemoryLevel::Shared, stages)}, old.getBefore());
}

void Maker::makeDomains(BlockOp block, unsigned number) {
  IntegerSet domain = block.getDomainSet();
  if (isUniverse(domain))
    return;
  for (unsigned c = 0; c < domain.getNumConstraints(); ++c)
    for (int64_t by : {1, -1}) {
      SmallVector<AffineExpr> constraints(domain.getConstraints());
      constraints[c] = constraints[c] + by;
      auto changed = IntegerSetAttr::get(IntegerSet::get(
          domain.getNumDims(), domain.getNumSymbols(), constraints, domain.getEqFlags()));
      std::string kind = domain.isEq(c) ? "moved region" : by > 0 ? "overlap" : "lost iteration";
      add(kind, "constraint " + std::to_string(c), number,
          [=](Operation *op) { cast<BlockOp>(op).setDomainAttr(changed); });
    }
}

void Maker::makeAccesses(BlockOp block, unsigned number) {
  unsigned numDims = block.getNumDims();
  std::optional<unsigned> d, l;
  for (auto [i, name] : llvm::enumerate(block.getSymbolNames())) {
    if (name == "D")
      d = i;
    if (name == "L")
      l = i;
  }
  auto shifted = [&](AffineMap map, unsigned result, int64_t by) {
    SmallVector<AffineExpr> results(map.getResults());
    results[result] = results[result] + by;
    return AffineMap::get(map.getNumDims(), map.getNumSymbols(), results, context);
  };
  for (unsigned r = 0; r < block.getNumReads(); ++r) {
    ReadAttr read = block.getRead(r);
    ArrayRef<PieceAttr> pieces = read.getPieces();
    for (unsigned p = 0; p < pieces.size(); ++p) {
      PieceAttr piece = pieces[p];
      if (piece.getKind() != SourceKind::Buffer || read.getElementRank() ||
          !block.getBuffers()[piece.getOperand()].getDefiningOp<BufferOp>())
        continue;
      auto replace = [&](const std::string &kind, const std::string &what, ArrayRef<PieceAttr> by) {
        SmallVector<PieceAttr> changed(pieces);
        changed.erase(changed.begin() + p);
        changed.insert(changed.begin() + p, by.begin(), by.end());
        ReadAttr fresh = ReadAttr::get(context, changed, read.getElementRank());
        add(kind, what, number, [=](Operation *op) {
          SmallVector<Attribute> all(cast<BlockOp>(op).getReads().begin(),
                                     cast<BlockOp>(op).getReads().end());
          all[r] = fresh;
          cast<BlockOp>(op).setReadsAttr(ArrayAttr::get(op->getContext(), all));
        });
      };
      AffineMap map = piece.getMap().getValue();
      IntegerSet set = piece.getSet().getValue();
      std::string at = "read " + std::to_string(r) + " piece " + std::to_string(p);
      for (unsigned result = 0; result < map.getNumResults(); ++result)
        for (int64_t by : {-1, 1}) {
          auto wrong = PieceAttr::getBuffer(set, piece.getOperand(), shifted(map, result, by),
                                            piece.getGathers());
          replace("read offset", at + " result " + std::to_string(result), {wrong});
          if (!d || !l)
            continue;
          // The same, only where L = D + 3.
          AffineExpr gap = getAffineSymbolExpr(*l, context) - getAffineSymbolExpr(*d, context) - 3;
          auto where = [&](AffineExpr expr, bool isEq) {
            return intersect(set,
                             IntegerSet::get(numDims, block.getSymbolNames().size(), expr, isEq));
          };
          auto right = [&](AffineExpr expr) {
            return PieceAttr::getBuffer(where(expr, false), piece.getOperand(), map,
                                        piece.getGathers());
          };
          replace("only at L = D + 3", at + " result " + std::to_string(result),
                  {PieceAttr::getBuffer(where(gap, true), piece.getOperand(),
                                        shifted(map, result, by), piece.getGathers()),
                   right(gap - 1), right(-gap - 1)});
        }
    }
  }
  for (unsigned w = 0; w < block.getNumWrites(); ++w) {
    WriteAttr write = block.getWrite(w);
    AffineMap map = write.getMap().getValue();
    for (unsigned result = 0; result < map.getNumResults(); ++result) {
      auto fresh =
          WriteAttr::get(context, write.getOperand(), AffineMapAttr::get(shifted(map, result, 1)));
      add("write offset", "write " + std::to_string(w), number, [=](Operation *op) {
        SmallVector<Attribute> all(cast<BlockOp>(op).getWrites().begin(),
                                   cast<BlockOp>(op).getWrites().end());
        all[w] = fresh;
        cast<BlockOp>(op).setWritesAttr(ArrayAttr::get(op->getContext(), all));
      });
    }
  }
}

void Maker::makeBodies(Operation *op, unsigned number) {
  if (auto kernel = dyn_cast<KernelOp>(op))
    for (int64_t by : {-1, 1, 2})
      if (static_cast<int64_t>(kernel.getShared()) + by >= 0)
        add("shared loops", std::to_string(by), number, [=](Operation *at) {
          auto changed = cast<KernelOp>(at);
          changed.setShared(changed.getShared() + by);
        });
  if (isa<BlockOp, NestOp, KernelOp>(op))
    if (Operation *next = op->getNextNode(); next && isa<BlockOp, NestOp, KernelOp>(next))
      add("textual order", "swapped with the next", number,
          [](Operation *at) { at->moveAfter(at->getNextNode()); });
  if (op == graph)
    for (auto [r, result] : llvm::enumerate(graph.getBody().front().getTerminator()->getOperands()))
      for (BlockArgument argument : graph.getBody().getArguments())
        if (argument.getType() == result.getType()) {
          auto pair = DenseI64ArrayAttr::get(context, {int64_t(argument.getArgNumber()), int64_t(r)});
          add("in place", "result " + std::to_string(r) + " of argument " + std::to_string(argument.getArgNumber()), number,
              [=](Operation *at) { at->setAttr("etdg.in_place", pair); });
        }
  if (auto buffer = dyn_cast<BufferOp>(op)) {
    if (op->getParentOp() == graph)
      for (int64_t slot : {0, 1, 2})
        add("shared slot", std::to_string(slot), number, [=](Operation *at) {
          at->setAttr(etdg::names::slot, Builder(at->getContext()).getI64IntegerAttr(slot));
        });
    unsigned depth = buffer.getType().getDepth();
    for (unsigned d = 0; d < depth; ++d)
      for (int64_t planes : {1, 2, 3, 4}) {
        SmallVector<int64_t> live(depth, -1);
        if (buffer.getLiveAttr())
          live.assign(buffer.getLiveAttr().asArrayRef().begin(),
                      buffer.getLiveAttr().asArrayRef().end());
        if (live[d] == planes)
          continue;
        live[d] = planes;
        auto attr = DenseI64ArrayAttr::get(context, live);
        add("planes", "dimension " + std::to_string(d) + " keeps " + std::to_string(planes), number,
            [=](Operation *at) { cast<BufferOp>(at).setLiveAttr(attr); });
      }
  }
}

std::vector<Mutant> Maker::make() {
  unsigned number = 0;
  graph.walk<WalkOrder::PreOrder>([&](Operation *op) {
    makeSchedules(op, number);
    makeBodies(op, number);
    if (auto block = dyn_cast<BlockOp>(op)) {
      makeDomains(block, number);
      if (block.isLeaf())
        makeAccesses(block, number);
    }
    ++number;
  });
  return std::move(mutants);
}

std::vector<Mutant> etdg::makeMutants(GraphOp graph) { return Maker(graph).make(); }
