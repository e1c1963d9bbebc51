//===- RunProgram.h - a program with its data -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What ft-run does between the command line and an engine: choose the entry,
// bind lengths, read or generate arguments.
//
//===----------------------------------------------------------------------===//
#ifndef FT_TOOLS_RUNPROGRAM_H
#define FT_TOOLS_RUNPROGRAM_H

#include "ft/Dialect/ETDG/IR/ETDG.h"
#include "ft/Dialect/FT/IR/FT.h"
#include "ft/Runtime/Arrays/Compare.h"
#include "ft/Runtime/Arrays/HostArray.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::ft::tools {

/// Lengths bound to a program's names.
using LengthValues = llvm::DenseMap<StringAttr, int64_t>;

/// One array argument or result: a list of tensors.
struct Parameter {
  std::string name; // for messages: "argument 1 (%ws)"
  SmallVector<LengthAttr> lengths;
  RankedTensorType element;
  Attribute generator; // `ft.gen` or null
  Location loc;
  FloatType rounding = {}; // of a result: the coarsest type on the way to it, or null
};

/// The function or graph that runs.
struct Entry {
  Operation *op = nullptr; // func::FuncOp or etdg::GraphOp
  StringRef name;
  SmallVector<Parameter> parameters, results;
  SmallVector<StringAttr> names;
  /// Ragged levels: the arrays of their offsets follow those of the parameters and of
  /// the results.
  SmallVector<StringAttr> ragged, raggedResults;
  BoundsAttr bounds;
};

/// How closely engines must agree on an array of the entry's results: by its own type and by the
/// types that its values were rounded to on the way (Rounding.h). Integers exactly.
::ft::rt::Tolerance getTolerance(const Entry &entry, size_t result, ::ft::rt::DType dtype);

FailureOr<Entry> findEntry(ModuleOp module, StringRef name);

struct DataOptions {
  std::vector<std::string> argumentFiles;
  uint64_t seed = 0;
  std::vector<std::pair<std::string, int64_t>> lengths; // --dim
};

struct Data {
  LengthValues lengths;
  std::vector<::ft::rt::HostArray> arguments;
};

/// Lengths come from --dim, then from the shapes of given arrays, then from
/// `ft.lengths`; two that disagree are an error that names both places. For a ragged
/// level r that is the length of its longest lists, and each list has one of its own
/// from 0 to there: offsets that are not given are generated from the seed.
FailureOr<Data> makeData(const Entry &entry, const DataOptions &options);

/// Whether the conversion took a pair of lengths of the entry as one.
bool hasMergedLengths(const Entry &entry, etdg::GraphOp graph);
/// Arguments and lengths in the graph's terms; the memory stays.
void toGraphShapes(const Entry &entry, etdg::GraphOp graph, Data &data);
/// A graph's results in the program's terms; `lengths` are the program's.
void toEntryShapes(const Entry &entry, const LengthValues &lengths, std::vector<::ft::rt::HostArray> &results);

} // namespace mlir::ft::tools

#endif // FT_TOOLS_RUNPROGRAM_H
