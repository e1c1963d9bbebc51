//===- RowLanes.cpp - which leaves work row by row ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All nests must walk the same points, and what one leaves for another must come
// back to the lane that had it: equal strides along points and row.
//
//===----------------------------------------------------------------------===//
#include "ft/Schedule/GPU/Layouts/GpuLeaf.h"

#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::leaf;
using namespace mlir::ft::schedule;

namespace {
class Planner {
public:
  Planner(const LeafGraph &graph, bool hasRows, const Machine &machine)
      : graph(graph), hasRows(hasRows), machine(machine), planning(machine.gpu) {}

  std::optional<RowPlan> run() {
    if (!findShape() || !matchNests() || !checkBuffers() || !chooseLanes())
      return std::nullopt;
    return std::move(plan);
  }

  /// With the lanes that another one has chosen; what of them doesn't fit in `wrong`.
  FailureOr<RowPlan> read(etdg::RowLanesAttr lanes, int64_t threads, std::string &wrong) {
    if (!findShape() || !matchNests() || !checkBuffers())
      wrong = "the leaf does not work row by row";
    else
      wrong = takeLanes(lanes, threads);
    if (!wrong.empty())
      return failure();
    return std::move(plan);
  }

private:
  static SmallVector<int> loopsOf(const Nest &nest) {
    SmallVector<int> loops;
    for (auto [loop, size] : llvm::enumerate(nest.sizes))
      if (size != 1)
        loops.push_back(loop);
    return loops;
  }

  /// The sums say what a row is; without sums it is what lies in a row in memory.
  bool findShape() {
    bool found = false;
    for (const Nest &nest : graph.nests) {
      if (nest.last || llvm::is_contained(nest.sizes, 0))
        return false;
      SmallVector<int64_t> points, reduced;
      for (int loop : loopsOf(nest))
        (nest.reduced[loop] ? reduced : points).push_back(nest.sizes[loop]);
      if (reduced.empty())
        continue;
      if (reduced.size() != 1 || (found && (points != plan.points || reduced[0] != plan.length)))
        return false;
      plan.points = std::move(points);
      plan.length = reduced[0];
      found = true;
    }
    if (!found) {
      isElementwise = true;
      for (const Nest &nest : graph.nests) {
        SmallVector<int64_t> sizes;
        for (int loop : loopsOf(nest))
          sizes.push_back(nest.sizes[loop]);
        if (sizes.empty() || (found && (sizes.back() != plan.length ||
                                        ArrayRef(sizes).drop_back() != ArrayRef(plan.points))))
          return false;
        plan.length = sizes.pop_back_val();
        plan.points = std::move(sizes);
        found = true;
      }
    }
    return found && plan.length >= planning.leastRow;
  }

  bool matchNests() {
    for (const Nest &nest : graph.nests) {
      SmallVector<int> loops = loopsOf(nest);
      auto sizesWithout = [&](int without) {
        SmallVector<int64_t> sizes;
        for (int loop : loops)
          if (loop != without)
            sizes.push_back(nest.sizes[loop]);
        return sizes;
      };
      RowNest form;
      form.nest = &nest;
      if (loops.size() == plan.points.size() + 1) {
        for (int loop : llvm::reverse(loops)) { // where both fit, the inner one
          bool isReduction = llvm::is_contained(nest.reduced, true);
          if (form.rowLoop < 0 && nest.sizes[loop] == plan.length &&
              sizesWithout(loop) == plan.points && (!isReduction || nest.reduced[loop]))
            form.rowLoop = loop;
        }
        if (form.rowLoop < 0)
          return false;
      } else if (sizesWithout(-1) != plan.points) {
        return false;
      }
      for (int loop : loops)
        if (loop != form.rowLoop)
          form.pointLoops.push_back(loop);
      for (const NestMember &member : nest.members)
        for (Operation *combiner : member.combiners)
          if (!combiner || !arith::getNeutralElement(combiner))
            return false;
      plan.nests.push_back(std::move(form));
    }
    return true;
  }

  /// How a nest meets a buffer: strides along the points, then along the row.
  static ElementView normalised(const RowNest &form, const ElementView &view) {
    ElementView result = view;
    result.strides.clear();
    for (int loop : form.pointLoops)
      result.strides.push_back(view.strides[loop]);
    result.strides.push_back(form.rowLoop < 0 ? 0 : view.strides[form.rowLoop]);
    return result;
  }

  /// What a nest before, or a member before, has left.
  struct Written {
    ElementView view;
    bool isRow;
    bool hoisted;
  };
  using WrittenMap = DenseMap<int, Written>;

