//===- GroupInfo.cpp - a group's operators in terms of loop classes -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "GroupInfo.h"

#include "ft/Dataflow/LoopTree/GroupShape.h"

#include <algorithm>
#include <map>
#include <tuple>

using namespace ft::dataflow;
using namespace ft::dataflow::exact;

/// Dimensions of a group beyond which those that the same operands have are walked next to each other.
constexpr size_t mostSeparate = 5;

GroupInfo::GroupInfo(const Graph &graph, std::vector<int> sorted, const Options &options)
    : graph(graph), ops(std::move(sorted)), options(options) {
  classify();
  describe();
}

Count exact::leastTile(const Graph &graph, const Options &options, int dim) {
  const bool batch = std::count(graph.batch.begin(), graph.batch.end(), dim);
  return std::max({batch ? 1 : options.minTile, options.granularity, Count(1)});
}

/// Where a dimension is, over all operators: equal for dimensions that nothing tells apart.
std::vector<uint64_t> GroupInfo::signature(int dim) const {
  std::vector<uint64_t> result;
  for (int index : ops) {
    const Operator &op = graph.operators[index];
    int local = op.local(dim);
    uint64_t mask = 0;
    for (unsigned k = 0; local >= 0 && k < op.numOperands(); ++k)
      if (op.mask(k) >> local & 1)
        mask |= bit(k);
    if (local >= 0 && (op.rows() >> local & 1))
      mask |= bit(62);
    result.push_back(local >= 0 ? mask | bit(63) : 0);
  }
  return result;
}

/// Whether all operands of the only operator have it: then tiles of one are as good as any, where they
/// are allowed. Of several operators one might rather read an operand again than hold it while others
/// run, so there it is a loop like any other.
bool GroupInfo::isEverywhere(int dim) const {
  const Operator &op = graph.operators[ops.front()];
  const int local = op.local(dim);
  if (ops.size() > 1 || (op.rows() >> local & 1))
    return false;
  if (graph.dims[dim].size > 1 && leastTile(graph, options, dim) > 1)
    return false;
  for (unsigned k = 0; k < op.numOperands(); ++k)
    if (!(op.mask(k) >> local & 1))
      return false;
  return true;
}

/// Whether each dimension is a class of its own: of few, all orders are looked at.
bool GroupInfo::hasFewDims() const {
  std::vector<int> dims;
  for (int index : ops)
    for (int dim : graph.operators[index].dims)
      if (graph.dims[dim].size > 1 && std::find(dims.begin(), dims.end(), dim) == dims.end())
        dims.push_back(dim);
  return ops.size() <= 2 && dims.size() <= mostSeparate;
}

void GroupInfo::classify() {
  isSmall = hasFewDims();
  std::map<std::vector<uint64_t>, unsigned> known;
  classOf.assign(graph.dims.size(), -1);
  for (int index : ops)
    for (int dim : graph.operators[index].dims) {
      if (classOf[dim] >= 0 || std::count(batch.begin(), batch.end(), dim))
        continue;
      if (isEverywhere(dim)) {
        batch.push_back(dim);
        batchMoves |= graph.dims[dim].size > 1;
        continue;
      }
      std::vector<uint64_t> where = signature(dim);
      if (isSmall)
        where.push_back(dim);
      auto [at, isNew] = known.emplace(std::move(where), classes.size());
      if (isNew)
        classes.emplace_back();
      classOf[dim] = at->second;
      classes[at->second].dims.push_back(dim);
    }
  for (LoopClass &entry : classes) {
    addChoices(entry);
    if (entry.choices.size() > 1 && &entry - classes.data() < 64)
      divisible |= bit(&entry - classes.data());
  }
}

/// The tiles of one dimension that can matter, the largest first.
std::vector<Count> GroupInfo::tilesOf(int dim) const {
  const Count size = graph.dims[dim].size;
  std::vector<Count> result{size};
  const Count unit = std::max<Count>(options.granularity, 1);
  const Count least = std::min(size, ceilDivide(leastTile(graph, options, dim), unit) * unit);
  for (Count trips = 2; result.back() > least;) {
    // Where equal parts would be too small, the least tile with a smaller last one has as many.
    const Count tile = std::max(ceilDivide(ceilDivide(size, trips), unit) * unit, least);
    if (tile < result.back())
      result.push_back(tile);
    // The next number of trips that a smaller tile can have.
    if (result.back() == 1)
      break;
    trips = std::max(trips + 1, ceilDivide(size, result.back() - 1));
    if (unit > 1)
      trips = std::max(trips, ceilDivide(size, std::max<Count>(result.back() - unit, 1)));
  }
  return result;
}

/// Of choices, those than which no other is both smaller and fewer; the largest tile first.
static TileList front(TileList list) {
  std::sort(list.begin(), list.end(), [](const TileChoice &a, const TileChoice &b) {
    return std::tie(b.extent, a.trips, b.tiles) < std::tie(a.extent, b.trips, a.tiles);
  });
  TileList result; // from the smallest tile, each with fewer trips than all before
  for (size_t k = list.size(); k-- > 0;) {
    if (!result.empty() && list[k].trips >= result.back().trips)
      continue;
    if (!result.empty() && list[k].extent == result.back().extent)
      result.pop_back();
    result.push_back(list[k]);
  }
  std::reverse(result.begin(), result.end());
  return result;
}

void GroupInfo::addChoices(LoopClass &entry) const {
  entry.choices.assign(1, TileChoice());
  TileChoice whole;
  for (int dim : entry.dims) {
    const Count size = graph.dims[dim].size;
    entry.size = multiply(entry.size, size);
    whole.extent = multiply(whole.extent, size);
    whole.tiles.push_back(size);
    TileList longer;
    for (const TileChoice &choice : entry.choices)
      for (Count tile : tilesOf(dim)) {
        longer.push_back(choice);
        longer.back().tiles.push_back(tile);
        longer.back().extent = multiply(choice.extent, tile);
        longer.back().trips = multiply(choice.trips, ceilDivide(size, tile));
      }
    entry.choices = front(std::move(longer));
  }
  entry.whole.assign(1, whole);
}

