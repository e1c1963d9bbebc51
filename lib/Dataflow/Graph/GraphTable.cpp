//===- GraphTable.cpp - an operator graph for people ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ft/Dataflow/Graph/GraphJson.h"

using namespace ft::dataflow;

static std::string textOf(const Graph &graph, const Operand &operand) {
  std::string text = graph.tensors[operand.tensor].name + "[";
  for (size_t d = 0; d < operand.dims.size(); ++d)
    text += (d ? "," : "") + graph.dims[operand.dims[d]].name;
  return text + "]";
}

static std::string countOf(Count count) {
  return count == tooLarge ? "beyond 64 bits" : std::to_string(count);
}

std::string ft::dataflow::writeGraphTable(const Graph &graph) {
  std::string text = (graph.name.empty() ? "graph" : graph.name) + ":";
  for (const Dim &dim : graph.dims)
    text += " " + dim.name + " = " + std::to_string(dim.size);
  text += "\n";
  for (const Operator &op : graph.operators) {
    Count moved = graph.tensors[op.output.tensor].size();
    std::string line = textOf(graph, op.output) + " = " + name(op.kind) + " " + op.name + "(";
    for (size_t k = 0; k < op.inputs.size(); ++k) {
      line += (k ? ", " : "") + textOf(graph, op.inputs[k]);
      moved = add(moved, graph.tensors[op.inputs[k].tensor].size());
    }
    line += ")";
    for (size_t d = 0; d < op.over.size(); ++d)
      line += (d ? "," : " over ") + graph.dims[op.over[d]].name;
    text += "  " + line + ": " + countOf(graph.points(op)) + " points, moves at least " +
            countOf(moved) + (graph.tensors[op.output.tensor].isResult ? ", a result\n" : "\n");
  }
  return text;
}
