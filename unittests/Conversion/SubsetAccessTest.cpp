//===- SubsetAccessTest.cpp - raising takes accesses of any dialect -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A dialect that the compiler does not know, with a read and a write of one row:
// by the interface alone its loops become the graph that slices give.
//
//===----------------------------------------------------------------------===//
#include "ft/Conversion/SCFToETDG/SCFToETDG.h"
#include "ft/Interfaces/SubsetAccess.h"

#include "ft/Dialect/ETDG/IR/ETDG.h"
#include "ft/Dialect/FT/IR/FT.h"
#include "ft/InitAll.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include <gtest/gtest.h>

using namespace mlir;

namespace {

/// What both operations say of their row, whose index is their last operand.
template <typename Concrete, unsigned numOperands>
class RowOp : public Op<Concrete, OpTrait::OneResult, OpTrait::NOperands<numOperands>::template Impl,
                        OpTrait::ZeroRegions, OpTrait::ZeroSuccessors, ft::SubsetAccessOpInterface::Trait> {
public:
  using Op<Concrete, OpTrait::OneResult, OpTrait::NOperands<numOperands>::template Impl, OpTrait::ZeroRegions,
           OpTrait::ZeroSuccessors, ft::SubsetAccessOpInterface::Trait>::Op;
  static ArrayRef<StringRef> getAttributeNames() { return {}; }

  OpOperand &getBaseOperand() { return (*this)->getOpOperand(0); }
  OpOperand *getUpdateOperand() { return numOperands == 3 ? &(*this)->getOpOperand(1) : nullptr; }
  bool isScalar() { return false; }
  SmallVector<OpFoldResult> getSubsetOffsets() {
    SmallVector<OpFoldResult> offsets(shape().size(), number(0));
    offsets[0] = (*this)->getOperand(numOperands - 1);
    return offsets;
  }
  SmallVector<OpFoldResult> getSubsetSizes() {
    SmallVector<OpFoldResult> sizes = {number(1)};
    for (int64_t extent : shape().drop_front())
      sizes.push_back(number(extent));
    return sizes;
  }
  SmallVector<OpFoldResult> getSubsetStrides() { return SmallVector<OpFoldResult>(shape().size(), number(1)); }
  llvm::SmallBitVector getSubsetDroppedDims() {
    llvm::SmallBitVector dropped(shape().size());
    dropped.set(0);
    return dropped;
  }
  Value createReadOfSubset(OpBuilder &builder) {
    if (numOperands == 2)
      return (*this)->getResult(0);
    OperationState state((*this)->getLoc(), "rows.take", ValueRange{base(), (*this)->getOperand(numOperands - 1)},
                         TypeRange{(*this)->getOperand(1).getType()});
    return builder.create(state)->getResult(0);
  }

private:
  Value base() { return (*this)->getOperand(0); }
  ArrayRef<int64_t> shape() { return cast<RankedTensorType>(base().getType()).getShape(); }
  OpFoldResult number(int64_t value) { return Builder((*this)->getContext()).getIndexAttr(value); }
};

/// %row = rows.take %base, %i
class TakeOp : public RowOp<TakeOp, 2> {
public:
  using RowOp::RowOp;
  static StringRef getOperationName() { return "rows.take"; }
};

/// %after = rows.put %base, %row, %i
class PutOp : public RowOp<PutOp, 3> {
public:
  using RowOp::RowOp;
  static StringRef getOperationName() { return "rows.put"; }
};

class RowsDialect : public Dialect {
public:
  explicit RowsDialect(MLIRContext *context) : Dialect("rows", context, TypeID::get<RowsDialect>()) {
    addOperations<TakeOp, PutOp>();
  }
  static StringRef getDialectNamespace() { return "rows"; }
};

/// A running sum of rows; `take` and `put` are the texts of a read and of a write of row %i.
std::string program(StringRef take, StringRef put) {
  return (R"(
func.func @sums(%x: tensor<?x3xf32> {etdg.dims = ["L", ""]}) -> tensor<?x3xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x3xf32>
  %none = tensor.empty(%n) : tensor<?x3xf32>
  %zero = arith.constant dense<0.0> : tensor<3xf32>
  %all:2 = scf.for %i = %c0 to %n step %c1 iter_args(%y = %none, %sum = %zero) -> (tensor<?x3xf32>, tensor<3xf32>) {
    %row = )" + take + R"(
    %next = arith.addf %row, %sum : tensor<3xf32>
    %after = )" + put + R"(
    scf.yield %after, %next : tensor<?x3xf32>, tensor<3xf32>
  }
  return %all#0 : tensor<?x3xf32>
})").str();
}

