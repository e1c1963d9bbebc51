//===- ChooseCopies.cpp - copies that threads do not wait for, said in the loops -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A leaf that copies what lies in the device's memory to shared memory needs no registers on the way, and its threads can go on (`cp.async`):
// its nest says `async`. What threads have begun to copy becomes a group in front of who reads some of it, where they wait until the group of
// that is there. How many groups may be on their way follows from `loops.staged`: each iteration in between has made as many as there are
// `loops.commit` in its loop. Decided here (`loops-choose-copies`), and checked before it is obeyed.
//
//===----------------------------------------------------------------------===//
#include "ft/Dialect/Loops/Transforms/GPU/ChooseCopies.h"
#include "ft/Dialect/Loops/Transforms/GPU/Analysis/KernelChecks.h"
#include "ft/Dialect/Loops/Transforms/GPU/Analysis/LeafInBlock.h"

#include "ft/Dialect/Loops/Transforms/GPU/DeviceMemory.h" // bytes of elements
#include "ft/Dialect/Loops/Transforms/GPU/Analysis/HostCounts.h"

#include "ft/Dialect/Loops/Transforms/GPU/Decisions.h"

#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::togpu;

//===----------------------------------------------------------------------===//
// Which leaves
//===----------------------------------------------------------------------===//

/// The memory that an operand of a leaf is a view of.
Value togpu::memoryOf(Value view) {
  auto here = view.getDefiningOp<loops::ViewOp>();
  return here ? here.getMemory() : Value();
}

static bool isShared(Value memory) {
  auto alloc = memory ? memory.getDefiningOp<loops::AllocOp>() : loops::AllocOp();
  return alloc && alloc.isShared();
}

/// Whether a leaf does nothing but copy to shared memory.
static bool isCopyToShared(loops::LeafOp leaf) {
  Block &body = leaf.getBody().front();
  return leaf.getInputs().size() == 1 && leaf.getOutputs().size() == 1 && llvm::hasSingleElement(body) &&
         body.getTerminator()->getOperand(0) == body.getArgument(0) && isShared(memoryOf(leaf.getOutputs()[0]));
}

/// Whether a launch gives a kernel the memory of one of its arguments as that of another one, too.
static bool isGivenTwice(loops::LaunchOp launch, unsigned number) {
  auto program = launch->getParentOfType<loops::ProgramOp>();
  auto given = launch.getArguments()[number].getDefiningOp<loops::BufferOp>();
  if (given.getKind() == loops::BufferKind::Argument)
    for (auto [i, argument] : llvm::enumerate(program.getInPlace().value_or(ArrayRef<int64_t>())))
      if (i % 2 == 0 && given.getIndex() && argument == int64_t(*given.getIndex()))
        return true;
  return llvm::any_of(llvm::enumerate(launch.getArguments()), [&](auto operand) {
    auto other = operand.value().template getDefiningOp<loops::BufferOp>();
    return other && operand.index() != number && given.getSlot() && other.getSlot() == given.getSlot();
  });
}

bool togpu::isGivenTwice(BlockArgument memory, ArrayRef<loops::LaunchOp> launches) {
  return llvm::any_of(launches, [&](loops::LaunchOp launch) { return ::isGivenTwice(launch, memory.getArgNumber()); });
}

bool togpu::isWritten(BlockArgument memory, func::FuncOp kernel, ArrayRef<loops::LaunchOp> launches) {
  bool isWritten = isGivenTwice(memory, launches);
  // (What is chosen among several places is read; a leaf's outputs and stores name their memory.)
  kernel.walk([&](Operation *op) {
    if (auto leaf = dyn_cast<loops::LeafOp>(op))
      isWritten |= llvm::any_of(leaf.getOutputs(), [&](Value view) { return memoryOf(view) == memory; });
    if (auto store = dyn_cast<memref::StoreOp>(op))
      isWritten |= store.getMemRef() == memory;
  });
  return isWritten;
}

