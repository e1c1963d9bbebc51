//===- RaggedData.h - offsets of ragged levels ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A list with ragged levels is an array of its elements, one after the other, and
// an array of offsets (i64, one more than there are lists) for each ragged level.
//
//===----------------------------------------------------------------------===//
#ifndef FT_LIB_TOOLS_RAGGEDDATA_H
#define FT_LIB_TOOLS_RAGGEDDATA_H

#include "ft/Tools/RunProgram.h"

#include "llvm/ADT/MapVector.h"

namespace mlir::ft::tools {

/// The offsets of the ragged levels of one call, read or generated.
class RaggedData {
public:
  explicit RaggedData(const Entry &entry) : entry(entry) {}

  /// Reads the offsets of ragged level `index` of the entry.
  LogicalResult read(unsigned index, const std::string &file);
  /// The number of lists of a level whose offsets were read.
  std::optional<int64_t> numLists(StringAttr name) const;
  /// Draws the offsets that were not read: a length from 0 to `longest[name]` for each
  /// list, by seed and level.
  LogicalResult generate(const LengthValues &lengths, const LengthValues &longest, uint64_t seed);
  /// The number of elements of a parameter; an error where lengths and offsets disagree.
  FailureOr<int64_t> countElements(const Parameter &parameter, const LengthValues &lengths) const;
  /// The offsets in the order of the entry's ragged levels.
  std::vector<::ft::rt::HostArray> take();

private:
  /// The number of lists at the outermost `depth` levels together.
  FailureOr<int64_t> countLists(const Parameter &parameter, unsigned depth, const LengthValues &lengths) const;

  const Entry &entry;
  llvm::MapVector<StringAttr, ::ft::rt::HostArray> offsets;
};

/// The data of a program with ragged levels in the terms of `ft-pad-ragged`: the values, and for each level
/// the lists that the pass asks for.
LogicalResult padData(const Entry &entry, const Data &data, Data &padded);

/// Adds the offsets of ragged results, which are those of the arguments.
void addRaggedOffsets(const Entry &entry, const Data &data, std::vector<::ft::rt::HostArray> &results);

/// Whether an array holds a parameter's elements one after the other.
bool isRagged(const Parameter &parameter);

} // namespace mlir::ft::tools

#endif // FT_LIB_TOOLS_RAGGEDDATA_H
