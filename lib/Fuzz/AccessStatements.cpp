//===- AccessStatements.cpp - random access operators ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each access operator of FT §4.2, where what it demands follows from the bounds.
//
//===----------------------------------------------------------------------===//

#include "ProgramBuilder.h"
#include "ft/Dialect/FT/IR/AttributeNames.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::fuzz;

static ListType listType(Value v) { return dyn_cast<ListType>(v.getType()); }
static LengthAttr lengthOf(Value v) { return cast<ListType>(v.getType()).getLength(); }

/// A position that is in a list of length n by the bounds; null where none is found.
LengthAttr ProgramBuilder::randomIndex(LengthAttr n) {
  SmallVector<LengthAttr> candidates{length(rng.below(4)), length(0), n - 1, n - rng.between(1, 3),
                                     n.floorDiv(2)};
  if (rng.percent(50))
    candidates.push_back(length(-rng.between(1, 2)));
  for (int attempt = 0; attempt < 3; ++attempt) {
    LengthAttr at = rng.pickFrom(candidates), resolved = resolveIndex(at, n);
    if (resolved && holds(resolved) && holds(n - 1 - resolved))
      return at;
  }
  return {};
}

Value ProgramBuilder::shift(Scope &scope, Value list) {
  LengthAttr by = smallLength(rng.between(1, 3));
  if (rng.percent(40))
    by = length(0) - by;
  Type peeled = listType(list).getPeeled();
  if (isa<TupleType>(peeled))
    return {};
  Value fill = makeValue(scope, peeled, rng.percent(70) ? 0 : 1);
  return ShiftOp::create(b, loc, list, by, fill);
}

Value ProgramBuilder::slice(Value list) {
  LengthAttr n = lengthOf(list);
  for (int attempt = 0; attempt < 3; ++attempt) {
    LengthAttr lo = rng.pick<LengthAttr>(
        {length(0), length(1), length(2), length(-1), length(-2), n.floorDiv(2)});
    LengthAttr hi =
        rng.pick<LengthAttr>({n, n, n - 1, length(-1), n - 2, length(1), length(2), length(3)});
    LengthAttr from = resolveIndex(lo, n), to = resolveIndex(hi, n);
    if (!holds(from) || !holds(to - from) || !holds(n - to))
      continue;
    if (std::optional<int64_t> c = (to - from).getConstant(); c && *c == 0 && !rng.percent(10))
      continue;
    return SliceOp::create(b, loc, list, lo, hi);
  }
  return {};
}

Value ProgramBuilder::stride(Value list) {
  int64_t start = rng.weighted({60, 30, 10}), step = rng.pick<int64_t>({2, 2, 3, 1});
  if (start > 0 && !holds(lengthOf(list) - start))
    start = 0;
  return StrideOp::create(b, loc, list, b.getI64IntegerAttr(start), b.getI64IntegerAttr(step));
}

Value ProgramBuilder::window(Value list) {
  if (listType(list).getDepth() >= 4)
    return {};
  LengthAttr n = lengthOf(list);
  for (int attempt = 0; attempt < 4; ++attempt) {
    LengthAttr size = smallLength(rng.pick<int64_t>({1, 2, 3, 3, 4})),
               dilation = length(rng.pick<int64_t>({1, 1, 2}));
    int64_t step = rng.pick<int64_t>({1, 1, 1, 2, 3});
    if (size.isConstant())
      dilation = smallLength(*dilation.getConstant());
    auto boundary = rng.pick({Boundary::None, Boundary::None, Boundary::None, Boundary::Zero,
                              Boundary::Clamp, Boundary::Mirror, Boundary::Wrap});
    LengthAttr extent = (size - 1) * dilation;
    LengthAttr low = boundary == Boundary::None ? length(0) : (size - 1).floorDiv(2) * dilation;
    int64_t more = boundary == Boundary::Mirror ? 1 : 0;
    bool fits = boundary == Boundary::None    ? holds(n - extent - 1)
                : boundary == Boundary::Zero  ? true
                : boundary == Boundary::Clamp ? holds(n - 1)
                                              : holds(n - low - more) && holds(n - (extent - low) - more);
    if (!fits)
      continue;
    return WindowOp::create(b, loc, list, size, b.getI64IntegerAttr(step),
                            dilation.getConstant() == 1 ? LengthAttr() : dilation,
                            BoundaryAttr::get(context, boundary));
  }
  return {};
}

