//===- LeafMemory.cpp - what leaves add up in, and what they may overwrite -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two things that no type of a leaf says: in which type its sums of halves accumulate (`sums`), and which of its outputs may lie where its
// inputs do (`overlaps`). They are checked here against the region, the views and the launches, and read here for those who make code.
//
//===----------------------------------------------------------------------===//
#include "ft/Dialect/Loops/IR/Loops.h"

#include "ft/Dialect/ETDG/IR/InPlace.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::loops;

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

static bool isHalf(Type type) { return type.isF16() || type.isBF16(); }

SmallVector<Type> loops::halvesSummed(Block &body) {
  llvm::SmallSetVector<Type, 2> halves;
  auto take = [&](TypeRange types) {
    for (Type type : types)
      if (Type element = getElementTypeOrSelf(type); isHalf(element))
        halves.insert(element);
  };
  for (Operation &op : body) {
    if (isa<linalg::AggregatedOpInterface>(op)) // its parts are not here yet
      take(op.getResultTypes());
    auto structured = dyn_cast<linalg::LinalgOp>(op);
    if (!structured || structured.getNumReductionLoops() == 0)
      continue;
    take(op.getResultTypes());
    op.walk([&](Operation *inner) { take(inner->getResultTypes()); });
  }
  return halves.takeVector();
}

bool loops::roundsSums(LeafOp leaf) {
  bool isWide = leaf.getSums() && !isHalf(*leaf.getSums());
  return !isWide && !halvesSummed(leaf.getBody().front()).empty();
}

LogicalResult loops::verifySums(LeafOp leaf) {
  std::optional<Type> sums = leaf.getSums();
  if (!sums)
    return success();
  SmallVector<Type> halves = halvesSummed(leaf.getBody().front());
  if (halves.empty())
    return leaf.emitOpError("expected no sums where no operation adds up f16 or bf16, found sums ") << *sums << " (loops_leaf11)";
  for (Type half : halves)
    if (*sums != half && sums->getIntOrFloatBitWidth() <= half.getIntOrFloatBitWidth())
      return leaf.emitOpError("expected sums in a float that is wider than ") << half << ", which it adds up, or in that, found sums " << *sums
                                                                             << " (loops_leaf11)";
  return success();
}

//===----------------------------------------------------------------------===//
// Overlaps
//===----------------------------------------------------------------------===//

/// Whether the output is the input as it is.
static bool isCopied(Block &body, OverlapAttr overlap) {
  return body.getTerminator()->getOperand(overlap.getOutput()) == body.getArgument(overlap.getInput());
}

SmallVector<bool> loops::outputsWrittenLast(LeafOp leaf) {
  Block &body = leaf.getBody().front();
  SmallVector<bool> last(body.getTerminator()->getNumOperands(), !leaf.getOverlaps());
  if (leaf.getOverlaps())
    for (auto overlap : leaf.getOverlaps()->getAsRange<OverlapAttr>())
      last[overlap.getOutput()] |= overlap.getKind() == OverlapKind::Any || !etdg::isMadeInPlace(body, overlap.getInput(), overlap.getOutput());
  return last;
}

bool loops::hasOverlaps(LeafOp leaf) {
  Block &body = leaf.getBody().front();
  return !leaf.getOverlaps() || !llvm::all_of(leaf.getOverlaps()->getAsRange<OverlapAttr>(), [&](OverlapAttr overlap) {
    return overlap.getKind() == OverlapKind::InPlace && isCopied(body, overlap);
  });
}

bool loops::mayOverlap(LeafOp leaf, unsigned output) {
  return !leaf.getOverlaps() || llvm::any_of(leaf.getOverlaps()->getAsRange<OverlapAttr>(),
                                             [&](OverlapAttr overlap) { return overlap.getOutput() == int64_t(output); });
}

static bool isListed(LeafOp leaf, unsigned output, unsigned input) {
  return llvm::any_of(leaf.getOverlaps()->getAsRange<OverlapAttr>(), [&](OverlapAttr overlap) {
    return overlap.getOutput() == int64_t(output) && overlap.getInput() == int64_t(input);
  });
}

namespace {
/// A view of memory: a dimension that begins at a flat offset, or each of what lies there.
struct Begin {
  Value memory;
  MemRefType type;
  SmallVector<ViewOp::Dim> dims;

