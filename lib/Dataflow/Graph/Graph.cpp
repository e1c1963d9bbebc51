//===- Graph.cpp - operators and the tensors between them -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ft/Dataflow/Graph/Graph.h"

#include <algorithm>

using namespace ft::dataflow;

const char *ft::dataflow::name(Kind kind) {
  switch (kind) {
  case Kind::Product:
    return "product";
  case Kind::Row:
    return "row";
  case Kind::Point:
    return "point";
  }
  return "";
}

int Operator::local(int dim) const {
  auto found = std::find(dims.begin(), dims.end(), dim);
  return found == dims.end() ? -1 : found - dims.begin();
}

uint32_t Operator::mask(unsigned index) const {
  uint32_t result = 0;
  for (int dim : operand(index).dims)
    result |= 1u << local(dim);
  return result;
}

uint32_t Operator::reduced() const {
  return ((dims.size() < 32 ? 1u << dims.size() : 0u) - 1) & ~mask(inputs.size());
}

uint32_t Operator::rows() const {
  uint32_t result = 0;
  for (int dim : over)
    result |= 1u << local(dim);
  return result;
}

Count Tensor::size() const {
  Count result = 1;
  for (Count extent : shape)
    result = multiply(result, extent);
  return result;
}

int Graph::findDim(std::string_view wanted) const {
  for (size_t i = 0; i < dims.size(); ++i)
    if (dims[i].name == wanted)
      return i;
  return -1;
}

int Graph::findTensor(std::string_view wanted) const {
  for (size_t i = 0; i < tensors.size(); ++i)
    if (tensors[i].name == wanted)
      return i;
  return -1;
}

int Graph::addDim(std::string_view dim, Count size) {
  int found = findDim(dim);
  if (found >= 0)
    return found;
  dims.push_back({std::string(dim), size});
  return dims.size() - 1;
}

int Graph::tensor(std::string_view wanted) {
  int found = findTensor(wanted);
  if (found >= 0)
    return found;
  tensors.emplace_back().name = wanted;
  return tensors.size() - 1;
}

int Graph::add(std::string_view opName, Kind kind, const std::vector<Use> &inputs,
               const Use &output, const std::vector<std::string> &over) {
  Operator op;
  op.name = opName;
  op.kind = kind;
  auto operand = [&](const Use &use) {
    Operand result;
    result.tensor = tensor(use.tensor);
    for (const std::string &dim : use.dims)
      result.dims.push_back(findDim(dim));
    return result;
  };
  for (const Use &use : inputs)
    op.inputs.push_back(operand(use));
  op.output = operand(output);
  for (const std::string &dim : over)
    op.over.push_back(findDim(dim));
  operators.push_back(std::move(op));
  return operators.size() - 1;
}

Count Graph::points(const Operator &op) const {
  Count result = 1;
  for (int dim : op.dims)
    result = multiply(result, dims[dim].size);
  return result;
}

namespace {

/// The checks and derivations of Graph::finish.
class Finisher {
public:
  explicit Finisher(Graph &graph) : graph(graph) {}

  std::vector<GraphError> run() {
    for (Tensor &tensor : graph.tensors)
      tensor.producer = -1, tensor.shape.clear();
    if (graph.operators.empty())
      error(-1, "expected at least one operator, found none");
    for (const Dim &dim : graph.dims)
      if (dim.size < 1)
        error(-1, "dimension '" + dim.name + "' must have a size of at least 1, found " +
                      std::to_string(dim.size));
    for (size_t i = 0; i < graph.operators.size(); ++i)
      operatorDims(i);
    if (!errors.empty())
      return errors;
    for (size_t i = 0; i < graph.operators.size(); ++i)
      bind(i);
    if (errors.empty())
      sort();
    if (errors.empty())
      uses();
    return errors;
  }

private:
  void error(int op, std::string message) {
    if (op >= 0)
      message = "operator '" + graph.operators[op].name + "': " + message;
    errors.push_back({std::move(message), op});
  }

  void operatorDims(int index) {
    Operator &op = graph.operators[index];
    op.dims.clear();
    auto take = [&](const Operand &operand) {
      for (size_t i = 0; i < operand.dims.size(); ++i) {
        int dim = operand.dims[i];
        if (dim < 0)
          return error(index, "dimension " + std::to_string(i) + " of tensor '" +
                                  graph.tensors[operand.tensor].name + "' is not declared");
        if (std::count(operand.dims.begin(), operand.dims.end(), dim) > 1)
          return error(index, "tensor '" + graph.tensors[operand.tensor].name +
                                  "' has dimension '" + graph.dims[dim].name + "' twice");
        if (op.local(dim) < 0)
          op.dims.push_back(dim);
      }
    };
    take(op.output);
    for (const Operand &input : op.inputs)
      take(input);
    if (op.inputs.empty())
      error(index, "expected at least one input, found none");
    if (op.dims.size() > 16)
      error(index, "expected at most 16 dimensions, found " + std::to_string(op.dims.size()));
    if (errors.empty())
      kind(index);
  }

