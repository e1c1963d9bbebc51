//===- Graph.h - operators and the tensors between them ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The graph that DAT explores (DAT §4): operators are nodes, a tensor that one
// operator writes and another reads is a *binding tensor*, an edge. Every
// operator names the dimensions of its tensors; a name has one size.
//
//   S = product(Q[n,q], K[m,q]) : S[n,m]      reduces over q
//   P = row(S[n,m]) over m      : P[n,m]      softmax
//   A = product(P[n,m], V[m,d]) : A[n,d]      reduces over m
//
//===----------------------------------------------------------------------===//
#ifndef FT_DATAFLOW_GRAPH_GRAPH_H
#define FT_DATAFLOW_GRAPH_GRAPH_H

#include "ft/Dataflow/Graph/Count.h"

#include <string>
#include <string_view>
#include <vector>

namespace ft::dataflow {

/// What an operator does with its dimensions (DAT §1).
enum class Kind {
  /// Tensor-wise: multiplies, and sums over the dimensions that its output lacks.
  Product,
  /// Row-wise: its result depends on whole rows, those of the dimensions `over`. Softmax and layer
  /// norm keep these dimensions; a sum or a maximum drops them.
  Row,
  /// Point-wise: each result depends on one element of each input (which may be broadcast).
  Point,
};

const char *name(Kind kind);

struct Dim {
  std::string name;
  Count size = 1;
};

/// A tensor as one operator sees it: dimension i of the tensor is dimension `dims[i]` of the graph.
/// The same tensor may have other names elsewhere (X[n,l] for queries, X[m,l] for keys).
struct Operand {
  int tensor = -1;
  std::vector<int> dims;
};

struct Operator {
  std::string name;
  Kind kind = Kind::Product;
  std::vector<Operand> inputs;
  Operand output;
  /// All dimensions of its operands, the output's first. Analyzes number an operator's dimensions by
  /// their place in this list.
  std::vector<int> dims;
  /// Row-wise operators: the dimensions a row consists of.
  std::vector<int> over;
  /// Row-wise operators that keep their rows: elements of state per row while the row is walked
  /// (softmax: the maximum and the sum, DAT §3.3).
  Count states = 2;
  /// Operations per point of its iteration space, for the time of point- and row-wise operators.
  double operations = 1;

  /// The place in `dims`, or -1.
  int local(int dim) const;
  /// The dimensions of an operand as a set of places in `dims`. Operand inputs.size() is the output.
  const Operand &operand(unsigned index) const {
    return index < inputs.size() ? inputs[index] : output;
  }
  unsigned numOperands() const { return inputs.size() + 1; }
  uint32_t mask(unsigned index) const;
  /// The dimensions that are summed over: those that the output lacks.
  uint32_t reduced() const;
  /// The places of `over`.
  uint32_t rows() const;
  /// Whether the rows stay in the result (softmax), so that a result needs its whole row first.
  bool normalizes() const { return kind == Kind::Row && (rows() & mask(inputs.size())); }
};

struct Tensor {
  std::string name;
  /// Sizes of its dimensions.
  std::vector<Count> shape;
  /// The operator that writes it, or -1 for an input of the graph.
  int producer = -1;
  /// The operators that read it, each once.
  std::vector<int> consumers;
  /// Whether it is wanted after the graph: what nothing reads, or what the description marks.
  bool isResult = false;

  Count size() const;
};

/// An error in a description: what is wrong, and where it is talked about (a name, or empty).
struct GraphError {
  std::string message;
  /// The operator it is about, or -1.
  int op = -1;
};

struct Graph {
  std::string name;
  std::vector<Dim> dims;
  std::vector<Tensor> tensors;
  std::vector<Operator> operators;
  /// Dimensions along which instances are independent and that the artifact's rules never tile in a
  /// fused chain: batch and heads. Deduced by `finish` unless given.
  std::vector<int> batch;
  bool batchGiven = false;

  int findDim(std::string_view name) const;
  int findTensor(std::string_view name) const;
  int addDim(std::string_view name, Count size);
  /// A tensor by name, made on first use.
  int tensor(std::string_view name);
  /// An operator from names: product("S", {{"Q", {"n","q"}}, {"K", {"m","q"}}}, {"S", {"n","m"}}).
  struct Use {
    std::string tensor;
    std::vector<std::string> dims;
  };
  int add(std::string_view name, Kind kind, const std::vector<Use> &inputs, const Use &output,
          const std::vector<std::string> &over = {});

  /// Derives producers, consumers, shapes and the operators' dimensions, sorts operators so that
  /// producers come first, and checks everything. Empty if the graph is well formed.
  std::vector<GraphError> finish();

  Count size(const Operator &op, unsigned local) const { return dims[op.dims[local]].size; }
  /// Points of an operator's iteration space.
  Count points(const Operator &op) const;
};

} // namespace ft::dataflow

#endif // FT_DATAFLOW_GRAPH_GRAPH_H
