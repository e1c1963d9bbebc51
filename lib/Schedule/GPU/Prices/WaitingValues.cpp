//===- WaitingValues.cpp - registers of what is computed after a product -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is computed of a tile while it is in registers takes the place of the sums that it is computed of. An elementary function or a quotient is a dozen
// operations, each of which waits for the one before: code computes those of many elements at a time, so that whatever else is needed of an element
// afterwards is in registers of all of them meanwhile.
//
//===----------------------------------------------------------------------===//
#include "PlainPrices.h"

#include "ft/Schedule/GPU/Layouts/GpuLeaf.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;
using leaf::ElementView;
using leaf::LeafGraph;
using leaf::NestMember;

namespace {
/// The operations after a product on one element, in order, and from which to which of them each value is needed.
class ElementCode {
public:
  explicit ElementCode(const LeafGraph &graph) : graph(graph) {}
  /// The results of a nest, from here on.
  void define(const leaf::Nest &nest);
  void add(const NestMember &member);
  int64_t mostWaiting() const;

private:
  struct Range {
    size_t made, last;
  };
  void addBody(const NestMember &member);
  void read(const void *value) {
    if (auto *found = ranges.find(value); found != ranges.end())
      found->second.last = count;
  }
  void write(const void *value) { ranges.insert({value, {count, count}}); }
  const void *keyOf(const ElementView &view) const { return view.isSplat() ? nullptr : &graph.buffers[size_t(view.buffer)]; }

  const LeafGraph &graph;
  size_t count = 0;
  llvm::MapVector<const void *, Range> ranges; // of buffers, and of values of bodies
  SmallVector<size_t> functions;
};
} // namespace

void ElementCode::define(const leaf::Nest &nest) {
  for (const NestMember &member : nest.members)
    for (const ElementView &view : member.writes)
      write(keyOf(view));
  ++count;
}

void ElementCode::addBody(const NestMember &member) {
  llvm::DenseMap<Value, const void *> read;
  for (auto [argument, view] : llvm::zip_equal(member.arguments, member.reads))
    read[argument] = keyOf(view);
  auto keyOfValue = [&](Value value) {
    auto found = read.find(value);
    return found == read.end() ? value.getAsOpaquePointer() : found->second;
  };
  for (Operation &op : member.body->without_terminator()) {
    for (Value operand : op.getOperands())
      this->read(keyOfValue(operand));
    // (Constants are part of the instructions that use them.)
    if (op.getNumOperands() > 0)
      for (Value result : op.getResults())
        write(result.getAsOpaquePointer());
    if (isElementary(&op))
      functions.push_back(count);
    ++count;
  }
  for (Value yielded : member.yields)
    this->read(keyOfValue(yielded));
}

void ElementCode::add(const NestMember &member) {
  for (const ElementView &view : member.inits)
    read(keyOf(view));
  if (member.body) {
    addBody(member);
  } else {
    for (const ElementView &view : member.reads)
      read(keyOf(view));
    if (!member.copy && isElementary(member.op))
      functions.push_back(count);
  }
  for (const ElementView &view : member.writes)
    write(keyOf(view));
  ++count;
}

int64_t ElementCode::mostWaiting() const {
  int64_t most = 0;
  for (size_t function : functions)
    most = std::max<int64_t>(most, llvm::count_if(ranges, [&](const auto &value) { return value.second.made < function && value.second.last > function; }));
  return most;
}

int64_t schedule::countWaiting(const LeafGraph &graph, unsigned number, int64_t fused) {
  ElementCode code(graph);
  code.define(graph.nests[number]);
  for (int64_t n = number + 1; n <= number + fused; ++n)
    for (const NestMember &member : graph.nests[size_t(n)].members)
      code.add(member);
  return code.mostWaiting();
}
