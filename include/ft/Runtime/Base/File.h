//===- File.h - whole files, read and replaced atomically -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_RUNTIME_BASE_FILE_H
#define FT_RUNTIME_BASE_FILE_H

#include "ft/Runtime/Base/Status.h"

#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>

namespace ft::rt {

/// Reads a whole file, at most `limit` bytes of it.
Status readFile(const std::string &path, std::string &out, size_t limit = size_t(1) << 40);

/// Replaces a file: the parts go to a file without a name, which is synced and then
/// put in its place. Until then the old content stays; after an error nothing is
/// left after. What exists and is no regular file (/dev/stdout) is written to
/// directly. For several files at once: OutputFiles.h.
Status writeFileAtomically(const std::string &path,
                           std::initializer_list<std::span<const std::byte>> parts);

/// "path: cannot read: No such file or directory", from errno's value.
Status systemError(const std::string &path, const char *verb, int error);

} // namespace ft::rt

#endif // FT_RUNTIME_BASE_FILE_H
