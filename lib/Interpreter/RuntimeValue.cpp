//===- RuntimeValue.cpp - Lists, tuples and the environment ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Comparison and printing of values.
//
//===----------------------------------------------------------------------===//
#include "ft/Interpreter/RuntimeValue.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::ft::interp;

bool RuntimeValue::identicalTo(const RuntimeValue &other) const {
  if (kind != other.kind)
    return false;
  if (kind == Kind::Empty)
    return true;
  if (kind == Kind::Tensor)
    return tensor.identicalTo(other.tensor);
  if (kind == Kind::Reference)
    return view == other.view;
  return items->size() == other.items->size() &&
         llvm::all_of(llvm::zip_equal(*items, *other.items),
                      [](auto pair) { return std::get<0>(pair).identicalTo(std::get<1>(pair)); });
}

void RuntimeValue::print(raw_ostream &os) const {
  if (kind == Kind::Empty) {
    os << "<empty>";
    return;
  }
  if (kind == Kind::Tensor)
    return tensor.print(os);
  if (kind == Kind::Reference) {
    os << "<mutable tensor>";
    return;
  }
  os << (isList() ? '[' : '(');
  llvm::interleaveComma(*items, os, [&](const RuntimeValue &item) { item.print(os); });
  os << (isList() ? ']' : ')');
}
