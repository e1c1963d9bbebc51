//===- CarriedViews.cpp - what leaves hand to their next iteration --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Dialect/Loops/IR/AttributeNames.h"
#include "ft/Dialect/Loops/Transforms/GPU/Analysis/CarriedViews.h"


#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::togpu;

CarriedViews::CarriedViews(loops::LeafOp leaf, ArrayRef<loops::LaunchOp> launches)
    : leaf(leaf), launches(launches.begin(), launches.end()), forms(launches) {
  auto around = dyn_cast<scf::ForOp>(leaf->getParentOp());
  if (!around || getConstantIntValue(around.getStep()) != 1 || around.getNumRegionIterArgs())
    return;
  loop = around;
  lower = forms.formOf(loop.getLowerBound(), IndexPlace());
  upper = forms.formOf(loop.getUpperBound(), IndexPlace());
}

IndexPlace CarriedViews::placeAt(const IndexForm &iteration) {
  IndexPlace place;
  place.bound[loop.getInductionVar()] = iteration;
  place.within = loop;
  place.notNegative.push_back(iteration - *lower);
  if (upper)
    place.notNegative.push_back(*upper - iteration - 1);
  return place;
}

//===----------------------------------------------------------------------===//
// What is carried
//===----------------------------------------------------------------------===//

static bool isSame(const std::optional<IndexForm> &left, const std::optional<IndexForm> &right) { return left && right && *left == *right; }

bool CarriedViews::isCarried(CarriedView view) {
  loops::ViewOp read = inputOf(view), made = outputOf(view);
  if (!loop || !lower || leaf.getList() || !read || !made || read.getType() != made.getType())
    return false;
  for (Value count : {leaf.getRows(), leaf.getColumn(), leaf.getWidth()})
    if (count && !loop.isDefinedOutsideOfLoop(count) && !getConstantIntValue(count))
      return false;
  IndexForm since = *lower + forms.notNegative();
  IndexPlace before = placeAt(since), now = placeAt(since + 1);
  Value memory = forms.chosenOf(read.getMemory(), now);
  if (memory != made.getMemory() || !loop.isDefinedOutsideOfLoop(memory))
    return false;
  bool isOneRow = leaf.getMost() == 1;
  return isSame(forms.beginOf(read, now), forms.beginOf(made, before)) &&
         (isOneRow || (leaf.getVaries()[view.input] && isSame(forms.stepOf(read, now), forms.stepOf(made, before))));
}

SmallVector<CarriedView> CarriedViews::find() {
  SmallVector<CarriedView> found;
  for (unsigned output = 0; output < leaf.getOutputs().size(); ++output)
    for (unsigned input = 0; input < leaf.getInputs().size(); ++input)
      if (CarriedView view{input, output}; isCarried(view)) {
        found.push_back(view);
        break;
      }
  return found;
}

//===----------------------------------------------------------------------===//
// Who else meets the memory
//===----------------------------------------------------------------------===//

static bool isOwn(Value memory) { return isa_and_nonnull<loops::AllocOp, loops::SplatOp>(memory.getDefiningOp()); }

/// A kernel's own memory is nothing else's; what it is given may be one memory under two names.
static bool mayBeOne(Value a, Value b) { return a == b || (!isOwn(a) && !isOwn(b)); }

/// All that memory may be which is chosen at run time.
static void addSources(Value memory, SmallVectorImpl<Value> &sources) {
  auto branch = memory.getDefiningOp<scf::IfOp>();
  if (!branch)
    return sources.push_back(memory);
  unsigned number = cast<OpResult>(memory).getResultNumber();
  addSources(branch.thenYield().getOperand(number), sources);
  addSources(branch.elseYield().getOperand(number), sources);
}

/// Calls `callback` for each use of a memory by views, loads and stores, under whatever name; false where it is met in another way.
static bool forEachUse(Value memory, llvm::function_ref<void(OpOperand &)> callback) {
  for (OpOperand &use : memory.getUses()) {
    Operation *user = use.getOwner();
    if (isa<memref::DeallocOp, loops::StagedOp>(user))
      continue;
    if (auto yield = dyn_cast<scf::YieldOp>(user); yield && isa<scf::IfOp>(yield->getParentOp())) {
      if (!forEachUse(yield->getParentOp()->getResult(use.getOperandNumber()), callback))
        return false;
    } else if (isa<memref::LoadOp, memref::StoreOp>(user)) {
      callback(use);
    } else if (isa<loops::ViewOp>(user)) {
      for (OpOperand &ofView : user->getUses())
        if (!isa<loops::LeafOp>(ofView.getOwner()))
          return false;
      for (OpOperand &ofView : user->getUses())
        callback(ofView);
    } else {
      return false;
    }
  }
  return true;
}

