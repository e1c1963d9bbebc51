//===- ElementRelations.cpp - what an element of a leaf's output takes ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An index of the output is followed through the leaf's body to its reads, and
// through their pieces to buffers. A structured operation says by its maps where its
// operands are read; a loop that its result has not is a reduction variable.
//
//===----------------------------------------------------------------------===//
#include "ft/Analysis/TensorExpressions/TensorExpressions.h"
#include "ft/Dialect/ETDG/IR/SetText.h"
#include "ft/Interfaces/SubsetAccess.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/RegionUtils.h"

#include <set>

using namespace mlir;
using namespace mlir::etdg;

StringRef etdg::stringify(Reliance reliance) { return reliance == Reliance::One ? "one-relies-on-one" : "one-relies-on-many"; }

static bool isOrdered(ft::OperatorKind kind) { return kind != ft::OperatorKind::Map; }

/// Whether a block's dimension is one over which all iterations make one value.
static bool reduces(ft::OperatorKind kind) {
  StringRef name = ft::stringifyOperatorKind(kind);
  return isOrdered(kind) && !name.starts_with("scan");
}

Reliance ElementRelation::getReliance() const {
  for (auto [number, variable] : llvm::enumerate(variables))
    if (variable.isReduction && variable.size != 1 && llvm::any_of(inputIndex, [n = number](AffineExpr expr) { return expr.isFunctionOfDim(n); }))
      return Reliance::Many;
  BlockOp block = statement;
  for (unsigned d = 0; d < block.getNumOwnDims(); ++d)
    if (reduces(block.getOperator(d)))
      return Reliance::Many;
  return Reliance::One;
}

namespace {
/// Follows one output of a leaf.
class BodyFollower {
public:
  BodyFollower(BlockOp leaf, unsigned write) : leaf(leaf), write(write), context(leaf.getContext()) {}
  SmallVector<ElementRelation, 0> run();

private:
  void follow(Value value, ArrayRef<AffineExpr> index);
  void followLinalg(linalg::LinalgOp op, OpResult result, ArrayRef<AffineExpr> index);
  void followAll(Operation *op);
  void takeWhole(Value value);
  void record(unsigned read, ArrayRef<AffineExpr> index);

  AffineExpr add(StringRef name, int64_t size, bool isReduction, bool isData = false);
  /// A reduction of an operation, a value or a piece: one variable, however often that is met.
  AffineExpr reduction(const void *of, unsigned number, int64_t size, bool isData = false);
  std::string freshName(ArrayRef<StringRef> candidates, StringRef prefix) const;
  AffineExpr zero() { return getAffineConstantExpr(0, context); }

  BlockOp leaf;
  unsigned write;
  MLIRContext *context;
  SmallVector<ElementVariable> variables;
  llvm::DenseMap<std::pair<const void *, unsigned>, AffineExpr> reductions;
  std::set<std::pair<void *, std::vector<const void *>>> seen;
  SmallVector<ElementRelation, 0> found;
  struct Conditions {
    SmallVector<AffineExpr> constraints;
    SmallVector<bool> areEqualities;
  };
  SmallVector<Conditions, 0> conditions; // of each, over the variables once all of them are known
};
} // namespace

/// Bodies whose operations are met at more indices than that take their reads whole: two reads of each other's places double them.
static constexpr size_t mostVisits = 4096;

std::string BodyFollower::freshName(ArrayRef<StringRef> candidates, StringRef prefix) const {
  auto isFree = [&](StringRef name) { return llvm::none_of(variables, [&](const ElementVariable &v) { return v.name.getValue() == name; }); };
  for (StringRef name : candidates)
    if (isFree(name))
      return name.str();
  for (unsigned number = 0;; ++number)
    if (std::string name = (prefix + Twine(number)).str(); isFree(name))
      return name;
}

AffineExpr BodyFollower::add(StringRef name, int64_t size, bool isReduction, bool isData) {
  std::optional<int64_t> known = ShapedType::isDynamic(size) ? std::nullopt : std::optional(size);
  variables.push_back({StringAttr::get(context, name), known, isReduction, isData});
  return getAffineDimExpr(variables.size() - 1, context);
}

AffineExpr BodyFollower::reduction(const void *of, unsigned number, int64_t size, bool isData) {
  if (size == 1)
    return zero();
  AffineExpr &expr = reductions[{of, number}];
  if (!expr)
    expr = add(freshName({"rk"}, "rk"), size, /*isReduction=*/true, isData);
  return expr;
}

