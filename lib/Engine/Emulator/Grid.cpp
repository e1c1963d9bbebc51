//===- Grid.cpp - one launch of a kernel, thread by thread ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Grid.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

using namespace ft::emulate;

Grid *Grid::current = nullptr;

/// What 128-byte swizzles count from.
static constexpr size_t sharedAlignment = 1024;
/// Threads that are resident at a time where the launch does not ask for all of them.
static constexpr uint32_t residentThreads = 1024;
/// Most threads at a time: their stacks take 8 GiB of addresses.
static constexpr uint64_t mostThreads = 65536;

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

std::string Grid::run(const std::string &kernelName, Kernel newKernel, const Shape &newShape, void **newParameters) {
  name = kernelName;
  kernel = newKernel;
  shape = newShape;
  parameters = newParameters;
  error.clear();
  static uint32_t launches = 0; // of the process: memory may outlive a grid
  launch = ++launches;
  if (!shape.overlaps)
    firstInFlight = launch;
  threadsPerBlock = shape.block[0] * shape.block[1] * shape.block[2];
  uint64_t blocks = uint64_t(shape.grid[0]) * shape.grid[1] * shape.grid[2];
  if (blocks > UINT32_MAX / 2 / threadsPerBlock ||
      (shape.cooperative && blocks * threadsPerBlock > mostThreads))
    return "kernel " + name + ": more threads than the emulator has stacks for";
  toCome.resize(blocks);
  for (uint32_t i = 0; i < blocks; ++i)
    toCome[i] = i;
  std::shuffle(toCome.begin(), toCome.end(), random);
  arrivals.assign(shape.cooperative ? blocks : 0, {});
  lastPiece.assign(sites.size(), nullptr);
  ready.clear();
  atGridBarrier.clear();
  underWay.clear();
  storing.clear();
  current = this;
  while (error.empty()) {
    if (!admit())
      break;
    if (ready.empty() && underWay.empty() && storing.empty()) {
      if (!resident.empty())
        explainDeadlock();
      break;
    }
    size_t which = below(ready.size() + underWay.size() + storing.size());
    if (which >= ready.size() + underWay.size()) {
      finishStore(which - ready.size() - underWay.size());
      continue;
    }
    if (which >= ready.size()) {
      land(which - ready.size());
      continue;
    }
    Thread &thread = *ready[which];
    ready[which] = ready.back();
    ready.pop_back();
    step(thread);
  }
  current = nullptr;
  while (!resident.empty()) // after an error
    retire(*resident.back());
  return error;
}

/// Brings blocks in while there is room; false after an error.
bool Grid::admit() {
  while (!toCome.empty() &&
         (shape.cooperative || resident.empty() || (resident.size() + 1) * threadsPerBlock <= residentThreads)) {
    auto block = std::make_unique<Block>();
    block->number = toCome.back();
    toCome.pop_back();
    block->coordinate[0] = block->number % shape.grid[0];
    block->coordinate[1] = block->number / shape.grid[0] % shape.grid[1];
    block->coordinate[2] = block->number / shape.grid[0] / shape.grid[1];
    size_t bytes = (size_t(shape.sharedBytes) / sharedAlignment + 1) * sharedAlignment;
    block->shared = static_cast<char *>(std::aligned_alloc(sharedAlignment, bytes));
    if (!block->shared) {
      error = "kernel " + name + ": no memory for a block";
      return false;
    }
    // A different nonsense each time: floats of it are NaN or huge.
    memset(block->shared, below(2) ? 0xff : 0x7b, bytes);
    memories.add("shared memory of block " + std::to_string(block->number), block->shared, shape.sharedBytes,
                 /*isDefined=*/false);
    block->threads = std::vector<Thread>(threadsPerBlock);
    block->agents = threadsPerBlock + (threadsPerBlock + 31) / 32;
    resident.push_back(std::move(block));
    Block &fresh = *resident.back();
    for (uint32_t i = 0; i < threadsPerBlock; ++i) {
      Thread &thread = fresh.threads[i];
      thread.block = &fresh;
      thread.index = i;
      giveRegisters(thread);
      char *stack = stacks.take();
      if (!stack) {
        error = "kernel " + name + ": no memory for the threads' stacks";
        return false;
      }
      thread.fiber.start(stack, &Grid::threadBody, &thread);
      ready.push_back(&thread);
    }
  }
  return true;
}

