//===- Npy.h - NumPy's .npy files -------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Format versions 1 to 3, little endian. NumPy has no bf16: such an array is
// stored as the `<u2` of its bits and read back when bf16 is expected.
//
//===----------------------------------------------------------------------===//
#ifndef FT_RUNTIME_ARRAYS_NPY_H
#define FT_RUNTIME_ARRAYS_NPY_H

#include "ft/Runtime/Arrays/HostArray.h"
#include "ft/Runtime/Arrays/OutputFiles.h"

#include <optional>
#include <string>

namespace ft::rt {

/// What the reader of a file needs it to hold. An extent of -1 is free.
struct NpyExpectation {
  std::optional<DType> dtype;
  std::optional<std::vector<int64_t>> shape;
};

/// Reads a file; Fortran order is transposed into row-major order. The error
/// names the file, what was expected and what was found.
Status readNpy(const std::string &path, HostArray &out, const NpyExpectation &expected = {});

/// The same for bytes in memory; `name` stands for the file in errors.
Status parseNpy(const void *bytes, size_t size, const std::string &name, HostArray &out,
                const NpyExpectation &expected = {});

/// A reader sees the old file or the whole new one.
Status writeNpy(const std::string &path, const HostArray &array);
/// The same for one of several files, which appear together.
Status writeNpy(OutputFiles &files, size_t index, const HostArray &array);

} // namespace ft::rt

#endif // FT_RUNTIME_ARRAYS_NPY_H
