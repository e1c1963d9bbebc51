//===- Stores.cpp - boxes to memory by TMA, and budgets of registers ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A box goes from shared memory to a tensor on behalf of the thread that asks, in
// groups that it commits (PTX ISA, "bulk async-group"). A wait for a group's reads
// gives its shared memory back; only a wait for all of it makes what it wrote
// known. Registers move between the warps of a block by setmaxnreg.
//
//===----------------------------------------------------------------------===//
#include "Grid.h"

#include <cstring>

using namespace ft::emulate;

//===----------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------===//

void Grid::storeBox(uint64_t from, const TensorMapData &map, const int32_t *coordinates, uint32_t site) {
  constexpr uint64_t alignment = 128;
  Thread &self = *running;
  if (map.magic != TensorMapData::isMap)
    fail("(E1) takes for a tensor map what is none", site);
  if (from % alignment != 0)
    fail("(E1) copies a box from " + findMemory(from, 1, site).describe(from) + ", which is not aligned to 128 bytes", site);
  if (self.stores.agent == 0) { // one for what is read, one for what is written
    self.stores.agent = self.block->agents;
    self.block->agents += 2;
  }
  uint32_t time = self.stores.committed + 1;
  View reads{self.block->number, self.stores.agent, time, AgentKind::copy, self.index, self.known};
  View writes{self.block->number, self.stores.agent + 1, time, AgentKind::copy, self.index, self.known};
  BoxStore store{&self, time, {}, {}};
  for (const BoxPiece &piece : piecesOf(map, coordinates, from)) {
    if (!piece.from) // outside of the tensor nothing is written
      continue;
    accessAs(reads, piece.to, piece.bytes, AccessKind::read, site);
    size_t place = store.data.size();
    store.data.resize(place + piece.bytes);
    std::memcpy(store.data.data() + place, reinterpret_cast<const void *>(piece.to), piece.bytes);
    accessAs(writes, piece.from, piece.bytes, AccessKind::write, site);
    forget(piece.from, piece.bytes);
    store.pieces.push_back(piece);
  }
  self.stores.isOpen = true;
  storing.push_back(std::move(store));
}

void Grid::finishStore(size_t which) {
  BoxStore store = std::move(storing[which]);
  storing[which] = std::move(storing.back());
  storing.pop_back();
  size_t place = 0;
  for (const BoxPiece &piece : store.pieces) {
    std::memcpy(reinterpret_cast<void *>(piece.from), store.data.data() + place, piece.bytes);
    memories.find(piece.from)->setDefined(piece.from, piece.bytes);
    place += piece.bytes;
  }
}

void Grid::commitStores() {
  ++running->stores.committed;
  running->stores.isOpen = false;
}

void Grid::waitForStores(uint32_t groups, bool readsAlone) {
  Thread &self = *running;
  if (self.stores.committed <= groups)
    return;
  uint32_t done = self.stores.committed - groups;
  self.stores.read = std::max(self.stores.read, done);
  if (self.stores.agent == 0) // its groups are empty
    return;
  self.known.before.raise(self.stores.agent, done);
  if (readsAlone)
    return;
  for (size_t i = storing.size(); i-- > 0;)
    if (storing[i].thread == &self && storing[i].group <= done)
      finishStore(i);
  self.known.before.raise(self.stores.agent + 1, done);
}

/// Whether a thread has waited until none of its copies reads its block's shared memory any more.
bool Grid::hasBeenRead(const Thread &thread) { return !thread.stores.isOpen && thread.stores.read == thread.stores.committed; }

/// What a block has written comes to memory by itself once it has ended.
void Grid::finishStoresOf(const Block &block) {
  for (size_t i = storing.size(); i-- > 0;)
    if (storing[i].thread->block == &block)
      finishStore(i);
}

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

/// What a thread has when its block begins: an equal share of the register file, in units of eight (PTX ISA, "setmaxnreg").
static constexpr uint32_t registersOfFile = 65536, registerUnit = 8, leastRegisters = 24, mostRegisters = 256;

void Grid::giveRegisters(Thread &thread) const {
  thread.registers = std::min(registersOfFile / threadsPerBlock / registerUnit * registerUnit, mostRegisters);
}

void Grid::setRegisters(uint32_t count, bool isIncrease, uint32_t site) {
  Thread &self = *running;
  if (count < leastRegisters || count > mostRegisters || count % registerUnit != 0)
    fail("(E12) asks for " + std::to_string(count) + " registers, expected a multiple of 8 from 24 to 256", site);
  if (!isIncrease && count > self.registers)
    fail("(E12) decreases its registers to " + std::to_string(count) + ", and has " + std::to_string(self.registers), site);
  uint32_t own = count, all[32];
  gather(&own, sizeof(own), reinterpret_cast<char *>(all), site);
  for (uint32_t other : all)
    if (other != count)
      fail("(E4) asks for another number of registers than a lane of its warp", site);
  self.wanted = std::max(count, isIncrease ? self.registers : 0);
  if (!isIncrease) {
    self.block->freeRegisters += self.registers - count;
    self.registers = count;
  }
  wait(isIncrease ? State::atRegisters : State::ready, site);
}

/// Those who wait get what is free, in any order.
void Grid::shareRegisters(Block &block) {
  for (Thread &thread : block.threads)
    if (thread.state == State::atRegisters && thread.wanted - thread.registers <= block.freeRegisters) {
      block.freeRegisters -= thread.wanted - thread.registers;
      thread.registers = thread.wanted;
      thread.state = State::ready;
      ready.push_back(&thread);
    }
}
