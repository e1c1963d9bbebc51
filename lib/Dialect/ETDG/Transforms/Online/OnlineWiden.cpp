//===- OnlineWiden.cpp - bodies over wider numbers ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "OnlineWiden.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace mlir::etdg;
using namespace mlir::etdg::online;

FloatType online::getWideType(Type a, Type b) {
  auto wide = dyn_cast_or_null<FloatType>(a);
  if (!wide)
    return {};
  if (wide.getWidth() < 32)
    wide = Float32Type::get(wide.getContext());
  if (auto other = dyn_cast_or_null<FloatType>(b); other && other.getWidth() > wide.getWidth())
    wide = other;
  return wide;
}

/// The float type of a value or of its elements, or null.
static FloatType getFloat(Type type) { return dyn_cast<FloatType>(getElementTypeOrSelf(type)); }

static Type withElement(Type type, Type element) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return tensor.clone(element);
  return element;
}

Value online::convertElements(OpBuilder &builder, Location loc, Value value, Type element) {
  FloatType from = getFloat(value.getType()), to = dyn_cast_or_null<FloatType>(element);
  if (!from || !to || from == to)
    return value;
  Type type = withElement(value.getType(), to);
  if (from.getWidth() < to.getWidth()) {
    Attribute constant;
    auto extend = [&](const APFloat &number) {
      APFloat wide = number;
      bool lost;
      wide.convert(to.getFloatSemantics(), APFloat::rmNearestTiesToEven, &lost);
      return FloatAttr::get(to, wide);
    };
    if (matchPattern(value, m_Constant(&constant))) {
      if (auto number = dyn_cast<FloatAttr>(constant))
        return arith::ConstantOp::create(builder, loc, extend(number.getValue()));
      if (auto splat = dyn_cast<SplatElementsAttr>(constant))
        return arith::ConstantOp::create(
            builder, loc,
            SplatElementsAttr::get(cast<RankedTensorType>(type),
                                   extend(splat.getSplatValue<APFloat>())));
    }
    // What fills a tensor fills a wider one: others still see that all elements are one constant.
    if (auto fill = value.getDefiningOp<linalg::FillOp>(); fill && fill.hasPureTensorSemantics() && cast<RankedTensorType>(type).hasStaticShape()) {
      Value number = convertElements(builder, loc, fill.getInputs().front(), to);
      Value whole = tensor::EmptyOp::create(builder, loc, cast<RankedTensorType>(type).getShape(), to);
      return linalg::FillOp::create(builder, loc, number, whole).getResult(0);
    }
    return arith::ExtFOp::create(builder, loc, type, value);
  }
  if (from.getWidth() == to.getWidth()) { // f16 and bf16
    Value wide = arith::ExtFOp::create(
        builder, loc, withElement(value.getType(), Float32Type::get(builder.getContext())), value);
    return arith::TruncFOp::create(builder, loc, type, wide);
  }
  return arith::TruncFOp::create(builder, loc, type, value);
}

namespace {
/// Clones one region; values are wide where they are wider than what they stand for, or where
/// something wide was rounded on the way to them.
class Widener {
public:
  Widener(OpBuilder &builder, llvm::DenseMap<Operation *, Operation *> *original, Widening widening)
      : builder(builder), original(original), all(widening == Widening::ofAll) {}

  bool run(Block &from);
  void map(Value from, Value to) {
    mapping.map(from, to);
    if (from.getType() != to.getType())
      wide.insert(from);
  }
  Value lookup(Value value) { return mapping.lookupOrDefault(value); }

  Operation *culprit = nullptr;

private:
  bool visit(Operation *op);
  bool visitElementwise(Operation *op);
  bool visitStructured(linalg::LinalgOp op);
  SmallVector<Value> widenOperands(linalg::LinalgOp op, FloatType element, Value &addend);
  bool visitCast(Operation *op);
  void visitNarrow(Operation *op);
  void roundOperands(Operation *op);
  Value convert(Location loc, Value value, Type element);
  bool visitArithmetic(Operation *op, bool captures);
  void record(Operation *from, Operation *to);

