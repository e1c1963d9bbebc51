//===- PlanWriter.cpp - the graph of a plan -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Everything is decided: blocks, nests and buffers are made as the plan lists them. Of the program only
// operations are cloned. A buffer stands where its body begins, in the order of first uses.
//
//===----------------------------------------------------------------------===//
#include "ft/Dialect/ETDG/IR/AttributeNames.h"
#include "ft/Conversion/SCFToETDG/Write/PlanWriter.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::raising;

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// Leading and trailing dimensions of size 1, which a reshape may add or drop.
static SmallVector<int64_t> withoutUnits(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> kept(shape);
  llvm::erase(kept, 1);
  return kept;
}

/// Groups of dimensions of `shape`, one for each that is no unit.
static SmallVector<ReassociationIndices> groupUnits(ArrayRef<int64_t> shape) {
  SmallVector<ReassociationIndices> groups;
  ReassociationIndices pending;
  bool started = false;
  for (auto [d, size] : llvm::enumerate(shape)) {
    if (size != 1 && started) {
      groups.push_back(pending);
      pending.clear();
    }
    started |= size != 1;
    pending.push_back(d);
  }
  if (started)
    groups.push_back(pending);
  return groups;
}

Value PlanWriter::reshapeTo(Location loc, Value value, RankedTensorType type) {
  if (!isa<RankedTensorType>(value.getType()))
    value = tensor::FromElementsOp::create(builder, loc, RankedTensorType::get({}, value.getType()),
                                           value);
  auto from = cast<RankedTensorType>(value.getType());
  if (from == type)
    return value;
  SmallVector<int64_t> kept = withoutUnits(from.getShape());
  auto flat = RankedTensorType::get(kept, type.getElementType());
  if (from != flat)
    value = tensor::CollapseShapeOp::create(builder, loc, flat, value, groupUnits(from.getShape()));
  if (flat != type)
    value = tensor::ExpandShapeOp::create(builder, loc, type, value, groupUnits(type.getShape()));
  return value;
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

static etdg::BufferType bufferTypeOf(MLIRContext *context, const Home &home) {
  return etdg::BufferType::get(context, home.lengths, home.element);
}

Value PlanWriter::bufferOf(const Home *home) {
  Value &buffer = buffers[home];
  if (buffer)
    return buffer;
  OpBuilder::InsertionGuard guard(builder);
  if (Operation *last = lastBuffer.lookup(home->scope))
    builder.setInsertionPointAfter(last);
  else
    builder.setInsertionPointToStart(scopeBodies.lookup(home->scope));
  etdg::BufferType type = bufferTypeOf(context, *home);
  Location loc = func::FuncOp(plan.function).getLoc();
  if (home->constant)
    buffer = etdg::ConstantOp::create(builder, loc, type, home->constant);
  else
    buffer = etdg::BufferOp::create(builder, loc, type, nullptr,
                                    home->name.empty() ? nullptr : builder.getStringAttr(home->name));
  lastBuffer[home->scope] = buffer.getDefiningOp();
  return buffer;
}

/// A body may be written once for each alternative of a condition: with buffers of its own.
void PlanWriter::forgetBuffers(const Scope *scope) {
  for (const Home &home : plan.homes)
    if (home.scope == scope)
      buffers.erase(&home);
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

etdg::BlockBuilder PlanWriter::startBlock(const Step &step) {
  return graphwriter::startBlock(step.at, sets.reduce(step.at.domain, step.at.ancestors), sets.getNames(), context,
                                 step.number);
}

etdg::PieceAttr PlanWriter::writePiece(etdg::BlockBuilder &block, const Piece &piece, unsigned numDims) {
  IntegerSet when = graphwriter::makeSet(context, numDims, sets.getNames().size(), piece.when);
  return graphwriter::writePiece<Home *>(block, piece, when, [&](Home *const &home) { return bufferOf(home); });
}

/// The leaf with its reads and writes, and an empty body.
etdg::BlockOp PlanWriter::openLeaf(const Step &step) {
  etdg::BlockBuilder block = startBlock(step);
  SmallVector<Type> types;
  for (const ReadPlan &read : step.reads) {
    SmallVector<etdg::PieceAttr> pieces;
    for (const Piece &piece : read.pieces)
      pieces.push_back(writePiece(block, piece, step.at.numDims() + read.elementRank));
    block.reads.push_back(etdg::ReadAttr::get(context, pieces, read.elementRank));
    types.push_back(read.type);
  }
  for (const WritePlan &write : step.writes)
    graphwriter::addWrite(block, bufferOf(write.home), write.index, step.at.numDims(), sets.getNames().size(),
                          context);
  if (!step.why.empty())
    graphwriter::remarkCopy(step.loc, "convert-scf-to-etdg", step.why, block.name);
  return block.build(builder, step.loc, types);
}

/// An argument of a leaf as what its operations use.
Value PlanWriter::argumentAs(Value program, Value argument) {
  Location loc = program.getLoc();
  if (auto type = dyn_cast<RankedTensorType>(program.getType()))
    return reshapeTo(loc, argument, type);
  Value element = reshapeTo(loc, argument, RankedTensorType::get({}, program.getType()));
  return tensor::ExtractOp::create(builder, loc, element, ValueRange());
}

void PlanWriter::writeLeaf(const Step &step) {
  etdg::BlockOp block = openLeaf(step);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&block.getBody().front());
  IRMapping mapping;
  for (auto [read, argument] : llvm::zip_equal(step.reads, block.getBody().getArguments()))
    mapping.map(read.value, step.operations.empty() ? Value(argument) : argumentAs(read.value, argument));
  for (Operation *op : step.operations)
    builder.clone(*op, mapping);
  SmallVector<Value> results;
  for (const WritePlan &write : step.writes)
    results.push_back(reshapeTo(step.loc, mapping.lookup(write.value), write.home->element));
  etdg::YieldOp::create(builder, step.loc, results);
}

/// Whether no block comes of it: what it holds never runs, or nothing uses it.
static bool isEmpty(const Step &step) {
  return step.kind != Step::Leaf && llvm::all_of(step.steps, isEmpty);
}

void PlanWriter::writeNest(const Step &step) {
  if (isEmpty(step))
    return writeSteps(step.steps); // buffers are forgotten
  auto nest = etdg::NestOp::create(builder, step.loc, etdg::ScheduleAttr());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(builder.createBlock(&nest.getBody()));
  writeSteps(step.steps);
}

void PlanWriter::writeBody(const Step &step) {
  forgetBuffers(step.scope);
  if (isEmpty(step))
    return writeSteps(step.steps);
  etdg::BlockOp block = startBlock(step).build(builder, step.loc, {});
  OpBuilder::InsertionGuard guard(builder);
  Block *body = &block.getBody().front();
  builder.setInsertionPointToEnd(body);
  auto yield = etdg::YieldOp::create(builder, step.loc, ValueRange());
  builder.setInsertionPoint(yield);
  scopeBodies[step.scope] = body;
  lastBuffer.erase(step.scope);
  writeSteps(step.steps);
}

void PlanWriter::writeSteps(ArrayRef<Step> steps) {
  for (const Step &step : steps)
    switch (step.kind) {
    case Step::Leaf:
      writeLeaf(step);
      break;
    case Step::Nest:
      writeNest(step);
      break;
    case Step::Body:
      writeBody(step);
      break;
    }
}

//===----------------------------------------------------------------------===//
// The graph
//===----------------------------------------------------------------------===//

etdg::GraphOp PlanWriter::openGraph() {
  func::FuncOp function = plan.function;
  SmallVector<graphwriter::GraphArgument> arguments;
  for (auto [argument, home] : llvm::zip_equal(function.getArguments(), plan.arguments)) {
    NamedAttrList attributes(function.getArgAttrDict(argument.getArgNumber()));
    attributes.erase(etdg::names::dims); // their names are the buffer's
    arguments.push_back({bufferTypeOf(context, *home), argument.getLoc(), attributes.getDictionary(context)});
  }
  SmallVector<Type> results;
  for (const Home *home : plan.results)
    results.push_back(bufferTypeOf(context, *home));
  etdg::GraphOp graph = graphwriter::createGraph(builder, function, arguments, results);
  Block *body = &graph.getBody().front();
  for (auto [buffer, home] : llvm::zip_equal(body->getArguments(), plan.arguments))
    buffers[home] = buffer;
  scopeBodies[&plan.scopes.front()] = body;
  SmallVector<Value> returned;
  for (const Home *home : plan.results)
    returned.push_back(bufferOf(home));
  builder.setInsertionPointToEnd(body);
  builder.setInsertionPoint(etdg::ReturnOp::create(builder, function.getLoc(), returned));
  return graph;
}

etdg::GraphOp PlanWriter::write() {
  etdg::GraphOp graph = openGraph();
  writeSteps(plan.steps);
  SmallVector<IterationPlanes> planes;
  for (const Home &home : plan.homes) {
    Value buffer = buffers.lookup(&home);
    if (auto op = buffer ? buffer.getDefiningOp<etdg::BufferOp>() : etdg::BufferOp(); op && home.planes)
      planes.push_back({op, home.scope->depth, home.prefix});
  }
  finishGraph(graph, sets, planes, plan.numBlocks);
  return graph;
}
