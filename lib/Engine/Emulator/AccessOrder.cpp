//===- AccessOrder.cpp - accesses of memory and what orders them ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each access is compared with what its place of memory remembers: a write must
// come after all that was before, a read after the last write. "After" is what
// vector clocks say; the async proxy also wants a fence after what threads wrote.
//
//===----------------------------------------------------------------------===//
#include "Grid.h"

#include <cstring>

using namespace ft::emulate;

/// Whether a view's clock has the access, or, where it is another block's, a barrier of the grid lies between.
bool Grid::covers(const Access &earlier, const View &view, const Clock &(*which)(const Knowledge &)) const {
  const Clock &clock = which(view.known);
  if (earlier.block == view.block)
    return clock.of(earlier.agent) >= earlier.time;
  if (clock.grid == 0 || arrivals.empty())
    return false;
  // The last barrier of the grid that this thread has passed, and what the other block knew when it came there.
  const std::vector<Knowledge> &other = arrivals[earlier.block];
  if (other.size() < clock.grid)
    return false;
  return which(other[clock.grid - 1]).of(earlier.agent) >= earlier.time;
}

bool Grid::isBefore(const Access &earlier, const View &view) const {
  bool isOwn = earlier.block == view.block && earlier.kind == AgentKind::thread && earlier.agent == view.thread;
  return isOwn || covers(earlier, view, [](const Knowledge &known) -> const Clock & { return known.before; });
}

/// Whether a write that is before what a view does has come to its proxy.
bool Grid::isVisible(const Access &earlier, const View &view, const Memory &memory) const {
  bool sameProxy = (view.kind == AgentKind::thread) == (earlier.kind == AgentKind::thread);
  if (view.kind == AgentKind::thread || (sameProxy && earlier.block == view.block))
    return true;
  if (memory.begin == reinterpret_cast<uint64_t>(running->block->shared))
    return covers(earlier, view, [](const Knowledge &known) -> const Clock & { return known.fenced[size_t(ProxySpace::shared)]; });
  return covers(earlier, view, [](const Knowledge &known) -> const Clock & { return known.fenced[size_t(ProxySpace::global)]; });
}

void Grid::checkOrder(const Access &earlier, const View &view, bool wrote, AccessKind kind, uint64_t address,
                      const Memory &memory, uint32_t site) {
  if (!earlier)
    return;
  const char *does = kind == AccessKind::read ? "reads " : "writes ";
  if (!isBefore(earlier, view)) {
    const char *code = earlier.kind == AgentKind::product ? "(E11) " : "(E3) ";
    fail(code + std::string(does) + memory.describe(address) + ", which " + nameOf(earlier) + (wrote ? " writes" : " reads") +
             " with no barrier between, at " + textOf(earlier.site),
         site);
  }
  if (wrote && !isVisible(earlier, view, memory))
    fail(std::string("(E9) ") + does + memory.describe(address) + " through the async proxy, which " + nameOf(earlier) +
             " writes with no proxy fence between, at " + textOf(earlier.site),
         site);
}

/// Keeps what is not before this, of two blocks where there are two; and one for each other group.
void Grid::keepRead(Cell &cell, const Access &now, const View &view) const {
  constexpr size_t mostReads = 32;
  for (Access &slot : cell.reads)
    if (!slot || isBefore(slot, view)) {
      slot = now;
      return;
    }
  Access *slots = cell.reads;
  if (slots[0].block == slots[1].block && now.block != slots[0].block) {
    slots[1] = now;
    return;
  }
  auto isLike = [&](const Access &other) {
    return other.block == now.block && other.kind == now.kind &&
           (now.kind == AgentKind::thread ? other.agent / threadsOfGroup == now.agent / threadsOfGroup : other.agent == now.agent);
  };
  if (now.block != slots[0].block || isLike(slots[0]) || isLike(slots[1]))
    return;
  if (!cell.more)
    cell.more = std::make_unique<std::vector<Access>>();
  for (Access &slot : *cell.more)
    if (isLike(slot) || isBefore(slot, view)) {
      slot = now;
      return;
    }
  if (cell.more->size() < mostReads)
    cell.more->push_back(now);
}

/// Before it has waited, a thread of a launch that overlaps others reads what none of these wrote, and writes memory of its block alone.
void Grid::checkWaited(const Cell &cell, const View &view, AccessKind kind, uint64_t address, const Memory &memory, uint32_t site) {
  const Thread &thread = running->block->threads[view.thread];
  bool isOwn = memory.begin == reinterpret_cast<uint64_t>(running->block->shared);
  if (!shape.overlaps || thread.hasWaited || isOwn || (kind == AccessKind::read && cell.writer < firstInFlight))
    return;
  fail(std::string("(E13) ") + (kind == AccessKind::read ? "reads " : "writes ") + memory.describe(address) +
           (kind == AccessKind::read ? ", which a launch before it wrote," : "") + " before it has waited for the launches that it overlaps", site);
}

