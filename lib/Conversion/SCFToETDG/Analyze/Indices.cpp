//===- Indices.cpp - index arithmetic as quasi-affine expressions ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scalars of the program that are functions of loops and lengths alone. Maxima,
// minima and selects give cases. Integers are taken to be unbounded, as indices
// are everywhere in a graph.
//
//===----------------------------------------------------------------------===//
#include "ft/Conversion/SCFToETDG/Analyze/ProgramAnalysis.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::raising;

static constexpr unsigned maxCases = 16;

/// Both hold.
static Conjunction both(ArrayRef<Constraint> a, ArrayRef<Constraint> b) {
  Conjunction all(a);
  all.append(b.begin(), b.end());
  return all;
}

bool ProgramAnalysis::isNonNegative(Value at, AffineExpr expr) {
  return llvm::all_of(infoOf(at.getParentBlock()).domains,
                      [&](const Conjunction &domain) { return sets->isImplied(domain, {expr}); });
}

std::optional<Cases> ProgramAnalysis::evalIndex(OpFoldResult value) {
  if (auto attr = dyn_cast<Attribute>(value))
    return Cases{{{}, sets->constant(cast<IntegerAttr>(attr).getInt())}};
  return evalIndex(cast<Value>(value));
}

std::optional<AffineExpr> ProgramAnalysis::evalSingle(OpFoldResult value) {
  std::optional<Cases> cases = evalIndex(value);
  if (!cases || cases->size() != 1)
    return std::nullopt;
  return cases->front().value;
}

std::optional<SmallVector<std::pair<Conjunction, SmallVector<AffineExpr>>>>
ProgramAnalysis::evalAll(ArrayRef<OpFoldResult> values) {
  SmallVector<std::pair<Conjunction, SmallVector<AffineExpr>>> all(1);
  for (OpFoldResult value : values) {
    std::optional<Cases> cases = evalIndex(value);
    if (!cases || all.size() * cases->size() > maxCases)
      return std::nullopt;
    SmallVector<std::pair<Conjunction, SmallVector<AffineExpr>>> next;
    for (auto &[when, exprs] : all)
      for (const Case &c : *cases) {
        next.push_back({both(when, c.when), exprs});
        next.back().second.push_back(c.value);
      }
    all = std::move(next);
  }
  return all;
}

std::optional<SmallVector<AffineExpr>> ProgramAnalysis::evalEnds(OpFoldResult value, bool isMax) {
  SmallVector<AffineExpr> ends;
  if (auto v = dyn_cast<Value>(value)) {
    Operation *def = v.getDefiningOp();
    bool splits = def && (isMax ? isa<arith::MaxSIOp>(def) : isa<arith::MinSIOp>(def));
    if (splits) {
      for (Value operand : def->getOperands()) {
        std::optional<SmallVector<AffineExpr>> part = evalEnds(operand, isMax);
        if (!part)
          return std::nullopt;
        ends.append(*part);
      }
      return ends;
    }
    AffineMap map;
    if (auto op = dyn_cast_or_null<affine::AffineMaxOp>(def); op && isMax)
      map = op.getMap();
    if (auto op = dyn_cast_or_null<affine::AffineMinOp>(def); op && !isMax)
      map = op.getMap();
    if (map) {
      SmallVector<AffineExpr> dims, symbols;
      for (auto [i, operand] : llvm::enumerate(def->getOperands())) {
        std::optional<AffineExpr> expr = evalSingle(operand);
        if (!expr)
          return std::nullopt;
        (i < map.getNumDims() ? dims : symbols).push_back(*expr);
      }
      for (AffineExpr result : map.getResults())
        ends.push_back(result.replaceDimsAndSymbols(dims, symbols));
      return ends;
    }
  }
  if (std::optional<AffineExpr> single = evalSingle(value))
    return SmallVector<AffineExpr>{*single};
  return evalEndsOfSum(value, isMax);
}

