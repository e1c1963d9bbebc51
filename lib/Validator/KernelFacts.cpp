//===- KernelFacts.cpp - what a kernel touches before it waits ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pointers are followed from the arguments of a kernel through all that computes on them: what may come from two arguments comes from both. Then
// all paths are gone through: conditions either way, loops any number of times, roles side by side. An operation of which nothing is known
// reads and writes what it is given.
//
//===----------------------------------------------------------------------===//
#include "Launches.h"

#include "ft/Dialect/Tile/IR/Tile.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/BitVector.h"

using namespace mlir;
using namespace mlir::etdg::validator;

//===----------------------------------------------------------------------===//
// Where pointers come from
//===----------------------------------------------------------------------===//

namespace {
/// The arguments of a kernel that each value may hold an address of. The last number stands for memory that no argument is known to be.
class Origins {
public:
  explicit Origins(FunctionOpInterface kernel);
  const llvm::BitVector *of(Value value) const {
    auto found = sets.find(value);
    return found == sets.end() ? nullptr : &found->second;
  }
  unsigned getUnknown() const { return unknown; }

private:
  void flow(Value from, Value to);
  void flow(ValueRange from, ValueRange to) {
    for (auto [a, b] : llvm::zip(from, to))
      flow(a, b);
  }
  void add(Value value, unsigned number);
  void take(Operation *op);
  /// Loops and conditions hand on values; false where another operation has regions.
  bool takeRegions(Operation *op);

  unsigned unknown;
  bool changed = false;
  llvm::DenseMap<Value, llvm::BitVector> sets;
};
} // namespace

/// Whether a value of this type may be an address, or a part of one.
static bool mayPoint(Type type) { return !type.isInteger(1) && !isa<FloatType, tile::RegistersType, tile::RowsType>(type); }

static bool isPointer(Type type) { return isa<LLVM::LLVMPointerType>(type); }

/// Memory of the thread block.
static bool isShared(Type type) {
  constexpr unsigned sharedSpace = 3;
  auto pointer = dyn_cast<LLVM::LLVMPointerType>(type);
  return pointer && pointer.getAddressSpace() == sharedSpace;
}

void Origins::add(Value value, unsigned number) {
  llvm::BitVector &set = sets.try_emplace(value, unknown + 1).first->second;
  changed |= !set.test(number);
  set.set(number);
}

void Origins::flow(Value from, Value to) {
  auto found = sets.find(from);
  if (found == sets.end() || !mayPoint(to.getType()))
    return;
  llvm::BitVector more = found->second;
  llvm::BitVector &set = sets.try_emplace(to, unknown + 1).first->second;
  changed |= more.test(set);
  set |= more;
}

bool Origins::takeRegions(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    for (ValueRange from : {ValueRange(loop.getInitArgs()), ValueRange(loop.getYieldedValues())}) {
      flow(from, loop.getRegionIterArgs());
      flow(from, loop.getResults());
    }
  } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    flow(loop.getInits(), loop.getBeforeArguments());
    flow(loop.getYieldOp().getOperands(), loop.getBeforeArguments());
    flow(loop.getConditionOp().getArgs(), loop.getAfterArguments());
    flow(loop.getConditionOp().getArgs(), loop.getResults());
  } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
    for (Region *region : {&branch.getThenRegion(), &branch.getElseRegion()})
      if (!region->empty())
        flow(region->front().getTerminator()->getOperands(), branch.getResults());
  } else {
    return false;
  }
  return true;
}

void Origins::take(Operation *op) {
  if (auto branch = dyn_cast<BranchOpInterface>(op)) {
    for (unsigned i = 0; i < op->getNumSuccessors(); ++i) {
      SuccessorOperands operands = branch.getSuccessorOperands(i);
      for (unsigned a = 0; a < operands.size(); ++a)
        if (Value from = operands[a])
          flow(from, op->getSuccessor(i)->getArgument(a));
    }
    return;
  }
  if (op->getNumRegions() && takeRegions(op))
    return;
  // (Regions of tiles compute values of their elements.)
  const bool isTile = isa_and_nonnull<tile::TileDialect>(op->getDialect());
  if (op->getNumRegions() && !isTile)
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        for (Value result : op->getResults())
          flow(operand, result);
    });
  const bool computes = isMemoryEffectFree(op);
  for (Value result : op->getResults()) {
    for (Value operand : op->getOperands())
      if (computes)
        flow(operand, result);
    if (!computes && isPointer(result.getType()) && !isShared(result.getType()))
      add(result, unknown);
  }
}

Origins::Origins(FunctionOpInterface kernel) : unknown(kernel.getNumArguments()) {
  for (BlockArgument argument : kernel.getArguments())
    if (isPointer(argument.getType()))
      add(argument, argument.getArgNumber());
  do {
    changed = false;
    kernel->walk([&](Operation *op) {
      if (op != kernel.getOperation())
        take(op);
    });
  } while (changed);
}

//===----------------------------------------------------------------------===//
// Paths
//===----------------------------------------------------------------------===//

