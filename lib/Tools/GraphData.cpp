//===- GraphData.cpp - a program's arrays in the terms of its graph -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The conversion may take a pair of lengths as one, of a fresh name. The memory is
// the same; shapes and lengths of a call are put in the graph's terms here, and
// results back in the program's.
//
//===----------------------------------------------------------------------===//

#include "RunProgram.h"

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

/// `shape` of a parameter of lengths `from` as a buffer of lengths `to`: a name that the
/// program does not have stands for two lengths.
static void mergePairs(const Entry &entry, ArrayRef<LengthAttr> from, ArrayRef<LengthAttr> to,
                       std::vector<int64_t> &shape, LengthValues &lengths) {
  if (from.size() == to.size() || shape.size() < from.size())
    return;
  std::vector<int64_t> merged;
  unsigned i = 0;
  for (LengthAttr length : to) {
    StringAttr single = length.getSingleName();
    bool isPair = single && !llvm::is_contained(entry.names, single) && i + 1 < from.size();
    if (i >= from.size())
      return; // not what the conversion makes
    merged.push_back(isPair ? shape[i] * shape[i + 1] : shape[i]);
    if (isPair)
      lengths[single] = merged.back();
    i += isPair ? 2 : 1;
  }
  merged.insert(merged.end(), shape.begin() + i, shape.end());
  shape = std::move(merged);
}

bool tools::hasMergedLengths(const Entry &entry, etdg::GraphOp graph) {
  for (auto [parameter, type] : llvm::zip(entry.parameters, graph.getArgumentTypes()))
    if (parameter.lengths.size() != cast<etdg::BufferType>(type).getDepth())
      return true;
  return false;
}

void tools::toGraphShapes(const Entry &entry, etdg::GraphOp graph, Data &data) {
  for (auto [parameter, type, array] : llvm::zip(entry.parameters, graph.getArgumentTypes(), data.arguments))
    mergePairs(entry, parameter.lengths, cast<etdg::BufferType>(type).getLengths(), array.shape, data.lengths);
}

void tools::toEntryShapes(const Entry &entry, const LengthValues &lengths, std::vector<HostArray> &results) {
  for (auto [parameter, array] : llvm::zip(entry.results, results)) {
    std::vector<int64_t> shape;
    int64_t count = 1;
    for (LengthAttr length : parameter.lengths) {
      shape.push_back(evaluate(length, lengths).value_or(0));
      count *= shape.back();
    }
    llvm::append_range(shape, parameter.element.getShape());
    if (shape.size() != array.shape.size() && count * parameter.element.getNumElements() == array.numElements())
      array.shape = shape;
  }
}