  /// What the kind asks of the dimensions.
  void kind(int index) {
    Operator &op = graph.operators[index];
    uint32_t read = 0;
    for (unsigned i = 0; i < op.inputs.size(); ++i)
      read |= op.mask(i);
    if (op.kind == Kind::Point && op.reduced())
      error(index, "a point-wise operator's output has all dimensions of its inputs, but '" +
                       graph.dims[op.dims[__builtin_ctz(op.reduced())]].name + "' is missing");
    if (op.kind != Kind::Row) {
      if (!op.over.empty())
        error(index, "only row-wise operators have 'over'");
      return;
    }
    for (int dim : op.over)
      if (dim < 0 || op.local(dim) < 0 || !(read >> op.local(dim) & 1))
        return error(index, "'over' names a dimension that no input has");
    if (!op.over.empty())
      return;
    // A reduction's rows are what its output lacks; softmax's are the input's last dimension.
    for (size_t i = 0; i < op.dims.size(); ++i)
      if (op.reduced() >> i & 1)
        op.over.push_back(op.dims[i]);
    if (op.over.empty() && !op.inputs[0].dims.empty())
      op.over.push_back(op.inputs[0].dims.back());
    if (op.over.empty())
      error(index, "a row-wise operator needs an input with at least one dimension");
  }

  void bind(int index) {
    Operator &op = graph.operators[index];
    Tensor &result = graph.tensors[op.output.tensor];
    if (result.producer >= 0)
      error(index, "tensor '" + result.name + "' is already written by operator '" +
                       graph.operators[result.producer].name + "'");
    result.producer = index;
    for (unsigned i = 0; i < op.numOperands(); ++i) {
      const Operand &operand = op.operand(i);
      Tensor &tensor = graph.tensors[operand.tensor];
      std::vector<Count> shape;
      for (int dim : operand.dims)
        shape.push_back(graph.dims[dim].size);
      if (tensor.shape.empty())
        tensor.shape = shape;
      if (tensor.shape != shape)
        error(index, "tensor '" + tensor.name + "' has other dimensions elsewhere: expected " +
                         text(tensor.shape) + ", found " + text(shape));
    }
  }

  static std::string text(const std::vector<Count> &shape) {
    std::string result = "[";
    for (Count extent : shape)
      result += (result.size() > 1 ? ", " : "") + std::to_string(extent);
    return result + "]";
  }

  /// Producers first; among those that are ready, the order of the description.
  void sort() {
    size_t count = graph.operators.size();
    std::vector<int> order;
    std::vector<bool> done(count, false);
    auto ready = [&](size_t i) {
      for (const Operand &input : graph.operators[i].inputs) {
        int producer = graph.tensors[input.tensor].producer;
        if (producer >= 0 && !done[producer])
          return false;
      }
      return true;
    };
    while (order.size() < count) {
      size_t next = 0;
      while (next < count && (done[next] || !ready(next)))
        ++next;
      if (next == count)
        return cycle(done);
      done[next] = true;
      order.push_back(next);
    }
    std::vector<Operator> sorted;
    for (int index : order)
      sorted.push_back(std::move(graph.operators[index]));
    graph.operators = std::move(sorted);
    for (size_t i = 0; i < count; ++i)
      graph.tensors[graph.operators[i].output.tensor].producer = i;
  }

  void cycle(const std::vector<bool> &done) {
    // The code that is not done waits for one that is not done: walk back until one comes again.
    int at = std::find(done.begin(), done.end(), false) - done.begin();
    std::vector<int> path;
    while (std::find(path.begin(), path.end(), at) == path.end()) {
      path.push_back(at);
      for (const Operand &input : graph.operators[at].inputs) {
        int producer = graph.tensors[input.tensor].producer;
        if (producer >= 0 && !done[producer]) {
          at = producer;
          break;
        }
      }
    }
    path.erase(path.begin(), std::find(path.begin(), path.end(), at));
    std::string names;
    for (int op : path)
      names += "'" + graph.operators[op].name + "' <- ";
    error(at, "reads its own result: " + names + "'" + graph.operators[at].name + "'");
  }

  void uses() {
    for (Tensor &tensor : graph.tensors)
      tensor.consumers.clear();
    for (size_t i = 0; i < graph.operators.size(); ++i)
      for (const Operand &input : graph.operators[i].inputs) {
        std::vector<int> &consumers = graph.tensors[input.tensor].consumers;
        if (consumers.empty() || consumers.back() != int(i))
          consumers.push_back(i);
      }
    for (Tensor &tensor : graph.tensors) {
      if (tensor.consumers.empty())
        tensor.isResult = true;
      if (tensor.size() == tooLarge)
        error(-1, "tensor '" + tensor.name + "' has more elements than 64 bits can count");
    }
    for (size_t i = 0; i < graph.operators.size(); ++i)
      if (graph.points(graph.operators[i]) == tooLarge)
        error(i, "its iteration space has more points than 64 bits can count");
    if (!graph.batchGiven)
      deduceBatch();
  }

  /// The dimensions that index every operand of some product: its instances are independent.
  void deduceBatch() {
    graph.batch.clear();
    for (const Operator &op : graph.operators) {
      if (op.kind != Kind::Product)
        continue;
      uint32_t common = op.mask(op.inputs.size());
      for (unsigned i = 0; i < op.inputs.size(); ++i)
        common &= op.mask(i);
      for (size_t i = 0; i < op.dims.size(); ++i)
        if ((common >> i & 1) &&
            std::find(graph.batch.begin(), graph.batch.end(), op.dims[i]) == graph.batch.end())
          graph.batch.push_back(op.dims[i]);
    }
  }

  Graph &graph;
  std::vector<GraphError> errors;
};

} // namespace

std::vector<GraphError> Graph::finish() { return Finisher(*this).run(); }
