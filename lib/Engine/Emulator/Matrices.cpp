//===- Matrices.cpp - what a warp does with matrices ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which lane has which element is the PTX ISA's: ldmatrix, and the fragments of
// mma.sync.m16n8k16 with elements of 16 bits.
//
//===----------------------------------------------------------------------===//
#include "Grid.h"

#include "ft/Runtime/Arrays/Float16.h"

#include <cmath>
#include <cstring>

using namespace ft::emulate;

void Grid::loadMatrix(uint64_t address, uint32_t count, bool transposed, uint32_t *words, uint32_t site) {
  constexpr uint32_t rowBytes = 16;
  uint32_t lane = readRegister(uint32_t(Register::laneid));
  uint16_t own[8] = {}, all[32][8];
  if (lane < 8 * count) { // the other lanes' addresses mean nothing
    access(address, rowBytes, rowBytes, AccessKind::read, site);
    std::memcpy(own, reinterpret_cast<const void *>(address), rowBytes);
  }
  gather(own, rowBytes, reinterpret_cast<char *>(all), site);
  uint32_t row = lane / 4, pair = lane % 4 * 2;
  for (uint32_t i = 0; i < count; ++i) {
    uint16_t low = transposed ? all[8 * i + pair][row] : all[8 * i + row][pair];
    uint16_t high = transposed ? all[8 * i + pair + 1][row] : all[8 * i + row][pair + 1];
    words[i] = uint32_t(high) << 16 | low;
  }
}

void Grid::multiplyMatrices(const uint32_t *words, bool isBrain, float *sums, uint32_t site) {
  uint32_t all[32][6];
  gather(words, sizeof(all[0]), reinterpret_cast<char *>(all), site);
  auto number = [&](uint32_t word, uint32_t place) {
    uint16_t bits = uint16_t(word >> (place % 2 * 16));
    return isBrain ? ft::rt::bfloatToFloat(bits) : ft::rt::halfToFloat(bits);
  };
  uint32_t lane = readRegister(uint32_t(Register::laneid));
  for (uint32_t i = 0; i < 4; ++i) {
    uint32_t half = i / 2, column = lane % 4 * 2 + i % 2;
    for (uint32_t k = 0; k < 16; ++k) {
      uint32_t with = k % 8 / 2;
      float x = number(all[lane / 4 * 4 + with][half + k / 8 * 2], k);
      float y = number(all[column * 4 + with][4 + k / 8], k);
      sums[i] = std::fma(x, y, sums[i]);
    }
  }
}
