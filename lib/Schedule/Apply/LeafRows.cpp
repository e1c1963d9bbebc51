//===- LeafRows.cpp - which rows of a leaf one call computes --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass `etdg-choose-leaf-rows`. It stands after `etdg-storage`: where few planes of a buffer are kept, rows that go around them
// can't be computed at once, which nothing knows before.
//
//===----------------------------------------------------------------------===//
#include "ft/Schedule/Apply/LeafRows.h"

#include "ft/Dialect/ETDG/IR/AttributeNames.h"
#include "ft/Schedule/Analysis/Dimensions.h"
#include "ft/Schedule/GPU/Layouts/GpuLeaf.h"
#include "ft/Schedule/Analysis/KeptPlanes.h"
#include "ft/Schedule/CPU/Plan.h"
#include "ft/Schedule/GPU/Layouts/RowRuns.h"

#include "mlir/IR/Remarks.h"

namespace mlir::ft {
#define GEN_PASS_DEF_ETDGCHOOSELEAFROWS
#include "ft/Schedule/Passes.h.inc"
} // namespace mlir::ft

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;
using etdg::LoopLevel;
using etdg::RowsAttr;
using etdg::ScheduleAttr;

//===----------------------------------------------------------------------===//
// What is written
//===----------------------------------------------------------------------===//

std::optional<RowsOfLeaf> schedule::findRowsOf(BlockOp leaf) {
  for (BlockOp block = leaf; block; block = block.getParentBlock()) {
    ScheduleAttr schedule = scheduleOf({block});
    if (!schedule)
      continue;
    // Of several loops over listed rows the last one is along a line of them.
    for (etdg::LoopAttr loop : llvm::reverse(schedule.getLoops()))
      if (loop.getLevel() == LoopLevel::Rows || loop.getLevel() == LoopLevel::ListedRows)
        return RowsOfLeaf{unsigned(loop.getDimension() + int64_t(block.getNumAncestors())), loop.getLevel() == LoopLevel::ListedRows};
  }
  return std::nullopt;
}

/// Whether thread blocks of a GPU run the leaf.
static bool isOnGpu(BlockOp leaf) {
  for (BlockOp block = leaf; block; block = block.getParentBlock())
    if (ScheduleAttr schedule = scheduleOf({block}); schedule && schedule.isForGpu())
      return true;
  return false;
}

FailureOr<RowUse> schedule::readRowUse(BlockOp leaf, std::optional<RowsOfLeaf> rows, llvm::function_ref<int64_t(Value, unsigned)> planesOf) {
  auto given = leaf->getAttrOfType<RowsAttr>(etdg::names::rows);
  if (!rows) {
    if (given)
      return leaf.emitError() << "'etdg.rows' says which rows one call computes, and no loop around this leaf has the level rows or listed_rows";
    return RowUse::OneByOne;
  }
  RowLimit limit = findRowLimit(leaf, rows->dim, planesOf, /*strided=*/!rows->listed, isOnGpu(leaf));
  if (!given)
    return limit.use == RowUse::AtOnce ? RowUse::AtOnce : RowUse::OneByOne;
  if (given.getUse() < limit.use)
    return leaf.emitError() << "rows of this leaf, along " << leaf.getDimNames()[rows->dim].getValue() << ", can't be computed as 'etdg.rows' says: "
                            << limit.describe() << "; expected " << (limit.use == RowUse::Runs ? "runs or one_by_one" : "one_by_one") << ", found "
                            << etdg::stringifyRowUse(given.getUse());
  return given.getUse();
}

//===----------------------------------------------------------------------===//
// What is chosen
//===----------------------------------------------------------------------===//

namespace {
/// Decides for the leaves of one graph.
class LeafRowsChooser {
public:
  LeafRowsChooser(etdg::GraphOp graph) : graph(graph), kept(KeptPlanes::ofGraph(graph)) {}
  LogicalResult run();

private:
  LogicalResult choose(BlockOp leaf);
  RowUse cheapest(BlockOp leaf, RowsOfLeaf rows);
  void checkLayouts(BlockOp leaf, std::optional<unsigned> row, bool isTogether);

