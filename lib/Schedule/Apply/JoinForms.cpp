//===- JoinForms.cpp - forms of a nest in one graph -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ft/Schedule/Apply/JoinForms.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::ft;

/// Set for a while only.
static constexpr llvm::StringLiteral numberName = "buffer_number";

schedule::BufferNumbers::BufferNumbers(etdg::GraphOp graph) : graph(graph) {
  for (auto [number, buffer] : llvm::enumerate(graph.getBody().getOps<etdg::BufferOp>()))
    buffer->setAttr(numberName, IntegerAttr::get(IndexType::get(graph.getContext()), int64_t(number)));
}

/// (The graph's body may have become a copy's.)
schedule::BufferNumbers::~BufferNumbers() {
  for (auto buffer : graph.getBody().getOps<etdg::BufferOp>())
    buffer->removeAttr(numberName);
}

static llvm::DenseMap<Attribute, etdg::BufferOp> byNumber(etdg::GraphOp graph) {
  llvm::DenseMap<Attribute, etdg::BufferOp> found;
  for (auto buffer : graph.getBody().getOps<etdg::BufferOp>())
    if (Attribute number = buffer->getAttr(numberName))
      found[number] = buffer;
  return found;
}

/// Planes that are enough for two orders.
static void keepPlanesOfBoth(etdg::BufferOp buffer, etdg::BufferOp other) {
  if (!buffer.getLiveAttr() || !other.getLiveAttr()) {
    buffer.removeLiveAttr();
    return;
  }
  SmallVector<int64_t> live;
  for (auto [a, b] : llvm::zip_equal(*buffer.getLive(), *other.getLive()))
    live.push_back(a < 0 || b < 0 ? -1 : std::max(a, b));
  buffer.setLive(live);
}

namespace {
/// What stands in the graph for what the items of a copy use.
struct Joined {
  IRMapping mapping;
  SmallVector<Operation *> added; // buffers of the copy alone, constants
  SmallVector<std::pair<etdg::BufferOp, etdg::BufferOp>> common; // in the graph and in the copy
};
} // namespace

/// The values of a graph's body that items use.
static llvm::SetVector<Operation *> findUsed(etdg::GraphOp graph, ArrayRef<Operation *> items) {
  llvm::SetVector<Operation *> used;
  for (Operation *item : items)
    item->walk([&](Operation *op) {
      for (Value operand : op->getOperands())
        if (Operation *definition = operand.getDefiningOp(); definition && definition->getParentOp() == graph)
          used.insert(definition);
    });
  return used;
}

/// The buffers that items have in common with what is around them, as values of the graph: variants have the same.
static llvm::SmallDenseSet<Value> findShared(etdg::GraphOp graph, ArrayRef<Operation *> items, const IRMapping &mapping) {
  llvm::SmallDenseSet<Value> shared;
  auto isInside = [&](Operation *user) { return llvm::any_of(items, [&](Operation *item) { return item->isAncestor(user); }); };
  auto add = [&](Value value) {
    if (!llvm::all_of(value.getUsers(), isInside))
      shared.insert(mapping.lookupOrDefault(value));
  };
  for (Operation *used : findUsed(graph, items))
    if (auto buffer = dyn_cast<etdg::BufferOp>(used))
      add(buffer.getResult());
  for (BlockArgument argument : graph.getBody().getArguments())
    if (llvm::any_of(argument.getUsers(), isInside))
      shared.insert(mapping.lookupOrDefault(Value(argument)));
  return shared;
}

static std::optional<Joined> findValues(etdg::GraphOp graph, etdg::GraphOp copy, ArrayRef<Operation *> items) {
  Joined joined;
  for (auto [own, theirs] : llvm::zip_equal(graph.getBody().getArguments(), copy.getBody().getArguments()))
    joined.mapping.map(theirs, own);
  llvm::DenseMap<Attribute, etdg::BufferOp> buffers = byNumber(graph);
  bool isWhole = true;
  for (Operation *definition : findUsed(copy, items)) {
    auto buffer = dyn_cast<etdg::BufferOp>(definition);
    Attribute number = buffer ? buffer->getAttr(numberName) : Attribute();
    etdg::BufferOp own = number ? buffers.lookup(number) : etdg::BufferOp();
    isWhole &= buffer ? !number || own : isa<etdg::ConstantOp>(definition);
    if (own) {
      joined.mapping.map(buffer.getResult(), own.getResult());
      joined.common.push_back({own, buffer});
    } else {
      joined.added.push_back(definition);
    }
  }
  return isWhole ? std::optional(std::move(joined)) : std::nullopt;
}

/// The values of a form in the graph, its buffers and constants added; nothing where the two do not have the same in common with
/// what is around them.
static std::optional<Joined> findForm(etdg::GraphOp graph, Operation *item, const schedule::FormInCopy &form) {
  std::optional<Joined> joined = findValues(graph, form.graph, form.items);
  if (!joined || findShared(graph, {item}, {}) != findShared(form.graph, form.items, joined->mapping))
    return std::nullopt;
  return joined;
}

bool schedule::joinForms(etdg::GraphOp graph, Operation *item, ArrayRef<FormInCopy> forms, const FormChoice &choice) {
  std::vector<std::optional<Joined>> joined(forms.size() + 1);
  for (auto [number, form] : llvm::enumerate(forms))
    if (choice.takes(unsigned(number) + 1) && !(joined[number + 1] = findForm(graph, item, form)))
      return false;
  OpBuilder builder(item);
  for (std::optional<Joined> &form : joined)
    if (form) {
      for (Operation *one : form->added)
        builder.clone(*one, form->mapping);
      for (auto [own, theirs] : form->common)
        keepPlanesOfBoth(own, theirs);
    }
  SmallVector<Attribute> guards(choice.guards.begin(), choice.guards.end());
  auto variants = etdg::VariantsOp::create(builder, item->getLoc(), builder.getArrayAttr(guards), unsigned(choice.forms.size()));
  for (auto [region, number] : llvm::zip_equal(variants.getVariants(), choice.forms)) {
    OpBuilder inside = OpBuilder::atBlockEnd(&region.emplaceBlock());
    if (number == 0)
      inside.clone(*item);
    else
      for (Operation *one : forms[number - 1].items)
        inside.clone(*one, joined[number]->mapping);
  }
  llvm::SetVector<Operation *> used = findUsed(graph, {item});
  item->erase();
  // What the item alone used goes with it, where it is none of the forms.
  for (Operation *one : used)
    if (one->use_empty())
      one->erase();
  return true;
}