void BodyFollower::followLinalg(linalg::LinalgOp op, OpResult result, ArrayRef<AffineExpr> index) {
  OpOperand *init = op.getDpsInitOperand(result.getResultNumber());
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  SmallVector<AffineExpr> loops(ranges.size());
  for (auto [expr, at] : llvm::zip_equal(op.getMatchingIndexingMap(init).getResults(), index))
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      loops[dim.getPosition()] = at;
  for (auto [number, range] : llvm::enumerate(ranges))
    if (!loops[number])
      loops[number] = reduction(op.getOperation(), number, range);
  auto take = [&](OpOperand *operand) {
    SmallVector<AffineExpr> own;
    for (AffineExpr expr : op.getMatchingIndexingMap(operand).getResults())
      own.push_back(expr.replaceDims(loops));
    follow(operand->get(), own);
  };
  for (OpOperand *input : op.getDpsInputOperands())
    take(input);
  if (op.payloadUsesValueFromOperand(init))
    take(init);
}

void BodyFollower::takeWhole(Value value) {
  SmallVector<AffineExpr> index;
  if (auto tensor = dyn_cast<RankedTensorType>(value.getType()))
    for (auto [dim, size] : llvm::enumerate(tensor.getShape()))
      index.push_back(reduction(value.getAsOpaquePointer(), unsigned(dim), size));
  follow(value, index);
}

/// What has no rule takes all of its operands, and all that its regions use.
void BodyFollower::followAll(Operation *op) {
  llvm::SetVector<Value> used(op->operand_begin(), op->operand_end());
  if (op->getNumRegions() > 0)
    getUsedValuesDefinedAbove(op->getRegions(), used);
  for (Value value : used)
    takeWhole(value);
}

void BodyFollower::follow(Value value, ArrayRef<AffineExpr> index) {
  std::vector<const void *> key;
  for (AffineExpr expr : index)
    key.push_back(expr.getAsOpaquePointer());
  if (seen.size() >= mostVisits || !seen.emplace(value.getAsOpaquePointer(), std::move(key)).second)
    return;
  Operation *op = value.getDefiningOp();
  if (!op) {
    auto argument = cast<BlockArgument>(value);
    return argument.getOwner() == &leaf.getBody().front() ? record(argument.getArgNumber(), index) : void();
  }
  if (op->hasTrait<OpTrait::ConstantLike>() || isa<tensor::EmptyOp>(op))
    return;
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return followLinalg(linalgOp, cast<OpResult>(value), index);
  if (auto softmax = dyn_cast<linalg::SoftmaxOp>(op)) {
    SmallVector<AffineExpr> row(index);
    int64_t dim = softmax.getDimension();
    row[dim] = reduction(op, unsigned(dim), softmax.getInputOperandType().getDimSize(dim));
    return follow(softmax.getInput(), row);
  }
  if (OpTrait::hasElementwiseMappableTraits(op) || (op->getNumRegions() == 0 && !isa<RankedTensorType>(value.getType()) &&
                                                    llvm::none_of(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>))) {
    for (Value operand : op->getOperands())
      follow(operand, isa<RankedTensorType>(operand.getType()) ? index : ArrayRef<AffineExpr>());
    return;
  }
  if (AffineMap map = ft::getElementMap(op); map && map.getNumSymbols() == 0 && map.getNumDims() == index.size()) {
    SmallVector<AffineExpr> base;
    for (AffineExpr expr : map.getResults())
      base.push_back(expr.replaceDims(index));
    return follow(ft::getTensorOperands(op).front()->get(), base);
  }
  followAll(op);
}