std::string togpu::describeWaiting(loops::LeafOp leaf, const leaf::Nest &nest, tile::NestAttr said, func::FuncOp kernel,
                                   ArrayRef<loops::LaunchOp> launches) {
  if (!isCopyToShared(leaf))
    return "it does more than copy an element to shared memory";
  auto from = dyn_cast<BlockArgument>(memoryOf(leaf.getInputs()[0]));
  if (!from || from.getOwner() != &kernel.getBody().front())
    return "what it copies is chosen among several places, or no memory of the call";
  if (isWritten(from, kernel, launches))
    return "the kernel may write what it copies";
  if (nest.members.size() != 1 || !nest.members.front().copy || said.getAccesses().size() != 2 || llvm::is_contained(said.getAccesses().asArrayRef(), 0) ||
      said.getTiles().getLanes() > 1 || said.getTiles().getSlices() > 1 || said.getFirst() || said.getGuard())
    return "its threads do not move each element by themselves";
  Type element = cast<MemRefType>(leaf.getOutputs()[0].getType()).getElementType();
  int64_t count = said.getAccesses()[0] == said.getAccesses()[1] ? said.getAccesses()[0] : 1;
  if (element.isInteger(1) || !llvm::is_contained(tile::asyncBytes, count * bytesOf(element)))
    return "an access of it has " + std::to_string(count * bytesOf(element)) + " bytes, a copy that nothing waits for 4, 8 or 16";
  return "";
}

//===----------------------------------------------------------------------===//
// Who reads them
//===----------------------------------------------------------------------===//

bool togpu::isAsync(loops::LeafOp leaf) {
  return llvm::any_of(leaf.getNests().value_or(ArrayAttr::get(leaf.getContext(), {})), [](Attribute said) {
    auto nest = dyn_cast<tile::NestAttr>(said);
    return nest && nest.getAsync();
  });
}

/// Who reads the memory that a leaf copies to; false where others write it, or it is met in another way than through views.
static bool findReaders(loops::LeafOp copy, SmallVectorImpl<Operation *> &readers) {
  for (Operation *user : memoryOf(copy.getOutputs()[0]).getUsers()) {
    if (isa<memref::DeallocOp, loops::StagedOp>(user))
      continue;
    if (isa<memref::LoadOp>(user)) {
      readers.push_back(user);
      continue;
    }
    if (!isa<loops::ViewOp>(user))
      return false;
    for (OpOperand &use : user->getUses()) {
      auto leaf = dyn_cast<loops::LeafOp>(use.getOwner());
      bool isRead = leaf && llvm::is_contained(leaf.getInputs(), user->getResult(0));
      if (!leaf || (llvm::is_contained(leaf.getOutputs(), user->getResult(0)) && leaf != copy) || (isRead && leaf == copy))
        return false;
      if (isRead && !llvm::is_contained(readers, leaf))
        readers.push_back(leaf);
    }
  }
  return !readers.empty();
}

namespace {
/// A copy and who reads it, as operations of the innermost body that holds both.
struct Meeting {
  Operation *copy = nullptr, *reader = nullptr;
  Block *body() const { return copy->getBlock(); }
};
} // namespace

static Meeting meetingOf(loops::LeafOp copy, Operation *reader) {
  Block *body = copy->getBlock();
  while (!body->findAncestorOpInBlock(*reader))
    body = body->getParentOp()->getBlock();
  return {body->findAncestorOpInBlock(*copy), body->findAncestorOpInBlock(*reader)};
}

/// How many iterations of the loop around lie between a copy and who reads it.
static int64_t iterationsBetween(const Meeting &meeting, Value memory) {
  int64_t ahead = 0;
  for (auto staged : meeting.body()->getOps<loops::StagedOp>())
    if (staged.getMemory() == memory && meeting.copy->isBeforeInBlock(staged) && staged->isBeforeInBlock(meeting.reader))
      ahead = int64_t(staged.getAhead());
  return ahead;
}

