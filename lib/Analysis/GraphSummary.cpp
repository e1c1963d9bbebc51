//===- GraphSummary.cpp - figures of a task dependence graph --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Analysis/GraphSummary.h"
#include "ft/Dialect/ETDG/IR/SetText.h"
#include "ft/Dialect/FT/IR/AttributeNames.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::etdg;

//===----------------------------------------------------------------------===//
// Operations as blocks
//===----------------------------------------------------------------------===//

unsigned OperationNode::getDimension() const {
  return llvm::count_if(sizes, [](int64_t size) { return size != 1; });
}

SmallVector<OperationNode> etdg::getOperationNodes(BlockOp leaf) {
  SmallVector<OperationNode> nodes;
  if (!leaf.isLeaf())
    return nodes;
  for (Operation &op : leaf.getBody().front()) {
    if (auto structured = dyn_cast<linalg::LinalgOp>(op)) {
      OperationNode node{
          &op, {}, structured.getStaticLoopRanges(), structured.getIndexingMapsArray()};
      for (utils::IteratorType type : structured.getIteratorTypesArray())
        node.operators.push_back(type == utils::IteratorType::reduction ? ft::OperatorKind::Reduce
                                                                        : ft::OperatorKind::Map);
      nodes.push_back(std::move(node));
      continue;
    }
    if (!OpTrait::hasElementwiseMappableTraits(&op) || op.getNumResults() != 1)
      continue;
    auto type = dyn_cast<RankedTensorType>(op.getResult(0).getType());
    if (!type)
      continue;
    OperationNode node{&op, {}, llvm::to_vector(type.getShape()), {}};
    node.operators.assign(type.getRank(), ft::OperatorKind::Map);
    AffineMap identity = AffineMap::getMultiDimIdentityMap(type.getRank(), op.getContext());
    node.maps.assign(op.getNumOperands() + 1, identity);
    nodes.push_back(std::move(node));
  }
  return nodes;
}

bool etdg::isCopyBlock(BlockOp block) {
  return block.isLeaf() && llvm::hasSingleElement(block.getBody().front()) &&
         llvm::all_of(block.getYield().getOperands(),
                      [](Value value) { return isa<BlockArgument>(value); });
}

//===----------------------------------------------------------------------===//
// Nesting
//===----------------------------------------------------------------------===//

/// Whether an own dimension has one value in a block: `= e`.
static bool isFixed(BlockOp block, unsigned dim) {
  IntegerSet set = block.getDomainSet();
  for (unsigned i = 0; i < set.getNumConstraints(); ++i)
    if (LinearForm::of(set.getConstraint(i)).getLastDim() == static_cast<int>(dim) &&
        classifyConstraint(set.getConstraint(i), set.isEq(i), dim) == BoundClass::Equal)
      return true;
  return false;
}

static Nesting visit(Region &body) {
  Nesting best;
  for (ArrayRef<BlockOp> nest : getNests(body)) {
    if (nest.empty())
      continue;
    // A dimension that is a constraint in one region is none in all.
    unsigned dimension = 0;
    BlockOp first = nest.front();
    for (unsigned d = first.getNumAncestors(); d < first.getNumDims(); ++d)
      dimension += !llvm::all_of(nest, [&](BlockOp block) { return isFixed(block, d); });
    for (BlockOp block : nest) {
      Nesting inner;
      for (const OperationNode &node : getOperationNodes(block))
        inner = {1, std::max(inner.dimension, node.getDimension())};
      if (!block.isLeaf())
        inner = visit(block.getBody());
      best.depth = std::max(best.depth, inner.depth + (dimension ? 1u : 0u));
      best.dimension = std::max(best.dimension, inner.dimension + dimension);
    }
  }
  return best;
}

Nesting etdg::getNesting(GraphOp graph) { return visit(graph.getBody()); }

SmallVector<BlockOp> etdg::getTopLevelBlocks(GraphOp graph) {
  SmallVector<BlockOp> blocks;
  for (ArrayRef<BlockOp> nest : getNests(graph.getBody()))
    llvm::append_range(blocks, nest);
  return blocks;
}

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

static int64_t getElementBytes(RankedTensorType element) {
  Type scalar = element.getElementType();
  // An i1 takes a byte.
  int64_t bytes = scalar.isIndex() ? 8 : std::max<int64_t>(1, scalar.getIntOrFloatBitWidth() / 8);
  return bytes * element.getNumElements();
}

static ft::LengthAttr getProduct(BufferType type, ArrayRef<int64_t> live) {
  MLIRContext *context = type.getContext();
  ft::LengthAttr bytes = ft::LengthAttr::get(context, getElementBytes(type.getElement()));
  for (auto [d, length] : llvm::enumerate(type.getLengths()))
    bytes = bytes * (live.empty() || live[d] < 0 ? length : ft::LengthAttr::get(context, live[d]));
  return bytes;
}

ft::LengthAttr etdg::getBytes(BufferType type) { return getProduct(type, {}); }

ft::LengthAttr etdg::getLiveBytes(BufferOp buffer) {
  return getProduct(buffer.getResult().getType(), buffer.getLive().value_or(ArrayRef<int64_t>()));
}

std::string etdg::describeHeader(BlockOp block) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (auto name = block.getBlockName())
    os << *name << " ";
  os << "[";
  llvm::interleaveComma(block.getOperators().getAsValueRange<StringAttr>(), os);
  os << "] (";
  for (auto [i, dim] : llvm::enumerate(block.getDimNames()))
    os << (i == 0 ? "" : i == block.getNumAncestors() ? " | " : ", ") << dim.getValue();
  os << ")";
  return text;
}

std::string etdg::describeMap(AffineMap map, ArrayRef<StringAttr> dims,
                              ArrayRef<StringAttr> symbols, ArrayRef<GatherAttr> gathers) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "[";
  for (auto [i, result] : llvm::enumerate(map.getResults())) {
    os << (i ? ", " : "");
    if (llvm::any_of(gathers,
                     [i = i](GatherAttr g) { return g.getPosition() == static_cast<int64_t>(i); }))
      os << "gather";
    else
      ft::printNamedExpr(os, result, dims, symbols);
  }
  os << "]";
  return text;
}

LengthValues etdg::getLengthValues(GraphOp graph, const LengthValues &given) {
  LengthValues values;
  if (auto lengths = graph->getAttrOfType<DictionaryAttr>(ft::names::lengths))
    for (NamedAttribute entry : lengths)
      if (auto value = dyn_cast<IntegerAttr>(entry.getValue()))
        values[entry.getName().getValue()] = value.getInt();
  for (const auto &entry : given)
    values[entry.getKey()] = entry.getValue();
  return values;
}

std::optional<int64_t> etdg::evaluate(ft::LengthAttr length, const LengthValues &values) {
  return length.evaluate([&](StringAttr name) -> std::optional<int64_t> {
    auto it = values.find(name.getValue());
    if (it == values.end())
      return std::nullopt;
    return it->second;
  });
}