void GroupInfo::describe() {
  std::vector<int> place(graph.operators.size(), -1);
  for (unsigned i = 0; i < ops.size(); ++i)
    place[ops[i]] = i;
  for (int index : ops) {
    OpInfo info;
    info.op = index;
    describeOperands(info, place);
    infos.push_back(info);
  }
  for (OpInfo &info : infos)
    info.inPlaceOf = inPlace(info);
  findShareables();
}

void GroupInfo::findShareables() {
  if (!options.sharedSlots)
    return;
  std::map<int, std::vector<Shareable::Reader>> readers; // by tensor
  for (unsigned i = 0; i < infos.size(); ++i) {
    const std::vector<Operand> &inputs = graph.operators[infos[i].op].inputs;
    for (unsigned k = 0; k < inputs.size(); ++k) {
      const bool once = std::count_if(inputs.begin(), inputs.end(), [&](const Operand &other) {
                          return other.tensor == inputs[k].tensor;
                        }) == 1;
      if (once && !(infos[i].inside >> k & 1))
        readers[inputs[k].tensor].push_back({i, k});
    }
  }
  for (auto &[tensor, list] : readers)
    if (list.size() > 1)
      shareables.push_back({tensor, std::move(list)});
}

void GroupInfo::describeOperands(OpInfo &info, const std::vector<int> &place) const {
  const Operator &op = graph.operators[info.op];
  for (int dim : op.dims)
    if (classOf[dim] >= 0 &&
        std::find(info.classes.begin(), info.classes.end(), classOf[dim]) == info.classes.end())
      info.classes.push_back(classOf[dim]);
  // A dimension of one element changes nothing: it is left out of all sets.
  auto set = [&](uint32_t mask) {
    uint64_t result = 0;
    for (unsigned d = 0; d < op.dims.size(); ++d)
      if ((mask >> d & 1) && classOf[op.dims[d]] >= 0 &&
          classes[classOf[op.dims[d]]].size > 1)
        result |= bit(classOf[op.dims[d]]);
    return result;
  };
  for (unsigned k = 0; k < op.numOperands(); ++k)
    info.operands.push_back(set(op.mask(k)));
  info.reduced = set(op.reduced());
  info.rows = set(op.rows());
  info.normalizes = op.normalizes();
  for (unsigned k = 0; k < op.inputs.size(); ++k) {
    int producer = graph.tensors[op.inputs[k].tensor].producer;
    if (producer < 0 || place[producer] < 0)
      continue;
    info.inside |= 1u << k;
    info.producers.push_back(place[producer]);
  }
  const Tensor &result = graph.tensors[op.output.tensor];
  info.stored = result.isResult;
  info.mayBeOnline = info.normalizes;
  for (int consumer : result.consumers) {
    if (place[consumer] < 0) {
      info.stored = true;
      continue;
    }
    info.consumers.push_back(place[consumer]);
    info.mayBeOnline &= correctsOnline(op, graph.operators[consumer]);
  }
  if (!info.consumers.empty())
    info.inside |= 1u << op.inputs.size();
  info.mayBeOnline &= !info.stored && !info.consumers.empty();
}

int GroupInfo::inPlace(const OpInfo &info) const {
  const Operator &op = graph.operators[info.op];
  if ((op.kind != Kind::Point && !info.normalizes) || info.consumers.empty())
    return -1;
  for (unsigned k = 0; k < op.inputs.size(); ++k) {
    const Operand &input = op.inputs[k];
    bool once = std::count_if(op.inputs.begin(), op.inputs.end(), [&](const Operand &other) {
                  return other.tensor == input.tensor;
                }) == 1;
    const Tensor &tensor = graph.tensors[input.tensor];
    if ((info.inside >> k & 1) && once && !tensor.isResult && input.dims == op.output.dims &&
        tensor.consumers.size() == 1)
      return k;
  }
  return -1;
}

Count GroupInfo::size(const OpInfo &info, unsigned k) const {
  return graph.tensors[graph.operators[info.op].operand(k).tensor].size();
}

/// What an operator moves at least, however the buffer is.
Count GroupInfo::compulsory(const OpInfo &info) const {
  Count sum = 0;
  for (unsigned k = 0; k < info.operands.size(); ++k)
    if (!(info.inside >> k & 1) || (k + 1 == info.operands.size() && info.stored))
      sum = add(sum, size(info, k));
  return sum;
}
Count GroupInfo::compulsory() const {
  Count sum = 0;
  for (const OpInfo &info : infos)
    sum = add(sum, compulsory(info));
  if (sum != tooLarge)
    for (const Shareable &shareable : shareables)
      sum -= Count(shareable.readers.size() - 1) * graph.tensors[shareable.tensor].size();
  return sum;
}

bool GroupInfo::mayShare(unsigned from, unsigned to, unsigned entry) const {
  if (infos[from].reduced >> entry & 1)
    return false;
  const Operator &writer = graph.operators[infos[from].op];
  const Operator &reader = graph.operators[infos[to].op];
  for (int dim : classes[entry].dims) {
    auto at = std::find(writer.output.dims.begin(), writer.output.dims.end(), dim);
    if (at == writer.output.dims.end())
      return false;
    for (const Operand &input : reader.inputs)
      if (input.tensor == writer.output.tensor &&
          input.dims[at - writer.output.dims.begin()] != dim)
        return false;
  }
  return true;
}
