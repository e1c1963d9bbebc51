//===- Blocks.cpp - loops and conditions as integer sets ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names for the lengths of arguments; for each IR block the loops around it and
// the iterations at which it runs.
//
//===----------------------------------------------------------------------===//
#include "ft/Conversion/SCFToETDG/Analyze/ProgramAnalysis.h"

#include "ft/Dialect/ETDG/IR/AttributeNames.h"
#include "ft/Dialect/ETDG/IR/SetText.h"
#include "ft/Dialect/FT/IR/AttributeNames.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::raising;

LogicalResult ProgramAnalysis::nameLengths() {
  bounds = function->getAttrOfType<BoundsAttr>(mlir::ft::names::bounds);
  llvm::SmallDenseMap<std::pair<unsigned, unsigned>, StringAttr> given;
  llvm::SetVector<StringAttr> all;
  if (bounds)
    for (LengthAttr bound : bounds.getNonNegative())
      for (StringAttr name : bound.getNames())
        all.insert(name);
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      return refuse(function.getArgument(i).getLoc(),
                    "argument " + Twine(i) + " is no ranked tensor");
    auto dims = function.getArgAttrOfType<ArrayAttr>(i, etdg::names::dims);
    if (dims && dims.size() > static_cast<size_t>(tensor.getRank()))
      return refuse(function.getArgument(i).getLoc(),
                    "'etdg.dims' of argument " + Twine(i) + " has " + Twine(dims.size()) +
                        " names, the tensor " + Twine(tensor.getRank()) + " dimensions");
    for (unsigned d = 0; dims && d < dims.size(); ++d) {
      auto name = dyn_cast<StringAttr>(dims[d]);
      if (!name)
        return refuse(function.getArgument(i).getLoc(), "'etdg.dims' holds names");
      StringRef text = name.getValue();
      if (text.empty() || !tensor.isDynamicDim(d))
        continue;
      if (!llvm::all_of(text, [](char c) { return llvm::isAlnum(c) || c == '_'; }) ||
          llvm::isDigit(text.front()))
        return refuse(function.getArgument(i).getLoc(), "'" + text + "' is no name of a length");
      given[{i, d}] = name;
      all.insert(name);
    }
  }
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
    auto tensor = cast<RankedTensorType>(type);
    for (unsigned d = 0, e = tensor.getRank(); d < e; ++d) {
      if (!tensor.isDynamicDim(d) || given.contains({i, d}))
        continue;
      StringAttr name;
      for (unsigned attempt = 0; !name || all.contains(name); ++attempt)
        name = StringAttr::get(context, "n" + std::to_string(i) + "_" + std::to_string(d) +
                                            std::string(attempt, '_'));
      given[{i, d}] = name;
      all.insert(name);
    }
  }
  SmallVector<StringAttr> names = all.takeVector();
  llvm::sort(names, [](StringAttr a, StringAttr b) { return a.getValue() < b.getValue(); });
  plan.sets = std::make_unique<RaisingSets>(context, names, bounds);
  sets = plan.sets.get();
  for (auto &[where, name] : given)
    argumentSizes[where] = sets->name(llvm::find(names, name) - names.begin());
  return success();
}

Conjunction ProgramAnalysis::box(ArrayRef<AffineExpr> sizes) {
  Conjunction result;
  for (auto [d, size] : llvm::enumerate(sizes)) {
    result.push_back({sets->cell(d)});
    result.push_back({size - sets->cell(d) - 1});
  }
  return result;
}

Conjunction ProgramAnalysis::commonDomain(Block *block) {
  const BlockInfo &info = infoOf(block);
  if (info.domains.size() == 1)
    return info.domains.front();
  // What every alternative says.
  Conjunction common;
  if (!info.domains.empty())
    for (const Constraint &c : info.domains.front())
      if (llvm::all_of(info.domains,
                       [&](const Conjunction &other) { return llvm::is_contained(other, c); }))
        common.push_back(c);
  return common;
}

/// An upper bound without the part of a maximum that is the lower bound: a loop has no iteration where the other part is less.
OpFoldResult ProgramAnalysis::withoutLowerBound(OpFoldResult upper, OpFoldResult lower) {
  auto value = dyn_cast<Value>(upper);
  auto most = value ? value.getDefiningOp<arith::MaxSIOp>() : arith::MaxSIOp();
  std::optional<AffineExpr> least = most ? evalSingle(lower) : std::nullopt;
  if (!least)
    return upper;
  for (auto [part, other] : {std::pair(most.getLhs(), most.getRhs()), std::pair(most.getRhs(), most.getLhs())})
    if (evalSingle(part) == least)
      return withoutLowerBound(other, lower);
  return upper;
}

