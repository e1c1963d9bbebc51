//===- Sharding.cpp - how each length of a graph can be divided -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Dialect/FT/IR/AttributeNames.h"
#include "ft/Analysis/Sharding/Sharding.h"

#include "Judge.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::etdg;

StringRef etdg::stringify(ShardingKind kind) {
  static constexpr StringRef names[] = {"local", "partial", "halo", "scan", "pipeline", "ring", "all-gather", "refused"};
  return names[static_cast<unsigned>(kind)];
}

StringRef etdg::stringify(PartialKind kind) {
  static constexpr StringRef names[] = {"none", "sum", "product", "max", "min", "combine"};
  return names[static_cast<unsigned>(kind)];
}

std::optional<unsigned> ShardingClass::getDim(Value buffer) const {
  for (const ShardingMember &member : members)
    if (member.buffer == buffer)
      return member.dim;
  return std::nullopt;
}

ShardingAnalysis::ShardingAnalysis(GraphOp graph) {
  GraphAccesses accesses(graph);
  SymbolSpace space(graph);
  DimClasses dims(graph, accesses);
  ShardingContext context{graph, accesses, dims, space, llvm::DenseMap<unsigned, ft::LengthAttr>()};
  for (auto &[root, members] : dims.getMembers())
    if (members.front().buffer)
      context.lengths[root] = cast<BufferType>(members.front().buffer.getType()).getLengths()[members.front().dim];
  for (auto &[root, members] : dims.getMembers()) {
    ft::LengthAttr length = context.lengths.lookup(root);
    if (!length || length.isConstant())
      continue;
    ShardingClass &found = classes.emplace_back();
    found.length = length;
    found.members = members;
    ClassJudge(context, root, found).run();
    found.reach = findReach(context, root, found);
  }
  findRules(graph);
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// Whether ranks that run the program itself serve a class.
static bool isServed(const ShardingClass &one) {
  return one.kind <= ShardingKind::Partial && one.positions.empty() && one.joins.empty() && one.length.getSingleName() &&
         !llvm::is_contained(one.results, PartialKind::Combine);
}

/// How many elements a shard has at least, by what calls guarantee; none where the bound is of several names.
static std::optional<int64_t> getLeast(GraphOp graph, StringAttr name) {
  int64_t least = 0;
  auto bounds = graph->getAttrOfType<ft::BoundsAttr>(ft::names::bounds);
  for (ft::LengthAttr bound : bounds ? bounds.getNonNegative() : ArrayRef<ft::LengthAttr>()) {
    if (!llvm::is_contained(bound.getNames(), name))
      continue;
    ft::LengthAttr rest = bound - ft::LengthAttr::get(name);
    if (!rest || !rest.isConstant())
      return std::nullopt;
    least = std::max(least, -*rest.getConstant());
  }
  return least;
}

/// Two classes of one name are divided at once: nothing may depend on indices of both.
static bool areApart(ArrayRef<const ShardingClass *> own) {
  if (own.size() < 2)
    return true;
  for (const ShardingClass *one : own)
    if (one->kind != ShardingKind::Local)
      return false;
  llvm::SmallPtrSet<void *, 16> seen;
  for (const ShardingClass *one : own) {
    llvm::SmallPtrSet<void *, 16> here;
    for (const ShardingMember &member : one->members) {
      if (member.buffer)
        here.insert(member.buffer.getAsOpaquePointer());
      for (BlockOp block = member.block; block; block = block.getParentBlock())
        here.insert(block.getOperation());
    }
    for (void *each : here)
      if (!seen.insert(each).second)
        return false;
  }
  return true;
}

void ShardingAnalysis::findRules(GraphOp graph) {
  auto results = cast<ReturnOp>(graph.getBody().front().back()).getOperands();
  for (StringAttr name : graph.getSymbolNames()) {
    SmallVector<const ShardingClass *> own;
    bool isWhole = true;
    ShardingReach reach;
    for (const ShardingClass &one : classes)
      if (llvm::is_contained(one.length.getNames(), name)) {
        own.push_back(&one);
        isWhole &= isServed(one) || one.reach;
        reach = one.reach.value_or(reach);
      }
    std::optional<int64_t> least = getLeast(graph, name);
    if (own.empty() || !isWhole || !least || !areApart(own))
      continue;
    ShardingRule rule;
    rule.length = name;
    rule.least = *least;
    rule.reach = reach;
    for (BlockArgument argument : graph.getArguments()) {
      std::optional<unsigned> dim;
      for (const ShardingClass *one : own)
        if (!dim)
          dim = one->getDim(argument);
      rule.arguments.push_back(dim);
    }
    for (auto [i, result] : llvm::enumerate(results)) {
      ShardingRule::Result found;
      for (const ShardingClass *one : own) {
        if (!found.dim)
          found.dim = one->getDim(result);
        if (!one->results.empty() && one->results[i] != PartialKind::None)
          found.partial = one->results[i];
      }
      rule.results.push_back(found);
    }
    rules.push_back(std::move(rule));
  }
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static void printReason(const ShardingReason &reason, StringRef what, raw_ostream &os) {
  os << "    " << what << ": " << reason.text;
  if (reason.distance.low || reason.distance.high)
    os << ", distance " << StringRef(toString(ArrayRef(reason.distance))).drop_front().drop_back();
  if (reason.bytes)
    os << ", " << reason.bytes.str() << " bytes";
  os << "\n";
}

static std::string printReach(const ShardingReach &reach) {
  if (!reach.before && !reach.after)
    return "";
  return llvm::formatv(", with {0} before and {1} after", reach.before, reach.after).str();
}

void etdg::printSharding(const ShardingAnalysis &analysis, GraphOp graph, raw_ostream &os) {
  auto results = cast<ReturnOp>(graph.getBody().front().back()).getOperands();
  os << "sharding of @" << graph.getSymName() << "\n";
  for (const ShardingClass &one : analysis.getClasses()) {
    os << "  " << one.length.str() << ": " << stringify(one.kind);
    StringRef separator = "; ";
    for (const ShardingMember &member : one.members) {
      auto argument = dyn_cast_if_present<BlockArgument>(member.buffer);
      bool isResult = member.buffer && llvm::is_contained(results, member.buffer);
      if (!argument && !isResult)
        continue;
      os << separator << (argument ? "argument " : "result ")
         << (argument ? argument.getArgNumber() : llvm::find(results, member.buffer) - results.begin()) << " [" << member.dim << "]";
      separator = ", ";
    }
    for (auto [i, partial] : llvm::enumerate(one.results))
      if (partial != PartialKind::None) {
        os << separator << stringify(partial) << " of result " << i;
        separator = ", ";
      }
    os << "\n";
    for (const ShardingReason &reason : one.reasons)
      printReason(reason, stringify(reason.kind), os);
    for (const ShardingReason &reason : one.joins)
      printReason(reason, "join", os);
    for (const ShardingReason &reason : one.positions)
      printReason(reason, "index", os);
  }
  for (const ShardingRule &rule : analysis.getRules())
    os << "  ranks run the program on shards of " << rule.length.getValue() << printReach(rule.reach) << "\n";
}
