//===- PlanSeal.cpp - which launch plans code was compiled with -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The digests are one last line of the section: "// plans", then each digest in
// hexadecimal after a space. In PTX the line is a comment; loaders of machine code do
// not look past its end, or get the bytes without it.
//
//===----------------------------------------------------------------------===//
#include "ft/Runtime/Bundle/PlanSeal.h"

#include "ft/Runtime/Base/Sha256.h"

#include <algorithm>

using namespace ft::rt;

static constexpr std::string_view head = "\n// plans";
static constexpr size_t digits = 64;

/// Where the line of digests begins; the size of the bytes where there is none.
static size_t findSeal(std::string_view bytes) {
  size_t at = bytes.rfind(head);
  if (at == bytes.npos || bytes.back() != '\n')
    return bytes.size();
  std::string_view rest = bytes.substr(at + head.size(), bytes.size() - at - head.size() - 1);
  if (rest.empty() || rest.size() % (digits + 1))
    return bytes.size();
  for (size_t i = 0; i < rest.size(); ++i) {
    char c = rest[i];
    bool isDigit = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
    if (i % (digits + 1) ? !isDigit : c != ' ')
      return bytes.size();
  }
  return at;
}

/// The digest of a plan and of the interface that its sizes are made of. Names, the choice among plans and the
/// numbers of sections are left out: they change no size, and tools write them.
static Status digestOf(const Entry &entry, const Plan &plan, std::string &out) {
  Entry one = entry, read;
  one.name = "entry";
  one.chosen.clear();
  one.plans = {plan};
  one.plans[0].modules.clear();
  // A plan from memory and one from a file give the same text when both were read.
  FT_RT_TRY(Entry::fromJson(one.toJson(), INT64_MAX, read));
  out = toHex(Sha256::of(read.toJson().dump(/*pretty=*/false)));
  return {};
}

std::string_view ft::rt::withoutSeal(std::string_view bytes) { return bytes.substr(0, findSeal(bytes)); }

void ft::rt::sealPlans(Bundle &bundle) {
  std::vector<std::string> lines(bundle.sections.size());
  std::string digest;
  for (const Entry &entry : bundle.entries)
    for (const Plan &plan : entry.plans)
      for (int64_t section : plan.modules)
        if (digestOf(entry, plan, digest).ok() && lines[size_t(section)].find(digest) == std::string::npos)
          lines[size_t(section)] += " " + digest;
  for (size_t i = 0; i < lines.size(); ++i)
    if (!lines[i].empty())
      bundle.sections[i].bytes += std::string(head) + lines[i] + "\n";
}

Status ft::rt::checkSeal(const Bundle &bundle, const Entry &entry, const Plan &plan) {
  std::string digest;
  for (int64_t section : plan.modules) {
    std::string_view bytes = bundle.sections[size_t(section)].bytes;
    std::string_view seal = bytes.substr(findSeal(bytes));
    if (seal.empty())
      continue;
    if (digest.empty())
      FT_RT_TRY(digestOf(entry, plan, digest));
    if (seal.find(digest) == seal.npos)
      return Status::error(Code::corrupt, "the launch plan \"" + plan.variant + "\" is not one that its code was compiled "
                                          "with: sizes of arguments, buffers or launches differ");
  }
  return {};
}
