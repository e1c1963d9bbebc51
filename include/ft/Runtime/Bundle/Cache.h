//===- Cache.h - compiled programs kept on disk -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A folder of entries, one file each: a compile is looked up by all that it
// depends on (source, options, target, versions). An entry is believed only if
// its checksum and its whole key agree; anything else is a miss. Any number of
// processes may use one folder: a file appears whole, by a rename, or not at all.
//
//===----------------------------------------------------------------------===//
#ifndef FT_RUNTIME_BUNDLE_CACHE_H
#define FT_RUNTIME_BUNDLE_CACHE_H

#include "ft/Runtime/Base/Status.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace ft::rt {

class Cache {
public:
  /// Opens a folder, made with mode 0700 if it is missing. One that is a symbolic
  /// link, belongs to another user or can be written by others is refused: its
  /// entries are code. An empty path stands for FT_CACHE_DIR, else
  /// $XDG_CACHE_HOME/fractaltensor, else ~/.cache/fractaltensor.
  static Status open(std::string path, Cache &out, uint64_t maxBytes = uint64_t(1) << 30);

  /// Whether there is a sound entry; a damaged one is removed.
  bool get(std::string_view key, std::string &value) const;
  /// Stores an entry, then removes the least recently used ones beyond the size.
  Status put(std::string_view key, std::string_view value) const;

  /// The entry, or else what `make` gives, stored. Threads of this process that
  /// want one key wait for the first. A folder that cannot be written does not
  /// make a compile fail.
  Status getOrMake(std::string_view key, const std::function<Status(std::string &)> &make,
                   std::string &value) const;

  const std::string &path() const { return folder; }

private:
  std::string fileOf(std::string_view key) const;
  void trim() const;

  std::string folder;
  uint64_t maxBytes = 0;
};

} // namespace ft::rt

#endif // FT_RUNTIME_BUNDLE_CACHE_H