static bool isWrite(OpOperand &use) {
  auto leaf = dyn_cast<loops::LeafOp>(use.getOwner());
  return leaf ? use.getOperandNumber() >= leaf.getOutputs().getBeginOperandIndex() : isa<memref::StoreOp>(use.getOwner());
}

/// What operations in a loop, but for this one, write.
static void findWritten(scf::ForOp loop, Operation *leaf, SmallVectorImpl<Value> &written) {
  loop.walk([&](Operation *op) {
    if (auto store = dyn_cast<memref::StoreOp>(op))
      addSources(store.getMemRef(), written);
    if (auto other = dyn_cast<loops::LeafOp>(op); other && op != leaf)
      for (Value view : other.getOutputs())
        if (auto here = view.getDefiningOp<loops::ViewOp>())
          addSources(here.getMemory(), written);
  });
}

/// Whether the values that an address is made of are computed anywhere: what is loaded in the loop, or checked, is not.
static bool isComputedAnywhere(Value value, scf::ForOp loop) {
  Operation *op = value.getDefiningOp();
  if (loop.isDefinedOutsideOfLoop(value) || value == loop.getInductionVar())
    return true;
  if (!op || !isMemoryEffectFree(op))
    return false;
  bool isFree = llvm::all_of(op->getOperands(), [&](Value operand) { return isComputedAnywhere(operand, loop); });
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      isFree &= operand.getParentRegion()->getParentOp() == op || (operand.getDefiningOp() && op->isAncestor(operand.getDefiningOp())) ||
                isComputedAnywhere(operand, loop);
  });
  return isFree;
}

std::string CarriedViews::describeMet(CarriedView view) {
  if (!isComputedAnywhere(leaf.getInputs()[view.input], loop) || !isComputedAnywhere(leaf.getOutputs()[view.output], loop))
    return "their addresses depend on what the loop loads";
  if (!leaf.getOverlaps())
    return "nothing is known of the memory that the leaf's outputs overlap (overlaps)";
  for (auto overlap : leaf.getOverlaps()->getAsRange<loops::OverlapAttr>())
    if (overlap.getOutput() == int64_t(view.output) && overlap.getInput() != int64_t(view.input))
      return "the output may lie where input " + std::to_string(overlap.getInput()) + " does";
  Value memory = outputOf(view).getMemory();
  OpOperand &own = leaf.getOutputsMutable()[view.output];
  bool isWrittenElse = false;
  bool isKnown = forEachUse(memory, [&](OpOperand &use) { isWrittenElse |= &use != &own && isWrite(use) && loop->isAncestor(use.getOwner()); });
  if (!isKnown)
    return "their memory is met in another way than by leaves, loads and stores";
  SmallVector<Value> written, begins;
  findWritten(loop, leaf, written);
  addSources(inputOf(view).getMemory(), begins);
  begins.push_back(memory);
  for (Value other : written)
    isWrittenElse |= llvm::any_of(begins, [&](Value begin) { return mayBeOne(begin, other); });
  return isWrittenElse ? "something else in the loop may write their memory" : "";
}

/// Whether the output lies elsewhere in the next iteration.
bool CarriedViews::moves(CarriedView view) {
  IndexForm since = *lower + forms.notNegative();
  std::optional<IndexForm> now = forms.beginOf(outputOf(view), placeAt(since)), next = forms.beginOf(outputOf(view), placeAt(since + 1));
  return !now || !next || !(*now == *next);
}

/// After the loop, where it has had an iteration: else it has written nothing.
IndexPlace CarriedViews::placeBehind() {
  IndexPlace place;
  place.notNegative.push_back(*upper - *lower - 1);
  return place;
}

/// Whether a leaf reads there, for each of its rows, what the loop's last iteration has made of the output.
bool CarriedViews::isLastAt(CarriedView view, OpOperand &use, IndexPlace there) {
  auto reader = dyn_cast<loops::LeafOp>(use.getOwner());
  auto read = use.get().getDefiningOp<loops::ViewOp>();
  if (!reader || !read || !upper || read.getType() != outputOf(view).getType() || forms.chosenOf(read.getMemory(), there) != outputOf(view).getMemory())
    return false;
  bool isOneRow = reader.getMost() == 1 && leaf.getMost() == 1;
  IndexPlace last = placeAt(*upper - 1);
  return isSame(forms.beginOf(read, there), forms.beginOf(outputOf(view), last)) &&
         (isOneRow || isSame(forms.stepOf(read, there), forms.stepOf(outputOf(view), last)));
}

