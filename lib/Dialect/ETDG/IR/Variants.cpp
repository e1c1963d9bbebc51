//===- Variants.cpp - one of several ways to compute the same -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Constraints W1 to W3 of `etdg.variants`, its text, and graphs in which the
// choice is made.
//
//===----------------------------------------------------------------------===//
#include "ft/Dialect/ETDG/IR/Variants.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::etdg;

ParseResult VariantsOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<Attribute> guards;
  auto parseVariant = [&]() -> ParseResult {
    Region *region = result.addRegion();
    if (parser.parseRegion(*region))
      return failure();
    if (region->empty())
      region->emplaceBlock();
    return success();
  };
  while (succeeded(parser.parseOptionalKeyword("when"))) {
    GuardAttr guard;
    if (parser.parseCustomAttributeWithFallback(guard) || parseVariant())
      return failure();
    guards.push_back(guard);
    if (parser.parseKeyword("else"))
      return failure();
  }
  result.addAttribute(getGuardsAttrName(result.name), parser.getBuilder().getArrayAttr(guards));
  return failure(failed(parseVariant()) || failed(parser.parseOptionalAttrDictWithKeyword(result.attributes)));
}

void VariantsOp::print(OpAsmPrinter &p) {
  for (auto [i, region] : llvm::enumerate(getVariants())) {
    if (i < getGuards().size()) {
      p << " when ";
      p.printStrippedAttrOrType(cast<GuardAttr>(getGuards()[i]));
    }
    p << " ";
    p.printRegion(region, /*printEntryBlockArgs=*/false, /*printBlockTerminators=*/false);
    if (i + 1 < getVariants().size())
      p << " else";
  }
  p.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {getGuardsAttrName()});
}

/// The buffers that a region writes, or reads and does not write, and that something outside of all variants may, in the order of
/// their definition.
static llvm::SmallSetVector<Value, 8> touchedBuffers(Region &region, bool writes) {
  Operation *variants = region.getParentOp();
  auto isPrivate = [&](Value buffer) {
    return buffer.getDefiningOp() &&
           llvm::all_of(buffer.getUsers(), [&](Operation *user) { return variants->isProperAncestor(user); });
  };
  llvm::SmallSetVector<Value, 8> written, read;
  region.walk([&](BlockOp leaf) {
    if (!leaf.isLeaf())
      return;
    llvm::SmallDenseSet<unsigned> numbers;
    for (unsigned i = 0; i < leaf.getNumWrites(); ++i)
      numbers.insert(leaf.getWrite(i).getOperand());
    for (auto [i, buffer] : llvm::enumerate(leaf.getBuffers())) {
      Operation *definition = buffer.getDefiningOp();
      if (!(definition && region.isAncestor(definition->getParentRegion())) && !isPrivate(buffer))
        (numbers.contains(i) ? written : read).insert(buffer);
    }
  });
  read.set_subtract(written);
  return writes ? written : read;
}

LogicalResult VariantsOp::verify() {
  if (getVariants().size() < 2 || getGuards().size() + 1 != getVariants().size())
    return emitOpError() << "(W1) there are at least two variants, each but the last with a guard; found "
                         << getVariants().size() << " and " << getGuards().size() << " guards";
  for (Region &region : getVariants()) {
    if (region.front().empty())
      return emitOpError() << "(W2) a variant holds at least one nest, block or kernel";
    for (Operation &op : region.front())
      if (!isa<NestOp, BlockOp, KernelOp>(op))
        return op.emitOpError() << "(W2) a variant holds nests, blocks and kernels";
  }
  for (bool writes : {true, false}) {
    llvm::SmallSetVector<Value, 8> first = touchedBuffers(getVariants().front(), writes);
    for (auto [i, region] : llvm::enumerate(getVariants())) {
      llvm::SmallSetVector<Value, 8> own = touchedBuffers(region, writes);
      auto differs = [](const llvm::SmallSetVector<Value, 8> &a, const llvm::SmallSetVector<Value, 8> &b) {
        return llvm::find_if(a, [&](Value v) { return !b.contains(v); });
      };
      auto lost = differs(first, own), added = differs(own, first);
      if (lost == first.end() && added == own.end())
        continue;
      bool isLost = lost != first.end();
      InFlightDiagnostic diag = emitOpError() << "(W3) variants " << (writes ? "write" : "read")
                                              << " the same buffers; variant " << i
                                              << (isLost ? " leaves out one that the first does"
                                                         : " takes one that the first does not");
      diag.attachNote((isLost ? *lost : *added).getLoc()) << "the buffer is here";
      return diag;
    }
  }
  return success();
}

