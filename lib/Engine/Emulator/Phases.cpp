//===- Phases.cpp - barriers of parts of a block, and copies by TMA -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mbarriers with their arrivals, bytes and phases (PTX ISA, "mbarrier"), named
// barriers, the election of a lane, and boxes that land in any order.
//
// A box also goes from shared memory to a tensor, for the thread that asks, in
// groups that it commits (PTX ISA, "bulk async-group"). A wait for a group's reads
// gives its shared memory back; only a wait for all of it makes what it wrote
// known. Registers move between the warps of a block by setmaxnreg.
//
//===----------------------------------------------------------------------===//
#include "Grid.h"

#include <cstring>

using namespace ft::emulate;

//===----------------------------------------------------------------------===//
// Parts of a block
//===----------------------------------------------------------------------===//

void Grid::namedBarrier(uint32_t id, uint32_t count, bool waits, uint32_t site) {
  Thread &self = *running;
  Block &block = *self.block;
  if (id >= std::size(block.named))
    fail("(E4) takes barrier " + std::to_string(id) + ", expected one of 0 to 15", site);
  if (count == 0 || count % 32 != 0 || count > threadsPerBlock)
    fail("(E4) takes a barrier of " + std::to_string(count) + " threads, expected a multiple of 32 of the block's " +
             std::to_string(threadsPerBlock),
         site);
  NamedBarrier &barrier = block.named[id];
  if (barrier.arrived == 0)
    barrier.count = count;
  if (barrier.count != count)
    fail("(E4) takes barrier " + std::to_string(id) + " for " + std::to_string(count) + " threads, which others take for " +
             std::to_string(barrier.count),
         site);
  stepTime(self);
  barrier.known.join(self.known);
  ++barrier.arrived;
  if (!waits)
    return openNamedBarrier(block, id);
  self.named = id;
  wait(State::atNamedBarrier, site);
}

void Grid::openNamedBarrier(Block &block, uint32_t id) {
  NamedBarrier &barrier = block.named[id];
  if (barrier.arrived != barrier.count)
    return;
  for (Thread &thread : block.threads)
    if (thread.state == State::atNamedBarrier && thread.named == id) {
      thread.known.join(barrier.known);
      thread.state = State::ready;
      ready.push_back(&thread);
    }
  barrier = NamedBarrier();
}

bool Grid::elect(uint32_t mask, uint32_t site) {
  if (mask != ~0u)
    fail("(E4) elects a lane of a part of a warp, for which the emulator has no rule", site);
  uint32_t own = 0, all[32];
  gather(&own, sizeof(own), reinterpret_cast<char *>(all), site);
  // Any lane would do; a warp's leader stays the same.
  constexpr uint32_t lanes = 32, stride = 7;
  uint32_t lane = running->index % lanes, warp = running->index / lanes;
  return lane == (warp + running->block->number + launch) * stride % lanes;
}

void Grid::fenceProxy(ProxySpace space) {
  Thread &self = *running;
  stepTime(self);
  for (ProxySpace one : {ProxySpace::shared, ProxySpace::global})
    if (space == one || space == ProxySpace::all)
      self.known.fenced[size_t(one)].join(self.known.before);
  if (space == ProxySpace::global)
    return;
  for (auto &[address, barrier] : self.block->phaseBarriers)
    barrier.isFenced |= isBefore(barrier.initialized, viewOf(self));
}

//===----------------------------------------------------------------------===//
// mbarriers
//===----------------------------------------------------------------------===//

void Grid::initBarrier(uint64_t address, uint32_t count, uint32_t site) {
  constexpr uint32_t bytes = 8, mostArrivals = (1 << 20) - 1;
  if (count == 0 || count > mostArrivals)
    fail("(E10) makes an mbarrier of " + std::to_string(count) + " arrivals", site);
  access(address, bytes, bytes, AccessKind::write, site);
  Block &block = *running->block;
  PhaseBarrier &barrier = block.phaseBarriers[address];
  barrier = PhaseBarrier();
  barrier.address = address;
  barrier.count = barrier.pending = count;
  barrier.agent = block.agents++;
  barrier.initialized = {block.number, running->index, running->time, site, AgentKind::thread};
}

void Grid::fenceBarriers() {
  for (auto &[address, barrier] : running->block->phaseBarriers)
    barrier.isFenced |= isBefore(barrier.initialized, viewOf(*running));
}

Grid::PhaseBarrier &Grid::findBarrier(uint64_t address, bool isAsync, uint32_t site) {
  Block &block = *running->block;
  auto it = block.phaseBarriers.find(address);
  if (it == block.phaseBarriers.end())
    fail("(E10) takes " + findMemory(address, 1, site).describe(address) + " for an mbarrier, which it is not", site);
  PhaseBarrier &barrier = it->second;
  if (!isBefore(barrier.initialized, viewOf(*running)))
    fail("(E3) takes an mbarrier that " + nameOf(barrier.initialized) + " makes with no barrier between, at " +
             textOf(barrier.initialized.site),
         site);
  if (isAsync && !barrier.isFenced)
    fail("(E9) gives the async proxy an mbarrier that " + nameOf(barrier.initialized) + " makes with no fence between, at " +
             textOf(barrier.initialized.site),
         site);
  return barrier;
}

void Grid::expectBytes(uint64_t address, uint32_t bytes, uint32_t site) {
  findBarrier(address, /*isAsync=*/false, site).bytes += bytes;
}