/// Indices below `range`, which is at least 1: an argument, or computed.
Value ProgramBuilder::indices(Scope &scope, LengthAttr range, ArrayRef<LengthAttr> lengths) {
  Type number = rng.percent(70)   ? Type(b.getI64Type())
                : rng.percent(60) ? Type(b.getI32Type())
                                  : Type(b.getIndexType());
  auto element = RankedTensorType::get({}, number);
  Attribute generator = IndexAttr::get(context, length(0), range);
  auto existing = [&](Type type) {
    // An argument generated for a range that is no larger.
    return pick(scope, [&](Value v) {
      auto arg = dyn_cast<BlockArgument>(v);
      if (!arg || arg.getOwner() != &function.getBody().front() || v.getType() != type)
        return false;
      auto gen = function.getArgAttrOfType<IndexAttr>(arg.getArgNumber(), mlir::ft::names::gen);
      return gen && (gen.getHi() == range || holds(range - gen.getHi()));
    });
  };
  if (lengths.empty()) {
    // Inside a nest a scalar index comes from a list that is traversed, or is computed.
    Value x = pick(scope, [&](Value v) {
      auto t = dyn_cast<RankedTensorType>(v.getType());
      return t && t.getRank() == 0 && t.getElementType().isIntOrIndex() &&
             !t.getElementType().isInteger(1);
    });
    if (x && rng.percent(80)) {
      auto type = cast<RankedTensorType>(x.getType());
      for (int64_t modulus : {5, 3, 2, 1})
        if (holds(range - modulus)) {
          Value m = splat(type, modulus);
          return arith::RemUIOp::create(b, loc, x, m);
        }
    }
    if (Value v = existing(element))
      return v;
    return argumentOrNull(element, generator);
  }
  Type type = ListType::get(context, lengths, element);
  if (rng.percent(15) && lengths.size() == 1) {
    // Data of no kind, brought into range.
    for (int64_t modulus : {4, 3, 2, 1}) {
      if (!holds(range - modulus))
        continue;
      auto iotaElement = RankedTensorType::get({}, b.getI64Type());
      Value numbers = IotaOp::create(b, loc, ListType::get(context, lengths, iotaElement));
      Body body = openBody(scope, {}, {numbers});
      Value three = splat(iotaElement, rng.between(1, 7)), m = splat(iotaElement, modulus);
      Value i = arith::MulIOp::create(b, loc, body.scope.values.back(), three);
      Value r = arith::RemUIOp::create(b, loc, i, m);
      return closeBody(scope, body, OperatorKind::Map, {numbers}, {}, {r}, {})->getResult(0);
    }
  }
  if (rng.percent(10) && lengths.size() == 1 && holds(range - lengths[0]))
    return IotaOp::create(b, loc, cast<ListType>(type));
  if (Value v = existing(type); v && rng.percent(60))
    return v;
  return argumentOrNull(type, generator);
}

Value ProgramBuilder::gather(Scope &scope, Value list) {
  LengthAttr n = lengthOf(list);
  if (!holds(n - 1))
    return {};
  SmallVector<LengthAttr> lengths;
  unsigned depth = listType(list).getDepth() >= 3 ? rng.below(2) : rng.weighted({30, 55, 15});
  for (unsigned d = 0; d < depth; ++d)
    lengths.push_back(rng.percent(25) ? n : randomLength());
  if (!isReasonable(lengths.empty() ? listType(list).getPeeled()
                                    : Type(ListType::get(context, lengths, tensorType({})))))
    return {};
  // A list of indices that is there.
  Value found = pick(scope, [&](Value v) {
    auto arg = dyn_cast<BlockArgument>(v);
    if (!arg || arg.getOwner() != &function.getBody().front())
      return false;
    auto gen = function.getArgAttrOfType<IndexAttr>(arg.getArgNumber(), mlir::ft::names::gen);
    return gen && gen.getHi() == n;
  });
  Value at = found && rng.percent(50) ? found : indices(scope, n, lengths);
  if (!at)
    return {};
  auto indexList = dyn_cast<ListType>(at.getType());
  if (indexList && indexList.getDepth() + listType(list).getDepth() > 5)
    return {};
  return GatherOp::create(b, loc, list, at);
}