static unsigned inputOfUse(OpOperand &use) { return use.getOperandNumber() - cast<loops::LeafOp>(use.getOwner()).getInputs().getBeginOperandIndex(); }

/// Whether a leaf reads what a loop between has made last, which goes on with what this one has made: if that loop has no iteration it is this one's.
bool CarriedViews::isLastOfNext(CarriedView view, OpOperand &use, ArrayRef<OpOperand *> uses) {
  return llvm::any_of(uses, [&](OpOperand *between) {
    auto next = dyn_cast<loops::LeafOp>(between->getOwner());
    if (!next || between == &use)
      return false;
    CarriedViews behind(next, launches);
    if (!behind.isInLoop() || behind.loop == loop || !behind.lower || !behind.upper || behind.loop->getBlock() != loop->getBlock() ||
        !loop->isBeforeInBlock(behind.loop))
      return false;
    Operation *there = loop->getBlock()->findAncestorOpInBlock(*use.getOwner());
    std::optional<IndexForm> begin = forms.formOf(behind.loop.getLowerBound(), IndexPlace()), end = forms.formOf(behind.loop.getUpperBound(), IndexPlace());
    if (!there || !behind.loop->isBeforeInBlock(there) || !begin || !end || !forms.isNeverNegative(*end - *begin, placeBehind()) ||
        !forms.isNeverNegative(*end - 1, placeBehind()))
      return false;
    IndexPlace first = placeBehind();
    first.bound[behind.loop.getInductionVar()] = *begin;
    return isLastAt(view, *between, first) && llvm::any_of(behind.find(), [&](CarriedView other) {
             if (other.input != inputOfUse(*between))
               return false;
             // (Where the loop between has no iteration, its last one would be the one before its first: the same memory.)
             IndexPlace reached;
             reached.notNegative.push_back(*behind.upper - 1);
             return behind.isLastAt(other, use, reached);
           });
  });
}

/// Whether what is read after the loop, there, may be what another iteration than the last one has made.
bool CarriedViews::isSeenBehind(CarriedView view, OpOperand &use, ArrayRef<OpOperand *> uses) {
  auto reader = dyn_cast<loops::LeafOp>(use.getOwner());
  if (!reader || !upper)
    return true;
  IndexPlace there = placeBehind();
  // In a loop that goes on with what this one has made, later iterations read what earlier ones of its own make.
  CarriedViews behind(reader, launches);
  if (behind.isInLoop() && llvm::any_of(behind.find(), [&](CarriedView other) { return other.input == inputOfUse(use); }))
    if (std::optional<IndexForm> begin = forms.formOf(behind.loop.getLowerBound(), IndexPlace()))
      there.bound[behind.loop.getInductionVar()] = *begin;
  return !isLastAt(view, use, there) && !isLastOfNext(view, use, uses);
}

/// Whether nothing but conditions stands between the loop and the body that makes the memory: it runs once for each.
static Operation *findOnce(scf::ForOp loop, loops::AllocOp alloc) {
  Operation *op = loop;
  for (; op && op->getBlock() != alloc->getBlock(); op = op->getParentOp())
    if (op != loop && !isa<scf::IfOp>(op))
      return nullptr;
  return op;
}

std::string CarriedViews::describeSeen(CarriedView view) {
  Value memory = outputOf(view).getMemory();
  OpOperand *own = &leaf.getInputsMutable()[view.input];
  SmallVector<OpOperand *> inside, outside;
  forEachUse(memory, [&](OpOperand &use) {
    if (!isWrite(use) && &use != own)
      (loop->isAncestor(use.getOwner()) ? inside : outside).push_back(&use);
  });
  if (!inside.empty())
    return "something else in the loop reads it";
  auto handed = leaf->getAttrOfType<DenseI64ArrayAttr>(loops::names::handed);
  if (!moves(view) || (handed && llvm::is_contained(handed.asArrayRef(), int64_t(view.output))))
    return "";
  auto alloc = memory.getDefiningOp<loops::AllocOp>();
  if (!alloc)
    return "each iteration writes another part of memory that others may read";
  Operation *once = findOnce(loop, alloc);
  for (OpOperand *use : outside) {
    Operation *there = once ? once->getBlock()->findAncestorOpInBlock(*use->getOwner()) : nullptr;
    if (there && there != once && there->isBeforeInBlock(once))
      continue;
    if (!there || there == once || isSeenBehind(view, *use, outside))
      return "what is read after the loop may be of another iteration than the last one";
  }
  return "";
}
