//===- GraphJson.h - operator graphs in JSON --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   {"dims": {"n": 1024, "m": 1024, "q": 64},
//    "operators": [
//      {"name": "S", "kind": "product", "inputs": {"Q": ["n","q"], "K": ["m","q"]},
//       "output": {"S": ["n","m"]}}]}
//
// Optional: "name"; "batch" (dimensions, for the rules `artifact`); "results"
// (tensors that are wanted though others read them); of an operator "over" (the
// dimensions of a row), "states" (elements of state per row), "operations" (per
// point). An operator that reads a tensor twice lists its inputs:
// "inputs": [["X", ["n","k"]], ["X", ["m","k"]]].
//
//===----------------------------------------------------------------------===//
#ifndef FT_DATAFLOW_GRAPH_GRAPHJSON_H
#define FT_DATAFLOW_GRAPH_GRAPHJSON_H

#include "ft/Dataflow/Graph/Graph.h"

#include <optional>

namespace ft::dataflow {

/// The graph of a text, or nothing and `FILE:LINE:COLUMN: error: …` lines in `error`.
std::optional<Graph> readGraph(std::string_view text, std::string_view file, std::string &error);

/// The graph as readGraph reads it.
std::string writeGraph(const Graph &graph);

/// The graph for people: sizes, and of each operator what it reads and writes, its points, and the elements that it
/// moves at least by itself.
std::string writeGraphTable(const Graph &graph);

} // namespace ft::dataflow

#endif // FT_DATAFLOW_GRAPH_GRAPHJSON_H
