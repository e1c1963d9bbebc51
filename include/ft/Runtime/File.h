//===- File.h - whole files, read and replaced atomically -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_RUNTIME_FILE_H
#define FT_RUNTIME_FILE_H

#include "ft/Runtime/Status.h"

#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>

namespace ft::rt {

/// Reads a whole file, at most `limit` bytes of it.
Status readFile(const std::string &path, std::string &out, size_t limit = size_t(1) << 40);

/// Replaces a file: the parts go to a temporary file beside it, which is synced
/// and renamed over it. Until then the old content stays; after an error nothing
/// is left behind. What exists and is no regular file (/dev/stdout) is written
/// to directly.
Status writeFileAtomically(const std::string &path,
                           std::initializer_list<std::span<const std::byte>> parts);

} // namespace ft::rt

#endif // FT_RUNTIME_FILE_H