  OpBuilder &builder;
  llvm::DenseMap<Operation *, Operation *> *original;
  bool all;
  IRMapping mapping;
  /// Operations whose results decide about integers.
  llvm::DenseSet<Operation *> asWritten;
  /// Values with elements of another type, made once.
  llvm::DenseMap<std::pair<Value, Type>, Value> converted;
  /// By the sums of a product that another one goes on with: what is still to be added to them.
  llvm::DenseMap<Value, Value> addends;
  /// Values of the old region that the new one has with wider elements, or made of such.
  llvm::DenseSet<Value> wide;
};
} // namespace

void Widener::record(Operation *from, Operation *to) {
  if (!original)
    return;
  (*original)[to] = from;
  for (auto [a, b] : llvm::zip(from->getRegions(), to->getRegions()))
    for (auto [x, y] : llvm::zip(a.getOps(), b.getOps()))
      record(&x, &y);
}

/// An exponential that as written is rounded to a half may be a few units of the wide type off.
static void allowApproximation(Operation *clone, Operation *asWritten) {
  auto exp = dyn_cast<math::ExpOp>(clone);
  FloatType declared = exp ? getFloat(asWritten->getResult(0).getType()) : FloatType();
  if (declared && declared.getWidth() < 32)
    exp.setFastmath(exp.getFastmath() | arith::FastMathFlags::afn);
}

bool Widener::visitElementwise(Operation *op) {
  // The widest operand decides.
  FloatType element;
  for (Value operand : op->getOperands())
    if (FloatType mine = getFloat(lookup(operand).getType());
        mine && (!element || mine.getWidth() > element.getWidth()))
      element = mine;
  if (!element)
    return false;
  if (all)
    element = getWideType(element);
  Value source = op->getNumOperands() == 1 ? lookup(op->getOperand(0)) : Value();
  if (isa<arith::TruncFOp>(op) ||
      (isa<arith::ExtFOp>(op) &&
       element.getWidth() >= getFloat(op->getResult(0).getType()).getWidth())) {
    mapping.map(op->getResult(0), source);
    wide.insert(op->getResult(0));
    return true;
  }
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    Value value = lookup(operand);
    operands.push_back(getFloat(value.getType()) ? convert(op->getLoc(), value, element) : value);
  }
  Operation *clone = builder.clone(*op, mapping);
  clone->setOperands(operands);
  record(op, clone);
  Value result = op->getResult(0);
  if (getFloat(result.getType())) {
    if (!isa<arith::ExtFOp>(op))
      clone->getResult(0).setType(withElement(result.getType(), element));
    if (all)
      allowApproximation(clone, op);
    wide.insert(result);
  }
  mapping.map(result, clone->getResult(0));
  return true;
}

/// Whether what a product begins with is no constant.
static bool beginsWithData(Value init) {
  if (auto fill = init.getDefiningOp<linalg::FillOp>())
    return !matchPattern(fill.getInputs().front(), m_Constant());
  return !matchPattern(init, m_Constant());
}

/// Whether the sums of other products go on where those of this one end, and nothing else reads them.
static bool onlyBeginsProducts(linalg::LinalgOp op) {
  return !op->use_empty() && llvm::all_of(op->getUses(), [](OpOperand &use) {
    auto product = dyn_cast<linalg::LinalgOp>(use.getOwner());
    return product && linalg::isaContractionOpInterface(product) && product.isDpsInit(&use);
  });
}