void Grid::retire(Block &block) {
  finishStoresOf(block);
  memories.remove(block.shared);
  std::fill(lastPiece.begin(), lastPiece.end(), nullptr);
  std::free(block.shared);
  for (Thread &thread : block.threads)
    if (thread.fiber.stack())
      stacks.give(thread.fiber.stack());
  std::erase_if(resident, [&](const std::unique_ptr<Block> &b) { return b.get() == &block; });
}

void Grid::threadBody(void *) { current->kernel(current->parameters); }

void Grid::step(Thread &thread) {
  running = &thread;
  bool ended = thread.fiber.resume();
  running = nullptr;
  if (error.empty() && Stacks::overflowed(thread.fiber.stack()))
    note("the thread's stack overflows", thread, thread.site);
  if (error.empty())
    afterRun(thread, ended);
}

void Grid::afterRun(Thread &thread, bool ended) {
  Block &block = *thread.block;
  if (ended) {
    thread.state = State::done;
    if (shape.overlaps && !thread.hasWaited)
      return note("(E13) ends, and has never waited for the launches that it overlaps", thread, thread.site);
    if (!hasBeenRead(thread))
      return note("(E10) ends, and has not waited until its copies have read its block's shared memory", thread, thread.site);
    if (++block.done == threadsPerBlock)
      return isThere(block) ? retire(block) : note("(E10) ends, and no thread of its block has waited for a copy to its shared memory", thread, thread.site);
    if (block.waiting && block.done + block.waiting == threadsPerBlock)
      note("(E4) ends while others of its block wait at a barrier", thread, thread.site);
    return;
  }
  switch (thread.state) {
  case State::atBarrier:
    if (++block.waiting == threadsPerBlock)
      openBarrier(block);
    else if (block.done + block.waiting == threadsPerBlock)
      note("(E4) waits at a barrier that other threads of its block have ended without", thread, thread.site);
    break;
  case State::atShuffle:
    tryShuffle(block, thread.index / 32);
    break;
  case State::atMeeting:
    if (++block.meeting == threadsPerBlock)
      openMeeting(block);
    break;
  case State::atGridBarrier:
    atGridBarrier.push_back(&thread);
    openGridBarriers();
    break;
  case State::atNamedBarrier:
    openNamedBarrier(block, thread.named);
    break;
  case State::atRegisters:
    shareRegisters(block);
    break;
  case State::atPhase: // what completes the phase makes it ready
    break;
  default:
    ready.push_back(&thread);
    if (block.freeRegisters)
      shareRegisters(block);
  }
}

/// Called by the thread that runs; returns when it may go on.
void Grid::wait(State state, uint32_t site) {
  Thread &self = *running;
  self.state = state;
  self.site = site;
  self.fiber.yield();
}

//===----------------------------------------------------------------------===//
// Waiting for others
//===----------------------------------------------------------------------===//

void Grid::barrier(uint32_t site) { wait(State::atBarrier, site); }

void Grid::openBarrier(Block &block) {
  Knowledge all;
  for (Thread &thread : block.threads) {
    if (thread.site != block.threads.front().site)
      return note("(E4) waits at another barrier than thread 0 of its block, which is at " +
                      textOf(block.threads.front().site),
                  thread, thread.site);
    all.join(thread.known);
  }
  for (Thread &thread : block.threads)
    all.before.raise(thread.index, thread.time++);
  block.waiting = 0;
  for (Thread &thread : block.threads) {
    thread.known = all;
    thread.state = State::ready;
    ready.push_back(&thread);
  }
}

/// What the thread did up to now is of a time that others may know.
void Grid::stepTime(Thread &thread) { thread.known.before.raise(thread.index, thread.time++); }

void Grid::meet(uint32_t site) { wait(State::atMeeting, site); }

void Grid::openMeeting(Block &block) {
  block.meeting = 0;
  for (Thread &thread : block.threads) {
    thread.state = State::ready;
    ready.push_back(&thread);
  }
}

