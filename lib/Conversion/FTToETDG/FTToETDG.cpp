//===- FTToETDG.cpp - the pass, and the frame of a graph ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `convert-ft-to-etdg` (FT §4.4): every function over lists becomes a graph.
//
//===----------------------------------------------------------------------===//

#include "ft/Conversion/FTToETDG/FTToETDG.h"
#include "CollapsePairs.h"
#include "Converter.h"
#include "ft/Conversion/GraphWriter/PlainForms.h"
#include "ft/Dialect/ETDG/IR/AttributeNames.h"
#include "ft/Dialect/FT/IR/AttributeNames.h"
#include "ft/Dialect/FT/IR/FunctionForm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Support/DebugStringHelper.h"

namespace mlir::ft {
#define GEN_PASS_DEF_CONVERTFTTOETDG
#include "ft/Conversion/Passes.h.inc"
} // namespace mlir::ft

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::toetdg;

//===----------------------------------------------------------------------===//
// Desugaring
//===----------------------------------------------------------------------===//

/// Aggregates without `init` start from their first element:
/// fold f xs = fold f x_0 (tail xs), scan f xs = [x_0] ++ scan f x_0 (tail xs).
static void giveInitialStates(func::FuncOp function) {
  SmallVector<ComputeOp> aggregates;
  function.walk([&](ComputeOp op) {
    if (!op.isMap() && op.getInits().empty())
      aggregates.push_back(op);
  });
  for (ComputeOp op : aggregates) {
    OpBuilder b(op);
    Location loc = op.getLoc();
    MLIRContext *context = op->getContext();
    LengthAttr n = op.getLength();
    bool right = op.isRight();
    auto constant = [&](int64_t v) { return LengthAttr::get(context, v); };
    SmallVector<Value> inits, tails, heads;
    for (Value list : op.getLists()) {
      inits.push_back(AtOp::create(b, loc, list, right ? n - 1 : constant(0)));
      tails.push_back(SliceOp::create(b, loc, list, right ? constant(0) : constant(1), right ? n - 1 : n));
      heads.push_back(SliceOp::create(b, loc, list, right ? n - 1 : constant(0), right ? n : constant(1)));
    }
    SmallVector<Type> types;
    for (auto [i, result] : llvm::enumerate(op->getResults())) {
      Type type = result.getType();
      if (op.isScan())
        type = ListType::wrap(n - 1, cast<ListType>(type).getPeeled());
      types.push_back(type);
    }
    OperationState state(loc, op->getName());
    state.addOperands(tails);
    state.addOperands(inits);
    state.addOperands(llvm::to_vector(op.getIdentities()));
    state.addTypes(types);
    state.addAttributes(op->getAttrs());
    SmallVector<int32_t> segments = {static_cast<int32_t>(tails.size()), static_cast<int32_t>(inits.size()),
                                     static_cast<int32_t>(op.getIdentities().size())};
    state.attributes.set("operandSegmentSizes", b.getDenseI32ArrayAttr(segments));
    for (Region &region : op->getRegions()) {
      Region *moved = state.addRegion();
      moved->takeBody(region);
    }
    Operation *created = b.create(state);
    SmallVector<Value> replacements;
    for (auto [i, result] : llvm::enumerate(created->getResults())) {
      if (!op.isScan()) {
        replacements.push_back(result);
        continue;
      }
      // Copies of the heads: an element of an input is no fresh result.
      SmallVector<Value> parts = {heads[i], result};
      if (right)
        std::swap(parts[0], parts[1]);
      Value joined = ConcatOp::create(b, loc, parts);
      if (joined.getType() != op->getResult(i).getType())
        joined = CastOp::create(b, loc, op->getResult(i).getType(), joined);
      replacements.push_back(joined);
    }
    op->replaceAllUsesWith(replacements);
    op->erase();
  }
}

//===----------------------------------------------------------------------===//
// The frame
//===----------------------------------------------------------------------===//

