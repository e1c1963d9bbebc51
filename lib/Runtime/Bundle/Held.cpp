//===- Held.cpp - what the programs of a bundle hold ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Runtime/Bundle/Held.h"

#include <algorithm>

using namespace ft::rt;

int64_t ft::rt::findName(const std::vector<HeldArgument> &arguments, std::string_view name) {
  auto it = std::find_if(arguments.begin(), arguments.end(), [&](const HeldArgument &a) { return a.name == name; });
  return it == arguments.end() ? -1 : it - arguments.begin();
}

/// The argument with its sizes, which are known.
static Status describeArgument(const Argument &argument, HeldArgument &out) {
  out.name = argument.name;
  out.dtype = argument.dtype;
  for (const Expr &extent : argument.shape)
    out.shape.push_back(extent.asConstant().value_or(0));
  return countBytes(out.dtype, out.shape, out.bytes).inside("held argument \"" + out.name + "\"");
}

/// Adds an argument, which is the same wherever its name stands.
static Status declare(std::vector<HeldArgument> &all, const Argument &argument) {
  HeldArgument own;
  FT_RT_TRY(describeArgument(argument, own));
  own.isDerived = argument.output;
  int64_t at = findName(all, own.name);
  if (at < 0) {
    all.push_back(std::move(own));
    return {};
  }
  HeldArgument &known = all[size_t(at)];
  if (known.dtype != own.dtype || known.shape != own.shape)
    return Status::error(Code::corrupt, "held argument \"" + own.name + "\" is " + describe(known.dtype, known.shape) + " and " + describe(own.dtype, own.shape));
  if (own.isDerived && known.isDerived)
    return Status::error(Code::corrupt, "two entries compute the held argument \"" + own.name + "\"");
  known.isDerived |= own.isDerived;
  return {};
}

Status ft::rt::findHeld(const Bundle &bundle, std::vector<HeldArgument> &out) {
  for (const Entry &entry : bundle.entries)
    for (const Argument &argument : entry.arguments)
      if (argument.held || (entry.binds && argument.output))
        FT_RT_TRY(declare(out, argument).inside("entry \"" + entry.name + "\""));
  return {};
}

Status ft::rt::parseValues(const std::vector<HeldArgument> &arguments, std::string_view content, const std::string &name, std::vector<SafeTensor> &out) {
  FT_RT_TRY(parseSafetensors(content, name, out));
  std::string missing;
  for (const HeldArgument &argument : arguments)
    if (!argument.isDerived && std::none_of(out.begin(), out.end(), [&](const SafeTensor &t) { return t.name == argument.name; }))
      missing += (missing.empty() ? "\"" : ", \"") + argument.name + "\"";
  if (!missing.empty())
    return Status::error(Code::notFound, name + ": has no value for parameter " + missing);
  for (const SafeTensor &tensor : out) {
    int64_t at = findName(arguments, tensor.name);
    if (at < 0 || arguments[size_t(at)].isDerived)
      return Status::error(Code::notFound, name + ": the program has no parameter \"" + tensor.name + "\"");
    const HeldArgument &argument = arguments[size_t(at)];
    if (argument.dtype != tensor.dtype || argument.shape != tensor.shape)
      return Status::error(Code::invalidArgument, name + ": parameter \"" + tensor.name + "\": expected " + describe(argument.dtype, argument.shape) +
                                                      ", found " + describe(tensor.dtype, tensor.shape));
  }
  return {};
}
