//===- Sha256.h - checksums of bundles --------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_RUNTIME_BASE_SHA256_H
#define FT_RUNTIME_BASE_SHA256_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ft::rt {

/// SHA-256 (FIPS 180-4), fed in pieces.
class Sha256 {
public:
  Sha256();
  void update(const void *data, size_t size);
  std::array<uint8_t, 32> finish();

  static std::array<uint8_t, 32> of(std::string_view data) {
    Sha256 hash;
    hash.update(data.data(), data.size());
    return hash.finish();
  }

private:
  void block(const uint8_t *data);
  uint32_t state[8];
  uint8_t buffer[64];
  size_t buffered = 0;
  uint64_t total = 0;
};

/// Lower-case hexadecimal digits.
std::string toHex(const std::array<uint8_t, 32> &digest);

} // namespace ft::rt

#endif // FT_RUNTIME_BASE_SHA256_H
