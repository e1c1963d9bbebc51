//===- Print.cpp - statements, tensors and edges as text ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Relations as Souffle §5.2 prints them; its equation (1) has [[1, 1], [0, 0]] for
// the identity, which is [[1, 0], [0, 1]].
//
//===----------------------------------------------------------------------===//
#include "ft/Analysis/Extents.h"
#include "ft/Analysis/GraphSummary.h"
#include "ft/Analysis/TensorExpressions/TensorExpressions.h"
#include "ft/Dialect/ETDG/IR/SetText.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::etdg;

namespace {
class RelationPrinter {
public:
  RelationPrinter(const ElementRelation &relation, const TensorExpressionAnalysis &analysis)
      : relation(relation), block(relation.statement), analysis(analysis), symbols(block.getSymbolNames()) {
    for (const ElementVariable &variable : relation.variables)
      names.push_back(variable.name);
  }
  std::string print();

private:
  void printElement(raw_ostream &os, Value buffer, ArrayRef<AffineExpr> index);
  void printRanges(raw_ostream &os);
  void printSize(raw_ostream &os, const ElementVariable &variable);
  bool isUsed(unsigned number) const {
    auto uses = [&](AffineExpr expr) { return expr.isFunctionOfDim(number); };
    return llvm::any_of(relation.inputIndex, uses) || llvm::any_of(relation.outputIndex, uses);
  }

  const ElementRelation &relation;
  BlockOp block;
  const TensorExpressionAnalysis &analysis;
  SmallVector<StringAttr> names, symbols;
};
} // namespace

void RelationPrinter::printElement(raw_ostream &os, Value buffer, ArrayRef<AffineExpr> index) {
  os << analysis.getTensor(buffer).name << "[";
  llvm::interleaveComma(index, os, [&](AffineExpr expr) { ft::printNamedExpr(os, expr, names, symbols); });
  os << "]";
}

void RelationPrinter::printSize(raw_ostream &os, const ElementVariable &variable) {
  if (variable.isData)
    os << variable.name.getValue() << " in data";
  else
    os << "0 <= " << variable.name.getValue() << (variable.size ? " < " + std::to_string(*variable.size) : "");
}

/// Of the block's dimensions as its domain has them, of those of elements their sizes.
void RelationPrinter::printRanges(raw_ostream &os) {
  SymbolSpace space(block->getParentOfType<GraphOp>());
  for (BlockOp one : getBlockChain(block)) {
    SmallVector<DimRange> ranges = getOwnRanges({one}, space);
    if (llvm::all_of(ranges, [](const DimRange &range) { return range.lower && range.upper; })) {
      for (auto [d, range] : llvm::enumerate(ranges))
        if (unsigned number = one.getNumAncestors() + unsigned(d); isUsed(number))
          os << ", " << range.lower.str() << " <= " << names[number].getValue() << " < " << range.upper.str();
    } else {
      os << ", " << conditionsToString(one.getDomainSet(), one.getDimNames(), one.getSymbolNames());
    }
  }
  for (auto [number, variable] : llvm::enumerate(relation.variables))
    if (number >= block.getNumDims() && !variable.isReduction && isUsed(unsigned(number))) {
      os << ", ";
      printSize(os, variable);
    }
  if (IntegerSet where = relation.where)
    os << ", " << conditionsToString(where, names, symbols);
}

std::string RelationPrinter::print() {
  std::string text;
  llvm::raw_string_ostream os(text);
  SmallVector<const ElementVariable *> reductions;
  for (auto [number, variable] : llvm::enumerate(relation.variables))
    if (variable.isReduction && isUsed(unsigned(number)))
      reductions.push_back(&variable);
  os << "{";
  printElement(os, relation.output, relation.outputIndex);
  os << " -> " << (reductions.empty() ? "" : "{");
  printElement(os, relation.input, relation.inputIndex);
  if (!reductions.empty()) {
    os << ", [";
    llvm::interleaveComma(reductions, os, [&](const ElementVariable *variable) { printSize(os, *variable); });
    os << "]}";
  }
  printRanges(os);
  os << "}";
  return text;
}

std::string etdg::toString(const ElementRelation &relation, const TensorExpressionAnalysis &analysis) {
  return RelationPrinter(relation, analysis).print();
}

/// The operations of a leaf by name, each once.
static std::string namesOfOperations(BlockOp leaf) {
  llvm::SetVector<StringRef> names;
  for (Operation &op : leaf.getBody().front().without_terminator())
    if (!op.hasTrait<OpTrait::ConstantLike>() && !isa<tensor::EmptyOp>(op))
      names.insert(op.getName().getStringRef());
  return names.empty() ? "copy" : llvm::join(names, ", ");
}

static std::string toText(ArrayRef<int64_t> row) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "[";
  llvm::interleaveComma(row, os);
  os << "]";
  return text;
}

static void printStatement(const TensorExpression &statement, const TensorExpressionAnalysis &analysis, raw_ostream &os) {
  os << "  TE" << statement.number << ": " << describeHeader(statement.block) << ": " << namesOfOperations(statement.block) << ": "
     << stringify(statement.reliance) << ", " << (statement.isComputeIntensive ? "compute-intensive" : "memory-intensive")
     << llvm::formatv(", {0:F2} operations for each element\n", statement.getOperationsPerElement());
  for (const ElementRelation &relation : statement.relations) {
    os << "    R" << statement.number << " = " << toString(relation, analysis);
    if (std::optional<AffineRelation> affine = getAffineRelation(relation)) {
      os << ", M = [";
      llvm::interleaveComma(affine->linear, os, [&](ArrayRef<int64_t> row) { os << toText(row); });
      os << "], c = " << toText(affine->constant);
    }
    os << "\n";
  }
}

void etdg::printTensorExpressions(const TensorExpressionAnalysis &analysis, GraphOp graph, raw_ostream &os) {
  auto list = [&](ArrayRef<unsigned> numbers) {
    llvm::interleaveComma(numbers, os, [&](unsigned number) { os << "TE" << number; });
  };
  os << "tensor expressions of @" << graph.getSymName() << "\n";
  for (const TensorExpression &statement : analysis.getStatements())
    printStatement(statement, analysis, os);
  for (const SharedTensor &tensor : analysis.getTensors()) {
    auto [first, last] = tensor.getLiveRange(unsigned(analysis.getStatements().size()));
    os << "  " << tensor.name << ": " << llvm::formatv("{0:F0} bytes, live TE{1} .. TE{2}", tensor.bytes, first, last);
    if (tensor.readers.size() > 1) {
      os << ", shared by {";
      list(tensor.readers);
      os << "}" << (tensor.hasSpatialReuse ? ", spatial reuse" : "") << (tensor.hasTemporalReuse ? ", temporal reuse" : "");
    }
    os << "\n";
  }
  for (const TensorEdge &edge : analysis.getEdges())
    os << "  TE" << edge.writer << " -> TE" << edge.reader << " by " << analysis.getTensor(edge.buffer).name << ": " << stringify(edge.relation) << "\n";
}