/// The last wait between a copy and who reads it; null: there is none.
static loops::WaitOp waitBetween(const Meeting &meeting) {
  for (Operation *op = meeting.reader->getPrevNode(); op && op != meeting.copy; op = op->getPrevNode())
    if (auto wait = dyn_cast<loops::WaitOp>(op))
      return wait;
  return {};
}

/// How many groups are committed after that of a copy before its threads come to a wait in the iteration that reads it; nothing where the copy's
/// own is not. (Inner loops make more of them, which waits for these only sooner.)
static std::optional<int64_t> groupsBetween(const Meeting &meeting, loops::WaitOp wait, int64_t ahead) {
  int64_t all = 0, between = 0;
  for (auto commit : meeting.body()->getOps<loops::CommitOp>()) {
    ++all;
    between += meeting.copy->isBeforeInBlock(commit) && commit->isBeforeInBlock(wait);
  }
  if (between == 0)
    return std::nullopt;
  return ahead * all + between - 1;
}

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

namespace {
/// Decides for one kernel.
class CopyChooser {
public:
  CopyChooser(func::FuncOp kernel, ArrayRef<loops::LaunchOp> launches, const Machine &machine)
      : kernel(kernel), launches(launches), machine(machine) {}
  LogicalResult run();

private:
  LogicalResult choose(loops::LeafOp leaf);
  void wait(loops::LeafOp copy, Operation *reader);
  void setGroups();

  func::FuncOp kernel;
  ArrayRef<loops::LaunchOp> launches;
  const Machine &machine;
  SmallVector<std::pair<loops::LeafOp, Operation *>> read; // copies and who reads them
};
} // namespace

LogicalResult CopyChooser::choose(loops::LeafOp leaf) {
  etdg::ThreadBlockAttr block = loops::gridOf(kernel).getBlock();
  FailureOr<PlacedLeaf> placed = readPlacedLeaf(leaf, block, liftOf(leaf), machine);
  if (failed(placed))
    return failure();
  auto &[own, tiling, places] = *placed;
  FailureOr<std::vector<LeafNest>> nests = readNests(leaf, own, tiling, places, machine);
  if (failed(nests))
    return failure();
  std::string why = "its rows stay in registers";
  SmallVector<Operation *> readers;
  if (nests->size() == 1 && nests->front().said)
    why = describeWaiting(leaf, nests->front().nest, nests->front().said, kernel, launches);
  if (why.empty() && !findReaders(leaf, readers))
    why = "nothing reads it, or others write where it does";
  for (Operation *reader : readers)
    if (Meeting meeting = meetingOf(leaf, reader); why.empty() && !meeting.copy->isBeforeInBlock(meeting.reader))
      why = "who reads it stands in front of it";
  auto about = remark::RemarkOpts::name("gpu-copies").category("gpu");
  if (!why.empty()) {
    remark::missed(leaf.getLoc(), about) << remark::reason("threads wait for what they copy to shared memory: {0}", why);
    return success();
  }
  remark::passed(leaf.getLoc(), about) << remark::reason("threads go on while what they copy to shared memory is on its way");
  tile::NestAttr said = nests->front().said;
  leaf.setNestsAttr(ArrayAttr::get(leaf.getContext(), {said.withAsync()}));
  for (Operation *reader : readers)
    read.push_back({leaf, reader});
  return success();
}

/// In front of who reads a copy its threads wait, if they have not waited in between.
void CopyChooser::wait(loops::LeafOp copy, Operation *reader) {
  Meeting meeting = meetingOf(copy, reader);
  if (waitBetween(meeting))
    return;
  OpBuilder builder(meeting.reader);
  loops::CommitOp::create(builder, reader->getLoc());
  loops::WaitOp::create(builder, reader->getLoc(), /*groups=*/0);
  loops::SyncOp::create(builder, reader->getLoc(), etdg::SyncKind::Block);
}

