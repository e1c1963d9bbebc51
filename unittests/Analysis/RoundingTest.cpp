//===- RoundingTest.cpp - the coarsest type that a result went through ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Analysis/Rounding.h"

#include "ft/InitAll.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"
#include <gtest/gtest.h>

using namespace mlir;

namespace {
/// The types of @f's results, or "exact", with commas.
std::string roundingsOf(StringRef source) {
  DialectRegistry registry;
  ft::registerAllDialects(registry);
  MLIRContext context(registry);
  std::string text = "!h = tensor<1x4xf16>\n!w = tensor<4x4xf16>\n!x = tensor<1x4xf32>\n" + source.str();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  if (!module)
    return "does not parse";
  std::string result;
  llvm::raw_string_ostream os(result);
  llvm::interleaveComma(ft::findCoarsestRounding(module->lookupSymbol<func::FuncOp>("f")), os, [&](FloatType type) {
    if (type)
      os << type;
    else
      os << "exact";
  });
  return result;
}
} // namespace

TEST(Rounding, ArgumentsAndMovesAreExact) {
  EXPECT_EQ(roundingsOf(R"(
    func.func @f(%hs: !ft.list<[L], !h>, %xs: !ft.list<[L], !x>) -> (!ft.list<[L], !h>, !ft.list<[L], !x>) {
      %r = ft.reverse %hs : !ft.list<[L], !h>
      %y = ft.map (%h, %x = %r, %xs : !ft.list<[L], !h>, !ft.list<[L], !x>) {
        %w = arith.extf %h : !h to !x
        %s = arith.addf %w, %x : !x
        ft.yield %s : !x
      }
      return %r, %y : !ft.list<[L], !h>, !ft.list<[L], !x>
    })"),
            "exact, f32");
}

TEST(Rounding, GoesThroughStatesAndBack) {
  // The emitted f32 value holds what the state, rounded to f16, gave the iteration before; the other result doesn't.
  EXPECT_EQ(roundingsOf(R"(
    func.func @f(%xs: !ft.list<[L], !x>) -> (!h, !ft.list<[L], !x>, !ft.list<[L], !x>) {
      %z = arith.constant dense<0.0> : !h
      %last, %ys, %ds = ft.foldl (%x = %xs : !ft.list<[L], !x>) init (%h = %z : !h) {
        %w = arith.extf %h : !h to !x
        %s = arith.addf %w, %x : !x
        %n = arith.truncf %s : !x to !h
        %d = arith.addf %x, %x : !x
        ft.yield %n : !h emit %s, %d : !x, !x
      }
      return %last, %ys, %ds : !h, !ft.list<[L], !x>, !ft.list<[L], !x>
    })"),
            "f16, f16, f32");
}

TEST(Rounding, ProductsRoundToTheirSum) {
  EXPECT_EQ(roundingsOf(R"(
    func.func @f(%h: !h, %w: !w) -> (!x, !h) {
      %z = arith.constant dense<0.0> : !x
      %y = arith.constant dense<0.0> : !h
      %p = linalg.matmul ins(%h, %w : !h, !w) outs(%z : !x) -> !x
      %q = linalg.matmul ins(%h, %w : !h, !w) outs(%y : !h) -> !h
      return %p, %q : !x, !h
    })"),
            "f32, f16");
}

TEST(Rounding, CallsAndLoops) {
  EXPECT_EQ(roundingsOf(R"(
    func.func @narrow(%x: !x) -> !x {
      %h = arith.truncf %x : !x to !h
      %y = arith.extf %h : !h to !x
      return %y : !x
    }
    func.func @f(%x: !x, %n: index) -> (!x, !x) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %a = func.call @narrow(%x) : (!x) -> !x
      %b = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x) -> !x {
        %t = math.exp %s : !x
        scf.yield %t : !x
      }
      return %a, %b : !x, !x
    })"),
            "f16, f32");
}
