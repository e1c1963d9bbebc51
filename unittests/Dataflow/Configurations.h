//===- Configurations.h - graphs of layers that are in use ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention with grouped and latent keys, cross attention, experts, gated
// feed-forward networks, convolutions as products, adapters, linear attention:
// with odd and prime sizes, and sizes of one.
//
//===----------------------------------------------------------------------===//
#ifndef FT_UNITTESTS_DATAFLOW_CONFIGURATIONS_H
#define FT_UNITTESTS_DATAFLOW_CONFIGURATIONS_H

namespace ft::dataflow {

struct Configuration {
  const char *name, *graph;
};

inline const Configuration configurations[] = {
    {"grouped queries, 2 heads a group",
     R"({"dims": {"b": 1, "g": 3, "r": 2, "n": 5, "m": 7, "q": 3, "d": 3}, "operators": [
      {"name": "S", "kind": "product", "inputs": {"Q": ["b", "g", "r", "n", "q"], "K": ["b", "g", "m", "q"]}, "output": {"S": ["b", "g", "r", "n", "m"]}},
      {"name": "P", "kind": "row", "inputs": {"S": ["b", "g", "r", "n", "m"]}, "output": {"P": ["b", "g", "r", "n", "m"]}, "over": ["m"]},
      {"name": "A", "kind": "product", "inputs": {"P": ["b", "g", "r", "n", "m"], "V": ["b", "g", "m", "d"]}, "output": {"A": ["b", "g", "r", "n", "d"]}}]})"},
    {"grouped queries, odd",
     R"({"dims": {"b": 2, "g": 1, "r": 3, "n": 7, "m": 5, "q": 2, "d": 3}, "operators": [
      {"name": "S", "kind": "product", "inputs": {"Q": ["b", "g", "r", "n", "q"], "K": ["b", "g", "m", "q"]}, "output": {"S": ["b", "g", "r", "n", "m"]}},
      {"name": "P", "kind": "row", "inputs": {"S": ["b", "g", "r", "n", "m"]}, "output": {"P": ["b", "g", "r", "n", "m"]}, "over": ["m"]},
      {"name": "A", "kind": "product", "inputs": {"P": ["b", "g", "r", "n", "m"], "V": ["b", "g", "m", "d"]}, "output": {"A": ["b", "g", "r", "n", "d"]}}]})"},
    {"multi-query",
     R"({"dims": {"b": 1, "g": 1, "r": 4, "n": 6, "m": 6, "q": 3, "d": 2}, "operators": [
      {"name": "S", "kind": "product", "inputs": {"Q": ["b", "g", "r", "n", "q"], "K": ["b", "g", "m", "q"]}, "output": {"S": ["b", "g", "r", "n", "m"]}},
      {"name": "P", "kind": "row", "inputs": {"S": ["b", "g", "r", "n", "m"]}, "output": {"P": ["b", "g", "r", "n", "m"]}, "over": ["m"]},
      {"name": "A", "kind": "product", "inputs": {"P": ["b", "g", "r", "n", "m"], "V": ["b", "g", "m", "d"]}, "output": {"A": ["b", "g", "r", "n", "d"]}}]})"},
    {"decoding one token, grouped",
     R"({"dims": {"b": 3, "g": 2, "r": 2, "n": 1, "m": 11, "q": 4, "d": 4}, "operators": [
      {"name": "S", "kind": "product", "inputs": {"Q": ["b", "g", "r", "n", "q"], "K": ["b", "g", "m", "q"]}, "output": {"S": ["b", "g", "r", "n", "m"]}},
      {"name": "P", "kind": "row", "inputs": {"S": ["b", "g", "r", "n", "m"]}, "output": {"P": ["b", "g", "r", "n", "m"]}, "over": ["m"]},
      {"name": "A", "kind": "product", "inputs": {"P": ["b", "g", "r", "n", "m"], "V": ["b", "g", "m", "d"]}, "output": {"A": ["b", "g", "r", "n", "d"]}}]})"},
    {"latent attention, absorbed",
     R"({"dims": {"n": 3, "m": 5, "h": 2, "c": 4, "q": 2, "d": 3}, "operators": [
      {"name": "Qc", "kind": "product", "inputs": {"Q": ["h", "n", "q"], "Wk": ["h", "q", "c"]}, "output": {"Qc": ["h", "n", "c"]}},
      {"name": "S", "kind": "product", "inputs": {"Qc": ["h", "n", "c"], "C": ["m", "c"]}, "output": {"S": ["h", "n", "m"]}},
      {"name": "P", "kind": "row", "inputs": {"S": ["h", "n", "m"]}, "output": {"P": ["h", "n", "m"]}, "over": ["m"]},
      {"name": "Ac", "kind": "product", "inputs": {"P": ["h", "n", "m"], "C": ["m", "c"]}, "output": {"Ac": ["h", "n", "c"]}},
      {"name": "A", "kind": "product", "inputs": {"Ac": ["h", "n", "c"], "Wv": ["h", "c", "d"]}, "output": {"A": ["h", "n", "d"]}}]})"},
    {"latent attention, one query",
     R"({"dims": {"n": 1, "m": 13, "h": 3, "c": 5, "q": 2, "d": 2}, "operators": [
      {"name": "Qc", "kind": "product", "inputs": {"Q": ["h", "n", "q"], "Wk": ["h", "q", "c"]}, "output": {"Qc": ["h", "n", "c"]}},
      {"name": "S", "kind": "product", "inputs": {"Qc": ["h", "n", "c"], "C": ["m", "c"]}, "output": {"S": ["h", "n", "m"]}},
      {"name": "P", "kind": "row", "inputs": {"S": ["h", "n", "m"]}, "output": {"P": ["h", "n", "m"]}, "over": ["m"]},
      {"name": "Ac", "kind": "product", "inputs": {"P": ["h", "n", "m"], "C": ["m", "c"]}, "output": {"Ac": ["h", "n", "c"]}},
      {"name": "A", "kind": "product", "inputs": {"Ac": ["h", "n", "c"], "Wv": ["h", "c", "d"]}, "output": {"A": ["h", "n", "d"]}}]})"},
    {"latent attention, wide latent",
     R"({"dims": {"n": 4, "m": 3, "h": 1, "c": 7, "q": 2, "d": 2}, "operators": [
      {"name": "Qc", "kind": "product", "inputs": {"Q": ["h", "n", "q"], "Wk": ["h", "q", "c"]}, "output": {"Qc": ["h", "n", "c"]}},
      {"name": "S", "kind": "product", "inputs": {"Qc": ["h", "n", "c"], "C": ["m", "c"]}, "output": {"S": ["h", "n", "m"]}},
      {"name": "P", "kind": "row", "inputs": {"S": ["h", "n", "m"]}, "output": {"P": ["h", "n", "m"]}, "over": ["m"]},
      {"name": "Ac", "kind": "product", "inputs": {"P": ["h", "n", "m"], "C": ["m", "c"]}, "output": {"Ac": ["h", "n", "c"]}},
      {"name": "A", "kind": "product", "inputs": {"Ac": ["h", "n", "c"], "Wv": ["h", "c", "d"]}, "output": {"A": ["h", "n", "d"]}}]})"},
    {"latent keys, expanded",
     R"({"dims": {"n": 5, "m": 7, "h": 2, "c": 3, "q": 2, "e": 6}, "operators": [
      {"name": "C", "kind": "product", "inputs": {"X": ["m", "e"], "Wd": ["e", "c"]}, "output": {"C": ["m", "c"]}},
      {"name": "K", "kind": "product", "inputs": {"C": ["m", "c"], "Wu": ["h", "c", "q"]}, "output": {"K": ["h", "m", "q"]}},
      {"name": "S", "kind": "product", "inputs": {"Q": ["h", "n", "q"], "K": ["h", "m", "q"]}, "output": {"S": ["h", "n", "m"]}}]})"},
    {"latent keys of one token",
     R"({"dims": {"n": 1, "m": 9, "h": 3, "c": 2, "q": 2, "e": 5}, "operators": [
      {"name": "C", "kind": "product", "inputs": {"X": ["m", "e"], "Wd": ["e", "c"]}, "output": {"C": ["m", "c"]}},
      {"name": "K", "kind": "product", "inputs": {"C": ["m", "c"], "Wu": ["h", "c", "q"]}, "output": {"K": ["h", "m", "q"]}},
      {"name": "S", "kind": "product", "inputs": {"Q": ["h", "n", "q"], "K": ["h", "m", "q"]}, "output": {"S": ["h", "n", "m"]}}]})"},
    {"cross attention, long memory",
     R"({"dims": {"b": 1, "n": 2, "m": 13, "e": 5, "q": 3, "d": 3}, "operators": [
      {"name": "K", "kind": "product", "inputs": {"E": ["b", "m", "e"], "Wk": ["e", "q"]}, "output": {"K": ["b", "m", "q"]}},
      {"name": "V", "kind": "product", "inputs": {"E": ["b", "m", "e"], "Wv": ["e", "d"]}, "output": {"V": ["b", "m", "d"]}},
      {"name": "S", "kind": "product", "inputs": {"Q": ["b", "n", "q"], "K": ["b", "m", "q"]}, "output": {"S": ["b", "n", "m"]}},
      {"name": "P", "kind": "row", "inputs": {"S": ["b", "n", "m"]}, "output": {"P": ["b", "n", "m"]}, "over": ["m"]},
      {"name": "A", "kind": "product", "inputs": {"P": ["b", "n", "m"], "V": ["b", "m", "d"]}, "output": {"A": ["b", "n", "d"]}}]})"},
    {"cross attention, short memory",
     R"({"dims": {"b": 2, "n": 11, "m": 2, "e": 5, "q": 3, "d": 3}, "operators": [
      {"name": "K", "kind": "product", "inputs": {"E": ["b", "m", "e"], "Wk": ["e", "q"]}, "output": {"K": ["b", "m", "q"]}},
      {"name": "V", "kind": "product", "inputs": {"E": ["b", "m", "e"], "Wv": ["e", "d"]}, "output": {"V": ["b", "m", "d"]}},
      {"name": "S", "kind": "product", "inputs": {"Q": ["b", "n", "q"], "K": ["b", "m", "q"]}, "output": {"S": ["b", "n", "m"]}},
      {"name": "P", "kind": "row", "inputs": {"S": ["b", "n", "m"]}, "output": {"P": ["b", "n", "m"]}, "over": ["m"]},
      {"name": "A", "kind": "product", "inputs": {"P": ["b", "n", "m"], "V": ["b", "m", "d"]}, "output": {"A": ["b", "n", "d"]}}]})"},
    {"cross attention of one query",
     R"({"dims": {"b": 3, "n": 1, "m": 7, "e": 4, "q": 2, "d": 2}, "operators": [
      {"name": "K", "kind": "product", "inputs": {"E": ["b", "m", "e"], "Wk": ["e", "q"]}, "output": {"K": ["b", "m", "q"]}},
      {"name": "V", "kind": "product", "inputs": {"E": ["b", "m", "e"], "Wv": ["e", "d"]}, "output": {"V": ["b", "m", "d"]}},
      {"name": "S", "kind": "product", "inputs": {"Q": ["b", "n", "q"], "K": ["b", "m", "q"]}, "output": {"S": ["b", "n", "m"]}},
      {"name": "P", "kind": "row", "inputs": {"S": ["b", "n", "m"]}, "output": {"P": ["b", "n", "m"]}, "over": ["m"]},
      {"name": "A", "kind": "product", "inputs": {"P": ["b", "n", "m"], "V": ["b", "m", "d"]}, "output": {"A": ["b", "n", "d"]}}]})"},
    {"mixture of experts",
     R"({"dims": {"x": 3, "t": 5, "e": 4, "f": 7, "o": 4}, "operators": [
      {"name": "U", "kind": "product", "inputs": {"X": ["x", "t", "e"], "W1": ["x", "e", "f"]}, "output": {"U": ["x", "t", "f"]}},
      {"name": "G", "kind": "point", "inputs": {"U": ["x", "t", "f"]}, "output": {"G": ["x", "t", "f"]}},
      {"name": "D", "kind": "product", "inputs": {"G": ["x", "t", "f"], "W2": ["x", "f", "o"]}, "output": {"D": ["x", "t", "o"]}}]})"},
    {"experts with one token each",
     R"({"dims": {"x": 7, "t": 1, "e": 3, "f": 5, "o": 3}, "operators": [
      {"name": "U", "kind": "product", "inputs": {"X": ["x", "t", "e"], "W1": ["x", "e", "f"]}, "output": {"U": ["x", "t", "f"]}},
      {"name": "G", "kind": "point", "inputs": {"U": ["x", "t", "f"]}, "output": {"G": ["x", "t", "f"]}},
      {"name": "D", "kind": "product", "inputs": {"G": ["x", "t", "f"], "W2": ["x", "f", "o"]}, "output": {"D": ["x", "t", "o"]}}]})"},
    {"one expert",
     R"({"dims": {"x": 1, "t": 11, "e": 2, "f": 9, "o": 2}, "operators": [
      {"name": "U", "kind": "product", "inputs": {"X": ["x", "t", "e"], "W1": ["x", "e", "f"]}, "output": {"U": ["x", "t", "f"]}},
      {"name": "G", "kind": "point", "inputs": {"U": ["x", "t", "f"]}, "output": {"G": ["x", "t", "f"]}},
      {"name": "D", "kind": "product", "inputs": {"G": ["x", "t", "f"], "W2": ["x", "f", "o"]}, "output": {"D": ["x", "t", "o"]}}]})"},
    {"gated feed-forward",
     R"({"dims": {"t": 5, "e": 3, "f": 7, "o": 3}, "operators": [
      {"name": "U", "kind": "product", "inputs": {"X": ["t", "e"], "W1": ["e", "f"]}, "output": {"U": ["t", "f"]}},
      {"name": "V", "kind": "product", "inputs": {"X": ["t", "e"], "W2": ["e", "f"]}, "output": {"V": ["t", "f"]}},
      {"name": "G", "kind": "point", "inputs": {"U": ["t", "f"], "V": ["t", "f"]}, "output": {"G": ["t", "f"]}},
      {"name": "D", "kind": "product", "inputs": {"G": ["t", "f"], "W3": ["f", "o"]}, "output": {"D": ["t", "o"]}}]})"},
    {"gated feed-forward of one token",
     R"({"dims": {"t": 1, "e": 5, "f": 11, "o": 5}, "operators": [
      {"name": "U", "kind": "product", "inputs": {"X": ["t", "e"], "W1": ["e", "f"]}, "output": {"U": ["t", "f"]}},
      {"name": "V", "kind": "product", "inputs": {"X": ["t", "e"], "W2": ["e", "f"]}, "output": {"V": ["t", "f"]}},
      {"name": "G", "kind": "point", "inputs": {"U": ["t", "f"], "V": ["t", "f"]}, "output": {"G": ["t", "f"]}},
      {"name": "D", "kind": "product", "inputs": {"G": ["t", "f"], "W3": ["f", "o"]}, "output": {"D": ["t", "o"]}}]})"},
    {"gated feed-forward, prime",
     R"({"dims": {"t": 7, "e": 5, "f": 3, "o": 5}, "operators": [
      {"name": "U", "kind": "product", "inputs": {"X": ["t", "e"], "W1": ["e", "f"]}, "output": {"U": ["t", "f"]}},
      {"name": "V", "kind": "product", "inputs": {"X": ["t", "e"], "W2": ["e", "f"]}, "output": {"V": ["t", "f"]}},
      {"name": "G", "kind": "point", "inputs": {"U": ["t", "f"], "V": ["t", "f"]}, "output": {"G": ["t", "f"]}},
      {"name": "D", "kind": "product", "inputs": {"G": ["t", "f"], "W3": ["f", "o"]}, "output": {"D": ["t", "o"]}}]})"},
    {"convolution as a product, then 1x1",
     R"({"dims": {"p": 13, "k": 9, "o": 2, "c": 3}, "operators": [
      {"name": "Y", "kind": "product", "inputs": {"I": ["p", "k"], "W": ["k", "o"]}, "output": {"Y": ["p", "o"]}},
      {"name": "B", "kind": "point", "inputs": {"Y": ["p", "o"], "bias": ["o"]}, "output": {"B": ["p", "o"]}},
      {"name": "Z", "kind": "product", "inputs": {"B": ["p", "o"], "W1": ["o", "c"]}, "output": {"Z": ["p", "c"]}}]})"},
    {"convolution, one pixel",
     R"({"dims": {"p": 1, "k": 12, "o": 5, "c": 3}, "operators": [
      {"name": "Y", "kind": "product", "inputs": {"I": ["p", "k"], "W": ["k", "o"]}, "output": {"Y": ["p", "o"]}},
      {"name": "B", "kind": "point", "inputs": {"Y": ["p", "o"], "bias": ["o"]}, "output": {"B": ["p", "o"]}},
      {"name": "Z", "kind": "product", "inputs": {"B": ["p", "o"], "W1": ["o", "c"]}, "output": {"Z": ["p", "c"]}}]})"},
    {"convolution, many channels",
     R"({"dims": {"p": 6, "k": 4, "o": 7, "c": 5}, "operators": [
      {"name": "Y", "kind": "product", "inputs": {"I": ["p", "k"], "W": ["k", "o"]}, "output": {"Y": ["p", "o"]}},
      {"name": "B", "kind": "point", "inputs": {"Y": ["p", "o"], "bias": ["o"]}, "output": {"B": ["p", "o"]}},
      {"name": "Z", "kind": "product", "inputs": {"B": ["p", "o"], "W1": ["o", "c"]}, "output": {"Z": ["p", "c"]}}]})"},
    {"low-rank adapter, rank 1",
     R"({"dims": {"t": 6, "e": 5, "r": 1, "o": 7}, "operators": [
      {"name": "Y", "kind": "product", "inputs": {"X": ["t", "e"], "W": ["e", "o"]}, "output": {"Y": ["t", "o"]}},
      {"name": "A", "kind": "product", "inputs": {"X": ["t", "e"], "Wa": ["e", "r"]}, "output": {"A": ["t", "r"]}},
      {"name": "B", "kind": "product", "inputs": {"A": ["t", "r"], "Wb": ["r", "o"]}, "output": {"B": ["t", "o"]}},
      {"name": "Z", "kind": "point", "inputs": {"Y": ["t", "o"], "B": ["t", "o"]}, "output": {"Z": ["t", "o"]}}]})"},
    {"low-rank adapter",
     R"({"dims": {"t": 7, "e": 6, "r": 2, "o": 5}, "operators": [
      {"name": "Y", "kind": "product", "inputs": {"X": ["t", "e"], "W": ["e", "o"]}, "output": {"Y": ["t", "o"]}},
      {"name": "A", "kind": "product", "inputs": {"X": ["t", "e"], "Wa": ["e", "r"]}, "output": {"A": ["t", "r"]}},
      {"name": "B", "kind": "product", "inputs": {"A": ["t", "r"], "Wb": ["r", "o"]}, "output": {"B": ["t", "o"]}},
      {"name": "Z", "kind": "point", "inputs": {"Y": ["t", "o"], "B": ["t", "o"]}, "output": {"Z": ["t", "o"]}}]})"},
    {"low-rank adapter of one token",
     R"({"dims": {"t": 1, "e": 7, "r": 3, "o": 11}, "operators": [
      {"name": "Y", "kind": "product", "inputs": {"X": ["t", "e"], "W": ["e", "o"]}, "output": {"Y": ["t", "o"]}},
      {"name": "A", "kind": "product", "inputs": {"X": ["t", "e"], "Wa": ["e", "r"]}, "output": {"A": ["t", "r"]}},
      {"name": "B", "kind": "product", "inputs": {"A": ["t", "r"], "Wb": ["r", "o"]}, "output": {"B": ["t", "o"]}},
      {"name": "Z", "kind": "point", "inputs": {"Y": ["t", "o"], "B": ["t", "o"]}, "output": {"Z": ["t", "o"]}}]})"},
    {"linear attention",
     R"({"dims": {"n": 13, "q": 3, "d": 2, "l": 13}, "operators": [
      {"name": "M", "kind": "product", "inputs": {"K": ["n", "q"], "V": ["n", "d"]}, "output": {"M": ["q", "d"]}},
      {"name": "O", "kind": "product", "inputs": {"Q": ["l", "q"], "M": ["q", "d"]}, "output": {"O": ["l", "d"]}}]})"},
    {"linear attention, prime",
     R"({"dims": {"n": 7, "q": 2, "d": 5, "l": 7}, "operators": [
      {"name": "M", "kind": "product", "inputs": {"K": ["n", "q"], "V": ["n", "d"]}, "output": {"M": ["q", "d"]}},
      {"name": "O", "kind": "product", "inputs": {"Q": ["l", "q"], "M": ["q", "d"]}, "output": {"O": ["l", "d"]}}]})"},
    {"residual, norm, product",
     R"({"dims": {"t": 5, "e": 7, "o": 6}, "operators": [
      {"name": "R", "kind": "point", "inputs": {"X": ["t", "e"], "H": ["t", "e"]}, "output": {"R": ["t", "e"]}},
      {"name": "N", "kind": "row", "inputs": {"R": ["t", "e"]}, "output": {"N": ["t", "e"]}, "over": ["e"]},
      {"name": "Y", "kind": "product", "inputs": {"N": ["t", "e"], "W": ["e", "o"]}, "output": {"Y": ["t", "o"]}}]})"},
    {"residual, norm, product of one token",
     R"({"dims": {"t": 1, "e": 13, "o": 3}, "operators": [
      {"name": "R", "kind": "point", "inputs": {"X": ["t", "e"], "H": ["t", "e"]}, "output": {"R": ["t", "e"]}},
      {"name": "N", "kind": "row", "inputs": {"R": ["t", "e"]}, "output": {"N": ["t", "e"]}, "over": ["e"]},
      {"name": "Y", "kind": "product", "inputs": {"N": ["t", "e"], "W": ["e", "o"]}, "output": {"Y": ["t", "o"]}}]})"},
    {"three products",
     R"({"dims": {"a": 5, "b": 3, "c": 7, "d": 2, "e": 5}, "operators": [
      {"name": "T", "kind": "product", "inputs": {"A": ["a", "b"], "B": ["b", "c"]}, "output": {"T": ["a", "c"]}},
      {"name": "U", "kind": "product", "inputs": {"T": ["a", "c"], "C": ["c", "d"]}, "output": {"U": ["a", "d"]}},
      {"name": "Y", "kind": "product", "inputs": {"U": ["a", "d"], "D": ["d", "e"]}, "output": {"Y": ["a", "e"]}}]})"},
    {"three products, thin waist",
     R"({"dims": {"a": 7, "b": 11, "c": 1, "d": 7, "e": 3}, "operators": [
      {"name": "T", "kind": "product", "inputs": {"A": ["a", "b"], "B": ["b", "c"]}, "output": {"T": ["a", "c"]}},
      {"name": "U", "kind": "product", "inputs": {"T": ["a", "c"], "C": ["c", "d"]}, "output": {"U": ["a", "d"]}},
      {"name": "Y", "kind": "product", "inputs": {"U": ["a", "d"], "D": ["d", "e"]}, "output": {"Y": ["a", "e"]}}]})"},
    {"softmax of a product, then its entropy",
     R"({"dims": {"n": 5, "v": 7, "e": 3}, "operators": [
      {"name": "L", "kind": "product", "inputs": {"X": ["n", "e"], "W": ["e", "v"]}, "output": {"L": ["n", "v"]}},
      {"name": "S", "kind": "row", "inputs": {"L": ["n", "v"]}, "output": {"S": ["n", "v"]}, "over": ["v"]},
      {"name": "E", "kind": "row", "inputs": {"S": ["n", "v"]}, "output": {"E": ["n"]}, "over": ["v"]}]})"},
};

} // namespace ft::dataflow

#endif // FT_UNITTESTS_DATAFLOW_CONFIGURATIONS_H