LogicalResult ProgramAnalysis::addLoop(Operation *op, Value iv, OpFoldResult lower, OpFoldResult upper,
                              OpFoldResult step, bool carries, BlockInfo &info) {
  std::optional<AffineExpr> stride = evalSingle(step);
  auto constant = stride ? dyn_cast<AffineConstantExpr>(*stride) : AffineConstantExpr();
  if (!constant || constant.getValue() <= 0)
    return refuse(op, "the step of the loop is no positive constant");
  int64_t by = constant.getValue();
  std::optional<SmallVector<AffineExpr>> lowers = evalEnds(lower, true),
                                         uppers = evalEnds(withoutLowerBound(upper, lower), false);
  if (!lowers || !uppers)
    return refuse(
        op,
        Twine("the ") + (lowers ? "upper" : "lower") +
            " bound of the loop is not an affine function of lengths and of the loops around it");
  Loop loop;
  loop.dim = info.depth();
  loop.carries = carries;
  AffineExpr d = sets->dim(loop.dim);
  if (by == 1) {
    loop.iv = d;
    loop.lowers = *lowers;
    loop.uppers = *uppers;
  } else {
    if (lowers->size() != 1)
      return refuse(op, "the lower bound of a loop of step " + Twine(by) + " is a maximum");
    loop.iv = d * by + lowers->front();
    loop.lowers = {sets->constant(0)};
    for (AffineExpr e : *uppers)
      loop.uppers.push_back((e - lowers->front()).ceilDiv(by));
  }
  plan.loops.push_back(loop);
  const Loop &kept = plan.loops.back();
  ivs[iv] = {&kept, kept.iv};
  info.loops.push_back(&kept);
  for (Conjunction &domain : info.domains) {
    for (AffineExpr e : kept.lowers)
      domain.push_back({d - e});
    for (AffineExpr e : kept.uppers)
      domain.push_back({e - d - 1});
  }
  // A loop that never runs.
  llvm::erase_if(info.domains, [&](const Conjunction &domain) { return sets->isEmpty(domain); });
  return success();
}

LogicalResult ProgramAnalysis::collectBlocks(Block &block, const BlockInfo &info) {
  blocks[&block] = info;
  for (Operation &op : block) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      BlockInfo inner = info;
      if (failed(addLoop(&op, loop.getInductionVar(), loop.getLowerBound(), loop.getUpperBound(),
                         loop.getStep(), true, inner)) ||
          failed(collectBlocks(*loop.getBody(), inner)))
        return failure();
    } else if (auto loop = dyn_cast<scf::ForallOp>(op)) {
      BlockInfo inner = info;
      for (auto [iv, lower, upper, step] :
           llvm::zip_equal(loop.getInductionVars(), loop.getMixedLowerBound(),
                           loop.getMixedUpperBound(), loop.getMixedStep()))
        if (failed(addLoop(&op, iv, lower, upper, step, false, inner)))
          return failure();
      if (failed(collectBlocks(*loop.getBody(), inner)))
        return failure();
      blocks[&loop.getTerminator().getRegion().front()] = inner;
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      std::optional<Condition> condition = evalCondition(branch.getCondition());
      if (!condition)
        return refuse(&op, "the condition is not an affine function of loops and lengths, and the "
                           "branches are not "
                           "cheap expressions that a select could choose from");
      conditions[&op] = *condition;
      for (auto [region, alternatives] : {std::pair(&branch.getThenRegion(), &condition->yes),
                                          std::pair(&branch.getElseRegion(), &condition->no)}) {
        if (region->empty())
          continue;
        BlockInfo inner = info;
        inner.domains.clear();
        for (const Conjunction &domain : info.domains)
          for (const Conjunction &when : *alternatives)
            if (!sets->isEmpty(domain, when)) {
              inner.domains.push_back(domain);
              llvm::append_range(inner.domains.back(), when);
            }
        if (inner.domains.size() > 16)
          return refuse(&op, "the conditions around this have more than 16 disjoint alternatives");
        if (failed(collectBlocks(region->front(), inner)))
          return failure();
      }
    }
  }
  return success();
}

FailureOr<LengthAttr> ProgramAnalysis::toLength(Operation *op, AffineExpr expr) {
  if (!expr || !expr.isSymbolicOrConstant())
    return refuse(op,
                  "the length of a buffer would not be a function of the arguments' lengths alone");
  if (LengthAttr length = LengthAttr::get(context, sets->getNames(), expr))
    return length;
  return refuse(op, "the length of a buffer overflows");
}

FailureOr<std::pair<LengthAttr, AffineExpr>> ProgramAnalysis::extentOf(Operation *op, const BlockInfo &info,
                                                              unsigned dim) {
  SmallVector<SmallVector<AffineExpr>> lowers, uppers;
  for (unsigned d = 0; d < dim; ++d) {
    lowers.push_back(info.loops[d]->lowers);
    uppers.push_back(info.loops[d]->uppers);
  }
  AffineExpr upper, lower;
  for (AffineExpr end : info.loops[dim]->uppers)
    if (!upper || end.isSymbolicOrConstant())
      if (AffineExpr bound = sets->upperBound(end, lowers, uppers))
        upper = bound;
  for (AffineExpr end : info.loops[dim]->lowers) {
    if (sets->isImplied(commonDomain(op->getBlock()), {end}))
      lower = sets->constant(0);
    else if (AffineExpr bound = sets->upperBound(-end, lowers, uppers); bound && !lower)
      lower = simplifyAffineExpr(-bound, 0, sets->getNames().size());
  }
  if (!upper || !lower)
    return refuse(op, "no bounds of loop " + Twine(dim) +
                          " around this depend on the arguments' lengths alone");
  // A buffer of length L - 2 would not exist for L = 1, where the loop just does not run.
  AffineExpr length = simplifyAffineExpr(upper - lower, 0, sets->getNames().size());
  if (!sets->isImplied({}, {length})) {
    etdg::LinearForm form = etdg::LinearForm::of(length);
    if (form.constant < 0)
      length = simplifyAffineExpr(length - form.constant, 0, sets->getNames().size());
  }
  if (!sets->isImplied({}, {length})) {
    std::string text;
    llvm::raw_string_ostream os(text);
    printNamedExpr(os, length, {}, sets->getNames());
    return refuse(op,
                  "a loop around this may run from a larger to a smaller number: add the bound " +
                      text + " >= 0");
  }
  FailureOr<LengthAttr> attr = toLength(op, length);
  if (failed(attr))
    return failure();
  return std::make_pair(*attr, lower);
}
