//===- RuntimeValue.h - Lists, tuples and the environment -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an SSA value holds while a program is interpreted: a tensor (or scalar),
// a list of values, whose elements may be lists of different lengths (ragged
// levels need nothing more), or a tuple. Values are immutable and shared. A
// mutable tensor is a reference into the heap, which belongs to tssa.
//
//===----------------------------------------------------------------------===//
#ifndef FT_INTERPRETER_RUNTIMEVALUE_H
#define FT_INTERPRETER_RUNTIMEVALUE_H

#include "ft/Interpreter/Tensor.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include <vector>

namespace mlir::ft::interp {

/// A view of a storage: see TSSAEval.h.
struct HeapView;

class RuntimeValue {
public:
  using Items = std::vector<RuntimeValue>;

  RuntimeValue() = default;
  RuntimeValue(Tensor tensor) : kind(Kind::Tensor), tensor(std::move(tensor)) {}
  static RuntimeValue list(Items items) { return RuntimeValue(Kind::List, std::move(items)); }
  static RuntimeValue tuple(Items items) { return RuntimeValue(Kind::Tuple, std::move(items)); }
  static RuntimeValue reference(std::shared_ptr<const HeapView> view) {
    RuntimeValue value;
    value.kind = Kind::Reference;
    value.view = std::move(view);
    return value;
  }

  explicit operator bool() const { return kind != Kind::Empty; }
  bool isTensor() const { return kind == Kind::Tensor; }
  bool isList() const { return kind == Kind::List; }
  bool isTuple() const { return kind == Kind::Tuple; }
  bool isReference() const { return kind == Kind::Reference; }

  const Tensor &getTensor() const { return tensor; }
  const Items &getItems() const { return *items; }
  int64_t getLength() const { return items->size(); }
  const HeapView &getReference() const { return *view; }

  bool identicalTo(const RuntimeValue &other) const;
  void print(raw_ostream &os) const;

private:
  enum class Kind { Empty, Tensor, List, Tuple, Reference };
  RuntimeValue(Kind kind, Items items)
      : kind(kind), items(std::make_shared<const Items>(std::move(items))) {}

  Kind kind = Kind::Empty;
  Tensor tensor;
  std::shared_ptr<const Items> items;
  std::shared_ptr<const HeapView> view;
};

/// The values of one function activation. An SSA value is bound again each time
/// its region runs, so one flat table is enough.
class Environment {
public:
  void bind(Value value, RuntimeValue bound) { table[value] = std::move(bound); }
  /// The value bound to `value`, or null.
  const RuntimeValue *lookup(Value value) const {
    auto it = table.find(value);
    return it == table.end() ? nullptr : &it->second;
  }
  void erase(Value value) { table.erase(value); }

private:
  llvm::DenseMap<Value, RuntimeValue> table;
};

} // namespace mlir::ft::interp

#endif // FT_INTERPRETER_RUNTIMEVALUE_H
