//===- LeafColumns.cpp - columns that a CPU's calls of a leaf share -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Schedule/Analysis/LeafColumns.h"
#include "ft/Schedule/Analysis/LeafForms.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;

/// Whether the body of a nest's member asks which iteration of the loop it is in.
static bool asksForColumn(const leaf::Nest &nest, int loop) {
  for (const leaf::NestMember &member : nest.members) {
    if (!member.body)
      continue;
    WalkResult asked = member.body->walk([&](linalg::IndexOp op) {
      unsigned dim = op.getDim();
      return dim < member.loops.size() && member.loops[dim] == loop ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (asked.wasInterrupted())
      return true;
  }
  return false;
}

/// Whether the columns of a result are next to each other.
static bool hasAdjacentColumns(const leaf::Nest &nest, int loop) {
  return llvm::any_of(nest.members, [&](const leaf::NestMember &member) {
    return llvm::any_of(member.writes, [&](const leaf::ElementView &view) { return view.strides[loop] == 1; });
  });
}

SmallVector<bool> schedule::batchedReads(BlockOp leaf, std::optional<unsigned> row) {
  SmallVector<bool> batched;
  for (unsigned i = 0; i < leaf.getNumReads(); ++i)
    batched.push_back(row && llvm::any_of(leaf.getRead(i).getPieces(), [&](etdg::PieceAttr piece) {
                        return piece.getKind() != etdg::SourceKind::Splat &&
                               piece.getMap().getValue().isFunctionOfDim(*row);
                      }));
  return batched;
}

/// What the search says of a form's nests.
static LeafColumns findColumns(LeafForm &form, ColumnLimits limits, int64_t wanted = 0) {
  LeafColumns found;
  int64_t count = shareColumns(form.block, {&form}, limits, wanted);
  if (count == 0)
    return found;
  for (auto [nest, split] : llvm::zip_equal(form.graph.nests, form.splits)) {
    bool isShared = split.kind == NestSplit::shared;
    if (split.kind == NestSplit::first || (isShared && asksForColumn(nest, split.loop)))
      return {};
    found.loops.push_back(isShared ? split.loop : -1);
    found.adjacent |= isShared && hasAdjacentColumns(nest, split.loop);
  }
  found.count = count;
  return found;
}

LeafColumns schedule::findLeafColumns(func::FuncOp function, ArrayRef<bool> batched, int64_t wanted) {
  ScopedDiagnosticHandler quiet(function.getContext(), [](Diagnostic &) { return success(); });
  OwningOpRef<ModuleOp> module = ModuleOp::create(function.getLoc());
  auto copy = cast<func::FuncOp>(function->clone());
  module->push_back(copy);
  LeafForm form;
  return failed(buildLeafForm(form, std::move(module), copy, batched)) ? LeafColumns() : findColumns(form, {}, wanted);
}

/// Whether a leaf reads a buffer that it writes, be it at another place.
static bool readsWhatItWrites(BlockOp leaf) {
  llvm::SmallDenseSet<Value> written;
  for (unsigned i = 0; i < leaf.getNumWrites(); ++i)
    written.insert(leaf.getBuffers()[leaf.getWrite(i).getOperand()]);
  for (unsigned i = 0; i < leaf.getNumReads(); ++i)
    for (etdg::PieceAttr piece : leaf.getRead(i).getPieces())
      if (piece.getKind() == etdg::SourceKind::Buffer && written.contains(leaf.getBuffers()[piece.getOperand()]))
        return true;
  return false;
}

static LeafColumns findColumns(BlockOp leaf, ArrayRef<bool> batched, ColumnLimits limits, int64_t wanted, bool inSteps, LeafForms &forms) {
  if (!inSteps && readsWhatItWrites(leaf))
    return {};
  for (unsigned i = 0; i < leaf.getNumReads(); ++i)
    if (readsInside(leaf, i, [](Value, unsigned) { return 0; }))
      return {};
  LeafForm *form = forms.get(leaf, batched);
  return form ? findColumns(*form, limits, wanted) : LeafColumns();
}

LeafColumns schedule::chooseLeafColumns(BlockOp leaf, ArrayRef<bool> batched, const CpuPlanning &planning, LeafForms &forms, bool inSteps) {
  return findColumns(leaf, batched, ColumnLimits{/*least=*/2, planning.columnRepeat}, /*wanted=*/0, inSteps, forms);
}

LeafColumns schedule::findLeafColumns(BlockOp leaf, ArrayRef<bool> batched, int64_t wanted, bool inSteps) {
  LeafForms forms;
  return findColumns(leaf, batched, {}, wanted, inSteps, forms);
}