std::optional<SmallVector<AffineExpr>> ProgramAnalysis::evalEndsOfSum(OpFoldResult value, bool isMax) {
  auto v = dyn_cast<Value>(value);
  Operation *op = v ? v.getDefiningOp() : nullptr;
  if (!isa_and_nonnull<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::FloorDivSIOp, arith::CeilDivSIOp>(op))
    return std::nullopt;
  Value first = op->getOperand(0), second = op->getOperand(1);
  SmallVector<AffineExpr> ends;
  if (isa<arith::AddIOp, arith::SubIOp>(op)) {
    bool subtracts = isa<arith::SubIOp>(op);
    std::optional<SmallVector<AffineExpr>> a = evalEnds(first, isMax), b = evalEnds(second, isMax != subtracts);
    if (!a || !b || a->size() * b->size() > maxCases)
      return std::nullopt;
    for (AffineExpr x : *a)
      for (AffineExpr y : *b)
        ends.push_back(subtracts ? x - y : x + y);
    return ends;
  }
  std::optional<AffineExpr> number = evalSingle(second);
  auto factor = number ? dyn_cast<AffineConstantExpr>(*number) : AffineConstantExpr();
  bool divides = !isa<arith::MulIOp>(op);
  if (!factor || factor.getValue() == 0 || (divides && factor.getValue() < 0))
    return std::nullopt;
  // A factor below 0 turns a maximum into a minimum.
  std::optional<SmallVector<AffineExpr>> a = evalEnds(first, isMax != (factor.getValue() < 0));
  if (!a)
    return std::nullopt;
  for (AffineExpr x : *a)
    ends.push_back(isa<arith::MulIOp>(op) ? x * factor : isa<arith::FloorDivSIOp>(op) ? x.floorDiv(factor) : x.ceilDiv(factor));
  return ends;
}

namespace {
/// A binary operation on cases; null where it is not quasi-affine.
AffineExpr applyBinary(Operation *op, AffineExpr a, AffineExpr b,
                       function_ref<bool(AffineExpr)> isNonNegative) {
  auto divisor = dyn_cast<AffineConstantExpr>(b);
  bool divides = divisor && divisor.getValue() > 0;
  if (isa<arith::AddIOp>(op))
    return a + b;
  if (isa<arith::SubIOp>(op))
    return a - b;
  if (isa<arith::MulIOp>(op))
    return isa<AffineConstantExpr>(a) || isa<AffineConstantExpr>(b) ? a * b : AffineExpr();
  if (isa<arith::FloorDivSIOp>(op))
    return divides ? a.floorDiv(b) : AffineExpr();
  if (isa<arith::CeilDivSIOp>(op))
    return divides ? a.ceilDiv(b) : AffineExpr();
  // Truncating and unsigned forms agree with the flooring ones from 0 on.
  if (!isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::CeilDivUIOp>(
          op) ||
      !divides || !isNonNegative(a))
    return AffineExpr();
  if (isa<arith::RemSIOp, arith::RemUIOp>(op))
    return a % b;
  return isa<arith::CeilDivUIOp>(op) ? a.ceilDiv(b) : a.floorDiv(b);
}
} // namespace

std::optional<Cases> ProgramAnalysis::evalIndex(Value value) {
  auto cached = indexCache.find(value);
  if (cached != indexCache.end())
    return cached->second;
  indexCache[value] = std::nullopt; // a cycle is no index
  std::optional<Cases> result = computeIndex(value);
  if (result) {
    // Cases that never occur where the value is made go first.
    Conjunction domain = commonDomain(value.getParentBlock());
    Case any = result->front();
    if (result->size() > 1)
      llvm::erase_if(*result, [&](const Case &c) { return sets->isEmpty(domain, c.when); });
    if (result->empty())
      result->push_back(any); // never computed
  }
  indexCache[value] = result;
  return result;
}

