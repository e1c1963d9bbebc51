//===- GroupProducts.cpp - wgmma ------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A product of a warp group takes operands from shared memory, where PTX's
// descriptors say, and the left one else from registers. Its reads belong to an agent of each warp, whose time is the
// number of the group that the product is committed with: until the warp has
// waited for that group they are before nothing. A thread's sums are computed
// when the product starts, from what is there then.
//
//===----------------------------------------------------------------------===//
#include "Grid.h"

#include "ft/Runtime/Arrays/Float16.h"

#include <cmath>
#include <cstring>

using namespace ft::emulate;

static constexpr uint32_t lanesOfWarp = 32, warpsOfGroup = 4, termsOfProduct = 16, rowsOfWarp = 16;

namespace {
/// One operand in the block's shared memory.
struct Operand {
  MatrixDescriptor descriptor;
  uint64_t start; // the address that the descriptor has 18 bits of
  bool across, isBrain;

  Operand(uint64_t bits, uint64_t shared, bool across, bool isBrain)
      : descriptor(MatrixDescriptor::decode(bits)), across(across), isBrain(isBrain) {
    constexpr uint64_t window = 1 << 18;
    start = shared + ((descriptor.start - shared) & (window - 1));
  }
  uint64_t address(uint32_t line, uint32_t term) const {
    return swizzle(start + descriptor.place(line, term, across), descriptor.swizzleBytes);
  }
  float operator()(uint32_t line, uint32_t term) const {
    uint16_t bits;
    std::memcpy(&bits, reinterpret_cast<const void *>(address(line, term)), sizeof(bits));
    return isBrain ? ft::rt::bfloatToFloat(bits) : ft::rt::halfToFloat(bits);
  }
};
} // namespace

uint32_t Grid::startProduct(uint64_t left, const uint32_t *registers, uint64_t right, const ProductForm &form, float *sums, uint32_t site) {
  Thread &self = *running;
  if (!self.isProductFenced)
    fail("(E11) starts a product with no wgmma fence since it last had its sums", site);
  if (threadsPerBlock % (lanesOfWarp * warpsOfGroup) != 0)
    fail("(E4) starts a product of a warp group in a block of " + std::to_string(threadsPerBlock) + " threads", site);
  uint64_t own[2] = {left, right}, all[lanesOfWarp][2];
  gather(own, sizeof(own), reinterpret_cast<char *>(all), site);
  for (auto &other : all)
    if (other[0] != left || other[1] != right)
      fail("(E4) starts a product of other operands than another lane of its warp", site);
  uint64_t shared = reinterpret_cast<uint64_t>(self.block->shared);
  Operand a(registers ? right : left, shared, form.leftAcross, form.isBrain), b(right, shared, form.rightAcross, form.isBrain);
  constexpr uint32_t wordsOfLeft = 4;
  uint32_t words[lanesOfWarp][wordsOfLeft] = {};
  if (registers)
    gather(registers, sizeof(words[0]), reinterpret_cast<char *>(words), site);
  for (const Operand &operand : {a, b})
    if (operand.descriptor.swizzleBytes == 0)
      fail("(E1) has an operand without a swizzle, for which the emulator has no rule", site);
  uint32_t lane = self.index % lanesOfWarp, warp = self.index / lanesOfWarp;
  uint32_t firstRow = warp % warpsOfGroup * rowsOfWarp;
  constexpr uint32_t elementBytes = 2;
  if (lane == 0) { // for the warp
    View view{self.block->number, threadsPerBlock + warp, self.productGroups + 1, AgentKind::product, self.index, self.known};
    for (uint32_t term = 0; term < termsOfProduct; ++term) {
      for (uint32_t row = 0; row < rowsOfWarp && !registers; ++row)
        accessAs(view, a.address(firstRow + row, term), elementBytes, AccessKind::read, site);
      for (uint32_t column = 0; column < form.columns; ++column)
        accessAs(view, b.address(column, term), elementBytes, AccessKind::read, site);
    }
  }
  // Row l/4 of lane l, then row l/4 + 8, terms 2(l mod 4) and the next; then the same of terms 8 further (PTX ISA, wgmma's fragment of A).
  auto leftOf = [&](uint32_t row, uint32_t term) {
    if (!registers)
      return a(row, term);
    uint32_t own = row - firstRow, word = words[own % 8 * 4 + term % 8 / 2][own / 8 + term / 8 * 2];
    auto bits = uint16_t(word >> (term % 2 * 16));
    return form.isBrain ? ft::rt::bfloatToFloat(bits) : ft::rt::halfToFloat(bits);
  };
  // Rows l/4 and l/4 + 8 of the warp's, columns 2(l mod 4) and the next of each eight (PTX ISA, wgmma's fragment of D).
  constexpr uint32_t sumsOfEight = 4;
  for (uint32_t i = 0; i < form.columns / 2; ++i) {
    uint32_t row = firstRow + lane / 4 + i % sumsOfEight / 2 * 8;
    uint32_t column = i / sumsOfEight * 8 + lane % 4 * 2 + i % 2;
    for (uint32_t term = 0; term < termsOfProduct; ++term)
      sums[i] = std::fma(leftOf(row, term), b(column, term), sums[i]);
  }
  gather(own, sizeof(own), reinterpret_cast<char *>(all), site); // no lane goes on before all have read
  return self.productGroups + 1;
}

void Grid::waitForProducts(uint32_t groups) {
  Thread &self = *running;
  if (self.productGroups > groups)
    self.known.before.raise(threadsPerBlock + self.index / lanesOfWarp, self.productGroups - groups);
  self.isProductFenced = false;
}

void Grid::readSums(uint32_t group, uint32_t site) {
  Thread &self = *running;
  if (group > self.known.before.of(threadsPerBlock + self.index / lanesOfWarp))
    fail("(E11) reads sums of a product that is in flight: group " + std::to_string(group) + " of wgmma, and " +
             std::to_string(self.known.before.of(threadsPerBlock + self.index / lanesOfWarp)) + " are waited for",
         site);
}
