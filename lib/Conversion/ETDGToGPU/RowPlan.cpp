//===- RowPlan.cpp - which leaves work row by row -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All nests must walk the same points, and what one leaves for another must come
// back to the lane that had it: equal strides along points and row.
//
//===----------------------------------------------------------------------===//
#include "RowEmitter.h"

#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::leaf;
using namespace mlir::ft::togpu;

/// Partial results that a block's shared memory has room for (Threads::scratch).
static constexpr int64_t mostSlots = 8;

namespace {
class Planner {
public:
  Planner(const LeafGraph &graph, bool hasRows, const Machine::GpuPlanning &planning)
      : graph(graph), hasRows(hasRows), mostInWarp(planning.rowWordsInWarp), mostWords(planning.rowWords) {}

  std::optional<RowPlan> run() {
    if (!findShape() || !matchNests() || !checkBuffers() || !chooseLanes())
      return std::nullopt;
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
    return found && plan.length >= 16;
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
      for (const Member &member : nest.members)
        for (Operation *combiner : member.combiners)
          if (!combiner || !arith::getNeutralElement(combiner))
            return false;
      plan.nests.push_back(std::move(form));
    }
    return true;
  }

  /// How a nest meets a buffer: strides along the points, then along the row.
  static View normalised(const RowNest &form, const View &view) {
    View result = view;
    result.strides.clear();
    for (int loop : form.pointLoops)
      result.strides.push_back(view.strides[loop]);
    result.strides.push_back(form.rowLoop < 0 ? 0 : view.strides[form.rowLoop]);
    return result;
  }

  bool checkBuffers() {
    struct Written {
      View view;
      bool isRow;
      bool hoisted;
    };
    DenseMap<int, Written> written;
    auto reads = [&](const RowNest &form, const View &view, bool &hoisted) {
      if (view.isSplat())
        return true;
      for (const DynamicTerm &term : view.terms)
        if (written.contains(term.buffer))
          return false;
      View normal = normalised(form, view);
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
    };
    int64_t slots = 0;
    for (RowNest &form : plan.nests) {
      form.hoisted = true;
      bool walksRows = false, ownRows = false;
      DenseMap<int, Written> own;
      for (const Member &member : form.nest->members) {
        for (const View &view : member.reads) {
          // What an earlier member of the nest computed at this place.
          auto found = view.isSplat() ? own.end() : own.find(view.buffer);
          if (found != own.end()) {
            if (normalised(form, view) != found->second.view)
              return false;
            ownRows = true;
            continue;
          }
          if (!reads(form, view, form.hoisted))
            return false;
          if (view.isSplat() || form.rowLoop < 0 || view.strides[form.rowLoop] == 0)
            continue;
          walksRows = true;
          ownRows |= written.contains(view.buffer) ||
                     ((!hasRows || graph.buffers[view.buffer].batched) &&
                      llvm::all_of(form.pointLoops,
                                   [&](int loop) { return view.strides[loop] != 0; }));
        }
        for (const View &view : member.inits)
          if (!reads(form, view, form.hoisted))
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
        bool isRow = !member.isReduction() && form.rowLoop >= 0;
        slots += member.accumulators.size();
        for (const View &view : member.writes) {
          const Buffer &buffer = graph.buffers[view.buffer];
          View normal = normalised(form, view);
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
      }
      // A product: no operand belongs to one point alone. It wants tiles.
      bool sums = llvm::any_of(form.nest->members,
                               [](const Member &member) { return member.isReduction(); });
      if (sums && walksRows && !ownRows)
        return false;
      for (auto &[buffer, how] : own) {
        how.hoisted = form.hoisted;
        written[buffer] = how;
      }
    }
    numSlots = slots;
    return true;
  }

  /// Accesses of 16 bytes where rows allow that; some 16 elements for each lane.
  bool chooseLanes() {
    int64_t bytes = 1;
    auto consider = [&](const RowNest &form, const View &view) {
      if (view.isSplat() || form.rowLoop < 0)
        return;
      const Buffer &buffer = graph.buffers[view.buffer];
      int64_t own = bytesOf(buffer.elementType);
      if (buffer.kind == Buffer::Kind::Scratch || view.strides[form.rowLoop] != 1)
        return;
      bytes = std::max(bytes, own);
    };
    for (const RowNest &form : plan.nests)
      for (const Member &member : form.nest->members) {
        for (const View &view : member.reads)
          consider(form, view);
        for (const View &view : member.writes)
          consider(form, view);
      }
    int64_t width = std::clamp<int64_t>(16 / bytes, 1, 8);
    while (plan.length % width != 0)
      width /= 2;
    plan.width = width;
    int64_t words = std::max<int64_t>(bytes, 4) / 4, most = mostWords / words;
    int64_t least = std::clamp<int64_t>(128 / (width * bytes), 8, 32);
    int64_t lanes = int64_t(llvm::bit_ceil(uint64_t(llvm::divideCeil(plan.length, 16 / words))));
    lanes = std::clamp<int64_t>(lanes, least, 32);
    plan.shifted = width * bytes < 16 && plan.vectors() >= 8 * RowPlan::lineVectors;
    int64_t extra = plan.shifted ? RowPlan::lineVectors - 1 : 0;
    auto held = [&] { return int64_t(llvm::divideCeil(plan.vectors() + extra, lanes)) * width; };
    if (held() * words > mostInWarp)
      lanes = std::clamp<int64_t>(
          int64_t(llvm::bit_floor(uint64_t(plan.length * words / 12))), 64, 1024);
    plan.lanes = lanes;
    plan.chunks = llvm::divideCeil(plan.vectors() + extra, lanes);
    if (held() > most)
      return false;
    // Without sums nobody waits for a row: threads that take 16 bytes each are as good.
    if (isElementwise && width * bytes >= 16)
      return false;
    plan.threads = lanes <= 32 ? 256 : lanes;
    plan.parts = lanes <= 32 ? std::clamp<int64_t>(16 / words / held(), 1, 4) : 1;
    plan.registers = plan.parts * held() * words;
    return lanes <= 32 || numSlots <= mostSlots;
  }

  const LeafGraph &graph;
  bool hasRows;
  /// Elements of a row that a lane keeps, in words of 4 bytes: of rows that share a warp (with more
  /// there are too few warps to hide the latency of their arithmetic), and of the longest ones.
  const int64_t mostInWarp, mostWords;
  int64_t numSlots = 0;
  bool isElementwise = false;
  RowPlan plan;
};
} // namespace

std::optional<RowPlan> mlir::ft::togpu::planRows(const LeafGraph &graph, bool hasRows,
                                                    const Machine::GpuPlanning &planning) {
  return Planner(graph, hasRows, planning).run();
}