  etdg::GraphOp graph;
  KeptPlanes kept;
};
} // namespace

static int64_t allPlanes(Value, unsigned) { return 0; }

/// As many rows together as accesses allow. But where nothing is computed in tiles of products, rows that are cut into runs cost thread blocks
/// more than they save, and product layouts are made for pieces that change, not for planes.
RowUse LeafRowsChooser::cheapest(BlockOp leaf, RowsOfLeaf rows) {
  auto planes = [&](Value buffer, unsigned dim) { return kept.at(buffer, dim); };
  RowLimit limit = findRowLimit(leaf, rows.dim, planes, /*strided=*/!rows.listed, isOnGpu(leaf));
  bool areTooShort = limit.use == RowUse::Runs && isOnGpu(leaf) && !(hasProductLayout(leaf) && findRowRuns(leaf, rows.dim, planes));
  RowUse use = areTooShort ? RowUse::OneByOne : limit.use;
  if (use != RowUse::AtOnce)
    remark::missed(leaf.getLoc(), remark::RemarkOpts::name("leaf-rows").category("storage"))
        << (Twine(use == RowUse::Runs ? "rows are computed in runs: " : "rows are computed one by one: ") + limit.describe() +
            (areTooShort ? ", and no product in tiles would pay runs of them" : ""))
               .str();
  return use;
}

/// Layouts are chosen before storage, as if all planes were kept.
void LeafRowsChooser::checkLayouts(BlockOp leaf, std::optional<unsigned> row, bool isTogether) {
  auto planes = [&](Value buffer, unsigned dim) { return kept.at(buffer, dim); };
  if (!leaf->hasAttr(etdg::names::layouts) || !isOnGpu(leaf))
    return;
  bool wasTogether = row && (isRowUniform(leaf, *row, allPlanes) || (hasProductLayout(leaf) && findRowRuns(leaf, *row, allPlanes)));
  StringRef why;
  if (wasTogether != isTogether)
    why = isTogether ? "one row, and several are computed together" : "several rows, which are computed one by one";
  else if (getReadStrides(leaf, allPlanes) != getReadStrides(leaf, planes))
    why = "elements with other distances in memory than the planes that are kept leave them";
  else
    return;
  leaf->removeAttr(etdg::names::layouts);
  remark::missed(leaf.getLoc(), remark::RemarkOpts::name("other-layouts").category("storage"))
      << ("the layouts that the schedule chose are of " + why + ": they are chosen anew with the loops").str();
}

LogicalResult LeafRowsChooser::choose(BlockOp leaf) {
  std::optional<RowsOfLeaf> rows = findRowsOf(leaf);
  if (rows && !leaf->hasAttr(etdg::names::rows))
    leaf->setAttr(etdg::names::rows, RowsAttr::get(leaf.getContext(), cheapest(leaf, *rows)));
  FailureOr<RowUse> use = readRowUse(leaf, rows, [&](Value buffer, unsigned dim) { return kept.at(buffer, dim); });
  if (failed(use))
    return failure();
  checkLayouts(leaf, rows ? std::optional(rows->dim) : std::nullopt, *use != RowUse::OneByOne);
  return success();
}

LogicalResult LeafRowsChooser::run() {
  WalkResult walked = graph.walk([&](BlockOp block) {
    return block.isLeaf() && failed(choose(block)) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

LogicalResult mlir::ft::chooseLeafRows(etdg::GraphOp graph) {
  return graph.isExternal() ? success() : LeafRowsChooser(graph).run();
}

namespace {
struct ETDGChooseLeafRows : ft::impl::ETDGChooseLeafRowsBase<ETDGChooseLeafRows> {
  void runOnOperation() override {
    if (failed(chooseLeafRows(getOperation())))
      signalPassFailure();
  }
};
} // namespace
