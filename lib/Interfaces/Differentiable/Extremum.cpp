//===- Extremum.cpp - derivatives of greatest and least elements ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In closed form: no step waits for another. Counts and means of f16 and bf16 are f32.
//
//===----------------------------------------------------------------------===//
#include "Builders.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::derivatives;

/// `value` where `x` is the extremum, else zero.
static Value keepWhereEqual(Writer &w, Value x, Value extremum, Value value) {
  Value same = arith::CmpFOp::create(w.b, w.loc, arith::CmpFPredicate::OEQ, x, extremum);
  return arith::SelectOp::create(w.b, w.loc, same, value, w.splat(value.getType(), 0.0));
}

/// How many are the extremum; 1 at least, where it is NaN.
static Value countOf(Writer &w, Extremum e) {
  Type wide = w.widen(e.result).getType();
  Value hits = w.map(e.list, [&](Writer &inner, ValueRange v) {
    return keepWhereEqual(inner, v[0], e.result, inner.splat(wide, 1.0));
  });
  Value count = w.add(w.sumOf(hits), keepWhereEqual(w, e.init, e.result, w.splat(wide, 1.0)));
  return arith::MaximumFOp::create(w.b, w.loc, count, w.splat(wide, 1.0));
}

std::pair<Value, Value> mlir::ft::buildExtremumVjp(OpBuilder &b, Location loc, Extremum e, Value cotangent) {
  Writer w{b, loc};
  Value share = arith::DivFOp::create(b, loc, w.widen(cotangent), countOf(w, e));
  share = w.narrow(share, cotangent.getType());
  Value list = w.map(e.list, [&](Writer &inner, ValueRange v) { return keepWhereEqual(inner, v[0], e.result, share); });
  return {list, keepWhereEqual(w, e.init, e.result, share)};
}

Value mlir::ft::buildExtremumJvp(OpBuilder &b, Location loc, Extremum e, Value list, Value init) {
  Writer w{b, loc};
  Value total;
  if (list)
    total = w.sumOf(w.map({e.list, list}, [&](Writer &inner, ValueRange v) {
      return keepWhereEqual(inner, v[0], e.result, inner.widen(v[1]));
    }));
  if (init)
    total = buildSum(b, loc, total, keepWhereEqual(w, e.init, e.result, w.widen(init)));
  return total ? w.narrow(arith::DivFOp::create(b, loc, total, countOf(w, e)), e.result.getType()) : total;
}