unsigned etdg::countVariants(GraphOp graph) {
  unsigned most = 1;
  graph.walk([&](VariantsOp op) { most = std::max<unsigned>(most, op.getVariants().size()); });
  return most;
}

OwningOpRef<GraphOp> etdg::chooseVariants(GraphOp graph, llvm::function_ref<unsigned(VariantsOp)> choice,
                                          IRMapping &mapping) {
  SmallVector<unsigned> choices;
  graph.walk([&](VariantsOp op) { choices.push_back(std::min<unsigned>(choice(op), op.getVariants().size() - 1)); });
  OwningOpRef<GraphOp> copy = cast<GraphOp>(graph->clone(mapping));
  SmallVector<VariantsOp> all;
  copy->walk([&](VariantsOp op) { all.push_back(op); });
  for (auto [op, number] : llvm::zip_equal(all, choices)) {
    Block &chosen = op.getVariants()[number].front();
    op->getBlock()->getOperations().splice(op->getIterator(), chosen.getOperations());
    op.erase();
  }
  return copy;
}

OwningOpRef<GraphOp> etdg::chooseVariants(GraphOp graph, unsigned choice) {
  IRMapping mapping;
  return chooseVariants(graph, [&](VariantsOp) { return choice; }, mapping);
}

void etdg::forEachUniformChoice(GraphOp graph, function_ref<void(unsigned, GraphOp, const IRMapping &)> ask) {
  for (unsigned choice = 0, choices = countVariants(graph); choice < choices; ++choice) {
    IRMapping mapping;
    OwningOpRef<GraphOp> copy;
    if (choices > 1)
      copy = chooseVariants(graph, [&](VariantsOp) { return choice; }, mapping);
    ask(choice, copy ? *copy : graph, mapping);
  }
}

bool etdg::isChosen(Operation *op, unsigned choice) {
  auto variants = op->getParentOfType<VariantsOp>();
  return !variants || variants.getVariants()[std::min<size_t>(choice, variants.getVariants().size() - 1)].isAncestor(op->getParentRegion());
}

LogicalResult etdg::forEachChoice(GraphOp graph, llvm::function_ref<LogicalResult(GraphOp)> ask) {
  unsigned count = countVariants(graph);
  if (count == 1 && graph.getBody().getOps<VariantsOp>().empty())
    return ask(graph);
  for (unsigned choice = 0; choice < count; ++choice) {
    OwningOpRef<GraphOp> chosen = chooseVariants(graph, choice);
    if (failed(ask(*chosen)))
      return failure();
  }
  return success();
}

GuardAttr etdg::conjoinGuards(GuardAttr a, GuardAttr b) {
  if (!a || !b)
    return a ? a : b;
  // Of two bounds of the same products the narrower one says both.
  SmallVector<BoundAttr> bounds(a.getBounds());
  for (BoundAttr bound : b.getBounds()) {
    auto *same = llvm::find_if(bounds, [&](BoundAttr other) {
      return other.getProducts() == bound.getProducts() && other.getIsBelow() == bound.getIsBelow();
    });
    if (same == bounds.end())
      bounds.push_back(bound);
    else if (bound.getIsBelow() ? bound.getLimit() < same->getLimit() : bound.getLimit() > same->getLimit())
      *same = bound;
  }
  return GuardAttr::get(a.getContext(), bounds);
}

void etdg::flattenVariant(std::unique_ptr<Region> region, GuardAttr guard, SmallVectorImpl<Attribute> &guards,
                          std::vector<std::unique_ptr<Region>> &regions) {
  auto inner = region->getOps<VariantsOp>();
  if (inner.empty()) {
    if (guard)
      guards.push_back(guard);
    regions.push_back(std::move(region));
    return;
  }
  ArrayAttr alike = (*inner.begin()).getGuards();
  for (unsigned choice = 0; choice <= alike.size(); ++choice) {
    auto copy = std::make_unique<Region>();
    IRMapping mapping;
    region->cloneInto(copy.get(), mapping);
    // What the same lengths decide is decided alike.
    for (VariantsOp op : llvm::make_early_inc_range(copy->getOps<VariantsOp>()))
      if (op.getGuards() == alike) {
        op->getBlock()->getOperations().splice(op->getIterator(), op.getVariants()[choice].front().getOperations());
        op.erase();
      }
    auto own = choice < alike.size() ? cast<GuardAttr>(alike[choice]) : GuardAttr();
    flattenVariant(std::move(copy), conjoinGuards(guard, own), guards, regions);
  }
}