uint32_t Grid::shuffle(ShuffleMode mode, uint32_t mask, uint32_t value, uint32_t by, uint32_t clamp, uint32_t site) {
  Thread &self = *running;
  self.mask = mask;
  self.value = value;
  uint32_t lane = self.index % 32;
  if (!(mask >> lane & 1))
    fail("(E4) shuffles without being in the mask", site);
  // The rule of PTX's shfl.sync.
  uint32_t segment = clamp >> 8 & 31, last = (lane & segment) | (clamp & 31 & ~segment);
  int32_t from = 0;
  bool inside = false;
  switch (mode) {
  case ShuffleMode::up:
    from = int32_t(lane) - int32_t(by & 31);
    inside = from >= int32_t(last);
    break;
  case ShuffleMode::down:
    from = int32_t(lane + (by & 31));
    inside = from <= int32_t(last);
    break;
  case ShuffleMode::bfly:
    from = int32_t(lane ^ (by & 31));
    inside = from <= int32_t(last);
    break;
  case ShuffleMode::idx:
    from = int32_t((lane & segment) | (by & 31 & ~segment));
    inside = from <= int32_t(last);
    break;
  }
  if (!inside)
    from = int32_t(lane);
  uint32_t source = self.index - lane + uint32_t(from);
  if (source >= threadsPerBlock || !(mask >> from & 1))
    fail("(E4) shuffles from a lane that does not take part", site);
  self.source = source;
  wait(State::atShuffle, site);
  return self.received;
}

void Grid::gather(const void *own, uint32_t bytes, char *all, uint32_t site) {
  Thread &self = *running;
  if (threadsPerBlock % 32 != 0)
    fail("(E4) needs whole warps, in a block of " + std::to_string(threadsPerBlock) + " threads", site);
  self.mask = ~0u;
  self.left = own;
  self.leftBytes = bytes;
  self.gathered = all;
  wait(State::atShuffle, site);
  self.gathered = nullptr;
}

/// What the lanes left lies in their stacks, which are there until they run again.
void Grid::gatherInto(Block &block, uint32_t first, uint32_t count, Thread &thread) {
  for (uint32_t lane = 0; lane < count; ++lane)
    std::memcpy(thread.gathered + size_t(lane) * thread.leftBytes, block.threads[first + lane].left, thread.leftBytes);
}

/// A shuffle happens when all lanes of its mask are there.
void Grid::tryShuffle(Block &block, uint32_t warp) {
  uint32_t first = warp * 32, count = std::min(32u, threadsPerBlock - first), there = 0;
  for (uint32_t lane = 0; lane < count; ++lane)
    there |= uint32_t(block.threads[first + lane].state == State::atShuffle) << lane;
  for (uint32_t lane = 0; lane < count; ++lane) {
    Thread &thread = block.threads[first + lane];
    uint32_t needed = thread.mask & uint32_t((uint64_t(1) << count) - 1);
    if (thread.state != State::atShuffle || (needed & ~there))
      continue;
    for (uint32_t other = 0; other < count; ++other) {
      Thread &peer = block.threads[first + other];
      if (!(needed >> other & 1))
        continue;
      if (peer.site != thread.site || peer.mask != thread.mask)
        return note("(E4) shuffles at another place than lane " + std::to_string(lane) + " of its warp, which is at " +
                        textOf(thread.site),
                    peer, peer.site);
      if (peer.gathered)
        gatherInto(block, first, count, peer);
      else
        peer.received = block.threads[peer.source].value;
      peer.state = State::ready;
      ready.push_back(&peer);
    }
    there &= ~needed;
  }
}

/// Adds to the counter and waits until its top bit has changed.
void Grid::gridBarrier(uint32_t *counter, uint32_t step, uint32_t site) {
  Thread &self = *running;
  access(reinterpret_cast<uint64_t>(counter), 4, 4, AccessKind::atomic, site);
  if (!shape.cooperative)
    fail("(E5) waits for the whole grid in a launch that does not promise that all of it runs", site);
  self.counter = counter;
  self.old = *counter;
  *counter += step;
  stepTime(self);
  arrivals[self.block->number].push_back(self.known);
  wait(State::atGridBarrier, site);
  self.known.before.grid = uint32_t(arrivals[self.block->number].size());
}

