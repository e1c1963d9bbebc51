//===- Expr.cpp - integer expressions of a launch plan --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Runtime/Bundle/Expr.h"

#include <algorithm>
#include <iterator>

using namespace ft::rt;

static constexpr const char *opNames[] = {"",         "",        "add", "sub", "mul",
                                          "floordiv", "ceildiv", "mod", "min", "max"};

/// False on overflow and on division by less than one.
static bool apply(Expr::Op op, int64_t a, int64_t b, int64_t &out) {
  switch (op) {
  case Expr::add:
    return !__builtin_add_overflow(a, b, &out);
  case Expr::sub:
    return !__builtin_sub_overflow(a, b, &out);
  case Expr::mul:
    return !__builtin_mul_overflow(a, b, &out);
  case Expr::floordiv:
  case Expr::ceildiv:
  case Expr::mod: {
    if (b < 1)
      return false;
    int64_t quotient = a / b, rest = a % b;
    if (rest < 0) // C++ truncates; these round down
      --quotient, rest += b;
    out = op == Expr::mod ? rest : quotient + (op == Expr::ceildiv && rest > 0);
    return true;
  }
  case Expr::min:
    out = std::min(a, b);
    return true;
  case Expr::max:
    out = std::max(a, b);
    return true;
  default:
    return false;
  }
}

Expr Expr::binary(Op op, const Expr &a, const Expr &b) {
  int64_t value = 0;
  if (a.asConstant() && b.asConstant() && apply(op, *a.asConstant(), *b.asConstant(), value))
    return Expr(value);
  // The identities that shape arithmetic produces.
  if (b.asConstant() == (op == add || op == sub ? 0 : 1) && op <= ceildiv)
    return a;
  if ((op == add && a.asConstant() == 0) || (op == mul && a.asConstant() == 1))
    return b;
  Expr result;
  result.code = a.code;
  result.code.insert(result.code.end(), b.code.begin(), b.code.end());
  result.code.push_back({op, 0});
  return result;
}

bool Expr::evaluateLong(const int64_t *variables, int64_t &out) const {
  int64_t stack[maxStack];
  size_t top = 0;
  for (const Instruction &i : code) {
    if (i.op <= variable) {
      if (top == maxStack)
        return false;
      stack[top++] = i.op == constant ? i.value : variables[i.value];
      continue;
    }
    --top;
    if (!apply(i.op, stack[top - 1], stack[top], stack[top - 1]))
      return false;
  }
  out = stack[0];
  return true;
}

int64_t Expr::numVariables() const {
  int64_t count = 0;
  for (const Instruction &i : code)
    if (i.op == variable)
      count = std::max(count, i.value + 1);
  return count;
}

bool Expr::uses(int64_t index) const {
  return std::find(code.begin(), code.end(), Instruction{variable, index}) != code.end();
}

Json Expr::toJson(const std::function<Json(int64_t)> &name) const {
  std::vector<Json> stack;
  for (const Instruction &i : code) {
    if (i.op <= variable) {
      stack.push_back(i.op == constant ? Json(i.value) : name(i.value));
      continue;
    }
    Json b = std::move(stack.back());
    stack.pop_back();
    Json node = Json::makeArray();
    node.push(opNames[i.op]).push(std::move(stack.back())).push(std::move(b));
    stack.back() = std::move(node);
  }
  return std::move(stack[0]);
}

std::string Expr::describe(const std::function<std::string(int64_t)> &name) const {
  static constexpr const char *infix[] = {"",    "",           " + ",       " - ",
                                          " * ", " floordiv ", " ceildiv ", " mod "};
  std::vector<std::string> stack;
  for (size_t n = 0; n < code.size(); ++n) {
    const Instruction &i = code[n];
    if (i.op <= variable) {
      stack.push_back(i.op == constant ? std::to_string(i.value) : name(i.value));
      continue;
    }
    std::string b = std::move(stack.back());
    stack.pop_back();
    std::string &a = stack.back();
    if (i.op >= min)
      a = std::string(opNames[i.op]) + "(" + a + ", " + b + ")";
    else if (n + 1 == code.size())
      a += infix[i.op] + b;
    else
      a = "(" + a + infix[i.op] + b + ")";
  }
  return stack[0];
}

namespace {
/// Appends an expression's instructions in one pass.
struct ExprReader {
  using Resolve = std::function<int64_t(const Json &)>;
  const Resolve &resolve;
  size_t depth = 0; // of the stack

  static Status malformed(const char *why, const Json &json) {
    std::string text = json.dump(false);
    if (text.size() > 200)
      text = text.substr(0, 200) + "...";
    return Status::error(Code::corrupt, std::string("malformed expression (") + why + "): " + text);
  }

  /// Leaves and operators in postfix order.
  template <class Push>
  Status read(const Json &json, const Push &push) {
    if (json.isInteger())
      return push(Expr::constant, json.asInteger(), json);
    if (!json.isArray()) {
      int64_t index = resolve(json);
      return index < 0 ? malformed("unknown variable", json) : push(Expr::variable, index, json);
    }
    if (json.size() != 3 || !json[0].isString())
      return malformed("expected [operator, a, b]", json);
    auto *op = std::find(std::begin(opNames) + Expr::add, std::end(opNames), json[0].asString());
    if (op == std::end(opNames))
      return malformed("unknown operator", json);
    FT_RT_TRY(read(json[1], push));
    FT_RT_TRY(read(json[2], push));
    return push(Expr::Op(op - std::begin(opNames)), 0, json);
  }
};
} // namespace

Status Expr::fromJson(const Json &json, const std::function<int64_t(const Json &)> &resolve,
                      Expr &out) {
  ExprReader reader{resolve};
  Expr result;
  result.code.clear();
  // Not `binary`: what was written is kept, so that reading and writing agree.
  auto push = [&](Op op, int64_t value, const Json &at) -> Status {
    result.code.push_back({op, value});
    reader.depth += op <= variable ? 1 : -1;
    if (reader.depth > maxStack || result.code.size() > maxCode)
      return ExprReader::malformed("too large", at);
    return {};
  };
  FT_RT_TRY(reader.read(json, push));
  out = std::move(result);
  return {};
}