namespace {
/// Goes through a kernel. All it does takes whether some path has come here that has not waited, and returns the same of what comes after.
class Paths {
public:
  explicit Paths(FunctionOpInterface kernel) : kernel(kernel), origins(kernel) {}
  KernelFacts run();

private:
  bool take(Region &region, bool unwaited);
  bool take(Block &block, bool unwaited);
  bool take(Operation &op, bool unwaited);
  bool takeLoop(Operation &op, bool unwaited);
  void touch(Operation &op, bool unwaited);
  void touch(Operation &op, Value address, bool reads, bool writes, bool unwaited);
  void note(SmallVector<Touch> &list, Touch touch);

  FunctionOpInterface kernel;
  Origins origins;
  KernelFacts facts;
};
} // namespace

void Paths::note(SmallVector<Touch> &list, Touch touch) {
  if (llvm::none_of(list, [&](const Touch &other) { return other.argument == touch.argument && other.writes == touch.writes; }))
    list.push_back(touch);
}

void Paths::touch(Operation &op, Value address, bool reads, bool writes, bool unwaited) {
  const llvm::BitVector *from = origins.of(address);
  if (!from || isShared(address.getType()))
    return;
  for (unsigned number : from->set_bits())
    for (bool isWrite : {false, true}) {
      if (!(isWrite ? writes : reads))
        continue;
      Touch found{number == origins.getUnknown() ? std::nullopt : std::optional(number), isWrite, &op};
      note(facts.all, found);
      if (unwaited)
        note(facts.early, found);
    }
}

void Paths::touch(Operation &op, bool unwaited) {
  if (auto copy = dyn_cast<tile::CopyOp>(op))
    return touch(op, copy.getSource(), true, false, unwaited);
  if (auto fetch = dyn_cast<tile::StartFetchOp>(op))
    return touch(op, fetch.getMap(), true, false, unwaited);
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  if (!effects && op.hasTrait<OpTrait::HasRecursiveMemoryEffects>())
    return;
  bool reads = !effects || effects.hasEffect<MemoryEffects::Read>(), writes = !effects || effects.hasEffect<MemoryEffects::Write>();
  if (!effects && (op.hasTrait<OpTrait::IsTerminator>() || isMemoryEffectFree(&op)))
    return;
  // A store of values to an address: only that is touched.
  if (auto store = dyn_cast<LLVM::StoreOp>(op))
    return touch(op, store.getAddr(), false, true, unwaited);
  for (Value operand : op.getOperands())
    touch(op, operand, reads, writes, unwaited);
}

/// Whether a loop runs once at least, at all lengths.
static bool surelyRuns(Operation &op) {
  auto loop = dyn_cast<scf::ForOp>(op);
  if (!loop)
    return false;
  std::optional<int64_t> lower = getConstantIntValue(loop.getLowerBound()), upper = getConstantIntValue(loop.getUpperBound());
  return lower && upper && *lower < *upper;
}

bool Paths::takeLoop(Operation &op, bool unwaited) {
  if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    bool after = take(loop.getBefore(), unwaited);
    take(loop.getAfter(), after);
    return after;
  }
  bool after = unwaited;
  for (Region &region : op.getRegions())
    after = take(region, unwaited);
  return surelyRuns(op) ? after : unwaited;
}

bool Paths::take(Operation &op, bool unwaited) {
  if (auto dependency = dyn_cast<NVVM::GriddepcontrolOp>(op)) {
    if (dependency.getKind() == NVVM::GridDepActionKind::wait)
      return false;
    facts.letsGoEarly |= unwaited;
    return unwaited;
  }
  touch(op, unwaited);
  if (!op.getNumRegions())
    return unwaited;
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    bool then = take(branch.getThenRegion(), unwaited), otherwise = unwaited;
    if (!branch.getElseRegion().empty())
      otherwise = take(branch.getElseRegion(), unwaited);
    return then || otherwise;
  }
  if (auto roles = dyn_cast<tile::RolesOp>(op)) {
    bool load = take(roles.getLoad(), unwaited), compute = take(roles.getCompute(), unwaited);
    return load || compute;
  }
  return takeLoop(op, unwaited);
}

bool Paths::take(Block &block, bool unwaited) {
  for (Operation &op : block)
    unwaited = take(op, unwaited);
  return unwaited;
}

/// What of a region's paths reaches its end.
bool Paths::take(Region &region, bool unwaited) {
  if (region.empty())
    return unwaited;
  llvm::SmallPtrSet<Block *, 8> reached; // on a path that has not waited
  llvm::SmallSetVector<Block *, 8> open;
  bool atEnd = false;
  for (Block &block : region)
    open.insert(&block);
  if (unwaited)
    reached.insert(&region.front());
  while (!open.empty()) {
    Block *block = open.front();
    open.erase(open.begin());
    bool after = take(*block, reached.contains(block));
    Operation *end = &block->back();
    if (after && end->getNumSuccessors() == 0 && !isa<LLVM::UnreachableOp>(end)) {
      atEnd = true;
      if (&region == &kernel.getFunctionBody() && !facts.unwaited)
        facts.unwaited = end;
    }
    if (!after)
      continue;
    for (Block *next : block->getSuccessors())
      if (reached.insert(next).second)
        open.insert(next);
  }
  return atEnd;
}

KernelFacts Paths::run() {
  take(kernel.getFunctionBody(), /*unwaited=*/true);
  return std::move(facts);
}

KernelFacts etdg::validator::findFacts(FunctionOpInterface kernel) { return Paths(kernel).run(); }
