//===- GraphData.cpp - a program's arrays in the terms of its graph -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The conversion may take a pair of lengths as one, of a fresh name. The memory is
// the same; shapes and lengths of a call are put in the graph's terms here, and
// results back in the program's.
//
//===----------------------------------------------------------------------===//

#include "ft/Tools/RunProgram.h"

#include "ft/Conversion/FTToETDG/FTToETDG.h"
#include "ft/Dialect/ETDG/IR/AttributeNames.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::tools;
using ::ft::rt::HostArray;

static std::optional<int64_t> evaluate(LengthAttr length, const LengthValues &lengths) {
  return length.evaluate([&](StringAttr name) -> std::optional<int64_t> {
    auto it = lengths.find(name);
    return it == lengths.end() ? std::nullopt : std::optional<int64_t>(it->second);
  });
}

bool tools::hasMergedLengths(const Entry &entry, etdg::GraphOp graph) {
  return isa<func::FuncOp>(entry.op) && graph->hasAttr(etdg::names::merged);
}

/// The value of a name that stands for a product of two, which may be such names themselves.
static std::optional<int64_t> valueOf(DictionaryAttr products, Attribute factor,
                                      const LengthValues &lengths) {
  if (auto number = dyn_cast<IntegerAttr>(factor))
    return number.getInt();
  auto name = dyn_cast<StringAttr>(factor);
  if (auto it = lengths.find(name); it != lengths.end())
    return it->second;
  if (auto length = dyn_cast<LengthAttr>(factor))
    return length.evaluate([&](StringAttr of) { return valueOf(products, of, lengths); });
  auto pair = name ? products.getAs<ArrayAttr>(name) : nullptr;
  if (!pair || pair.size() < 2)
    return std::nullopt;
  std::optional<int64_t> a = valueOf(products, pair[0], lengths),
                         b = valueOf(products, pair[1], lengths);
  // A list that is cut into pieces: how many there are.
  if (pair.size() == 3)
    return a && b && *b > 0 ? std::optional(*a / *b) : std::nullopt;
  int64_t product;
  if (!a || !b || __builtin_mul_overflow(*a, *b, &product))
    return std::nullopt;
  return product;
}

void tools::toGraphShapes(const Entry &entry, etdg::GraphOp graph, Data &data) {
  auto products = graph->getAttrOfType<DictionaryAttr>(etdg::names::merged);
  for (NamedAttribute product : products)
    if (std::optional<int64_t> value = valueOf(products, product.getName(), data.lengths))
      data.lengths[product.getName()] = *value;
  for (auto [type, array] : llvm::zip(graph.getArgumentTypes(), data.arguments)) {
    auto buffer = cast<etdg::BufferType>(type);
    std::vector<int64_t> shape;
    int64_t count = 1;
    for (LengthAttr length : buffer.getLengths()) {
      shape.push_back(evaluate(length, data.lengths).value_or(-1));
      count *= shape.back();
    }
    llvm::append_range(shape, buffer.getElement().getShape());
    if (count * buffer.getElement().getNumElements() == array.numElements())
      array.shape = shape;
  }
}

void tools::toEntryShapes(const Entry &entry, const LengthValues &lengths,
                          std::vector<HostArray> &results) {
  for (auto [parameter, array] : llvm::zip(entry.results, results)) {
    std::vector<int64_t> shape;
    int64_t count = 1;
    for (LengthAttr length : parameter.lengths) {
      shape.push_back(evaluate(length, lengths).value_or(0));
      count *= shape.back();
    }
    llvm::append_range(shape, parameter.element.getShape());
    if (shape.size() != array.shape.size() &&
        count * parameter.element.getNumElements() == array.numElements())
      array.shape = shape;
  }
}