/// A recurrent layer over rows of a batch, which becomes a loop around; `take` and `put` are of step %t.
std::string batchProgram(StringRef take, StringRef put) {
  return (R"(
func.func @rows(%h0: tensor<5x11xf32>, %x: tensor<7x5x11xf32>, %w: tensor<11x11xf32>) -> tensor<7x5x11xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %out = tensor.empty() : tensor<7x5x11xf32>
  %r:2 = scf.for %t = %c0 to %c7 step %c1 iter_args(%y = %out, %h = %h0) -> (tensor<7x5x11xf32>, tensor<5x11xf32>) {
    %xt = )" + take + R"(
    %p = linalg.matmul ins(%h, %w : tensor<5x11xf32>, tensor<11x11xf32>) outs(%xt : tensor<5x11xf32>) -> tensor<5x11xf32>
    %e = tensor.empty() : tensor<5x11xf32>
    %n = linalg.tanh ins(%p : tensor<5x11xf32>) outs(%e : tensor<5x11xf32>) -> tensor<5x11xf32>
    %z = )" + put + R"(
    scf.yield %z, %n : tensor<7x5x11xf32>, tensor<5x11xf32>
  }
  return %r#0 : tensor<7x5x11xf32>
})").str();
}

/// The graph that the program is raised to; empty where it is not.
std::string raised(MLIRContext &context, const std::string &text) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  if (!module)
    return "no module";
  PassManager manager(&context);
  if (failed(parsePassPipeline("convert-scf-to-etdg", manager)) || failed(manager.run(*module)))
    return "no pass";
  std::string out;
  llvm::raw_string_ostream stream(out);
  module->walk([&](etdg::GraphOp graph) { graph.print(stream); });
  return out;
}

class SubsetAccess : public ::testing::Test {
protected:
  SubsetAccess() : context(makeRegistry()) { ft::registerOwnPasses([] { return false; }); }
  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    registry.insert<RowsDialect, arith::ArithDialect, func::FuncDialect, linalg::LinalgDialect, math::MathDialect,
                    scf::SCFDialect, tensor::TensorDialect, ft::FTDialect, etdg::ETDGDialect>();
    return registry;
  }
  MLIRContext context;
};

TEST_F(SubsetAccess, ForeignOperationsAreRaisedAsSlicesAre) {
  std::string slices = raised(
      context, program("tensor.extract_slice %x[%i, 0] [1, 3] [1, 1] : tensor<?x3xf32> to tensor<3xf32>",
                       "tensor.insert_slice %next into %y[%i, 0] [1, 3] [1, 1] : tensor<3xf32> into tensor<?x3xf32>"));
  std::string rows =
      raised(context, program("\"rows.take\"(%x, %i) : (tensor<?x3xf32>, index) -> tensor<3xf32>",
                              "\"rows.put\"(%y, %next, %i) : (tensor<?x3xf32>, tensor<3xf32>, index) -> tensor<?x3xf32>"));
  EXPECT_NE(slices.find("etdg.graph @sums"), std::string::npos) << slices;
  EXPECT_EQ(rows, slices);
}

TEST_F(SubsetAccess, ForeignOperationsHaveABatch) {
  std::string slices = raised(
      context,
      batchProgram("tensor.extract_slice %x[%t, 0, 0] [1, 5, 11] [1, 1, 1] : tensor<7x5x11xf32> to tensor<5x11xf32>",
                   "tensor.insert_slice %n into %y[%t, 0, 0] [1, 5, 11] [1, 1, 1] : tensor<5x11xf32> into tensor<7x5x11xf32>"));
  std::string rows = raised(
      context, batchProgram("\"rows.take\"(%x, %t) : (tensor<7x5x11xf32>, index) -> tensor<5x11xf32>",
                            "\"rows.put\"(%y, %n, %t) : (tensor<7x5x11xf32>, tensor<5x11xf32>, index) -> tensor<7x5x11xf32>"));
  EXPECT_NE(slices.find("[map, scanl]"), std::string::npos) << slices;
  EXPECT_EQ(rows, slices);
}

TEST_F(SubsetAccess, PartsAndReshapesHaveMaps) {
  auto module = parseSourceString<ModuleOp>(R"(
func.func @f(%x: tensor<6x8xf32>, %i: index) {
  %part = tensor.extract_slice %x[2, 1] [1, 3] [1, 2] : tensor<6x8xf32> to tensor<3xf32>
  %wide = tensor.expand_shape %x [[0, 1], [2]] output_shape [2, 3, 8] : tensor<6x8xf32> into tensor<2x3x8xf32>
  %flat = tensor.collapse_shape %x [[0, 1]] : tensor<6x8xf32> into tensor<48xf32>
  %at = tensor.extract_slice %x[%i, 0] [1, 8] [1, 1] : tensor<6x8xf32> to tensor<8xf32>
  %same = tensor.cast %x : tensor<6x8xf32> to tensor<?x8xf32>
  return
})", &context);
  ASSERT_TRUE(module);
  DialectRegistry models;
  ft::registerSubsetAccessModels(models);
  context.appendDialectRegistry(models);
  std::vector<std::string> maps;
  for (Operation &op : module->lookupSymbol<func::FuncOp>("f").getBody().front().without_terminator()) {
    llvm::raw_string_ostream stream(maps.emplace_back());
    if (AffineMap map = ft::getElementMap(&op))
      stream << map;
  }
  std::vector<std::string> expected = {"(d0) -> (2, d0 * 2 + 1)", "(d0, d1, d2) -> (d0 * 3 + d1, d2)",
                                       "(d0) -> (d0 floordiv 8, d0 mod 8)", "", ""};
  EXPECT_EQ(maps, expected);
}

} // namespace