/// What a structured operation reads and writes, where all that it writes has such elements: contractions and generic
/// operations extend what they read in their own bodies, others find it extended. What a product of halves begins with is
/// added after it (`addend`): there it joins, in registers, what is computed from the product; extended in front of it, it
/// would go through memory.
SmallVector<Value> Widener::widenOperands(linalg::LinalgOp op, FloatType element, Value &addend) {
  bool isProduct = linalg::isaContractionOpInterface(op);
  bool extendsInside = isa<linalg::GenericOp>(op) || isProduct;
  SmallVector<Value> operands;
  for (OpOperand &operand : op->getOpOperands()) {
    Value value = lookup(operand.get());
    FloatType mine = getFloat(value.getType());
    if (all && isProduct && !op.isDpsInit(&operand)) {
      value = convert(op->getLoc(), value, getFloat(operand.get().getType()));
    } else if (Value behind = addends.lookup(value)) {
      addend = behind;
    } else if (all && isProduct && mine && mine != element && beginsWithData(value)) {
      addend = convert(op->getLoc(), value, element);
      auto zeros = cast<RankedTensorType>(addend.getType());
      value = arith::ConstantOp::create(builder, op->getLoc(), cast<TypedAttr>(builder.getZeroAttr(zeros)));
    } else if (mine && mine != element && (op.isDpsInit(&operand) || !extendsInside)) {
      if (auto empty = value.getDefiningOp<tensor::EmptyOp>();
          empty && op.isDpsInit(&operand) && empty.getDynamicSizes().empty())
        value = tensor::EmptyOp::create(
            builder, op->getLoc(), cast<RankedTensorType>(value.getType()).getShape(), element);
      else
        value = convert(op->getLoc(), value, element);
    }
    operands.push_back(value);
  }
  return operands;
}

bool Widener::visitStructured(linalg::LinalgOp op) {
  FloatType element;
  for (Value operand : op->getOperands())
    if (FloatType mine = getFloat(lookup(operand).getType());
        mine && (!element || mine.getWidth() > element.getWidth()))
      element = mine;
  if (!element || op->getNumRegions() != 1)
    return false;
  if (all)
    element = getWideType(element);
  Value addend;
  SmallVector<Value> operands = widenOperands(op, element, addend);
  SmallVector<Type> results;
  for (Value result : op->getResults())
    results.push_back(getFloat(result.getType()) ? withElement(result.getType(), element)
                                                 : result.getType());
  Operation *clone = builder.cloneWithoutRegions(*op.getOperation(), mapping);
  clone->setOperands(operands);
  for (auto [result, type] : llvm::zip(clone->getResults(), results))
    result.setType(type);
  if (original)
    (*original)[clone] = op;

  Block &from = *op.getBlock();
  auto *body = new Block();
  clone->getRegion(0).push_back(body);
  OpBuilder inside(builder.getContext());
  inside.setInsertionPointToEnd(body);
  Widener inner(inside, original, all ? Widening::ofAll : Widening::ofWide);
  inner.mapping = mapping; // what the body captures
  // Inputs are extended first: all arithmetic is wide, as in a mixed product.
  for (BlockArgument argument : from.getArguments()) {
    OpOperand *operand = nullptr;
    for (OpOperand &candidate : op->getOpOperands())
      if (op.getMatchingBlockArgument(&candidate) == argument)
        operand = &candidate;
    if (!operand)
      return false;
    Value value = body->addArgument(
        getElementTypeOrSelf(operands[operand->getOperandNumber()].getType()), argument.getLoc());
    inner.map(argument, value);
  }
  for (BlockArgument argument : from.getArguments())
    if (!argument.use_empty()) {
      Value value = convertElements(inside, op.getLoc(), inner.lookup(argument),
                                    getFloat(argument.getType()) ? Type(element) : Type());
      inner.map(argument, value);
    }
  if (!inner.run(from)) {
    culprit = inner.culprit;
    return false;
  }
  SmallVector<Value> yields;
  for (auto [yielded, type] : llvm::zip(from.getTerminator()->getOperands(), results)) {
    Value value = inner.lookup(yielded);
    if (getFloat(type))
      value = convertElements(inside, op.getLoc(), value, element);
    yields.push_back(value);
  }
  Operation *yield = inside.clone(*from.getTerminator());
  yield->setOperands(yields);
  for (auto [result, cloned] : llvm::zip(op->getResults(), clone->getResults())) {
    Value made = cloned;
    if (addend && onlyBeginsProducts(op))
      addends[made] = addend;
    else if (addend)
      made = arith::AddFOp::create(builder, op.getLoc(), made, addend);
    mapping.map(result, made);
    if (getFloat(made.getType()))
      wide.insert(result);
  }
  return true;
}

Value Widener::convert(Location loc, Value value, Type element) {
  Value &made = converted[{value, element}];
  if (!made)
    made = convertElements(builder, loc, value, element);
  return made;
}