void BodyFollower::record(unsigned number, ArrayRef<AffineExpr> index) {
  ReadAttr read = leaf.getRead(number);
  SmallVector<AffineExpr> point;
  for (unsigned d = 0; d < leaf.getNumDims(); ++d)
    point.push_back(getAffineDimExpr(d, context));
  if (read.getElementRank() > 0)
    llvm::append_range(point, index);
  for (auto [piece, source] : llvm::enumerate(read.getPieces())) {
    if (source.getKind() != SourceKind::Buffer)
      continue;
    ElementRelation relation;
    relation.statement = leaf;
    relation.write = write;
    relation.read = number;
    relation.piece = unsigned(piece);
    relation.output = leaf.getBuffers()[leaf.getWrite(write).getOperand()];
    relation.input = leaf.getBuffers()[source.getOperand()];
    AffineMap map = source.getMap().getValue();
    for (auto [at, expr] : llvm::enumerate(map.getResults())) {
      bool isData = llvm::any_of(source.getGathers(), [at = at](GatherAttr gather) { return gather.getPosition() == int64_t(at); });
      if (!isData) {
        relation.inputIndex.push_back(expr.replaceDims(point));
        continue;
      }
      relation.inputIndex.push_back(reduction(source.getAsOpaquePointer(), unsigned(at), ShapedType::kDynamic, /*isData=*/true));
    }
    // (A map over the element's dimensions says itself where each of its numbers lies.)
    if (read.getElementRank() == 0)
      llvm::append_range(relation.inputIndex, index);
    // An index that is data is an input as well.
    for (GatherAttr gather : source.getGathers()) {
      ElementRelation &named = found.emplace_back(relation);
      named.input = leaf.getBuffers()[gather.getOperand()];
      named.inputIndex.clear();
      for (AffineExpr expr : gather.getMap().getValue().getResults())
        named.inputIndex.push_back(expr.replaceDims(point));
    }
    IntegerSet set = source.getSet().getValue();
    Conditions &own = conditions.emplace_back();
    for (auto [constraint, isEq] : llvm::zip_equal(set.getConstraints(), set.getEqFlags()))
      if (!isa<AffineConstantExpr>(constraint)) { // (a piece that holds everywhere says 0 = 0)
        own.constraints.push_back(constraint.replaceDims(point));
        own.areEqualities.push_back(isEq);
      }
    conditions.append(source.getGathers().size(), Conditions(conditions.back()));
    found.push_back(std::move(relation));
  }
}

SmallVector<ElementRelation, 0> BodyFollower::run() {
  for (StringAttr name : leaf.getDimNames())
    variables.push_back({name, std::nullopt});
  WriteAttr target = leaf.getWrite(write);
  auto type = cast<BufferType>(leaf.getBuffers()[target.getOperand()].getType());
  SmallVector<AffineExpr> element;
  for (int64_t size : type.getElement().getShape())
    element.push_back(size == 1 ? zero() : add(freshName({"i", "j", "k", "l", "m", "n"}, "e"), size, /*isReduction=*/false));
  follow(leaf.getYield().getOperand(write), element);
  if (seen.size() >= mostVisits) {
    found.clear();
    conditions.clear();
    seen.clear();
    for (BlockArgument argument : leaf.getBody().front().getArguments())
      takeWhole(argument);
  }
  SmallVector<ElementRelation, 0> distinct;
  for (auto [relation, where] : llvm::zip_equal(found, conditions)) {
    relation.variables = variables;
    llvm::append_range(relation.outputIndex, target.getMap().getValue().getResults());
    llvm::append_range(relation.outputIndex, element);
    if (!where.constraints.empty())
      relation.where = IntegerSet::get(variables.size(), leaf.getSymbols().size(), where.constraints, where.areEqualities);
    bool isKnown = llvm::any_of(distinct, [&, &own = relation](const ElementRelation &other) {
      return other.input == own.input && other.inputIndex == own.inputIndex && other.where == own.where;
    });
    if (!isKnown)
      distinct.push_back(std::move(relation));
  }
  return distinct;
}

SmallVector<ElementRelation, 0> etdg::getElementRelations(BlockOp leaf) {
  SmallVector<ElementRelation, 0> all;
  for (unsigned write = 0; write < leaf.getNumWrites(); ++write)
    for (ElementRelation &relation : BodyFollower(leaf, write).run())
      all.push_back(std::move(relation));
  return all;
}

//===----------------------------------------------------------------------===//
// Affine functions
//===----------------------------------------------------------------------===//

std::optional<AffineRelation> etdg::getAffineRelation(const ElementRelation &relation) {
  if (relation.getReliance() == Reliance::Many)
    return std::nullopt;
  SmallVector<unsigned> columns;
  for (auto [number, variable] : llvm::enumerate(relation.variables))
    if (!variable.isReduction)
      columns.push_back(unsigned(number));
  AffineRelation result;
  for (AffineExpr expr : relation.inputIndex) {
    SmallVector<int64_t> &row = result.linear.emplace_back(columns.size(), 0);
    int64_t &constant = result.constant.emplace_back(0);
    LinearForm form = LinearForm::of(expr);
    constant = form.constant;
    for (auto [atom, coefficient] : form.terms) {
      auto dim = dyn_cast<AffineDimExpr>(atom);
      auto *column = dim ? llvm::find(columns, dim.getPosition()) : columns.end();
      if (column == columns.end())
        return std::nullopt;
      row[column - columns.begin()] += coefficient;
    }
  }
  return result;
}