void Grid::openGridBarriers() {
  std::erase_if(atGridBarrier, [&](Thread *thread) {
    if (!((*thread->counter ^ thread->old) >> 31))
      return false;
    thread->state = State::ready;
    ready.push_back(thread);
    return true;
  });
}

/// What a phase waits for, where bytes or arrivals are missing: bytes first, which others may wait for in turn.
void Grid::explainPhases() {
  for (bool withBytes : {true, false})
    for (const std::unique_ptr<Block> &block : resident)
      for (Thread &thread : block->threads) {
        const PhaseBarrier *barrier = thread.phaseBarrier;
        if (thread.state == State::atPhase && (barrier->bytes != 0) == withBytes)
          return note("(E10) waits for phase " + std::to_string(barrier->phase) + " of an mbarrier, which never comes: " +
                          std::to_string(barrier->pending) + " arrivals and " + std::to_string(barrier->bytes) +
                          " bytes are missing",
                      thread, thread.site);
      }
}

void Grid::explainDeadlock() {
  explainPhases();
  for (const std::unique_ptr<Block> &block : resident)
    for (Thread &thread : block->threads) {
      if (thread.state == State::atShuffle)
        return note("(E4) waits at a shuffle that not all lanes of its mask reach", thread, thread.site);
      if (thread.state == State::atMeeting)
        return note("(E4) waits at an operation on tiles that not all threads of its block reach", thread, thread.site);
      if (thread.state == State::atNamedBarrier)
        return note("(E4) waits at barrier " + std::to_string(thread.named) + ", which only " +
                        std::to_string(block->named[thread.named].arrived) + " of " +
                        std::to_string(block->named[thread.named].count) + " threads reach",
                    thread, thread.site);
      if (thread.state == State::atRegisters)
        return note("(E12) waits for " + std::to_string(thread.wanted) + " registers, and has " + std::to_string(thread.registers) + ": " +
                        std::to_string(block->freeRegisters) + " are free in its block, and no thread gives any back",
                    thread, thread.site);
      if (thread.state == State::atGridBarrier)
        return note("(E5) waits at a barrier of the grid that never opens", thread, thread.site);
    }
  for (const std::unique_ptr<Block> &block : resident)
    for (Thread &thread : block->threads)
      if (thread.state == State::atBarrier)
        return note("(E4) waits at a barrier that not all threads of its block reach", thread, thread.site);
}

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

uint32_t Grid::readRegister(uint32_t which) const {
  uint32_t index = running->index;
  auto coordinate = [&](uint32_t d) {
    return d == 0   ? index % shape.block[0]
           : d == 1 ? index / shape.block[0] % shape.block[1]
                    : index / shape.block[0] / shape.block[1];
  };
  if (which < 3)
    return coordinate(which);
  if (which < 6)
    return shape.block[which - 3];
  if (which < 9)
    return running->block->coordinate[which - 6];
  if (which < 12)
    return shape.grid[which - 9];
  return which == uint32_t(Register::laneid) ? index % 32 : index / 32;
}

void *Grid::sharedMemory() const { return running->block->shared; }

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

std::string Grid::nameOf(const Thread &thread) const {
  return "thread " + std::to_string(thread.index) + " of block " + std::to_string(thread.block->number);
}

std::string Grid::nameOf(const Access &access) const {
  std::string what = access.kind == AgentKind::thread    ? "thread " + std::to_string(access.agent)
                     : access.kind == AgentKind::product ? "a product of warp " + std::to_string(access.agent - threadsPerBlock)
                                                         : "a copy under way";
  return what + " of block " + std::to_string(access.block);
}

void Grid::note(const std::string &what, const Thread &thread, uint32_t site) {
  if (error.empty())
    error = "kernel " + name + ": " + nameOf(thread) + " " + what + "; at " + textOf(site);
}

void Grid::fail(const std::string &what, uint32_t site) {
  note(what, *running, site);
  running->fiber.yield(); // for ever: nothing resumes a thread after an error
  abort();
}
