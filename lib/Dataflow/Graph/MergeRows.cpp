//===- MergeRows.cpp - reductions and what divides by them ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ft/Dataflow/Graph/MergeRows.h"

#include <algorithm>

using namespace ft::dataflow;

namespace {

class Merger {
public:
  explicit Merger(Graph &graph) : graph(graph) {}

  bool step() {
    for (size_t i = 0; i < graph.operators.size(); ++i)
      if (mergeReduction(i) || mergeTwo(i))
        return true;
    return false;
  }

private:
  static int reads(const Operator &op, int tensor) {
    for (size_t k = 0; k < op.inputs.size(); ++k)
      if (op.inputs[k].tensor == tensor)
        return k;
    return -1;
  }

  /// What only one operator reads, and nothing wants.
  int onlyReader(int tensor) const {
    const Tensor &t = graph.tensors[tensor];
    return t.consumers.size() == 1 && !t.isResult ? t.consumers[0] : -1;
  }

  /// m = reduce(x), y = f(x, m): one operator from x to y.
  bool mergeReduction(size_t i) {
    const Operator &reduction = graph.operators[i];
    if (reduction.kind != Kind::Row || reduction.normalizes() || reduction.inputs.size() != 1)
      return false;
    int reader = onlyReader(reduction.output.tensor);
    if (reader < 0 || graph.operators[reader].kind != Kind::Point)
      return false;
    Operator &point = graph.operators[reader];
    int x = reads(point, reduction.inputs[0].tensor), m = reads(point, reduction.output.tensor);
    if (x < 0 || m < 0 || point.inputs[x].dims != point.output.dims ||
        reduction.inputs[0].dims != point.inputs[x].dims)
      return false;
    point.kind = Kind::Row;
    point.over = reduction.over;
    point.states = 1;
    point.operations += reduction.operations;
    point.inputs.erase(point.inputs.begin() + m);
    remove(i);
    return true;
  }

  /// y = f(x), z = g(y), both normalising the same rows: one operator from x to z.
  bool mergeTwo(size_t i) {
    const Operator &first = graph.operators[i];
    if (!first.normalizes())
      return false;
    int reader = onlyReader(first.output.tensor);
    if (reader < 0)
      return false;
    Operator &second = graph.operators[reader];
    int y = reads(second, first.output.tensor);
    if (!second.normalizes() || second.over != first.over || second.inputs[y].dims != first.output.dims)
      return false;
    second.states += first.states;
    second.operations += first.operations;
    second.inputs.erase(second.inputs.begin() + y);
    for (const Operand &input : first.inputs)
      if (reads(second, input.tensor) < 0)
        second.inputs.insert(second.inputs.begin(), input);
    remove(i);
    return true;
  }

  void remove(size_t i) {
    int tensor = graph.operators[i].output.tensor;
    graph.operators.erase(graph.operators.begin() + i);
    graph.tensors.erase(graph.tensors.begin() + tensor);
    auto shift = [&](Operand &operand) { operand.tensor -= operand.tensor > tensor; };
    for (Operator &op : graph.operators) {
      for (Operand &input : op.inputs)
        shift(input);
      shift(op.output);
    }
    graph.finish();
  }

  Graph &graph;
};

} // namespace

void ft::dataflow::mergeRows(Graph &graph) {
  Merger merger(graph);
  while (merger.step()) {
  }
}