  explicit Begin(Value view) {
    Operation *op = view.getDefiningOp();
    type = cast<MemRefType>(view.getType());
    if (auto flat = dyn_cast_or_null<memref::ReinterpretCastOp>(op)) {
      memory = flat.getSource();
      dims.push_back({flat.getMixedOffsets()[0], Builder(op->getContext()).getIndexAttr(1), OpFoldResult()});
    } else if (auto kept = dyn_cast_or_null<ViewOp>(op)) {
      memory = kept.getMemory();
      dims = kept.getDims();
    }
  }
  /// The number of its first element, where it is a constant.
  std::optional<int64_t> getConstant() const {
    int64_t begin = 0;
    for (const ViewOp::Dim &dim : dims) {
      std::optional<int64_t> index = getConstantIntValue(dim.index), stride = getConstantIntValue(dim.stride);
      if (!index || (*index != 0 && !stride))
        return std::nullopt;
      begin += *index == 0 ? 0 : *index * *stride;
    }
    return begin;
  }
  bool isSame(const Begin &other) const {
    return dims.size() == other.dims.size() && llvm::all_of(llvm::zip(dims, other.dims), [](auto pair) {
             return std::get<0>(pair).index == std::get<1>(pair).index && std::get<0>(pair).stride == std::get<1>(pair).stride;
           });
  }
};
} // namespace

/// The first element of a view's rows and the one after the last of row 0, where both are constants.
static std::optional<std::pair<int64_t, int64_t>> firstRowOf(const Begin &view) {
  std::optional<int64_t> begin = view.getConstant();
  std::optional<SmallVector<int64_t>> strides = getRowStrides(view.type);
  ArrayRef<int64_t> shape = view.type.getShape().drop_front();
  if (!begin || !strides)
    return std::nullopt;
  int64_t end = *begin + 1;
  for (auto [extent, stride] : llvm::zip_equal(shape, *strides))
    end += (extent - 1) * stride;
  return std::pair(*begin, end);
}

/// Whether row 0 of two views is surely one memory, at least in part.
static bool surelyOverlap(Value input, Value output) {
  for (Value view : {input, output})
    if (llvm::is_contained(cast<MemRefType>(view.getType()).getShape(), 0)) // of nothing there is nothing to overlap
      return false;
  if (input == output)
    return true;
  Begin a(input), b(output);
  if (!a.memory || a.memory != b.memory || a.type.getElementType() != b.type.getElementType())
    return false;
  if (a.isSame(b))
    return true;
  std::optional<std::pair<int64_t, int64_t>> x = firstRowOf(a), y = firstRowOf(b);
  // (Between elements that lie apart there is room for others.)
  bool hasGaps = getRowStrides(a.type) != getRowStrides(b.type);
  return x && y && !hasGaps && x->first < y->second && y->first < x->second;
}

/// Calls `callback` for each view of an input and each of an output, with their numbers: those that a list holds have none.
static LogicalResult forEachPair(LeafOp leaf, llvm::function_ref<LogicalResult(unsigned, Value, unsigned, Value)> callback) {
  if (leaf.getList())
    return success();
  for (auto [o, output] : llvm::enumerate(leaf.getOutputs()))
    for (auto [i, input] : llvm::enumerate(leaf.getInputs()))
      if (failed(callback(unsigned(o), output, unsigned(i), input)))
        return failure();
  return success();
}