void Grid::checkCell(Cell &cell, const View &view, AccessKind kind, uint64_t address, const Memory &memory, uint32_t site) {
  checkWaited(cell, view, kind, address, memory, site);
  if (cell.launch != launch) { // launches follow each other
    cell.write = cell.reads[0] = cell.reads[1] = Access();
    cell.more = nullptr;
    cell.launch = launch;
  }
  Access now{view.block, view.agent, view.time, site, view.kind};
  if (kind == AccessKind::read) {
    if (!cell.defined && !(cell.write.kind == AgentKind::copy && !isBefore(cell.write, view)))
      fail("(E2) reads " + memory.describe(address) + ", which nothing wrote", site);
    checkOrder(cell.write, view, /*wrote=*/true, kind, address, memory, site);
    return keepRead(cell, now, view);
  }
  checkOrder(cell.write, view, /*wrote=*/true, kind, address, memory, site);
  for (const Access &read : cell.reads)
    checkOrder(read, view, /*wrote=*/false, kind, address, memory, site);
  if (cell.more)
    for (const Access &read : *cell.more)
      checkOrder(read, view, /*wrote=*/false, kind, address, memory, site);
  cell.write = now;
  cell.writer = launch;
  cell.reads[0] = cell.reads[1] = Access();
  cell.more = nullptr;
  cell.defined = true;
}

Memory &Grid::findMemory(uint64_t address, uint32_t bytes, uint32_t site) {
  Memory *piece = site < lastPiece.size() ? lastPiece[site] : nullptr;
  if (piece && piece->contains(address, bytes))
    return *piece;
  piece = memories.find(address);
  if (!piece || !piece->contains(address, bytes))
    fail("(E1) accesses " + std::to_string(bytes) + " bytes outside all memory, at " +
             (piece ? piece->describe(address) : std::string("an address below all of it")),
         site);
  if (site < lastPiece.size())
    lastPiece[site] = piece;
  return *piece;
}

void Grid::access(uint64_t address, uint32_t bytes, uint32_t alignment, AccessKind kind, uint32_t site) {
  if (alignment && address % alignment)
    fail("(E1) accesses " + findMemory(address, bytes, site).describe(address) + ", which is not aligned to " +
             std::to_string(alignment) + " bytes",
         site);
  accessAs(viewOf(*running), address, bytes, kind, site);
}

void Grid::accessAs(const View &view, uint64_t address, uint32_t bytes, AccessKind kind, uint32_t site) {
  Memory &piece = findMemory(address, bytes, site);
  if (piece.isConstant) {
    if (kind != AccessKind::read)
      fail("(E1) writes to " + piece.describe(address) + ", which is constant", site);
    return;
  }
  if (kind == AccessKind::atomic) // ordered by itself; other threads' accesses are the emulator's
    return;
  Cell *cell = piece.cells(address);
  for (uint64_t i = 0, n = piece.countCells(address, bytes); i < n; ++i)
    checkCell(cell[i], view, kind, address, piece, site);
}

/// Nothing may read what is there until it is written again.
void Grid::forget(uint64_t address, uint32_t bytes) {
  std::memset(reinterpret_cast<void *>(address), 0xff, bytes);
  Memory *piece = memories.find(address);
  Cell *cell = piece->cells(address);
  for (uint64_t i = 0, n = piece->countCells(address, bytes); i < n; ++i)
    cell[i].defined = false;
}

//===----------------------------------------------------------------------===//
// cp.async
//===----------------------------------------------------------------------===//

void Grid::copyAsync(char *to, const char *from, uint32_t bytes, uint32_t read, uint32_t site) {
  Copy copy{to, bytes, site, {}};
  if (read > 0) {
    access(reinterpret_cast<uint64_t>(from), read, bytes, AccessKind::read, site);
    memcpy(copy.data, from, read);
  }
  uint64_t address = reinterpret_cast<uint64_t>(to);
  access(address, bytes, bytes, AccessKind::write, site);
  forget(address, bytes);
  running->copies.push_back(copy);
}

void Grid::commitCopies() {
  running->groups.push_back(std::move(running->copies));
  running->copies.clear();
}

void Grid::waitForCopies(uint32_t groups) {
  Thread &self = *running;
  for (; self.groups.size() > groups; self.groups.pop_front())
    for (const Copy &copy : self.groups.front()) {
      access(reinterpret_cast<uint64_t>(copy.to), copy.bytes, copy.bytes, AccessKind::write, copy.site);
      memcpy(copy.to, copy.data, copy.bytes);
    }
}

