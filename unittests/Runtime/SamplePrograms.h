//===- SamplePrograms.h - small bundles for tests ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_UNITTESTS_RUNTIME_SAMPLEPROGRAMS_H
#define FT_UNITTESTS_RUNTIME_SAMPLEPROGRAMS_H

#include "ft/Runtime/Bundle/Bundle.h"

namespace sample {
using namespace ft::rt;

inline KernelArgument pointer(int64_t buffer, Expr offset = 0) {
  KernelArgument a;
  a.kind = KernelArgument::pointer;
  a.buffer = buffer;
  a.value = offset;
  return a;
}

inline KernelArgument integer(Expr value, int64_t bits = 64) {
  KernelArgument a;
  a.kind = KernelArgument::integer;
  a.value = value;
  a.bits = bits;
  return a;
}

inline Step fill(int64_t to, Expr offset, Expr bytes) {
  Step s;
  s.kind = Step::fill;
  s.to = to, s.toOffset = offset, s.bytes = bytes;
  return s;
}

inline Step copy(int64_t to, Expr toOffset, int64_t from, Expr fromOffset, Expr bytes) {
  Step s;
  s.kind = Step::copy;
  s.to = to, s.toOffset = toOffset, s.from = from, s.fromOffset = fromOffset, s.bytes = bytes;
  return s;
}

/// y[i] = 2 x[i] for x: Nx4xf32, N >= 1, in one launch of `scale`.
inline Bundle scale(const std::string &target) {
  Bundle bundle;
  bundle.producer = "test";
  bundle.sections.push_back({Section::ptx, target, ".visible .entry scale("});
  Entry e;
  e.name = "scale";
  e.symbols.push_back({"N", Expr(), 0});
  e.symbols[0].value = e.extent(0, 0);
  Expr n = e.symbol(0);
  e.arguments.push_back({"x", DType::f32, {n, 4}});
  e.arguments.push_back({"y", DType::f32, {n, 4}, /*output=*/true});
  e.requirements.push_back({n - 1, "N >= 1"});
  Plan p;
  p.target = target;
  p.variant = "default";
  p.modules = {0};
  p.kernels = {"scale"};
  p.buffers = {{Buffer::argument, 0, 0}, {Buffer::argument, 1, 0}};
  Step s;
  s.launched.grid[0] = Expr::binary(Expr::ceildiv, n * 4, 128);
  s.launched.block[0] = 128;
  s.launched.arguments = {pointer(0), pointer(1), integer(n * 4)};
  p.steps.push_back(s);
  e.plans.push_back(p);
  bundle.entries.push_back(e);
  return bundle;
}

/// Every kind of step, buffer and argument at least once. The kernel `add`
/// takes (pointer, i64 value) and adds the value to the i64 it points to.
inline Bundle everything() {
  Bundle bundle;
  bundle.producer = "test";
  bundle.sections.push_back({Section::cubin, "sm_80",
                             "\x7f"
                             "ELF"});
  bundle.sections.push_back({Section::ptx, "sm_80", ".visible .entry add(\n.visible .entry tma("});
  bundle.sections.push_back({Section::data, "", std::string("\x05\0\0\0\0\0\0\0", 8)});
  Entry e;
  e.name = "everything";
  e.symbols.push_back({"N", Expr(), 0});
  e.symbols[0].value = e.extent(0, 0);
  Expr n = e.symbol(0);
  e.arguments.push_back({"x", DType::i64, {n, 2}, false, /*stridedDims=*/1, 16});
  e.arguments.push_back({"y", DType::i64, {n, 2}, true});
  Plan p;
  p.target = "sm_80";
  p.variant = "default";
  p.modules = {0, 1};
  p.kernels = {"add", "tma"};
  p.buffers = {{Buffer::argument, 0, 0}, {Buffer::argument, 1, 0}, {Buffer::workspace, 0, 256},
               {Buffer::constant, 2, 0}, {Buffer::counter, 0, 0},  {Buffer::error, 0, 0}};
  p.workspaceBytes = n * 8 + 256;
  p.counterBytes = 64;
  auto launchAdd = [](int64_t buffer, Expr offset, Expr value) {
    Step s;
    s.launched.arguments = {pointer(buffer, offset), integer(value)};
    return s;
  };
  // y = x, row by row; then y[i][0] += i; N > 2: y[0][1] += 100, else += 200.
  Step rows, row, fill, branch, repeat, constant, tma;
  row.kind = Step::copy;
  row.to = 1, row.toOffset = e.loop(0) * 16;
  row.from = 0, row.fromOffset = e.loop(0) * e.stride(0, 0) * 8;
  row.bytes = 16;
  rows.kind = Step::loop;
  rows.lower = 0, rows.upper = n;
  rows.body = {row, launchAdd(1, e.loop(0) * 16, e.loop(0))};
  fill.kind = Step::fill;
  fill.to = 2, fill.bytes = n * 8, fill.value = 0;
  branch.kind = Step::branch;
  branch.condition = n - 3;
  branch.body = {launchAdd(1, 8, 100)};
  branch.otherwise = {launchAdd(1, 8, 200)};
  // The workspace's first word: 0 -> 3, then repeat { -= 1; y[0][0] += 10 }.
  repeat.kind = Step::repeat;
  repeat.from = 2;
  repeat.upper = 1000;
  repeat.body = {launchAdd(2, 0, -1), launchAdd(1, 0, 10)};
  constant.kind = Step::copy;
  constant.to = 2, constant.from = 3, constant.bytes = 8;
  tma.launched.kernel = 1;
  tma.launched.cluster[0] = 2;
  tma.launched.grid[0] = 2;
  tma.launched.cooperative = true;
  KernelArgument map;
  map.kind = KernelArgument::tensorMap;
  map.buffer = 1;
  map.map.type = 5;
  map.map.extents = {2, n};
  map.map.strides = {16};
  map.map.box = {2, 8};
  map.map.elementStrides = {1, 1};
  tma.launched.arguments = {map, pointer(4), pointer(5), integer(n, 32)};
  p.steps = {rows, fill, branch, constant, repeat, tma};
  e.plans.push_back(p);
  e.chosen.emplace_back("sm_80", "default");
  bundle.entries.push_back(e);
  return bundle;
}

} // namespace sample

#endif // FT_UNITTESTS_RUNTIME_SAMPLEPROGRAMS_H
