//===- RaggedData.cpp - offsets of ragged levels --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads and generates them, and counts elements by them.
//
//===----------------------------------------------------------------------===//

#include "RaggedData.h"

#include "ft/Runtime/Arrays/Generate.h"
#include "ft/Runtime/Arrays/Npy.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::tools;
using ::ft::rt::DType;
using ::ft::rt::HostArray;

bool tools::isRagged(const Parameter &parameter) {
  return llvm::any_of(parameter.lengths, [](LengthAttr length) { return length.getRagged(); });
}

static StringAttr raggedName(LengthAttr length) { return length.getRagged() ? length.getNames().front() : nullptr; }

LogicalResult RaggedData::read(unsigned index, const std::string &file) {
  StringAttr name = entry.ragged[index];
  auto emit = [&] { return emitError(entry.op->getLoc()) << "the offsets of ragged(" << name.getValue() << "): "; };
  HostArray array;
  ::ft::rt::NpyExpectation expected;
  expected.dtype = DType::i64;
  expected.shape = std::vector<int64_t>{-1};
  if (auto status = ::ft::rt::readNpy(file, array, expected); !status.ok())
    return emit() << status.message();
  ArrayRef<int64_t> values(array.as<int64_t>(), array.numElements());
  if (values.empty() || values.front() != 0)
    return emit() << "expected a list that begins with 0, found " << (values.empty() ? "an empty one" : std::to_string(values.front()))
                  << " in '" << file << "'";
  for (size_t i = 1; i < values.size(); ++i)
    if (values[i] < values[i - 1])
      return emit() << "expected offsets that do not fall, found " << values[i - 1] << " and then " << values[i] << " at "
                    << i << " in '" << file << "'";
  offsets[name] = std::move(array);
  return success();
}

std::optional<int64_t> RaggedData::numLists(StringAttr name) const {
  auto it = offsets.find(name);
  return it == offsets.end() ? std::nullopt : std::optional<int64_t>(it->second.numElements() - 1);
}

FailureOr<int64_t> RaggedData::countLists(const Parameter &parameter, unsigned depth, const LengthValues &lengths) const {
  int64_t count = 1;
  for (LengthAttr length : ArrayRef<LengthAttr>(parameter.lengths).take_front(depth)) {
    if (StringAttr name = raggedName(length)) {
      auto it = offsets.find(name);
      int64_t lists = it->second.numElements() - 1;
      if (lists != count)
        return emitError(parameter.loc) << parameter.name << " has " << count << " lists at the level ragged("
                                        << name.getValue() << "), but its offsets are those of " << lists;
      count = it->second.as<int64_t>()[lists];
      continue;
    }
    std::optional<int64_t> value = length.evaluate([&](StringAttr name) -> std::optional<int64_t> {
      auto it = lengths.find(name);
      return it == lengths.end() ? std::nullopt : std::optional<int64_t>(it->second);
    });
    if (!value || *value < 0 || __builtin_mul_overflow(count, *value, &count))
      return emitError(parameter.loc) << parameter.name << ": length " << length.str() << " is negative or overflows";
  }
  return count;
}

LogicalResult RaggedData::generate(const LengthValues &lengths, const LengthValues &longest, uint64_t seed) {
  for (auto [index, name] : llvm::enumerate(entry.ragged)) {
    if (offsets.contains(name))
      continue;
    // The first parameter that has the level says how many lists there are.
    const Parameter *user = nullptr;
    unsigned depth = 0;
    for (const Parameter &parameter : entry.parameters)
      for (auto [d, length] : llvm::enumerate(parameter.lengths))
        if (!user && raggedName(length) == name) {
          user = &parameter;
          depth = d;
        }
    FailureOr<int64_t> lists = countLists(*user, depth, lengths);
    if (failed(lists))
      return failure();
    HostArray array;
    auto status = HostArray::create(DType::i64, {*lists}, array);
    if (status.ok() && *lists > 0)
      status = ::ft::rt::generate(array, ::ft::rt::Distribution::makeInteger(0, longest.lookup(name)), seed,
                                  entry.parameters.size() + index);
    HostArray sums;
    if (status.ok())
      status = HostArray::create(DType::i64, {*lists + 1}, sums);
    if (!status.ok())
      return emitError(user->loc) << "the offsets of ragged(" << name.getValue() << "): " << status.message();
    for (int64_t i = 0; i < *lists; ++i)
      if (__builtin_add_overflow(sums.as<int64_t>()[i], array.as<int64_t>()[i], &sums.as<int64_t>()[i + 1]))
        return emitError(user->loc) << "the offsets of ragged(" << name.getValue() << ") overflow";
    offsets[name] = std::move(sums);
  }
  return success();
}

FailureOr<int64_t> RaggedData::countElements(const Parameter &parameter, const LengthValues &lengths) const {
  return countLists(parameter, parameter.lengths.size(), lengths);
}