void Grid::arrive(uint64_t address, uint32_t count, uint32_t site) {
  Thread &self = *running;
  PhaseBarrier &barrier = findBarrier(address, /*isAsync=*/false, site);
  if (count > barrier.pending)
    fail("(E10) arrives at an mbarrier that expects " + std::to_string(barrier.count) + " arrivals, which have all come",
         site);
  stepTime(self);
  barrier.arrived.join(self.known);
  barrier.pending -= count;
  completePhase(*self.block, barrier);
}

/// Ends the phase that is under way where all is there.
void Grid::completePhase(Block &block, PhaseBarrier &barrier) {
  if (barrier.pending != 0 || barrier.bytes != 0)
    return;
  ++barrier.phase;
  barrier.arrived.before.raise(barrier.agent, barrier.phase);
  barrier.complete = barrier.arrived;
  barrier.pending = barrier.count;
  for (Thread &thread : block.threads)
    if (thread.state == State::atPhase && thread.phaseBarrier == &barrier && (barrier.phase & 1) != thread.parity) {
      thread.known.join(barrier.complete);
      barrier.waited = barrier.phase;
      thread.state = State::ready;
      ready.push_back(&thread);
    }
}

void Grid::waitForPhase(uint64_t address, uint32_t parity, uint32_t site) {
  Thread &self = *running;
  if (parity > 1)
    fail("(E10) waits for parity " + std::to_string(parity) + ", expected 0 or 1", site);
  PhaseBarrier &barrier = findBarrier(address, /*isAsync=*/false, site);
  uint32_t seen = self.known.before.of(barrier.agent);
  bool waits = (barrier.phase & 1) == parity;
  // A parity names the phase under way or the one before: who knows less may mean another.
  if (seen + 1 < barrier.phase || (seen + 1 == barrier.phase && waits))
    fail("(E10) waits for phase " + std::to_string(seen) + " of an mbarrier, which has passed: " + std::to_string(barrier.phase) +
             " phases are complete, and the thread has waited for " + std::to_string(seen),
         site);
  self.phaseBarrier = &barrier;
  self.parity = parity;
  if (!waits) {
    self.known.join(barrier.complete);
    barrier.waited = barrier.phase;
  }
  wait(waits ? State::atPhase : State::ready, site); // others may come first
}

//===----------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------===//

void Grid::copyBox(uint64_t to, const TensorMapData &map, const int32_t *coordinates, uint64_t address, uint32_t site) {
  constexpr uint64_t alignment = 128;
  Thread &self = *running;
  if (map.magic != TensorMapData::isMap)
    fail("(E1) takes for a tensor map what is none", site);
  if (to % alignment != 0)
    fail("(E1) copies a box to " + findMemory(to, 1, site).describe(to) + ", which is not aligned to 128 bytes", site);
  PhaseBarrier &barrier = findBarrier(address, /*isAsync=*/true, site);
  BoxCopy copy;
  copy.thread = &self;
  copy.barrier = address;
  copy.phase = barrier.phase;
  barrier.copied = barrier.phase + 1;
  copy.site = site;
  copy.bytes = map.boxBytes();
  copy.pieces = piecesOf(map, coordinates, to);
  View view{self.block->number, barrier.agent, barrier.phase + 1, AgentKind::copy, self.index, self.known};
  for (const BoxPiece &piece : copy.pieces) {
    size_t place = copy.data.size();
    copy.data.resize(place + piece.bytes, map.fillsWithNaN ? char(0xff) : char(0));
    if (piece.from) {
      accessAs(view, piece.from, piece.bytes, AccessKind::read, site);
      std::memcpy(copy.data.data() + place, reinterpret_cast<const void *>(piece.from), piece.bytes);
    }
  }
  // (Units of 16 bytes stay together, whatever of them lies over a border.)
  constexpr uint64_t unit = 16;
  for (size_t i = 0; i < copy.pieces.size();) {
    uint64_t begin = copy.pieces[i].to, end = begin;
    for (; i < copy.pieces.size() && copy.pieces[i].to == end && (end == begin || end % unit != 0); ++i)
      end += copy.pieces[i].bytes;
    accessAs(view, begin, uint32_t(end - begin), AccessKind::write, site);
    forget(begin, uint32_t(end - begin));
  }
  underWay.push_back(std::move(copy));
}

void Grid::land(size_t which) {
  BoxCopy copy = std::move(underWay[which]);
  underWay[which] = std::move(underWay.back());
  underWay.pop_back();
  Block &block = *copy.thread->block;
  PhaseBarrier &barrier = block.phaseBarriers.at(copy.barrier);
  if (barrier.phase != copy.phase)
    return note("(E10) copies a box whose mbarrier's phase is complete before the box lands: the bytes expected are too few",
                *copy.thread, copy.site);
  size_t place = 0;
  for (const BoxPiece &piece : copy.pieces) {
    std::memcpy(reinterpret_cast<void *>(piece.to), copy.data.data() + place, piece.bytes);
    memories.find(piece.to)->setDefined(piece.to, piece.bytes);
    place += piece.bytes;
  }
  barrier.bytes -= copy.bytes;
  if (barrier.bytes < 0 && barrier.pending == 0)
    return note("(E10) copies " + std::to_string(copy.bytes) + " bytes, which are more than the mbarrier expects",
                *copy.thread, copy.site);
  completePhase(block, barrier);
}

/// Whether a thread of the block has waited for each copy to its shared memory.
bool Grid::isThere(const Block &block) const {
  return std::none_of(block.phaseBarriers.begin(), block.phaseBarriers.end(),
                      [](const auto &entry) { return entry.second.waited < entry.second.copied; });
}

//===----------------------------------------------------------------------===//
// Boxes that go back
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