LogicalResult Converter::checkConvertible() {
  bool ok = true;
  auto refuse = [&](Operation *op, const Twine &message) {
    op->emitError() << message;
    ok = false;
  };
  for (Type type : llvm::concat<const Type>(function.getArgumentTypes(), function.getResultTypes())) {
    if (!isValueType(type)) {
      refuse(function, "cannot become a graph: arguments and results must be lists or static tensors, but there is one "
                       "of type " +
                           debugString(type));
      return failure();
    }
  }
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()))
      if (auto list = dyn_cast<ListType>(type); list && list.hasRagged()) {
        refuse(op, "uses the ragged list " + debugString(type) +
                       ": ragged levels are interpreted, but have no affine domain; pad the level to a common length");
        return WalkResult::interrupt();
      }
    if (auto compute = dyn_cast<ComputeOp>(op); compute && compute.getLayerName()) {
      refuse(op, "has a length of its own at each element ('for " + compute.getLayerName().getValue() +
                     " in'), which no block has: 'ft-unroll' puts its layers in its place");
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return success(ok);
}

Value Converter::createBuffer(Location loc, ArrayRef<LengthAttr> lengths, RankedTensorType element,
                              ArrayRef<int64_t> live) {
  // Inside a nest that is being built, a buffer belongs before the nest.
  OpBuilder::InsertionGuard guard(builder);
  while (auto nest = dyn_cast_or_null<etdg::NestOp>(builder.getInsertionBlock()->getParentOp()))
    builder.setInsertionPoint(nest);
  auto type = etdg::BufferType::get(names.context, lengths, element);
  return etdg::BufferOp::create(builder, loc, type, live.empty() ? nullptr : builder.getDenseI64ArrayAttr(live),
                                /*name_hint=*/nullptr);
}

Value Converter::constantBuffer(Location loc, ElementsAttr value) {
  Value &buffer = constants[value];
  if (!buffer) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&graph.getBody().front());
    auto type = etdg::BufferType::get(names.context, {}, cast<RankedTensorType>(value.getShapedType()));
    buffer = etdg::ConstantOp::create(builder, loc, type, value);
  }
  return buffer;
}

ListView Converter::bufferView(Value buffer, const Member &member) {
  ListView view;
  view.lengths = member.lengths;
  view.element = member.element;
  Piece piece;
  piece.place.home = buffer;
  for (unsigned d = 0; d < member.lengths.size(); ++d)
    piece.place.index.push_back(names.cell(d));
  view.pieces.push_back(piece);
  return view;
}

ArrayRef<ListView> Converter::viewsOf(Value value) {
  auto it = environment.find(value);
  if (it != environment.end())
    return it->second;
  // A constant: one splat piece, or a buffer with its contents.
  DenseElementsAttr constant;
  ListView view;
  view.element = cast<RankedTensorType>(value.getType());
  Piece piece;
  if (matchPattern(value, m_Constant(&constant)) && !constant.isSplat()) {
    piece.place.home = constantBuffer(value.getLoc(), constant);
  } else {
    // `tensor.empty` holds anything: zeros are as good.
    piece.splat = constant ? cast<TypedAttr>(constant.getSplatValue<Attribute>())
                           : cast<TypedAttr>(builder.getZeroAttr(view.element.getElementType()));
  }
  view.pieces.push_back(piece);
  return environment[value] = {view};
}

/// What a call must satisfy beyond the types: divisibility of `ft.split`, equality of `ft.cast`.
LogicalResult Converter::recordChecks() {
  SmallVector<Attribute> checks;
  auto require = [&](Operation *op, LengthAttr zero, const Twine &why) {
    if (zero.getConstant() == 0)
      return;
    MLIRContext *context = op->getContext();
    auto holds = BoundsAttr::get(context, {zero, LengthAttr::get(context, 0) - zero});
    checks.push_back(builder.getDictionaryAttr({builder.getNamedAttr("holds", holds),
                                                builder.getNamedAttr("because", builder.getStringAttr(why)),
                                                builder.getNamedAttr("at", LocationAttr(op->getLoc()))}));
  };
  function.walk([&](Operation *op) {
    if (auto split = dyn_cast<SplitOp>(op)) {
      LengthAttr n = cast<ListType>(split.getInput().getType()).getLength();
      if (std::optional<int64_t> inner = split.getInner().getConstant())
        require(op, n - n.floorDiv(*inner) * split.getInner(),
                "'ft.split' by " + Twine(*inner) + " of a list of length " + n.str());
    } else if (auto cast = dyn_cast<CastOp>(op)) {
      auto from = mlir::cast<ListType>(cast.getInput().getType()), to = mlir::cast<ListType>(cast.getResult().getType());
      for (auto [a, b] : llvm::zip(from.getLengths(), to.getLengths()))
        require(op, a - b, "'ft.cast' of length " + a.str() + " to " + b.str());
    }
  });
  if (!checks.empty())
    graph->setAttr(etdg::names::checks, builder.getArrayAttr(checks));
  return success();
}

