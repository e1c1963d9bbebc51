//===- GroupInfo.h - a group's operators in terms of loop classes -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the searches of one fused group know before they choose anything: which
// dimensions are walked together, the tiles of these that can matter, and what
// every operator reads, writes and binds.
//
// What keeps a search small, and loses nothing:
//  * a dimension of all operands of a single operator is walked outermost, in
//    tiles of one: it repeats nothing and makes every block small;
//  * of dimensions that are walked together only tiles matter than which no
//    others are both smaller and fewer.
// And two conventions of the space, for groups of more than two operators or of many
// dimensions: dimensions that the same operands have are walked next to each other;
// and what several operators read from one slot is brought once.
//
//===----------------------------------------------------------------------===//
#ifndef LIB_DATAFLOW_SEARCH_GROUPINFO_H
#define LIB_DATAFLOW_SEARCH_GROUPINFO_H

#include "TileSolver.h"

#include "ft/Dataflow/Search/Search.h"

namespace ft::dataflow::exact {

inline uint64_t bit(unsigned i) { return uint64_t(1) << i; }

/// Dimensions that are always walked together.
struct LoopClass {
  std::vector<int> dims; // of the graph, outermost first
  Count size = 1;
  /// The tiles that can matter, the largest first; and the whole alone.
  TileList choices, whole;
};

/// An operator in terms of classes; sets of classes are bits.
struct OpInfo {
  int op = -1;
  std::vector<uint8_t> classes;
  std::vector<uint64_t> operands; // of each operand, the output last
  uint64_t reduced = 0, rows = 0;
  uint32_t inside = 0; // operands that are bindings
  bool normalizes = false, stored = false;
  int inPlaceOf = -1; // operand whose storage the result takes
  std::vector<unsigned> producers, consumers; // places in the list of operators
  bool mayBeOnline = false;
  /// The classes of its loops as a set.
  uint64_t all() const {
    uint64_t result = 0;
    for (uint8_t entry : classes)
      result |= bit(entry);
    return result;
  }
};

/// A tensor from outside that several operators read, each once: they may share slots.
struct Shareable {
  int tensor = -1;
  struct Reader {
    unsigned op = 0, operand = 0; // a place in the list of operators; an input
  };
  std::vector<Reader> readers;
};

struct GroupInfo {
  /// `ops` is sorted: producers come before their consumers.
  GroupInfo(const Graph &graph, std::vector<int> ops, const Options &options);

  /// Whether more classes are there than sets can hold.
  bool tooWide() const { return classes.size() > 60 || ops.size() > 60; }
  Count size(const OpInfo &info, unsigned k) const;
  /// What an operator with slots of its own moves at least, however the buffer is; and what all of them do,
  /// whatever they share.
  Count compulsory(const OpInfo &info) const;
  Count compulsory() const;
  /// Whether a loop over a class may be shared by the operator at place `writer` and a reader of its
  /// result: the writer does not sum over it, and both walk the same dimension of the tensor.
  bool mayShare(unsigned writer, unsigned reader, unsigned entry) const;

  const Graph &graph;
  const std::vector<int> ops;
  const Options &options;
  std::vector<int> batch, classOf;
  bool batchMoves = false; // whether the loops over `batch` have several iterations, each with other blocks
  std::vector<LoopClass> classes;
  bool isSmall = false;   // no convention narrows its space
  uint64_t divisible = 0; // classes whose loops can have several iterations
  std::vector<OpInfo> infos;
  std::vector<Shareable> shareables;

private:
  std::vector<uint64_t> signature(int dim) const;
  bool isEverywhere(int dim) const;
  bool hasFewDims() const;
  void classify();
  std::vector<Count> tilesOf(int dim) const;
  void addChoices(LoopClass &entry) const;
  void describe();
  void describeOperands(OpInfo &info, const std::vector<int> &place) const;
  int inPlace(const OpInfo &info) const;
  void findShareables();
};

} // namespace ft::dataflow::exact

#endif // LIB_DATAFLOW_SEARCH_GROUPINFO_H