/// As many groups may be on their way as none of those is that something reads.
void CopyChooser::setGroups() {
  llvm::MapVector<Operation *, int64_t> groups;
  for (auto [copy, reader] : read) {
    Meeting meeting = meetingOf(copy, reader);
    loops::WaitOp wait = waitBetween(meeting);
    int64_t most = *groupsBetween(meeting, wait, iterationsBetween(meeting, memoryOf(copy.getOutputs()[0])));
    auto [known, isNew] = groups.insert({wait, most});
    known->second = std::min(known->second, most);
  }
  for (auto [wait, most] : groups)
    cast<loops::WaitOp>(wait).setGroups(uint64_t(most));
}

LogicalResult CopyChooser::run() {
  bool isSaid = kernel
                    .walk([](Operation *op) {
                      return isa<loops::CommitOp, loops::WaitOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
                    })
                    .wasInterrupted();
  if (isSaid)
    return success();
  WalkResult walked = kernel.walk([&](loops::LeafOp leaf) {
    return isCopyToShared(leaf) && failed(choose(leaf)) ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (walked.wasInterrupted())
    return failure();
  for (auto [copy, reader] : read)
    wait(copy, reader);
  setGroups();
  return success();
}

LogicalResult mlir::ft::chooseKernelCopies(loops::ProgramOp program, const GpuScheduleOptions &options) {
  const Machine &machine = options.getMachine();
  return eachKernel(program, machine, [&](func::FuncOp kernel, ArrayRef<loops::LaunchOp> launches) {
    return CopyChooser(kernel, launches, machine).run();
  });
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// A located refusal where something reads what may still be on its way.
static LogicalResult checkWait(loops::LeafOp copy, Operation *reader) {
  Meeting meeting = meetingOf(copy, reader);
  auto refuse = [&](const Twine &expected, const Twine &found) {
    InFlightDiagnostic diag = reader->emitError("the GPU engine can't run the loops: what is read may still be on its way to shared memory; expected ")
                              << expected << ", found " << found;
    diag.attachNote(copy.getLoc()) << "it is copied here";
    return diag;
  };
  loops::WaitOp wait = meeting.copy->isBeforeInBlock(meeting.reader) ? waitBetween(meeting) : loops::WaitOp();
  if (!wait)
    return refuse("a loops.wait between the two, in the body that holds both", "none");
  std::optional<int64_t> most = groupsBetween(meeting, wait, iterationsBetween(meeting, memoryOf(copy.getOutputs()[0])));
  if (!most)
    return refuse("a loops.commit between the copy and the wait", "none");
  if (int64_t(wait.getGroups()) > *most)
    return refuse("a wait until at most " + Twine(*most) + " groups are on their way", Twine(int64_t(wait.getGroups())));
  for (Operation *op = wait->getNextNode(); op != meeting.reader; op = op->getNextNode())
    if (auto sync = dyn_cast<loops::SyncOp>(op))
      return success();
  return refuse("a loops.sync after the wait, where the threads of a block see what others have copied", "none");
}

LogicalResult togpu::checkCopies(func::FuncOp kernel) {
  WalkResult walked = kernel.walk([](loops::LeafOp leaf) {
    SmallVector<Operation *> readers;
    if (!isAsync(leaf))
      return WalkResult::advance();
    if (!isCopyToShared(leaf) || !findReaders(leaf, readers)) {
      leaf.emitError("the GPU engine can't run the leaf's nests: only what one leaf alone copies to shared memory, and others read, is copied while threads go on (async)");
      return WalkResult::interrupt();
    }
    return llvm::all_of(readers, [&](Operation *reader) { return succeeded(checkWait(leaf, reader)); }) ? WalkResult::advance()
                                                                                                           : WalkResult::interrupt();
  });
  return failure(walked.wasInterrupted());
}
