//===- Normalize.cpp - One form for each kind of leaf op ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Analysis/LeafGraph/LeafGraph.h"

#include "ft/Dialect/Math/Transforms/ExpandMath.h"
#include "ft/Dialect/Math/Transforms/IntegerOperations.h"
#include "ft/Support/DataIndices.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace mlir::ft::leaf;

/// tensor.generate is a linalg.generic without inputs.
static void generateToGeneric(IRRewriter &rewriter, tensor::GenerateOp op) {
  auto type = op.getType();
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  Value empty = tensor::EmptyOp::create(rewriter, loc, type.getShape(), type.getElementType());
  SmallVector<utils::IteratorType> iterators(type.getRank(), utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      rewriter, loc, type, ValueRange(), empty,
      AffineMap::getMultiDimIdentityMap(type.getRank(), op.getContext()), iterators,
      [&](OpBuilder &b, Location bodyLoc, ValueRange) {
        IRMapping map;
        for (auto [dim, arg] : llvm::enumerate(op.getBody().getArguments()))
          map.map(arg, linalg::IndexOp::create(b, bodyLoc, dim));
        for (Operation &nested : op.getBody().front().without_terminator())
          b.clone(nested, map);
        auto yield = cast<tensor::YieldOp>(op.getBody().front().getTerminator());
        linalg::YieldOp::create(b, bodyLoc, map.lookupOrDefault(yield.getValue()));
      });
  rewriter.replaceOp(op, generic);
}

static LogicalResult rewriteOp(IRRewriter &rewriter, Operation *op) {
  rewriter.setInsertionPoint(op);
  if (auto generate = dyn_cast<tensor::GenerateOp>(op)) {
    if (generate.getType().hasStaticShape())
      generateToGeneric(rewriter, generate);
    return success();
  }
  if (auto aggregate = dyn_cast<linalg::AggregatedOpInterface>(op)) {
    FailureOr<SmallVector<Value>> parts = aggregate.decomposeOperation(rewriter);
    if (failed(parts))
      return op->emitError("cannot be decomposed");
    rewriter.replaceOp(op, *parts);
    return success();
  }
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    if (!isa<linalg::GenericOp>(op) && failed(linalg::generalizeNamedOp(rewriter, linalgOp)))
      return op->emitError("has no generic form");
  return success();
}

LogicalResult mlir::ft::leaf::normalizeLeaf(func::FuncOp func) {
  IRRewriter rewriter(func.getContext());
  // Softmax decomposes into named ops: twice is enough for every aggregate.
  for (int round = 0; round < 2; ++round) {
    SmallVector<Operation *> ops;
    func.walk([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : ops)
      if (failed(rewriteOp(rewriter, op)))
        return failure();
  }

  SmallVector<linalg::GenericOp> generics;
  func.walk([&](linalg::GenericOp op) { generics.push_back(op); });
  for (linalg::GenericOp op : generics)
    if (failed(makeMapsPlain(rewriter, op)))
      return failure();

  keepDataIndices(func);
  MLIRContext *context = func.getContext();
  RewritePatternSet patterns(context);
  populateAffineToStdConversionPatterns(patterns);
  populateRewriteMathPatterns(patterns);
  populateFoldIntegerPatterns(patterns);
  for (StringRef dialect : {"arith", "linalg", "math", "tensor"})
    if (Dialect *loaded = context->getLoadedDialect(dialect))
      loaded->getCanonicalizationPatterns(patterns);
  for (RegisteredOperationName name : context->getRegisteredOperations())
    if (isa<arith::ArithDialect, linalg::LinalgDialect, math::MathDialect, tensor::TensorDialect>(
            name.getDialect()))
      name.getCanonicalizationPatterns(patterns, context);
  if (failed(applyPatternsGreedily(func, std::move(patterns))))
    return func.emitError("the simplification of the leaf does not end");
  DominanceInfo dominance(func);
  eliminateCommonSubExpressions(rewriter, dominance, func);
  return success();
}
