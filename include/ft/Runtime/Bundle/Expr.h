//===- Expr.h - integer expressions of a launch plan ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes, grids, offsets and loop bounds are quasi-affine in symbols that are
// known at the call. They are kept in postfix form and evaluated on a small
// stack: a call evaluates tens of them within its microseconds of host time.
//
//===----------------------------------------------------------------------===//
#ifndef FT_RUNTIME_BUNDLE_EXPR_H
#define FT_RUNTIME_BUNDLE_EXPR_H

#include "ft/Runtime/Base/Json.h"

#include <functional>
#include <optional>

namespace ft::rt {

class Expr {
public:
  enum Op : uint8_t { constant, variable, add, sub, mul, floordiv, ceildiv, mod, min, max };

  Expr() : Expr(0) {}
  Expr(int64_t value) : code{{constant, value}} {}
  static Expr var(int64_t index) {
    Expr e;
    e.code = {{variable, index}};
    return e;
  }
  static Expr binary(Op op, const Expr &a, const Expr &b);
  friend Expr operator+(const Expr &a, const Expr &b) { return binary(add, a, b); }
  friend Expr operator-(const Expr &a, const Expr &b) { return binary(sub, a, b); }
  friend Expr operator*(const Expr &a, const Expr &b) { return binary(mul, a, b); }

  /// The value, or false on overflow and on division by less than one.
  bool evaluate(const int64_t *variables, int64_t &out) const {
    if (code.size() == 1) {
      out = code[0].op == constant ? code[0].value : variables[code[0].value];
      return true;
    }
    return evaluateLong(variables, out);
  }
  std::optional<int64_t> asConstant() const {
    return code.size() == 1 && code[0].op == constant ? std::optional(code[0].value) : std::nullopt;
  }
  /// The variable's index if the expression is one variable.
  std::optional<int64_t> asVariable() const {
    return code.size() == 1 && code[0].op == variable ? std::optional(code[0].value) : std::nullopt;
  }
  /// One more than the largest variable's index; 0 without variables.
  int64_t numVariables() const;
  bool uses(int64_t index) const;

  /// JSON form: an integer; a variable as `name` gives it; ["mul", a, b].
  Json toJson(const std::function<Json(int64_t)> &name) const;
  /// `resolve` gives the index of a variable's JSON form, or -1.
  static Status fromJson(const Json &json, const std::function<int64_t(const Json &)> &resolve,
                         Expr &out);
  /// Infix text for messages.
  std::string describe(const std::function<std::string(int64_t)> &name) const;

  bool operator==(const Expr &other) const { return code == other.code; }

private:
  struct Instruction {
    Op op;
    int64_t value = 0;
    bool operator==(const Instruction &) const = default;
  };
  static constexpr size_t maxStack = 32, maxCode = 4096;
  bool evaluateLong(const int64_t *variables, int64_t &out) const;
  std::vector<Instruction> code;
};

} // namespace ft::rt

#endif // FT_RUNTIME_BUNDLE_EXPR_H
