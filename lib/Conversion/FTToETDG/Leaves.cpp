//===- Leaves.cpp - leaf blocks, copies, reads and writes -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A run of tensor statements becomes one leaf; what it takes from outside
// becomes reads, what others need of it becomes writes.
//
//===----------------------------------------------------------------------===//

#include "Converter.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::toetdg;

bool Converter::isTensorStatement(Operation *op) {
  return !isa<ComputeOp>(op) && !isAccessOp(op) && !op->hasTrait<OpTrait::IsTerminator>() &&
         op->getDialect() != function->getContext()->getLoadedDialect<FTDialect>() && op->getDialect() &&
         llvm::is_contained({"linalg", "arith", "math", "tensor", "scf", "complex"}, op->getDialect()->getNamespace());
}

bool Converter::isRepeatable(Operation *op) { return isTensorStatement(op) && graphwriter::isRepeatable(op); }

FailureOr<etdg::ReadAttr> Converter::makeRead(Location loc, etdg::BlockBuilder &block, const RegionVector &at,
                                              const ListView &view) {
  unsigned numDims = at.numDims();
  SmallVector<Constraint> domain(at.ancestors);
  domain.append(at.domain.begin(), at.domain.end());
  SmallVector<etdg::PieceAttr> pieces;
  for (const Piece &piece : view.pieces) {
    bool pure = graphwriter::isAffine(piece.place.index) && (!piece.value || graphwriter::isAffine(piece.value));
    for (const Constraint &c : piece.when)
      pure &= c.expr.isPureAffine();
    for (const Piece::Gather &g : piece.gathers)
      pure &= graphwriter::isAffine(g.at.index);
    if (!pure)
      return emitError(loc) << "a read here is not affine: its index or condition holds a product of lengths; make one "
                               "of them a constant";
    std::optional<SmallVector<Constraint>> kept = sets->withoutImplied(piece.when, domain);
    if (!kept)
      continue;
    pieces.push_back(graphwriter::writePiece<Value>(block, piece, makeSet(names, numDims, *kept), [](const Value &home) { return home; }));
  }
  return etdg::ReadAttr::get(names.context, pieces, /*elementRank=*/0);
}

LogicalResult Converter::makeWrite(Location loc, etdg::BlockBuilder &block, const RegionVector &at, const Place &dest) {
  if (!graphwriter::isAffine(dest.index))
    return emitError(loc) << "a write here is not affine: its index holds a product of lengths";
  graphwriter::addWrite(block, dest.home, dest.index, at.numDims(), names.names.size(), names.context);
  return success();
}

LogicalResult Converter::attachCombine(etdg::BlockBuilder &spec, const RegionVector &at) {
  if (!at.combining)
    return success();
  ComputeOp op = at.combining;
  // The initial states are neutral where no identity is given.
  OperandRange identities = op.getIdentities().empty() ? op.getInits() : op.getIdentities();
  for (Value identity : identities)
    for (const ListView &view : std::vector<ListView>(viewsOf(identity))) {
      FailureOr<etdg::ReadAttr> read = makeRead(op.getLoc(), spec, at, view);
      if (failed(read))
        return failure();
      spec.identity.push_back(*read);
    }
  return success();
}

bool Converter::collectRepeated(Value value, llvm::SetVector<Operation *> &repeated) {
  Operation *def = value.getDefiningOp();
  if (!def || !def->getBlock() || !isRepeatable(def))
    return false;
  if (repeated.contains(def))
    return true;
  if (!llvm::all_of(def->getOperands(), [&](Value operand) { return collectRepeated(operand, repeated); }))
    return false;
  repeated.insert(def);
  return true;
}

bool Converter::collectCombineConstants(ComputeOp op, llvm::SetVector<Operation *> &constants) {
  llvm::SetVector<Value> outside;
  getUsedValuesDefinedAbove(*op.getCombineOrNull(), outside);
  return llvm::all_of(outside, [&](Value v) { return collectRepeated(v, constants); });
}

void Converter::cloneCombine(etdg::BlockOp block, const RegionVector &at) {
  if (!at.combining)
    return;
  ComputeOp op = at.combining;
  llvm::SetVector<Operation *> constants;
  collectCombineConstants(op, constants); // holds, else the operator would be in order
  IRMapping mapping;
  OpBuilder::InsertionGuard guard(builder);
  // Constants of the surroundings move in: first, for their users come with the rest.
  SmallVector<Operation *> moved;
  builder.clearInsertionPoint();
  for (Operation *constant : constants)
    moved.push_back(builder.clone(*constant, mapping));
  op.getCombineOrNull()->cloneInto(&block.getCombine(), mapping);
  Block &combine = block.getCombine().front();
  for (Operation *constant : llvm::reverse(moved))
    combine.push_front(constant);
  Operation *yield = combine.getTerminator();
  builder.setInsertionPoint(yield);
  etdg::YieldOp::create(builder, yield->getLoc(), yield->getOperands());
  yield->erase();
}