std::optional<Cases> ProgramAnalysis::computeIndex(Value value) {
  auto iv = ivs.find(value);
  if (iv != ivs.end())
    return Cases{{{}, iv->second.second}};
  APInt constant;
  if (value.getType().isIntOrIndex() && matchPattern(value, m_ConstantInt(&constant)))
    return Cases{{{}, sets->constant(constant.getSExtValue())}};
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (isa<arith::IndexCastOp, arith::ExtSIOp, arith::TruncIOp>(op))
    return evalIndex(op->getOperand(0));
  if (isa<arith::IndexCastUIOp, arith::ExtUIOp>(op)) {
    std::optional<Cases> cases = evalIndex(op->getOperand(0));
    auto isPlain = [&](const Case &c) { return isNonNegative(value, c.value); };
    return cases && llvm::all_of(*cases, isPlain) ? cases : std::nullopt;
  }
  if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    std::optional<int64_t> index = dim.getConstantIndex();
    if (!index || *index < 0 || *index >= cast<RankedTensorType>(dim.getSource().getType()).getRank())
      return std::nullopt;
    std::optional<AffineExpr> size = sizeOf(dim.getSource(), *index);
    return size ? std::optional(Cases{{{}, *size}}) : std::nullopt;
  }
  if (isa<arith::SelectOp, scf::IfOp>(op))
    return chooseIndex(cast<OpResult>(value));
  if (isa<arith::MaxSIOp, arith::MinSIOp, affine::AffineMaxOp, affine::AffineMinOp>(op))
    return extremeIndex(cast<OpResult>(value));
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op)) {
    AffineMap map = apply.getAffineMap();
    return combineIndices(op, [&](ArrayRef<AffineExpr> exprs) {
      AffineExpr expr = map.getResult(0).replaceDimsAndSymbols(exprs.take_front(map.getNumDims()),
                                                               exprs.drop_front(map.getNumDims()));
      return expr.isPureAffine() ? expr : AffineExpr();
    });
  }
  if (op->getNumOperands() == 2 && op->getNumResults() == 1 && op->getDialect() &&
      op->getDialect()->getNamespace() == "arith" && value.getType().isIntOrIndex() && !value.getType().isInteger(1))
    return combineIndices(op, [&](ArrayRef<AffineExpr> exprs) {
      return applyBinary(op, exprs[0], exprs[1], [&](AffineExpr e) { return isNonNegative(value, e); });
    });
  return std::nullopt;
}

/// One expression for each combination of the operands' cases; none where `apply` has none.
std::optional<Cases> ProgramAnalysis::combineIndices(Operation *op, function_ref<AffineExpr(ArrayRef<AffineExpr>)> apply) {
  auto all = evalAll(llvm::to_vector_of<OpFoldResult>(op->getOperands()));
  if (!all)
    return std::nullopt;
  Cases result;
  for (auto &[when, exprs] : *all) {
    AffineExpr expr = apply(exprs);
    if (!expr)
      return std::nullopt;
    result.push_back({when, expr});
  }
  return result;
}

/// A select, or the result of a condition: the cases of both sides, each where it is chosen.
std::optional<Cases> ProgramAnalysis::chooseIndex(OpResult value) {
  Operation *op = value.getOwner();
  Value yes, no;
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    yes = select.getTrueValue();
    no = select.getFalseValue();
  } else {
    auto branch = cast<scf::IfOp>(op);
    if (branch.getElseRegion().empty())
      return std::nullopt;
    yes = branch.thenYield().getOperand(value.getResultNumber());
    no = branch.elseYield().getOperand(value.getResultNumber());
  }
  std::optional<Condition> condition = evalCondition(op->getOperand(0));
  if (!condition)
    return std::nullopt;
  Cases result;
  for (auto &[alternatives, chosen] : {std::pair(&condition->yes, yes), std::pair(&condition->no, no)}) {
    std::optional<Cases> cases = evalIndex(chosen);
    if (!cases)
      return std::nullopt;
    for (const Conjunction &when : *alternatives)
      for (const Case &c : *cases)
        result.push_back({both(when, c.when), c.value});
  }
  return result.size() <= maxCases ? std::optional(result) : std::nullopt;
}

