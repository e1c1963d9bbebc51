//===- OutputFiles.h - files that appear together or not at all -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_RUNTIME_ARRAYS_OUTPUTFILES_H
#define FT_RUNTIME_ARRAYS_OUTPUTFILES_H

#include "ft/Runtime/Base/Status.h"

#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

namespace ft::rt {

/// The files that a run writes. Each gets its content without a name, where the
/// file system can do that, and is put in its place by `commit`: until then the
/// old files stay, and after an error, or a signal that ends the process, there
/// is nothing new. What exists and is no regular file (/dev/stdout, a pipe) is
/// written to directly, by `write`.
class OutputFiles {
public:
  using Parts = std::initializer_list<std::span<const std::byte>>;

  OutputFiles() = default;
  OutputFiles(const OutputFiles &) = delete;
  ~OutputFiles();

  /// Prepares the next file: a place that cannot be written to is an error here, before there is
  /// anything to write.
  Status open(const std::string &path);
  size_t size() const { return files.size(); }
  /// Writes the whole content of file `index`, which was opened and not written yet.
  Status write(size_t index, Parts parts);
  /// Puts all files that were written in their places. After an error none of them is there.
  Status commit();

private:
  struct File {
    std::string path;      // as the caller gave it, for errors
    std::string target;    // what links point to
    std::string temporary; // the name that it has before `commit`, or none
    int descriptor = -1;
    bool isDirect = false, isWritten = false;
  };
  Status openTemporary(File &file);
  Status name(File &file);

  std::vector<File> files;
};

} // namespace ft::rt

#endif // FT_RUNTIME_ARRAYS_OUTPUTFILES_H
