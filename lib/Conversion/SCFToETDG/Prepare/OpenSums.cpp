//===- OpenSums.cpp - sums over sizes that a call binds -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A product of `tensor<?x?xf32>` sums over a length, which no leaf does. Where a function has such sums, its operations on open
// sizes become loops over these, with slices of one element in each open dimension and whole ones in the others: then it is raised as
// any program of loops.
//
//===----------------------------------------------------------------------===//
#include "ft/Conversion/SCFToETDG/Prepare/Prepare.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace mlir::ft::raising;

/// The loops of an operation whose ranges are open.
static SmallVector<unsigned> openLoops(linalg::LinalgOp op) {
  SmallVector<unsigned> open;
  for (auto [d, size] : llvm::enumerate(op.getStaticLoopRanges()))
    if (ShapedType::isDynamic(size))
      open.push_back(d);
  return open;
}

bool mlir::ft::raising::sumsOverOpenSizes(func::FuncOp function) {
  return function
      .walk([](linalg::LinalgOp op) {
        SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
        bool sums = llvm::any_of(openLoops(op), [&](unsigned d) { return kinds[d] == utils::IteratorType::reduction; });
        return sums ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

namespace {
/// Rewrites one operation.
class OpenLoops {
public:
  OpenLoops(IRRewriter &b, linalg::GenericOp op) : b(b), op(op), loc(op.getLoc()), open(openLoops(op)) {}
  void rewrite();

private:
  Value sizeOf(Value tensor, int64_t dim);
  Value boundOf(unsigned loop);
  /// The part of an operand that one point of the open loops touches.
  struct Part {
    SmallVector<OpFoldResult> offsets, sizes, strides;
    RankedTensorType type;
  };
  Part partOf(OpOperand &operand);
  SmallVector<Value> computePoint(ValueRange outputs);

  IRRewriter &b;
  linalg::GenericOp op;
  Location loc;
  SmallVector<unsigned> open;
  DenseMap<unsigned, Value> points; // of the open loops
};
} // namespace

/// A size as a value that is known to be one of an argument's, where that can be seen.
Value OpenLoops::sizeOf(Value tensor, int64_t dim) {
  while (auto result = dyn_cast<OpResult>(tensor)) {
    if (auto empty = dyn_cast<tensor::EmptyOp>(result.getOwner()))
      return empty.getType().isDynamicDim(dim) ? empty.getDynamicSize(dim) : Value(arith::ConstantIndexOp::create(b, loc, empty.getType().getDimSize(dim)));
    auto loop = dyn_cast<scf::ForOp>(result.getOwner());
    auto destination = dyn_cast<DestinationStyleOpInterface>(result.getOwner());
    if (loop)
      tensor = loop.getInitArgs()[result.getResultNumber()];
    else if (destination)
      tensor = destination.getTiedOpOperand(result)->get();
    else
      break;
  }
  return tensor::DimOp::create(b, loc, tensor, dim);
}

Value OpenLoops::boundOf(unsigned loop) {
  for (OpOperand &operand : op->getOpOperands())
    for (auto [d, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults()))
      if (cast<AffineDimExpr>(expr).getPosition() == loop)
        return sizeOf(operand.get(), int64_t(d));
  llvm_unreachable("a loop of a structured operation ranges over some operand");
}

OpenLoops::Part OpenLoops::partOf(OpOperand &operand) {
  auto type = cast<RankedTensorType>(operand.get().getType());
  Part part;
  SmallVector<int64_t> shape;
  for (auto [d, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults())) {
    Value point = points.lookup(cast<AffineDimExpr>(expr).getPosition());
    shape.push_back(point ? 1 : type.getDimSize(d));
    part.offsets.push_back(point ? OpFoldResult(point) : b.getIndexAttr(0));
    part.sizes.push_back(b.getIndexAttr(shape.back()));
    part.strides.push_back(b.getIndexAttr(1));
  }
  part.type = RankedTensorType::get(shape, type.getElementType());
  return part;
}

SmallVector<Value> OpenLoops::computePoint(ValueRange outputs) {
  SmallVector<Value> operands;
  SmallVector<Part> parts;
  for (OpOperand &operand : op->getOpOperands()) {
    bool isOutput = op.isDpsInit(&operand);
    Value whole = isOutput ? outputs[operand.getOperandNumber() - op.getNumDpsInputs()] : operand.get();
    if (!isa<RankedTensorType>(whole.getType())) {
      operands.push_back(whole);
      continue;
    }
    Part part = partOf(operand);
    operands.push_back(tensor::ExtractSliceOp::create(b, loc, part.type, whole, part.offsets, part.sizes, part.strides));
    if (isOutput)
      parts.push_back(part);
  }
  ValueRange all = operands, inits = all.take_back(op.getNumDpsInits());
  auto made = linalg::GenericOp::create(b, loc, inits.getTypes(), all.drop_back(op.getNumDpsInits()), inits, op.getIndexingMapsArray(),
                                        op.getIteratorTypesArray());
  IRMapping mapping;
  op.getRegion().cloneInto(&made.getRegion(), mapping);
  made.walk([&](linalg::IndexOp index) {
    if (Value point = points.lookup(index.getDim()))
      b.replaceOp(index, point);
  });
  SmallVector<Value> results;
  for (auto [result, whole, part] : llvm::zip_equal(made.getResults(), outputs, parts))
    results.push_back(tensor::InsertSliceOp::create(b, loc, result, whole, part.offsets, part.sizes, part.strides));
  return results;
}

void OpenLoops::rewrite() {
  b.setInsertionPoint(op);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0), one = arith::ConstantIndexOp::create(b, loc, 1);
  SmallVector<Value> bounds = llvm::map_to_vector(open, [&](unsigned loop) { return boundOf(loop); });
  SmallVector<scf::ForOp> loops;
  SmallVector<Value> outputs(op.getOutputs());
  for (auto [number, bound] : llvm::zip_equal(open, bounds)) {
    auto loop = scf::ForOp::create(b, loc, zero, bound, one, outputs, [](OpBuilder &, Location, Value, ValueRange) {});
    points[number] = loop.getInductionVar();
    outputs.assign(loop.getRegionIterArgs().begin(), loop.getRegionIterArgs().end());
    loops.push_back(loop);
    b.setInsertionPointToStart(loop.getBody());
  }
  SmallVector<Value> results = computePoint(outputs);
  for (scf::ForOp loop : llvm::reverse(loops)) {
    b.setInsertionPointToEnd(loop.getBody());
    scf::YieldOp::create(b, loc, results);
    results.assign(loop->result_begin(), loop->result_end());
  }
  b.replaceOp(op, results);
}

LogicalResult mlir::ft::raising::loopOverOpenSizes(func::FuncOp function, Refusal &refusal) {
  IRRewriter rewriter(function.getContext());
  RewritePatternSet patterns(function.getContext());
  linalg::populateElementwiseToLinalgConversionPatterns(patterns);
  (void)applyPatternsGreedily(function, std::move(patterns));
  SmallVector<linalg::LinalgOp> found;
  function.walk([&](linalg::LinalgOp op) {
    if (!openLoops(op).empty())
      found.push_back(op);
  });
  for (linalg::LinalgOp op : found) {
    rewriter.setInsertionPoint(op);
    auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
    if (!generic)
      if (FailureOr<linalg::GenericOp> made = linalg::generalizeNamedOp(rewriter, op); succeeded(made))
        generic = *made;
    auto isPlain = [](AffineMap map) { return map.isProjectedPermutation(); };
    if (!generic || !llvm::all_of(generic.getIndexingMapsArray(), isPlain))
      return refusal.refuse(op.getLoc(), "sums over an open size, and an operation on open sizes reads at sums of its loops");
    OpenLoops(rewriter, generic).rewrite();
  }
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(function.getBody().front())))
    if (isOpTriviallyDead(&op))
      rewriter.eraseOp(&op);
  return success();
}