/// A maximum or minimum: each end where it is the extreme one, the first of equal ones.
std::optional<Cases> ProgramAnalysis::extremeIndex(OpResult value) {
  Operation *op = value.getOwner();
  Cases result;
  if (isa<arith::MaxSIOp, arith::MinSIOp>(op)) {
    auto all = evalAll(llvm::to_vector_of<OpFoldResult>(op->getOperands()));
    if (!all)
      return std::nullopt;
    for (auto &[when, exprs] : *all) {
      AffineExpr less = isa<arith::MaxSIOp>(op) ? exprs[1] : exprs[0],
                 more = isa<arith::MaxSIOp>(op) ? exprs[0] : exprs[1];
      result.push_back({both(when, {{more - less}}), exprs[0]});
      result.push_back({both(when, {{less - more - 1}}), exprs[1]});
    }
    return result.size() <= maxCases ? std::optional(result) : std::nullopt;
  }
  bool isMax = isa<affine::AffineMaxOp>(op);
  std::optional<SmallVector<AffineExpr>> ends = evalEnds(Value(value), isMax);
  if (!ends || ends->size() > 4)
    return std::nullopt;
  for (auto [i, e] : llvm::enumerate(*ends)) {
    Conjunction when;
    for (auto [j, other] : llvm::enumerate(*ends))
      if (j != i)
        when.push_back({(isMax ? e - other : other - e) - (j < i ? 1 : 0)});
    result.push_back({when, e});
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

static std::optional<Condition> limited(Condition c) {
  return c.yes.size() + c.no.size() <= maxCases ? std::optional(c) : std::nullopt;
}

/// Where some alternative of each holds.
static SmallVector<Conjunction> product(ArrayRef<Conjunction> a, ArrayRef<Conjunction> b) {
  SmallVector<Conjunction> result;
  for (const Conjunction &x : a)
    for (const Conjunction &y : b)
      result.push_back(both(x, y));
  return result;
}

static Condition negated(Condition c) {
  std::swap(c.yes, c.no);
  return c;
}

static Condition conjunction(const Condition &a, const Condition &b) {
  Condition result;
  result.yes = product(a.yes, b.yes);
  result.no = a.no;
  llvm::append_range(result.no, product(a.yes, b.no));
  return result;
}

static Condition exclusive(const Condition &a, const Condition &b) {
  Condition result;
  result.yes = product(a.yes, b.no);
  llvm::append_range(result.yes, product(a.no, b.yes));
  result.no = product(a.yes, b.yes);
  llvm::append_range(result.no, product(a.no, b.no));
  return result;
}

/// Adds where `a <predicate> b` holds and where not, both where `when` does.
static void addComparison(Condition &result, const Conjunction &when, arith::CmpIPredicate predicate, AffineExpr a,
                          AffineExpr b) {
  using P = arith::CmpIPredicate;
  auto add = [&](SmallVector<Conjunction> &to, AffineExpr e, bool eq = false) { to.push_back(both(when, {{e, eq}})); };
  auto addLess = [&](AffineExpr x, AffineExpr y, int64_t by) { // x + by ≤ y
    add(result.yes, y - x - by);
    add(result.no, x - y - 1 + by);
  };
  switch (predicate) {
  case P::eq:
  case P::ne: {
    auto &same = predicate == P::eq ? result.yes : result.no, &other = predicate == P::eq ? result.no : result.yes;
    add(same, a - b, true);
    add(other, a - b - 1);
    add(other, b - a - 1);
    return;
  }
  case P::slt:
  case P::ult:
    return addLess(a, b, 1);
  case P::sle:
  case P::ule:
    return addLess(a, b, 0);
  case P::sgt:
  case P::ugt:
    return addLess(b, a, 1);
  case P::sge:
  case P::uge:
    return addLess(b, a, 0);
  }
}

std::optional<Condition> ProgramAnalysis::evalCondition(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant))) {
    Condition result;
    (constant.isZero() ? result.no : result.yes).push_back({});
    return result;
  }
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op)) {
    std::optional<Condition> a = evalCondition(op->getOperand(0)), b = evalCondition(op->getOperand(1));
    if (!a || !b)
      return std::nullopt;
    if (isa<arith::XOrIOp>(op))
      return limited(exclusive(*a, *b));
    return limited(isa<arith::OrIOp>(op) ? negated(conjunction(negated(*a), negated(*b))) : conjunction(*a, *b));
  }
  auto compare = dyn_cast<arith::CmpIOp>(op);
  if (!compare || !compare.getLhs().getType().isIntOrIndex() || compare.getLhs().getType().isInteger(1))
    return std::nullopt;
  auto sides = evalAll({compare.getLhs(), compare.getRhs()});
  if (!sides)
    return std::nullopt;
  using P = arith::CmpIPredicate;
  bool isUnsigned = llvm::is_contained({P::ult, P::ule, P::ugt, P::uge}, compare.getPredicate());
  Condition result;
  for (auto &[when, exprs] : *sides) {
    if (isUnsigned && (!isNonNegative(value, exprs[0]) || !isNonNegative(value, exprs[1])))
      return std::nullopt;
    addComparison(result, when, compare.getPredicate(), exprs[0], exprs[1]);
  }
  return limited(result);
}