std::vector<HostArray> RaggedData::take() {
  std::vector<HostArray> arrays;
  for (StringAttr name : entry.ragged)
    arrays.push_back(std::move(offsets[name]));
  offsets.clear();
  return arrays;
}

//===----------------------------------------------------------------------===//
// Padding
//===----------------------------------------------------------------------===//

/// Whether the level stands below another one, which says how many lists there are.
static bool hasOuter(const Entry &entry, StringAttr name) {
  for (const Parameter &parameter : entry.parameters)
    for (auto [depth, length] : llvm::enumerate(parameter.lengths))
      if (raggedName(length) == name)
        return depth > 0;
  return false;
}

/// Gives an array of elements one after the other the dimensions that lie below its ragged level.
static void shapeByLists(const Parameter &parameter, const LengthValues &lengths, HostArray &array) {
  if (!isRagged(parameter))
    return;
  auto *ragged = llvm::find_if(parameter.lengths, [](LengthAttr length) { return length.getRagged(); });
  std::vector<int64_t> inner;
  int64_t elements = 1;
  for (LengthAttr length : ArrayRef<LengthAttr>(ragged + 1, parameter.lengths.end())) {
    inner.push_back(length
                        .evaluate([&](StringAttr name) -> std::optional<int64_t> {
                          auto it = lengths.find(name);
                          return it == lengths.end() ? std::nullopt : std::optional<int64_t>(it->second);
                        })
                        .value_or(0));
    elements *= inner.back();
  }
  inner.insert(inner.begin(), elements ? array.shape.front() / elements : 0);
  array.shape.erase(array.shape.begin());
  array.shape.insert(array.shape.begin(), inner.begin(), inner.end());
}

LogicalResult tools::padData(const Entry &entry, const Data &data, Data &padded) {
  padded.lengths = data.lengths;
  size_t count = entry.parameters.size();
  padded.arguments.assign(data.arguments.begin(), data.arguments.begin() + count);
  for (auto [parameter, array] : llvm::zip_equal(entry.parameters, padded.arguments))
    shapeByLists(parameter, data.lengths, array);
  for (auto [i, name] : llvm::enumerate(entry.ragged)) {
    const HostArray &array = data.arguments[count + i];
    ArrayRef<int64_t> offsets(array.as<int64_t>(), array.numElements());
    int64_t lists = offsets.size() - 1, total = offsets.back(), longest = 0;
    for (int64_t list = 0; list < lists; ++list)
      longest = std::max(longest, offsets[list + 1] - offsets[list]);
    padded.lengths[name] = longest;
    padded.lengths[StringAttr::get(name.getContext(), name.getValue() + "_total")] = total;
    bool isNested = hasOuter(entry, name);
    auto add = [&](std::vector<int64_t> shape) -> int64_t * {
      padded.arguments.emplace_back();
      auto status = HostArray::create(DType::i64, std::move(shape), padded.arguments.back());
      if (status.ok())
        return padded.arguments.back().as<int64_t>();
      emitError(entry.op->getLoc()) << "the padding of ragged(" << name.getValue() << "): " << status.message();
      return nullptr;
    };
    int64_t *index = add(isNested ? std::vector<int64_t>{lists, longest} : std::vector<int64_t>{longest});
    int64_t *lengths = add(isNested ? std::vector<int64_t>{lists} : std::vector<int64_t>{});
    int64_t *positions = add({longest}), *rows = add({total}), *columns = add({total});
    if ((lists && longest && !index) || (lists && !lengths) || (longest && !positions) || (total && !(rows && columns)))
      return failure();
    for (int64_t j = 0; j < longest; ++j)
      positions[j] = j;
    for (int64_t list = 0; list < lists; ++list) {
      int64_t length = offsets[list + 1] - offsets[list];
      lengths[list] = length;
      for (int64_t j = 0; j < longest; ++j)
        index[list * longest + j] = j < length ? offsets[list] + j : 0;
      for (int64_t j = 0; j < length; ++j) {
        rows[offsets[list] + j] = list;
        columns[offsets[list] + j] = j;
      }
    }
  }
  return success();
}

void tools::addRaggedOffsets(const Entry &entry, const Data &data, std::vector<HostArray> &results) {
  for (auto [parameter, result] : llvm::zip(entry.results, results)) {
    size_t below = result.shape.size() - parameter.element.getRank();
    if (!isRagged(parameter) || below < 2)
      continue;
    int64_t elements = 1;
    for (int64_t extent : ArrayRef<int64_t>(result.shape).take_front(below))
      elements *= extent;
    result.shape.erase(result.shape.begin(), result.shape.begin() + below);
    result.shape.insert(result.shape.begin(), elements);
  }
  for (StringAttr name : entry.raggedResults)
    for (auto [i, known] : llvm::enumerate(entry.ragged))
      if (known == name)
        results.push_back(data.arguments[entry.parameters.size() + i]);
}