Value ProgramBuilder::at(Value list) {
  LengthAttr index = randomIndex(lengthOf(list));
  if (!index)
    return {};
  return AtOp::create(b, loc, list, index);
}

Value ProgramBuilder::concat(Scope &scope, Value list) {
  Type peeled = listType(list).getPeeled();
  SmallVector<Value> parts{list};
  unsigned more = 1 + rng.weighted({75, 25});
  for (unsigned i = 0; i < more; ++i) {
    Value other;
    if (rng.percent(25))
      other = slice(list);
    if (!other && rng.percent(15)) {
      Value element = pickType(scope, peeled);
      if (element)
        other = RepeatOp::create(b, loc, element, length(rng.between(1, 2)));
    }
    if (!other)
      other =
          pick(scope, [&](Value v) { return listType(v) && listType(v).getPeeled() == peeled; });
    if (!other)
      return {};
    parts.insert(rng.percent(50) ? parts.begin() : parts.end(), other);
  }
  return ConcatOp::create(b, loc, parts);
}

/// Divides evenly at every length that the program runs at.
static bool divides(int64_t divisor, ArrayRef<std::optional<int64_t>> values) {
  return llvm::all_of(values, [&](std::optional<int64_t> v) { return v && *v % divisor == 0; });
}

Value ProgramBuilder::flattenOrSplit(Value list) {
  ListType type = listType(list);
  if (type.getDepth() >= 2 && rng.percent(90)) {
    // A product of names is refused by the conversion: now and then, that too.
    if (type.getLengths()[1].getConstant().value_or(0) >= 1 || rng.percent(4))
      return FlattenOp::create(b, loc, list);
  }
  SmallVector<std::optional<int64_t>> values;
  for (unsigned i = 0; i < bindings.size(); ++i)
    values.push_back(evaluate(type.getLength(), i));
  for (int attempt = 0; attempt < 3; ++attempt) {
    int64_t inner = rng.pick<int64_t>({1, 2, 2, 3, 4, 5});
    if (divides(inner, values) && type.getDepth() < 4)
      return SplitOp::create(b, loc, list, length(inner));
  }
  return {};
}

Value ProgramBuilder::transpose(Value list) {
  unsigned depth = listType(list).getDepth();
  if (depth < 2)
    return {};
  SmallVector<int64_t> permutation;
  unsigned count = rng.between(2, depth);
  for (unsigned d = 0; d < count; ++d)
    permutation.insert(permutation.begin() + rng.below(d + 1), d);
  if (llvm::is_sorted(permutation))
    std::swap(permutation[0], permutation[1]);
  return TransposeOp::create(b, loc, list, permutation);
}

/// Another expression for the same length, at every length that the program runs at.
Value ProgramBuilder::castLength(Scope &scope, Value list) {
  ListType type = listType(list);
  SmallVector<LengthAttr> known;
  for (StringAttr n : names) {
    LengthAttr l = LengthAttr::get(n);
    known.append({l, l + 1, l - 1, l.floorDiv(2) * length(2), l.ceilDiv(2)});
  }
  for (Scope *s = &scope; s; s = s->parent)
    for (Value v : s->values)
      if (listType(v))
        known.push_back(lengthOf(v));
  LengthAttr n = type.getLength();
  llvm::erase_if(known, [&](LengthAttr l) {
    if (l == n || (l.isConstant() && n.isConstant()) || !holds(l))
      return true;
    for (unsigned i = 0; i < bindings.size(); ++i)
      if (evaluate(l, i) != evaluate(n, i) || !evaluate(l, i))
        return true;
    return false;
  });
  if (known.empty())
    return {};
  SmallVector<LengthAttr> lengths(type.getLengths());
  lengths[0] = rng.pickFrom(known);
  return CastOp::create(b, loc, ListType::get(context, lengths, type.getElement()), list);
}