std::optional<SmallVector<AffineExpr>> ProgramAnalysis::sizesOf(Value tensor) {
  SmallVector<AffineExpr> sizes;
  if (auto type = dyn_cast<RankedTensorType>(tensor.getType()))
    for (unsigned d = 0, e = type.getRank(); d < e; ++d) {
      std::optional<AffineExpr> size = sizeOf(tensor, d);
      if (!size)
        return std::nullopt;
      sizes.push_back(*size);
    }
  return sizes;
}

std::optional<AffineExpr> ProgramAnalysis::sizeOf(Value tensor, unsigned dim) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(dim))
    return sets->constant(type.getDimSize(dim));
  if (auto arg = dyn_cast<BlockArgument>(tensor)) {
    Operation *parent = arg.getOwner()->getParentOp();
    if (parent == function)
      return argumentSizes.lookup({arg.getArgNumber(), dim});
    if (auto loop = dyn_cast<scf::ForOp>(parent))
      return sizeOf(loop.getTiedLoopInit(arg)->get(), dim);
    if (auto loop = dyn_cast<scf::ForallOp>(parent))
      return sizeOf(loop.getTiedOpOperand(arg)->get(), dim);
    return std::nullopt;
  }
  auto result = cast<OpResult>(tensor);
  Operation *op = result.getOwner();
  if (auto empty = dyn_cast<tensor::EmptyOp>(op))
    return evalSingle(empty.getMixedSizes()[dim]);
  auto access = dyn_cast<SubsetAccessOpInterface>(op);
  if (access && access.isWrite())
    return sizeOf(access.getBase(), dim);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return sizeOf(loop.getInitArgs()[result.getResultNumber()], dim);
  if (auto loop = dyn_cast<scf::ForallOp>(op))
    return sizeOf(loop.getOutputs()[result.getResultNumber()], dim);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return sizeOf(branch.thenYield().getOperand(result.getResultNumber()), dim);
  if (auto cast = dyn_cast<tensor::CastOp>(op))
    return sizeOf(cast.getSource(), dim);
  if (access) {
    llvm::SmallBitVector dropped = access.getSubsetDroppedDims();
    SmallVector<OpFoldResult> sizes = access.getSubsetSizes();
    for (unsigned d = 0, kept = 0; d < sizes.size(); ++d)
      if (!dropped.test(d) && kept++ == dim)
        return evalSingle(sizes[d]);
  }
  if (auto fill = dyn_cast<DestinationStyleOpInterface>(op))
    return sizeOf(fill.getTiedOpOperand(result)->get(), dim);
  return std::nullopt;
}
