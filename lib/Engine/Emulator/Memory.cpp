//===- Memory.cpp - what threads did to each place of memory --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Memory.h"

using namespace ft::emulate;

Memory::Memory(std::string name, const void *begin, uint64_t bytes, uint64_t granule, bool isDefined, bool isConstant)
    : name(std::move(name)), begin(reinterpret_cast<uint64_t>(begin)), bytes(bytes), isConstant(isConstant),
      granule(granule), records(bytes / granule + 2) {
  setDefined(isDefined);
}

void Memory::setDefined(bool isDefined) {
  for (Cell &cell : records)
    cell.defined = isDefined;
}

void Memory::setDefined(uint64_t address, uint64_t size) {
  Cell *cell = cells(address);
  for (uint64_t n = size ? countCells(address, size) : 0; n-- > 0;)
    cell[n].defined = true;
}

std::string Memory::describe(uint64_t address) const {
  return name + " + " + std::to_string(int64_t(address - begin)) + " of " + std::to_string(bytes) + " bytes";
}

Memory &Memories::add(std::string name, const void *begin, uint64_t bytes, bool isDefined, bool isConstant) {
  auto piece = std::make_unique<Memory>(std::move(name), begin, bytes, granule, isDefined, isConstant);
  Memory &result = *piece;
  pieces[result.begin] = std::move(piece);
  return result;
}

void Memories::remove(const void *begin) { pieces.erase(reinterpret_cast<uint64_t>(begin)); }

Memory *Memories::find(uint64_t address) {
  auto it = pieces.upper_bound(address);
  return it == pieces.begin() ? nullptr : std::prev(it)->second.get();
}
