//===- Models.h - transformer layers as graphs ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Describes attention blocks and whole transformer layers from their sizes
// (DAT §5.1, Table 3).
//
//===----------------------------------------------------------------------===//
#ifndef FT_DATAFLOW_GRAPH_MODELS_H
#define FT_DATAFLOW_GRAPH_MODELS_H

#include "ft/Dataflow/Graph/Graph.h"

#include <optional>

namespace ft::dataflow {

/// The sizes of a transformer layer. `hidden` is the model's width: heads × the width of a head.
struct ModelSizes {
  std::string name;
  Count heads = 1, sequence = 1, hidden = 1, batch = 16;
  /// The width of the feed-forward network's inner layer, as a multiple of `hidden`.
  Count expansion = 4;
};

/// The models of DAT's Table 3 (and Blenderbot, of its public code), in the paper's order.
const std::vector<ModelSizes> &knownModels();
/// By name, upper and lower case alike; also by the public code's short names (gpt, xlm, llama, …).
std::optional<ModelSizes> findModel(std::string_view name);

/// Attention with its projections: the five products of DAT's public code,
///   Q = I1·Wq, K = I2·Wk, V = I3·Wv, S = Q·Kᵀ, A = P·V,
/// with softmax P between S and A, or without (A = S·V), as the public code has it.
/// Dimensions: b batch, h heads, n queries, m keys; q and d the width of a head; l, k, p hidden.
Graph attentionGraph(const ModelSizes &sizes, bool softmax);

/// A whole layer of fourteen operators: norm, projections of one input, attention with softmax,
/// output projection, residual, norm, two products with an activation between, residual.
Graph layerGraph(const ModelSizes &sizes);

} // namespace ft::dataflow

#endif // FT_DATAFLOW_GRAPH_MODELS_H
