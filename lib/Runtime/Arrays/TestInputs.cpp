//===- TestInputs.cpp - how a bundle's arguments are filled ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Runtime/Arrays/TestInputs.h"

#include "TextCursor.h"

#include <cctype>
#include <charconv>

using namespace ft::rt;

namespace {
class LengthParser : TextCursor {
public:
  LengthParser(std::string_view text, const Lengths &values) : TextCursor{text}, values(values) {}

  bool run(int64_t &out) {
    Expr e;
    if (!sum(e, 0))
      return false;
    skipSpace();
    return rest.empty() && e.evaluate(nullptr, out);
  }
  std::string unknown;

private:
  std::string_view word() {
    skipSpace();
    size_t n = 0;
    while (n < rest.size() && (isalnum((unsigned char)rest[n]) || rest[n] == '_' ||
                               (n > 0 && (rest[n] == '$' || rest[n] == '.'))))
      ++n;
    std::string_view result = rest.substr(0, n);
    rest.remove_prefix(n);
    return result;
  }
  /// Folds at once: all operands are constants. An overflow stays an expression
  /// that does not evaluate.
  static Expr apply(Expr::Op op, const Expr &a, const Expr &b) { return Expr::binary(op, a, b); }

  bool sum(Expr &out, int depth) {
    if (depth > maxDepth || !product(out, depth))
      return false;
    for (;;) {
      Expr next;
      bool plus = eat('+');
      if (!plus && !eat('-'))
        return true;
      if (!product(next, depth))
        return false;
      out = apply(plus ? Expr::add : Expr::sub, out, next);
    }
  }

  static std::optional<Expr::Op> divisionNamed(std::string_view name) {
    return name == "ceildiv"    ? std::optional(Expr::ceildiv)
           : name == "floordiv" ? std::optional(Expr::floordiv)
           : name == "mod"      ? std::optional(Expr::mod)
           : name == "min"      ? std::optional(Expr::min)
           : name == "max"      ? std::optional(Expr::max)
                                : std::nullopt;
  }

  bool product(Expr &out, int depth) {
    if (!factor(out, depth))
      return false;
    for (;;) {
      Expr next;
      std::string_view before = rest;
      std::optional<Expr::Op> op = Expr::mul;
      if (!eat('*') && !(op = divisionNamed(word()))) {
        rest = before;
        return true;
      }
      if (!factor(next, depth))
        return false;
      out = apply(*op, out, next);
    }
  }

  bool factor(Expr &out, int depth) {
    if (depth > maxDepth)
      return false;
    if (eat('('))
      return sum(out, depth + 1) && eat(')');
    if (eat('-')) {
      if (!factor(out, depth + 1))
        return false;
      out = apply(Expr::sub, 0, out);
      return true;
    }
    std::string_view name = word();
    if (name.empty())
      return false;
    if (std::optional<Expr::Op> op = divisionNamed(name)) {
      Expr a, b;
      if (!eat('(') || !sum(a, depth + 1) || !eat(',') || !sum(b, depth + 1) || !eat(')'))
        return false;
      out = apply(*op, a, b);
      return true;
    }
    int64_t value = 0;
    auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), value);
    if (error == std::errc() && end == name.data() + name.size()) {
      out = Expr(value);
      return true;
    }
    auto it = values.find(std::string(name));
    if (it == values.end()) {
      unknown = name;
      return false;
    }
    out = Expr(it->second);
    return true;
  }

  static constexpr int maxDepth = 100;
  const Lengths &values;
};
} // namespace

Status ft::rt::evaluateLength(std::string_view text, const Lengths &values, int64_t &out) {
  LengthParser parser(text, values);
  if (parser.run(out))
    return {};
  return Status::error(Code::invalidArgument,
                       "cannot evaluate the length \"" + std::string(text) + "\"" +
                           (parser.unknown.empty() ? "" : ": " + parser.unknown + " is not known"));
}

static double realOf(const Json &object, const char *key, double otherwise) {
  const Json *value = object.find(key);
  return value ? value->asReal() : otherwise;
}

static Status malformed() {
  return Status::error(Code::corrupt, "malformed generators in the bundle");
}

static Status readGenerator(const Json &json, TestInputs::Generator &out) {
  const Json *kind = json.find("kind");
  if (!kind || !kind->isString())
    return malformed();
  const std::string &name = kind->asString();
  if (name == "default")
    out.distribution = Distribution::makeNormal(1);
  else if (name == "normal")
    out.distribution = Distribution::makeNormal(realOf(json, "scale", 1));
  else if (name == "uniform")
    out.distribution = Distribution::makeUniform(realOf(json, "lo", 0), realOf(json, "hi", 1));
  else if (name == "index" || name == "integer") {
    const Json *lo = json.find("lo"), *hi = json.find("hi");
    if (!lo || !hi || !lo->isString() || !hi->isString())
      return malformed();
    out.distribution =
        name == "index" ? Distribution::makeIndex(0, 0) : Distribution::makeInteger(0, 0);
    out.lo = lo->asString();
    out.hi = hi->asString();
  } else {
    return malformed();
  }
  return {};
}

Status TestInputs::read(const Bundle &bundle, const std::string &entry, TestInputs &out) {
  out = TestInputs();
  for (const Section &section : bundle.sections) {
    if (section.kind != Section::data || section.target != "generators")
      continue;
    Json all;
    FT_RT_TRY(Json::parse(section.bytes, all));
    const Json *own = all.find(entry);
    if (!own)
      return {};
    const Json *arguments = own->find("arguments"), *lengths = own->find("lengths");
    if (!arguments || !arguments->isArray() || !lengths || !lengths->isObject())
      return malformed();
    for (const Json &argument : arguments->items()) {
      out.arguments.emplace_back();
      FT_RT_TRY(readGenerator(argument, out.arguments.back()));
    }
    if (const Json *roundings = own->find("roundings"))
      for (const Json &type : roundings->items())
        out.roundings.push_back(parseDType(type.asString()));
    for (size_t i = 0; i < lengths->size(); ++i)
      out.lengths[lengths->keys()[i]] = (*lengths)[i].asInteger();
    return {};
  }
  return {};
}

Status TestInputs::distribution(size_t argument, const Lengths &values, Distribution &out) const {
  if (argument >= arguments.size()) {
    out = Distribution::makeNormal(1);
    return {};
  }
  const Generator &g = arguments[argument];
  out = g.distribution;
  if (out.kind == Distribution::normal || out.kind == Distribution::uniform)
    return {};
  FT_RT_TRY(evaluateLength(g.lo, values, out.lo));
  return evaluateLength(g.hi, values, out.hi);
}
