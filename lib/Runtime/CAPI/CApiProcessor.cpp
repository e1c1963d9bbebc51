//===- CApiProcessor.cpp - this processor as a target ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft-c/Runtime.h"

#include "ft/Runtime/Base/Sha256.h"

#include <cstdio>
#include <cstring>
#include <string>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

using namespace ft::rt;

/// What a compiler asks a processor before it makes code for that one alone: its model, and which
/// instructions it and the system know.
static std::string describeProcessor() {
  std::string text;
#if defined(__x86_64__)
  auto add = [&](unsigned leaf, unsigned sub, const unsigned (&masks)[4]) {
    unsigned r[4] = {};
    if (__get_cpuid_count(leaf, sub, &r[0], &r[1], &r[2], &r[3]))
      for (int i = 0; i < 4; ++i)
        text += std::to_string(r[i] & masks[i]) + ",";
  };
  // Not which of its cores answers: that is in leaf 1, EBX.
  add(0, 0, {0, ~0u, ~0u, ~0u});
  add(1, 0, {~0u, 0, ~0u, ~0u});
  add(7, 0, {~0u, ~0u, ~0u, ~0u});
  add(7, 1, {~0u, ~0u, ~0u, ~0u});
  add(0x80000001, 0, {0, 0, ~0u, ~0u});
  unsigned low = 0, high = 0;
  if (unsigned a, b, c, d; __get_cpuid(1, &a, &b, &c, &d) && (c & bit_OSXSAVE))
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  text += std::to_string(low);
#else
  if (FILE *file = fopen("/proc/cpuinfo", "r")) {
    char line[4096];
    while (fgets(line, sizeof line, file))
      if (strncmp(line, "Features", 8) == 0 || strncmp(line, "CPU ", 4) == 0)
        text += line;
    fclose(file);
  }
#endif
  return text;
}

const char *ft_host_processor(void) {
  static const std::string name = "cpu:" + toHex(Sha256::of(describeProcessor())).substr(0, 16);
  return name.c_str();
}
