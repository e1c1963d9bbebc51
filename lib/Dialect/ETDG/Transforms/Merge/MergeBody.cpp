//===- MergeBody.cpp - what stands between two blocks ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "MergeBody.h"
#include "ft/Analysis/GraphSummary.h"
#include "ft/Dialect/ETDG/IR/SetText.h"

#include "mlir/IR/Remarks.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::etdg;
using ft::OperatorKind;

/// Dimensions that run in order because elements of all iterations are kept.
static bool isScan(OperatorKind kind) {
  return kind == OperatorKind::Scan || kind == OperatorKind::ScanL;
}

static std::string describeDim(BlockOp block, unsigned ownDim) {
  return ("dimension '" + block.getDimNames()[block.getNumAncestors() + ownDim].getValue() +
          "' of " + describeBlock(block))
      .str();
}

std::optional<std::string> BodyMerger::findScanInside(const Coordinates &block, unsigned k) {
  for (unsigned d = k; d < block.own.size(); ++d)
    if (isScan(block.getOperator(d)))
      return describeDim(block.block, block.own[d].dim);
  auto it = scans.find(block.block);
  return it == scans.end() ? std::nullopt : std::optional(it->second);
}

void BodyMerger::collect() {
  // Buffers first: blocks then move without regard to them.
  Operation *front = nullptr;
  for (Operation &op : llvm::make_early_inc_range(body)) {
    if (!isa<BufferOp, ConstantOp>(op)) {
      front = front ? front : &op;
      continue;
    }
    if (front)
      op.moveBefore(front);
  }
  items.clear();
  number.clear();
  weight.clear();
  scans.clear();
  for (Operation &op : body)
    if (isa<BlockOp, NestOp>(op)) {
      number[&op] = items.size();
      items.push_back(&op);
      unsigned leaves = 0;
      op.walk([&](BlockOp block) {
        leaves += block.isLeaf();
        if (&op != block && block.getNest() != &op)
          for (unsigned d = 0; d < block.getNumOwnDims(); ++d)
            if (isScan(block.getOperator(d)) && !scans.contains(&op))
              scans[&op] = describeDim(block, d);
      });
      weight[&op] = leaves;
    }
}

//===----------------------------------------------------------------------===//
// What stands between
//===----------------------------------------------------------------------===//

void etdg::forEachAccess(Operation *item, llvm::function_ref<void(Access &)> visit) {
  int64_t seen = 0;
  item->walk([&](BlockOp leaf) {
    for (Access &access : getAccesses(leaf)) {
      ++seen;
      visit(access);
    }
  });
  countMergeVisits(seen);
}

static bool writes(BlockOp leaf, Value buffer) {
  if (!leaf.isLeaf())
    return false;
  return llvm::any_of(leaf.getWrites().getAsRange<WriteAttr>(), [&](WriteAttr write) {
    return leaf.getBuffers()[write.getOperand()] == buffer;
  });
}

static bool reads(BlockOp leaf, Value buffer) {
  return llvm::any_of(getAccesses(leaf),
                      [&](Access &access) { return !access.isWrite() && access.buffer == buffer; });
}

SmallVector<Operation *> BodyMerger::getProducers(Operation *item) {
  llvm::SetVector<Operation *> producers;
  llvm::SmallDenseSet<Value> seen;
  forEachAccess(item, [&](Access &access) {
    if (access.isWrite() || !seen.insert(access.buffer).second)
      return;
    for (Operation *user : access.buffer.getUsers()) {
      countMergeVisits(1);
      auto block = dyn_cast<BlockOp>(user);
      Operation *producer = block && writes(block, access.buffer) ? itemOf(block) : nullptr;
      if (producer && producer != item && number.contains(producer))
        producers.insert(producer);
    }
  });
  SmallVector<Operation *> sorted = producers.takeVector();
  llvm::sort(sorted, [&](Operation *x, Operation *y) { return number[x] > number[y]; });
  return sorted;
}