LogicalResult Converter::emitLeaf(Location loc, const RegionVector &at, ArrayRef<Operation *> statements,
                                  ArrayRef<std::pair<Value, Place>> yields) {
  etdg::BlockBuilder spec = startBlock(at);

  auto repeats = [&](Value v) { return v.getDefiningOp()->getBlock() && isRepeatable(v.getDefiningOp()); };
  graphwriter::LeafInputs inputs(statements, repeats);
  // Region arguments first, as the program lists them; then the rest.
  inputs.requireAll();
  for (auto &[value, dest] : yields)
    inputs.require(value);

  SmallVector<Type> readTypes;
  for (Value v : inputs.getReads()) {
    if (!isa<RankedTensorType>(v.getType()))
      return emitError(loc) << "a tensor operation uses a value of type " << v.getType()
                            << " from outside; expected a tensor of static shape";
    const ListView view = viewsOf(v).front();
    FailureOr<etdg::ReadAttr> read = makeRead(v.getLoc(), spec, at, view);
    if (failed(read))
      return failure();
    spec.reads.push_back(*read);
    readTypes.push_back(v.getType());
  }
  for (auto &[value, dest] : yields)
    if (failed(makeWrite(loc, spec, at, dest)))
      return failure();
  if (failed(attachCombine(spec, at)))
    return failure();

  etdg::BlockOp block = spec.build(builder, loc, readTypes);
  OpBuilder::InsertionGuard guard(builder);
  cloneCombine(block, at);
  builder.setInsertionPointToStart(&block.getBody().front());
  IRMapping mapping;
  mapping.map(inputs.getReads(), block.getBody().getArguments());
  inputs.clone(builder, mapping);
  SmallVector<Value> results;
  for (auto &[value, dest] : yields)
    results.push_back(mapping.lookup(value));
  etdg::YieldOp::create(builder, loc, results);
  return success();
}

LogicalResult Converter::lowerRun(ArrayRef<Operation *> run, const RegionVector &at, const Places &dests) {
  DenseSet<Operation *> inside(run.begin(), run.end());
  SmallVector<std::pair<Value, Place>> yields;
  for (Operation *op : run)
    for (OpResult result : op->getResults()) {
      auto it = dests.find({result, 0});
      auto isOutside = [&](Operation *user) {
        Operation *here = op->getBlock()->findAncestorOpInBlock(*user);
        // A repeated scalar is computed where its users are.
        return !here || (!inside.contains(here));
      };
      bool escapes = it != dests.end() || llvm::any_of(result.getUsers(), isOutside);
      if (!escapes)
        continue;
      auto type = dyn_cast<RankedTensorType>(result.getType());
      if (!type || !type.hasStaticShape())
        return op->emitError() << "result of type " << result.getType()
                               << " is used outside its run of tensor statements; expected a tensor of static shape";
      Place dest = it != dests.end() ? it->second : Place{createBuffer(op->getLoc(), {}, type), {}};
      ListView view;
      view.element = type;
      Piece piece;
      piece.place = dest;
      view.pieces.push_back(piece);
      environment[result] = {view};
      yields.push_back({result, dest});
    }
  if (yields.empty())
    return success(); // nothing of it is used
  return emitLeaf(run.front()->getLoc(), at, run, yields);
}

LogicalResult Converter::emitCopy(Location loc, const RegionVector &outer, const ListView &view, const Place &dest,
                                  StringRef why) {
  RegionVector at = outer;
  ListView element = view;
  Place target = dest;
  for (LengthAttr length : view.lengths) {
    AffineExpr n = names.length(length);
    if (!n.isPureAffine())
      return emitError(loc) << "a copy of a list of length " << length.str()
                            << " is needed: a product of lengths is not affine; make one of them a constant";
    AffineExpr t = getAffineDimExpr(at.numDims(), names.context);
    at.open(OperatorKind::Map, names.names, names.context);
    at.domain.append({{t}, {n - 1 - t}});
    element = peel(names, element, t);
    target = peel(names, target, t);
  }
  if (neverRuns(at))
    return success();
  etdg::BlockBuilder spec = startBlock(at);
  FailureOr<etdg::ReadAttr> read = makeRead(loc, spec, at, element);
  if (failed(read) || failed(makeWrite(loc, spec, at, target)) || failed(attachCombine(spec, at)))
    return failure();
  spec.reads.push_back(*read);
  graphwriter::remarkCopy(loc, "convert-ft-to-etdg", why, spec.name);
  etdg::BlockOp block = spec.build(builder, loc, {view.element});
  OpBuilder::InsertionGuard guard(builder);
  cloneCombine(block, at);
  builder.setInsertionPointToStart(&block.getBody().front());
  etdg::YieldOp::create(builder, loc, block.getBody().getArguments());
  return success();
}
