//===- ETDGToTensorExpressions.cpp - which elements depend on which -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TensorExpressionsJson.h"

#include "ft/Target/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace mlir::etdg;

void etdg::writeTensorExpressions(ModuleOp module, llvm::raw_ostream &os, double computeIntensive) {
  for (GraphOp graph : module.getOps<GraphOp>())
    if (!graph.isExternal()) {
      OwningOpRef<GraphOp> chosen = chooseVariants(graph, 0);
      printTensorExpressions(TensorExpressionAnalysis(*chosen, computeIntensive), *chosen, os);
    }
}

static void writeNumbers(llvm::json::OStream &json, StringRef key, ArrayRef<unsigned> numbers) {
  json.attributeArray(key, [&] {
    for (unsigned number : numbers)
      json.value(number);
  });
}

static void writeRow(llvm::json::OStream &json, ArrayRef<int64_t> row) {
  for (int64_t number : row)
    json.value(number);
}

static void writeRelation(llvm::json::OStream &json, const ElementRelation &relation, const TensorExpressionAnalysis &analysis,
                          llvm::function_ref<int64_t(Value)> bufferId) {
  json.object([&] {
    json.attribute("input", bufferId(relation.input));
    json.attribute("output", bufferId(relation.output));
    json.attribute("relation", toString(relation, analysis));
    json.attribute("reliance", stringify(relation.getReliance()));
    std::optional<AffineRelation> affine = getAffineRelation(relation);
    if (!affine)
      return;
    json.attributeArray("M", [&] {
      for (ArrayRef<int64_t> row : affine->linear)
        json.array([&] { writeRow(json, row); });
    });
    json.attributeArray("c", [&] { writeRow(json, affine->constant); });
  });
}

static void writeTensor(llvm::json::OStream &json, const SharedTensor &tensor, unsigned numStatements, llvm::function_ref<int64_t(Value)> bufferId) {
  json.object([&] {
    json.attribute("name", tensor.name);
    json.attribute("buffer", bufferId(tensor.buffer));
    json.attribute("bytes", tensor.bytes);
    auto [first, last] = tensor.getLiveRange(numStatements);
    writeNumbers(json, "live", {first, last});
    writeNumbers(json, "writers", tensor.writers);
    writeNumbers(json, "readers", tensor.readers);
    json.attribute("spatialReuse", tensor.hasSpatialReuse);
    json.attribute("temporalReuse", tensor.hasTemporalReuse);
  });
}

void etdg::writeTensorExpressionsJson(llvm::json::OStream &json, const TensorExpressionAnalysis &analysis,
                                      llvm::function_ref<int64_t(Value)> bufferId, llvm::function_ref<int64_t(BlockOp)> nodeId) {
  auto writeStatement = [&](const TensorExpression &statement) {
    json.attribute("node", nodeId(statement.block));
    json.attribute("reliance", stringify(statement.reliance));
    json.attribute("operations", statement.operations);
    json.attribute("elements", statement.elements);
    json.attribute("computeIntensive", statement.isComputeIntensive);
    json.attributeArray("relations", [&] {
      for (const ElementRelation &relation : statement.relations)
        writeRelation(json, relation, analysis, bufferId);
    });
  };
  json.attributeObject("tensorExpressions", [&] {
    json.attributeArray("statements", [&] {
      for (const TensorExpression &statement : analysis.getStatements())
        json.object([&] { writeStatement(statement); });
    });
    json.attributeArray("tensors", [&] {
      for (const SharedTensor &tensor : analysis.getTensors())
        writeTensor(json, tensor, unsigned(analysis.getStatements().size()), bufferId);
    });
    json.attributeArray("edges", [&] {
      for (const TensorEdge &edge : analysis.getEdges())
        json.object([&] {
          json.attribute("writer", edge.writer);
          json.attribute("reader", edge.reader);
          json.attribute("buffer", bufferId(edge.buffer));
          json.attribute("tiles", stringify(edge.relation));
        });
    });
  });
}
