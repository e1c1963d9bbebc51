//===- Bundle.h - .ftb files ------------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A bundle is a compiled program in one file:
//
//   offset 0   "FTBUNDLE"
//          8   u32 format number, u32 zero
//         16   u64 size of the file, u64 size of the manifest
//         32   SHA-256 of bytes 0..32 and the manifest
//         64   manifest: JSON (entries with their plans; the list of sections)
//   then the sections, each at a multiple of 64, zeros between.
//
// The manifest holds each section's SHA-256, so that every bit of the file is
// under a checksum or must be zero: a truncated or altered file is refused.
// Integers are little endian.
//
//===----------------------------------------------------------------------===//
#ifndef FT_RUNTIME_BUNDLE_BUNDLE_H
#define FT_RUNTIME_BUNDLE_BUNDLE_H

#include "ft/Runtime/Bundle/LaunchPlan.h"

namespace ft::rt {

constexpr uint32_t bundleFormat = 1;

struct Section {
  enum Kind : uint8_t {
    ptx,   // text
    cubin, // for one architecture
    cpu,   // a shared library
    data,  // a constant
  };
  Kind kind = data;
  std::string target; // "sm_90a", "x86-64-v3"; empty for data
  std::string bytes;
};

struct Bundle {
  std::string producer;
  std::vector<Entry> entries;
  std::vector<Section> sections;

  std::string serialize() const;
  Status write(const std::string &path) const;
  /// `name` stands for the file in errors.
  static Status parse(std::string_view bytes, const std::string &name, Bundle &out);
  static Status read(const std::string &path, Bundle &out);

  const Entry *find(std::string_view entry) const;
};

} // namespace ft::rt

#endif // FT_RUNTIME_BUNDLE_BUNDLE_H