/// zip, an operator on the list of tuples, get.
Value ProgramBuilder::throughZip(Scope &scope, Value list) {
  if (isa<TupleType>(listType(list).getElement()))
    return {};
  Value other = pick(scope, [&](Value v) {
    return listType(v) && lengthOf(v) == lengthOf(list) &&
           !isa<TupleType>(listType(v).getElement());
  });
  SmallVector<Value> members{list, other ? other : list};
  Value zipped = ZipOp::create(b, loc, members);
  Value moved;
  switch (rng.below(6)) {
  case 0:
    moved = ReverseOp::create(b, loc, zipped);
    break;
  case 1:
    moved = slice(zipped);
    break;
  case 2:
    moved = stride(zipped);
    break;
  case 3:
    moved = window(zipped);
    break;
  case 4:
    moved = at(zipped);
    break;
  default:
    moved = gather(scope, zipped);
    break;
  }
  if (!moved)
    moved = zipped;
  return GetOp::create(b, loc, moved, b.getI64IntegerAttr(rng.below(2)));
}

Value ProgramBuilder::access(Scope &scope, Value list) {
  ListType type = listType(list);
  switch (rng.weighted({8, 7, 11, 8, 15, 14, 9, 9, 24, 9, 14, 7, 6})) {
  case 0:
    return shift(scope, list);
  case 1:
    return ReverseOp::create(b, loc, list);
  case 2:
    return slice(list);
  case 3:
    return stride(list);
  case 4:
    return window(list);
  case 5:
    return gather(scope, list);
  case 6:
    return at(list);
  case 7:
    return concat(scope, list);
  case 8:
    return flattenOrSplit(list);
  case 9:
    return transpose(list);
  case 10:
    return castLength(scope, list);
  case 11:
    return throughZip(scope, list);
  default: {
    if (rng.percent(40)) {
      Type number = isa<IntegerType>(scalar) && rng.percent(70) ? scalar : Type(b.getI64Type());
      return IotaOp::create(
          b, loc, ListType::get(context, {type.getLength()}, RankedTensorType::get({}, number)));
    }
    Value v = pick(scope, [&](Value v) {
      auto l = listType(v);
      return !isa<TupleType>(v.getType()) && (!l || l.getDepth() < 3);
    });
    LengthAttr n = rng.percent(50) ? type.getLength() : randomLength();
    return v && holds(n) ? Value(RepeatOp::create(b, loc, v, n)) : Value();
  }
  }
}

void ProgramBuilder::accessStep(Scope &scope) {
  Value list = pick(
      scope, [&](Value v) { return listType(v) && !isa<TupleType>(listType(v).getElement()); });
  if (!list)
    return;
  unsigned count = 1 + rng.weighted({60, 30, 10});
  for (unsigned i = 0; i < count; ++i) {
    Value next = access(scope, list);
    if (!next || !isReasonable(next.getType()) || isa<TupleType>(next.getType()))
      return;
    add(scope, next);
    if (!listType(next))
      return;
    list = next;
  }
}

//===----------------------------------------------------------------------===//
// Lists of a wanted type
//===----------------------------------------------------------------------===//

Value ProgramBuilder::makeList(Scope &scope, ListType type, int effort) {
  for (int attempt = 0; attempt < 3; ++attempt) {
    switch (rng.weighted({40, effort > 0 ? 15 : 0, effort > 0 ? 25 : 0, 12})) {
    case 0:
      if (Value v = pickType(scope, type))
        return v;
      break;
    case 1:
      if (Value v = pickType(scope, type)) {
        Value r = rng.percent(50) ? Value(ReverseOp::create(b, loc, v)) : shift(scope, v);
        if (r)
          return r;
      }
      break;
    case 2: {
      Value from = pick(scope, [&](Value v) {
        return listType(v) && lengthOf(v) == type.getLength() && canTraverse(scope, v);
      });
      if (!from || scope.depth >= 4)
        break;
      Body body = openBody(scope, {}, {from});
      Value r = makeValue(body.scope, type.getPeeled(), effort - 1);
      return closeBody(scope, body, OperatorKind::Map, {from}, {}, {r}, {})->getResult(0);
    }
    default:
      if (effort > 0 || type.getDepth() == 1)
        if (!isa<TupleType>(type.getPeeled()))
          if (Value v = makeValue(scope, type.getPeeled(), effort - 1))
            return RepeatOp::create(b, loc, v, type.getLength());
    }
  }
  if (Value v = pickType(scope, type))
    return v;
  if (Value v = argumentOrNull(type))
    return v;
  Value v = makeValue(scope, type.getPeeled(), 0);
  return RepeatOp::create(b, loc, v, type.getLength());
}