/// Whether an operation, or one inside of it, makes integers or a choice of floats.
static bool makesIntegers(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        bool decides = isa<arith::CmpFOp, arith::BitcastOp>(inner) ||
                       (llvm::any_of(inner->getOperandTypes(), [](Type type) { return getFloat(type); }) &&
                        llvm::any_of(inner->getResultTypes(), [](Type type) { return !getFloat(type); }));
        return decides ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// The operations of a block that make integers or a choice of floats, and all that these are computed from.
static llvm::DenseSet<Operation *> findDeciding(Block &block) {
  llvm::DenseSet<Operation *> found;
  for (Operation &op : llvm::reverse(block.without_terminator())) {
    bool isRead = llvm::any_of(op.getUsers(), [&](Operation *user) {
      return found.contains(block.findAncestorOpInBlock(*user));
    });
    if (isRead || makesIntegers(&op))
      found.insert(&op);
  }
  return found;
}

/// Whether values of f16 or bf16 go in or come out.
static bool hasNarrow(Operation *op) {
  auto isNarrow = [](Type type) {
    FloatType mine = getFloat(type);
    return mine && mine.getWidth() < 32;
  };
  return llvm::any_of(op->getOperandTypes(), isNarrow) || llvm::any_of(op->getResultTypes(), isNarrow);
}

/// A conversion that the program asks for.
bool Widener::visitCast(Operation *op) {
  Value source = lookup(op->getOperand(0)), result = op->getResult(0);
  if (isa<arith::ExtFOp>(op)) {
    mapping.map(result, convert(op->getLoc(), source, getFloat(result.getType())));
    return true;
  }
  visitNarrow(op);
  return true;
}

/// An operation as it is, on numbers of the types that it declares.
void Widener::visitNarrow(Operation *op) {
  IRMapping narrow(mapping);
  auto declare = [&](Value value) {
    Value found = lookup(value);
    if (found.getType() != value.getType())
      narrow.map(value, convert(op->getLoc(), found, getFloat(value.getType())));
  };
  for (Value operand : op->getOperands())
    declare(operand);
  for (Region &region : op->getRegions())
    region.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (wide.contains(operand))
          declare(operand);
    });
  Operation *clone = builder.clone(*op, narrow);
  record(op, clone);
  mapping.map(op->getResults(), clone->getResults());
}

/// Whether a product of halves is only read as halves: by other products, or by who reads the body's results. Its sums are
/// f32 anyway and are rounded where they are written; another result, rounded elsewhere, would go through memory as f32.
static bool isReadNarrow(Operation *op) {
  if (!isa<linalg::LinalgOp>(op) || !linalg::isaContractionOpInterface(cast<linalg::LinalgOp>(op)))
    return false;
  return llvm::all_of(op->getUses(), [](OpOperand &use) {
    auto product = dyn_cast<linalg::LinalgOp>(use.getOwner());
    return use.getOwner()->hasTrait<OpTrait::IsTerminator>() ||
           (product && linalg::isaContractionOpInterface(product) && (!product.isDpsInit(&use) || isReadNarrow(product)));
  });
}

/// What a product reads is rounded for all who read it: beside the halves, which go through memory, nothing else has to.
void Widener::roundOperands(Operation *op) {
  for (Value result : op->getResults()) {
    bool isOperand = wide.contains(result) && llvm::any_of(result.getUses(), [](OpOperand &use) {
                       auto product = dyn_cast<linalg::LinalgOp>(use.getOwner());
                       return product && linalg::isaContractionOpInterface(product) && !product.isDpsInit(&use);
                     });
    if (!isOperand)
      continue;
    mapping.map(result, convert(op->getLoc(), lookup(result), getFloat(result.getType())));
    wide.erase(result);
  }
}

/// Whether an operation only moves elements.
static bool onlyMoves(Operation *op) {
  return isa<linalg::BroadcastOp, linalg::TransposeOp, linalg::CopyOp, linalg::FillOp>(op);
}

