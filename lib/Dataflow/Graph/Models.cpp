//===- Models.cpp - transformer layers as graphs --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ft/Dataflow/Graph/Models.h"

#include <algorithm>

using namespace ft::dataflow;

const std::vector<ModelSizes> &ft::dataflow::knownModels() {
  static const std::vector<ModelSizes> models = {
      {"BERT", 12, 1024, 768},       {"GPT-2", 12, 2048, 768},    {"XLNet", 16, 1024, 2048},
      {"DeBERTa-v2", 24, 1024, 1536}, {"LLaMA2", 32, 4096, 4096}, {"ALBERT", 64, 1024, 4096},
      {"Blenderbot", 16, 256, 1024},
  };
  return models;
}

std::optional<ModelSizes> ft::dataflow::findModel(std::string_view name) {
  auto plain = [](std::string_view text) {
    std::string result;
    for (char c : text)
      if (c != '-' && c != '_')
        result += c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
    return result;
  };
  std::string wanted = plain(name);
  for (auto [alias, full] : {std::pair{"gpt", "gpt2"},
                             {"deberta", "debertav2"},
                             {"llama", "llama2"}})
    if (wanted == alias)
      wanted = full;
  for (const ModelSizes &model : knownModels())
    if (plain(model.name) == wanted)
      return model;
  return std::nullopt;
}

Graph ft::dataflow::attentionGraph(const ModelSizes &sizes, bool softmax) {
  Graph graph;
  graph.name = sizes.name;
  const Count head = std::max<Count>(sizes.hidden / sizes.heads, 1);
  graph.addDim("b", sizes.batch);
  graph.addDim("h", sizes.heads);
  graph.addDim("n", sizes.sequence);
  graph.addDim("m", sizes.sequence);
  for (const char *dim : {"l", "k", "p"})
    graph.addDim(dim, sizes.hidden);
  graph.addDim("q", head);
  graph.addDim("d", head);
  const Kind product = Kind::Product;
  graph.add("Q", product, {{"I1", {"b", "n", "l"}}, {"Wq", {"h", "l", "q"}}},
            {"Q", {"b", "h", "n", "q"}});
  graph.add("K", product, {{"I2", {"b", "m", "k"}}, {"Wk", {"h", "k", "q"}}},
            {"K", {"b", "h", "m", "q"}});
  graph.add("V", product, {{"I3", {"b", "m", "p"}}, {"Wv", {"h", "p", "d"}}},
            {"V", {"b", "h", "m", "d"}});
  graph.add("S", product, {{"Q", {"b", "h", "n", "q"}}, {"K", {"b", "h", "m", "q"}}},
            {"S", {"b", "h", "n", "m"}});
  if (softmax)
    graph.add("P", Kind::Row, {{"S", {"b", "h", "n", "m"}}}, {"P", {"b", "h", "n", "m"}}, {"m"});
  graph.add("A", product, {{softmax ? "P" : "S", {"b", "h", "n", "m"}}, {"V", {"b", "h", "m", "d"}}},
            {"A", {"b", "h", "n", "d"}});
  graph.finish();
  return graph;
}

Graph ft::dataflow::layerGraph(const ModelSizes &sizes) {
  Graph graph;
  graph.name = sizes.name + " layer";
  const Count head = std::max<Count>(sizes.hidden / sizes.heads, 1);
  graph.addDim("b", sizes.batch);
  graph.addDim("h", sizes.heads);
  graph.addDim("n", sizes.sequence);
  graph.addDim("m", sizes.sequence);
  graph.addDim("q", head);
  graph.addDim("d", head);
  graph.addDim("e", sizes.hidden);
  graph.addDim("f", sizes.hidden);
  graph.addDim("g", multiply(sizes.hidden, sizes.expansion));
  graph.addDim("o", sizes.hidden);
  const Kind product = Kind::Product, row = Kind::Row, point = Kind::Point;
  graph.add("Norm1", row, {{"X", {"b", "n", "e"}}}, {"N1", {"b", "n", "e"}}, {"e"});
  graph.add("Q", product, {{"N1", {"b", "n", "e"}}, {"Wq", {"h", "e", "q"}}},
            {"Q", {"b", "h", "n", "q"}});
  graph.add("K", product, {{"N1", {"b", "m", "e"}}, {"Wk", {"h", "e", "q"}}},
            {"K", {"b", "h", "m", "q"}});
  graph.add("V", product, {{"N1", {"b", "m", "e"}}, {"Wv", {"h", "e", "d"}}},
            {"V", {"b", "h", "m", "d"}});
  graph.add("S", product, {{"Q", {"b", "h", "n", "q"}}, {"K", {"b", "h", "m", "q"}}},
            {"S", {"b", "h", "n", "m"}});
  graph.add("P", row, {{"S", {"b", "h", "n", "m"}}}, {"P", {"b", "h", "n", "m"}}, {"m"});
  graph.add("A", product, {{"P", {"b", "h", "n", "m"}}, {"V", {"b", "h", "m", "d"}}},
            {"A", {"b", "h", "n", "d"}});
  graph.add("O", product, {{"A", {"b", "h", "n", "d"}}, {"Wo", {"h", "d", "f"}}},
            {"O", {"b", "n", "f"}});
  graph.add("Residual1", point, {{"O", {"b", "n", "f"}}, {"X", {"b", "n", "f"}}},
            {"R1", {"b", "n", "f"}});
  graph.add("Norm2", row, {{"R1", {"b", "n", "f"}}}, {"N2", {"b", "n", "f"}}, {"f"});
  graph.add("Up", product, {{"N2", {"b", "n", "f"}}, {"W1", {"f", "g"}}}, {"U", {"b", "n", "g"}});
  graph.add("Activation", point, {{"U", {"b", "n", "g"}}}, {"G", {"b", "n", "g"}});
  graph.add("Down", product, {{"G", {"b", "n", "g"}}, {"W2", {"g", "o"}}}, {"D", {"b", "n", "o"}});
  graph.add("Residual2", point, {{"D", {"b", "n", "o"}}, {"R1", {"b", "n", "o"}}},
            {"Y", {"b", "n", "o"}});
  graph.finish();
  return graph;
}