  bool readsOf(const RowNest &form, const ElementView &view, bool &hoisted) const {
    if (view.isSplat())
      return true;
    if (view.hasBorders()) // lanes load whole rows
      return false;
    for (const DynamicTerm &term : view.terms)
      if (written.contains(term.buffer))
        return false;
    ElementView normal = normalised(form, view);
    auto found = written.find(view.buffer);
    if (found == written.end()) {
      hoisted = false;
      Buffer::Kind kind = graph.buffers[view.buffer].kind;
      if (kind != Buffer::Kind::Input && kind != Buffer::Kind::Constant)
        return false;
      // A row that lies across memory wants lanes along something else.
      bool varies = graph.buffers[view.buffer].batched ||
                    llvm::any_of(ArrayRef(normal.strides).drop_back(),
                                 [](int64_t stride) { return stride != 0; });
      return normal.strides.back() == 0 || normal.strides.back() == 1 || !varies;
    }
    hoisted &= found->second.hoisted;
    if (found->second.isRow && form.rowLoop < 0)
      return false;
    return normal == found->second.view;
  }

  /// Whether members of a nest walk rows, and some row that belongs to one point alone.
  struct Walk {
    bool anyRow = false, ownRow = false;
  };

  bool checkReads(RowNest &form, const NestMember &member, const WrittenMap &own, Walk &walk) const {
    for (const ElementView &view : member.reads) {
      // What an earlier member of the nest computed at this place.
      auto found = view.isSplat() ? own.end() : own.find(view.buffer);
      if (found != own.end()) {
        if (normalised(form, view) != found->second.view)
          return false;
        walk.ownRow = true;
        continue;
      }
      if (!readsOf(form, view, form.hoisted))
        return false;
      if (view.isSplat() || form.rowLoop < 0 || view.strides[form.rowLoop] == 0)
        continue;
      walk.anyRow = true;
      walk.ownRow |= written.contains(view.buffer) ||
                     ((!hasRows || graph.buffers[view.buffer].batched) &&
                      llvm::all_of(form.pointLoops,
                                   [&](int loop) { return view.strides[loop] != 0; }));
    }
    for (const ElementView &view : member.inits)
      if (!readsOf(form, view, form.hoisted))
        return false;
    for (const auto &[value, view] : member.captured) {
      if (!view.isSplat() && (written.contains(view.buffer) || own.contains(view.buffer)))
        return false;
      form.hoisted &= view.isSplat();
    }
    bool indexed = false;
    if (member.body)
      member.body->walk([&](linalg::IndexOp) { indexed = true; });
    form.hoisted &= !indexed;
    return true;
  }

  bool checkWrites(RowNest &form, const NestMember &member, WrittenMap &own) const {
    bool isRow = !member.isReduction() && form.rowLoop >= 0;
    for (const ElementView &view : member.writes) {
      const Buffer &buffer = graph.buffers[view.buffer];
      ElementView normal = normalised(form, view);
      if (!view.terms.empty() || written.contains(view.buffer) || own.contains(view.buffer))
        return false;
      if (buffer.kind == Buffer::Kind::Output) {
        form.hoisted = false;
        if ((hasRows && !buffer.batched) || (isRow && normal.strides.back() != 1))
          return false;
      }
      own[view.buffer] = {normal, isRow, false};
    }
    form.hoisted &= !isRow;
    return true;
  }

  bool checkBuffers() {
    int64_t slots = 0;
    written.clear();
    for (RowNest &form : plan.nests) {
      form.hoisted = true;
      Walk walk;
      WrittenMap own;
      for (const NestMember &member : form.nest->members) {
        if (!checkReads(form, member, own, walk) || !checkWrites(form, member, own))
          return false;
        slots += member.accumulators.size();
      }
      // A product: no operand belongs to one point alone. It wants tiles.
      bool sums = llvm::any_of(form.nest->members,
                               [](const NestMember &member) { return member.isReduction(); });
      if (sums && walk.anyRow && !walk.ownRow)
        return false;
      for (auto &[buffer, how] : own) {
        how.hoisted = form.hoisted;
        written[buffer] = how;
      }
    }
    numSlots = slots;
    return true;
  }

  /// Bytes of the widest element that lies adjacent along rows.
  int64_t widestElement() const {
    int64_t bytes = 1;
    auto consider = [&](const RowNest &form, const ElementView &view) {
      if (view.isSplat() || form.rowLoop < 0)
        return;
      const Buffer &buffer = graph.buffers[view.buffer];
      if (buffer.kind != Buffer::Kind::Scratch && view.strides[form.rowLoop] == 1)
        bytes = std::max(bytes, elementBytes(buffer.elementType));
    };
    for (const RowNest &form : plan.nests)
      for (const NestMember &member : form.nest->members) {
        for (const ElementView &view : member.reads)
          consider(form, view);
        for (const ElementView &view : member.writes)
          consider(form, view);
      }
    return bytes;
  }

  int64_t warp() const { return machine.occupancy.warp; }
  static int64_t wordsOf(int64_t bytes) { return std::max<int64_t>(bytes, 4) / 4; }
  int64_t extra() const { return plan.shifted ? RowPlan::lineVectors - 1 : 0; }
  /// Elements of a row that one of `lanes` lanes keeps.
  int64_t held(int64_t lanes) const { return int64_t(llvm::divideCeil(plan.vectors() + extra(), lanes)) * plan.width; }

  /// Elements of an access at most. Halves fill one of 16 bytes so; no code is made for longer vectors of single bytes.
  static constexpr int64_t mostWidth = 8;