etdg::GraphOp Converter::convert() {
  if (failed(checkConvertible()))
    return nullptr;
  giveInitialStates(function);

  MLIRContext *context = function.getContext();
  names.context = context;
  names.names = getBoundNames(function.getArgumentTypes());
  llvm::sort(names.names, [](StringAttr a, StringAttr b) { return a.getValue() < b.getValue(); });
  bounds = function->getAttrOfType<BoundsAttr>(ft::names::bounds);
  sets = std::make_unique<graphwriter::ConstraintSets>(context, names.names, bounds);

  // Tuples are taken apart in the signature.
  SmallVector<graphwriter::GraphArgument> arguments;
  SmallVector<std::pair<Value, Member>> members;
  for (BlockArgument argument : function.getArguments())
    for (const Member &member : flattened(argument.getType())) {
      arguments.push_back({etdg::BufferType::get(context, member.lengths, member.element), argument.getLoc(),
                           function.getArgAttrDict(argument.getArgNumber())});
      members.push_back({argument, member});
    }
  SmallVector<Member> results;
  SmallVector<Type> outputs;
  for (Type type : function.getResultTypes())
    flattenType(type, results);
  for (const Member &member : results)
    outputs.push_back(etdg::BufferType::get(context, member.lengths, member.element));

  Location loc = function.getLoc();
  builder.setInsertionPoint(function);
  graph = graphwriter::createGraph(builder, function, arguments, outputs);
  for (auto [buffer, member] : llvm::zip_equal(graph.getBody().getArguments(), members))
    environment[member.first].push_back(bufferView(buffer, member.second));

  SmallVector<Value> returned;
  SmallVector<Place> dests;
  for (const Member &member : results) {
    Value buffer = createBuffer(loc, member.lengths, member.element);
    returned.push_back(buffer);
    Place dest{buffer, {}};
    for (unsigned d = 0; d < member.lengths.size(); ++d)
      dest.index.push_back(names.cell(d));
    dests.push_back(dest);
  }
  if (failed(recordChecks()) || failed(lowerBody(function.getBody().front(), RegionVector(), dests))) {
    graph->erase();
    return nullptr;
  }
  etdg::ReturnOp::create(builder, loc, returned);
  return graph;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct ConvertFTToETDG : ft::impl::ConvertFTToETDGBase<ConvertFTToETDG> {
  void runOnOperation() override {
    SmallVector<func::FuncOp> functions;
    getOperation().walk([&](func::FuncOp function) {
      auto overLists = [](Type t) { return isa<ListType>(t); };
      bool usesLists = llvm::any_of(function.getArgumentTypes(), overLists) ||
                       llvm::any_of(function.getResultTypes(), overLists);
      function.walk([&](Operation *op) { usesLists |= isa_and_nonnull<FTDialect>(op->getDialect()); });
      if (usesLists && !function.isDeclaration())
        functions.push_back(function);
    });
    for (func::FuncOp function : functions) {
      if (failed(verifyOneBlock(function)))
        return signalPassFailure();
      graphwriter::rewritePlainForms(function);
      function = takeApart(collapsePairs(function));
      if (!Converter(function).convert())
        return signalPassFailure();
      function.erase();
    }
  }
};
} // namespace
