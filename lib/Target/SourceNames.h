//===- SourceNames.h - names and lines of a program's text ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// IR keeps no names of values. Its locations say where they stand, and the text is
// often there still.
//
//===----------------------------------------------------------------------===//
#ifndef FT_LIB_TARGET_SOURCENAMES_H
#define FT_LIB_TARGET_SOURCENAMES_H

#include "ft/Dialect/ETDG/IR/ETDG.h"
#include "mlir/IR/Location.h"
#include <optional>
#include <string>

namespace mlir::etdg {

/// The name of an argument: what its location says, else what stands there in the file, without `%`.
/// There is none where the file is gone, or has no value at this place.
std::optional<std::string> getArgumentName(Location location);

/// A text about a graph in which `argument 0` has its name, where there is one.
std::string withArgumentNames(StringRef text, GraphOp graph);

/// The line of the first place in a file that a location names.
std::optional<unsigned> getSourceLine(Location location);

} // namespace mlir::etdg

#endif // FT_LIB_TARGET_SOURCENAMES_H