  /// Accesses of 16 bytes where rows allow that; some 16 elements for each lane.
  bool chooseLanes() {
    int64_t bytes = widestElement(), words = wordsOf(bytes);
    int64_t width = std::clamp<int64_t>(planning.accessBytes / bytes, 1, mostWidth);
    while (plan.length % width != 0)
      width /= 2;
    plan.width = width;
    // The lanes of a row take lines of memory whole.
    int64_t least = std::clamp<int64_t>(machine.lineBytes() / (width * bytes), planning.rowLeastLanes, warp());
    int64_t lanes = int64_t(llvm::bit_ceil(uint64_t(llvm::divideCeil(plan.length, planning.rowLaneWords / words))));
    lanes = std::clamp<int64_t>(lanes, least, warp());
    plan.shifted = width * bytes < planning.accessBytes && plan.vectors() >= planning.rowShiftLines * RowPlan::lineVectors;
    // With more in a lane there are too few warps to hide the latency of their arithmetic.
    if (held(lanes) * words > planning.rowWordsInWarp)
      lanes = std::clamp<int64_t>(int64_t(llvm::bit_floor(uint64_t(plan.length * words / planning.rowBlockWords))),
                                  planning.rowBlockThreads, machine.occupancy.threadsPerBlock);
    plan.lanes = lanes;
    if (held(lanes) > planning.rowWords / words)
      return false;
    // Without sums nothing waits for a row: threads that take 16 bytes each are as good.
    if (isElementwise && width * bytes >= planning.accessBytes)
      return false;
    plan.threads = lanes <= warp() ? planning.blockThreads.back() : lanes;
    plan.parts = lanes <= warp() ? std::clamp<int64_t>(planning.rowLaneWords / words / held(lanes), 1, planning.rowParts) : 1;
    finish();
    return lanes <= warp() || numSlots <= mostSlots;
  }

  /// What follows from the lanes.
  void finish() {
    plan.chunks = llvm::divideCeil(plan.vectors() + extra(), plan.lanes);
    plan.registers = plan.parts * held(plan.lanes) * wordsOf(widestElement());
  }

  std::string takeLanes(etdg::RowLanesAttr lanes, int64_t threads) {
    auto number = [](int64_t value) { return std::to_string(value); };
    plan.lanes = lanes.getLanes();
    plan.width = lanes.getWidth();
    plan.parts = lanes.getRows();
    plan.shifted = lanes.getLine() > 1;
    plan.threads = threads;
    int64_t words = wordsOf(widestElement());
    if (lanes.getLine() != 1 && lanes.getLine() != RowPlan::lineVectors)
      return "line = " + number(lanes.getLine()) + ": a line has " + number(RowPlan::lineVectors) + " accesses";
    if (plan.length % plan.width != 0 || plan.width * widestElement() > planning.accessBytes)
      return "width = " + number(plan.width) + ": a row has " + number(plan.length) + " elements of " +
             number(widestElement()) + " bytes, an access at most " + number(planning.accessBytes) + " bytes";
    if (plan.lanes > warp() ? plan.lanes != threads : threads % plan.lanes != 0)
      return "lanes = " + number(plan.lanes) + ": lanes are those of a warp, " + number(warp()) +
             " at most, or the block's " + number(threads) + " threads";
    if (plan.lanes > warp() && plan.parts > 1)
      return "rows = " + number(plan.parts) + ": a block that shares a row has one at a time";
    if (plan.parts * held(plan.lanes) * words + planning.rowRegistersBeside > machine.occupancy.registersPerThread)
      return "a lane keeps " + number(plan.parts * held(plan.lanes) * words) + " words of its rows, with " +
             number(planning.rowRegistersBeside) + " registers beside more than the " +
             number(machine.occupancy.registersPerThread) + " that a thread has";
    if (plan.lanes > warp() && numSlots > mostSlots)
      return "the leaf has " + number(numSlots) + " sums, a block that shares a row joins " + number(mostSlots);
    finish();
    return "";
  }

  const LeafGraph &graph;
  bool hasRows;
  const Machine &machine;
  const Machine::GpuPlanning &planning;
  int64_t numSlots = 0;
  bool isElementwise = false;
  WrittenMap written; // by buffer
  RowPlan plan;
};
} // namespace

std::optional<RowPlan> schedule::planRows(const LeafGraph &graph, bool hasRows, const Machine &machine) {
  return Planner(graph, hasRows, machine).run();
}

etdg::RowLanesAttr schedule::toAttribute(MLIRContext *context, const RowPlan &plan) {
  return etdg::RowLanesAttr::get(context, plan.lanes, plan.width, plan.parts, plan.shifted ? RowPlan::lineVectors : 1);
}

FailureOr<RowPlan> schedule::readRows(etdg::RowLanesAttr attribute, const LeafGraph &graph, bool hasRows,
                                      int64_t threads, const Machine &machine, std::string &wrong) {
  return Planner(graph, hasRows, machine).read(attribute, threads, wrong);
}