/// An operation on narrow numbers, or on such that are wide by now, where all arithmetic is.
bool Widener::visitArithmetic(Operation *op, bool captures) {
  bool isWide = llvm::any_of(op->getOperands(), [&](Value v) { return wide.contains(v); });
  bool structured = isa<linalg::LinalgOp>(op) && cast<linalg::LinalgOp>(op).hasPureTensorSemantics();
  if (asWritten.contains(op) || isReadNarrow(op)) {
    visitNarrow(op);
    return true;
  }
  if (isa<arith::TruncFOp, arith::ExtFOp>(op) && !captures)
    return visitCast(op);
  if (!captures && structured && (isWide || !onlyMoves(op)) && visitStructured(cast<linalg::LinalgOp>(op)))
    return true;
  if (!captures && isWide && isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op)) {
    Operation *clone = builder.clone(*op, mapping);
    record(op, clone);
    clone->getResult(0).setType(withElement(op->getResult(0).getType(), getFloat(clone->getOperand(0).getType())));
    wide.insert(op->getResult(0));
    return true;
  }
  if (!captures && op->getNumResults() == 1 && OpTrait::hasElementwiseMappableTraits(op) && op->getNumRegions() == 0 &&
      !isa<arith::BitcastOp>(op) && visitElementwise(op))
    return true;
  visitNarrow(op);
  return true;
}

bool Widener::visit(Operation *op) {
  bool isWide = llvm::any_of(op->getOperands(), [&](Value v) { return wide.contains(v); });
  bool captures = false;
  for (Region &region : op->getRegions())
    region.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        captures |= wide.contains(operand);
    });
  if (all && (isWide || captures || hasNarrow(op)) && !op->hasTrait<OpTrait::ConstantLike>()) {
    if (!visitArithmetic(op, captures))
      return false;
    roundOperands(op);
    return true;
  }
  if (!isWide && !captures) {
    Operation *clone = builder.clone(*op, mapping);
    record(op, clone);
    return true;
  }
  culprit = op;
  if (captures)
    return false;
  if (auto structured = dyn_cast<linalg::LinalgOp>(op);
      structured && structured.hasPureTensorSemantics())
    return visitStructured(structured);
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op)) {
    Operation *clone = builder.clone(*op, mapping);
    record(op, clone);
    clone->getResult(0).setType(
        withElement(op->getResult(0).getType(), getFloat(clone->getOperand(0).getType())));
    wide.insert(op->getResult(0));
    return true;
  }
  if (OpTrait::hasElementwiseMappableTraits(op) && op->getNumResults() == 1 &&
      op->getNumRegions() == 0 && !isa<arith::BitcastOp>(op))
    return visitElementwise(op);
  return false;
}

bool Widener::run(Block &from) {
  if (all)
    asWritten = findDeciding(from);
  for (Operation &op : from.without_terminator())
    if (!visit(&op)) {
      if (!culprit)
        culprit = &op;
      return false;
    }
  return true;
}

std::optional<SmallVector<Value>>
online::cloneWidened(OpBuilder &builder, Block &from, ValueRange arguments,
                     llvm::DenseMap<Operation *, Operation *> *original, Operation **culprit,
                     Widening widening) {
  Widener widener(builder, original, widening);
  for (auto [argument, value] : llvm::zip(from.getArguments(), arguments))
    widener.map(argument, value);
  if (!widener.run(from)) {
    if (culprit)
      *culprit = widener.culprit;
    return std::nullopt;
  }
  SmallVector<Value> results;
  for (Value value : from.getTerminator()->getOperands())
    results.push_back(widener.lookup(value));
  return results;
}

ReadAttr online::widenRead(ReadAttr read, FloatType wide) {
  SmallVector<PieceAttr> pieces;
  for (PieceAttr piece : read.getPieces()) {
    if (auto number = dyn_cast_or_null<FloatAttr>(piece.getValue());
        number && piece.getKind() == SourceKind::Splat) {
      APFloat value = number.getValue();
      bool lost;
      value.convert(wide.getFloatSemantics(), APFloat::rmNearestTiesToEven, &lost);
      piece = PieceAttr::getSplat(piece.getSet().getValue(), FloatAttr::get(wide, value));
    }
    pieces.push_back(piece);
  }
  return ReadAttr::get(read.getContext(), pieces, read.getElementRank());
}