LogicalResult loops::verifyOverlaps(LeafOp leaf) {
  std::optional<ArrayAttr> overlaps = leaf.getOverlaps();
  if (!overlaps)
    return success();
  Block &body = leaf.getBody().front();
  const auto inputs = int64_t(body.getNumArguments()), outputs = int64_t(body.getTerminator()->getNumOperands());
  std::pair<int64_t, int64_t> before(-1, -1);
  for (Attribute attribute : *overlaps) {
    auto overlap = dyn_cast<OverlapAttr>(attribute);
    std::pair<int64_t, int64_t> pair(overlap ? overlap.getOutput() : -1, overlap ? overlap.getInput() : -1);
    if (!overlap || pair <= before || pair.first >= outputs || pair.second >= inputs)
      return leaf.emitOpError("expected #loops.overlap of its ")
             << outputs << " outputs and " << inputs << " inputs, in their order, each pair once, found " << attribute << " (loops_leaf12)";
    Type row = body.getTerminator()->getOperand(unsigned(pair.first)).getType(), from = body.getArgument(unsigned(pair.second)).getType();
    if (overlap.getKind() == OverlapKind::InPlace && row != from)
      return leaf.emitOpError("expected rows of one type where an output takes the memory of an input, found ")
             << row << " and " << from << " in " << overlap << " (loops_leaf12)";
    bool hasGaps = !leaf.getList() && overlap.getKind() == OverlapKind::InPlace && !holdsRowsInOrder(cast<MemRefType>(leaf.getInputs()[size_t(pair.second)].getType()));
    if (hasGaps)
      return leaf.emitOpError("expected an input in order and without gaps where an output takes its memory, found ")
             << leaf.getInputs()[size_t(pair.second)].getType() << " (loops_leaf12)";
    before = pair;
  }
  return forEachPair(leaf, [&](unsigned o, Value output, unsigned i, Value input) -> LogicalResult {
    if (isListed(leaf, o, i) || !surelyOverlap(input, output))
      return success();
    InFlightDiagnostic diag = leaf.emitOpError("overlaps say that output ") << o << " overlaps no input, but it begins where input " << i
                                                                            << " has rows (loops_leaf12)";
    diag.attachNote(input.getLoc()) << "the input's rows are here";
    return diag;
  });
}

/// The arguments of a kernel that memory may be.
static void collectArguments(Value memory, llvm::SmallSetVector<unsigned, 2> &arguments) {
  if (auto argument = dyn_cast<BlockArgument>(memory)) {
    if (isa<FunctionOpInterface>(argument.getOwner()->getParentOp()))
      arguments.insert(argument.getArgNumber());
  } else if (auto view = memory.getDefiningOp<memref::ReinterpretCastOp>()) {
    collectArguments(view.getSource(), arguments);
  } else if (auto kept = memory.getDefiningOp<ViewOp>()) {
    collectArguments(kept.getMemory(), arguments);
  } else if (auto branch = memory.getDefiningOp<scf::IfOp>()) {
    unsigned number = cast<OpResult>(memory).getResultNumber();
    collectArguments(branch.thenYield().getOperand(number), arguments);
    collectArguments(branch.elseYield().getOperand(number), arguments);
  }
}

/// Whether two buffers of a program are one memory, in some calls at least.
static bool shareMemory(ProgramOp program, BufferOp a, BufferOp b) {
  if (!a || !b || a == b)
    return false;
  if (a.getSlot() && a.getSlot() == b.getSlot())
    return true;
  std::optional<ArrayRef<int64_t>> pairs = program.getInPlace();
  if (a.getKind() != BufferKind::Argument || b.getKind() != BufferKind::Result || !pairs)
    return false;
  for (size_t i = 0; i + 1 < pairs->size(); i += 2)
    if ((*pairs)[i] == int64_t(*a.getIndex()) && (*pairs)[i + 1] == int64_t(*b.getIndex()))
      return true;
  return false;
}

LogicalResult loops::verifyApart(LaunchOp launch, Operation *kernel) {
  auto program = launch->getParentOfType<ProgramOp>();
  WalkResult walked = kernel->walk([&](LeafOp leaf) {
    if (!leaf.getOverlaps())
      return WalkResult::advance();
    LogicalResult apart = forEachPair(leaf, [&](unsigned o, Value output, unsigned i, Value input) -> LogicalResult {
      if (isListed(leaf, o, i))
        return success();
      llvm::SmallSetVector<unsigned, 2> to, from;
      collectArguments(output, to);
      collectArguments(input, from);
      for (unsigned t : to)
        for (unsigned f : from)
          if (shareMemory(program, launch.getArguments()[f].getDefiningOp<BufferOp>(), launch.getArguments()[t].getDefiningOp<BufferOp>())) {
            InFlightDiagnostic diag = launch.emitOpError("gives arguments ")
                                      << f << " and " << t << " one memory, and a leaf says that its output " << o
                                      << " does not overlap its input " << i << " (loops_launch3)";
            diag.attachNote(leaf.getLoc()) << "the leaf is here";
            return diag;
          }
      return success();
    });
    return succeeded(apart) ? WalkResult::advance() : WalkResult::interrupt();
  });
  return failure(walked.wasInterrupted());
}