bool BodyMerger::isReadBetween(Operation *item, Operation *last) {
  bool found = false;
  forEachAccess(item, [&](Access &access) {
    if (found || !access.isWrite())
      return;
    for (Operation *user : access.buffer.getUsers()) {
      countMergeVisits(1);
      auto block = dyn_cast<BlockOp>(user);
      Operation *reader = block ? itemOf(block) : nullptr;
      auto it = reader ? number.find(reader) : number.end();
      found |= it != number.end() && it->second > number[item] && it->second < number[last] &&
               reads(block, access.buffer);
    }
  });
  return found;
}

bool BodyMerger::hasLivePlanesBetween(Operation *item, Operation *first, Operation *last) {
  bool found = false;
  forEachAccess(item, [&](Access &access) {
    auto buffer = access.buffer.getDefiningOp<BufferOp>();
    if (found || !buffer || buffer.keepsAllPlanes())
      return;
    for (Operation *user : access.buffer.getUsers()) {
      countMergeVisits(1);
      Operation *other = itemOf(user);
      auto it = other ? number.find(other) : number.end();
      found |= it != number.end() && it->second > number[first] && it->second < number[last];
    }
  });
  return found;
}

bool BodyMerger::bringTogether(Operation *a, Operation *b) {
  SmallVector<Operation *> producers = getProducers(b);
  if ((producers.empty() || number[producers.front()] <= number[a]) &&
      !hasLivePlanesBetween(b, a, b))
    return true; // the merge moves it
  if (isReadBetween(a, b) || hasLivePlanesBetween(a, a, b))
    return false;
  // What stands between needs nothing of `a`.
  a->moveBefore(b);
  number[a] = number[b];
  return true;
}

//===----------------------------------------------------------------------===//
// Remarks
//===----------------------------------------------------------------------===//

std::string BodyMerger::describeCoordinates(const Alignment &aligned, const MergedDomain &united,
                                            unsigned k) {
  std::string text;
  llvm::raw_string_ostream os(text);
  BlockOp a = aligned.a.block;
  auto side = [&](const Coordinates &c, unsigned d) {
    const Coordinates::Own &own = c.own[d];
    AffineExpr expr = getAffineDimExpr(0, a.getContext()) * own.sign;
    if (own.offset)
      expr = expr + own.offset;
    SmallVector<StringAttr> names = {StringAttr::get(a.getContext(), c.getName(d))};
    ft::printNamedExpr(os, canonicalizeExpr(expr, 1, c.symbols.size()), names, c.symbols);
  };
  for (unsigned d = 0; d < k; ++d) {
    const Coordinates::Own &x = aligned.a.own[d], &y = aligned.b.own[d];
    if (x.dim == d && y.dim == d && !x.offset && !y.offset && y.sign == 1)
      continue;
    os << (text.empty() ? ", where " : " and ");
    side(aligned.a, d);
    os << " of the first is ";
    side(aligned.b, d);
    os << " of the second";
  }
  if (!isUniverse(united.guardA.set) || !isUniverse(united.guardB.set))
    os << ", each at iterations of its own";
  else if (!united.outer.isShared)
    os << ", at the iterations of the second";
  return text;
}

void BodyMerger::explainMerge(BlockOp merged, StringRef kind, StringRef first, StringRef second,
                              unsigned k, ft::LengthAttr before, ft::LengthAttr left,
                              StringRef how) {
  auto remark = remark::passed(
      merged.getLoc(), remark::RemarkOpts::name("merge").category("coarsen").subCategory(kind));
  if (!remark)
    return;
  remark << remark::reason("merged block '{0}' into '{1}'{2}{3}", second, first, how, kind == "vertical" ? tilesOfProducts : "")
         << remark::metric("aligned", k);
  if (before)
    remark << remark::metric("bytes", before.str()) << remark::metric("bytes left", left.str());
}

void BodyMerger::explainRefusal(StringRef kind, BlockOp a, BlockOp b, const MergeRefusal &refusal) {
  auto remark = remark::missed(
      b.getLoc(), remark::RemarkOpts::name("merge").category("coarsen").subCategory(kind));
  if (!remark)
    return;
  remark << remark::reason("{0} and {1} stay two ({2}): {3}", describeBlock(a), describeBlock(b),
                           refusal.rule, refusal.reason)
         << remark::metric("rule", refusal.rule);
}
