//===- GpuKernels.h - PTX for tests of the runtime on a GPU -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Written by hand, so that the runtime is tested without the compiler.
//
//===----------------------------------------------------------------------===//
#ifndef FT_UNITTESTS_RUNTIME_GPUKERNELS_H
#define FT_UNITTESTS_RUNTIME_GPUKERNELS_H

#include <string>

namespace gpu {

inline std::string header(const std::string &target, const std::string &version = "8.0") {
  return ".version " + version + "\n.target " + target + "\n.address_size 64\n";
}

/// scale(x, y, n): y[i] = 2 x[i].
inline constexpr const char *scale = R"(
.visible .entry scale(.param .u64 x, .param .u64 y, .param .u64 n)
{
  .reg .pred %p;
  .reg .b32 %r<4>;
  .reg .b64 %rd<7>;
  .reg .f32 %f<3>;
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [y];
  ld.param.u64 %rd3, [n];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mul.wide.u32 %rd4, %r1, %r2;
  cvt.u64.u32 %rd5, %r3;
  add.u64 %rd4, %rd4, %rd5;
  setp.ge.u64 %p, %rd4, %rd3;
  @%p ret;
  shl.b64 %rd6, %rd4, 2;
  add.u64 %rd1, %rd1, %rd6;
  add.u64 %rd2, %rd2, %rd6;
  ld.global.f32 %f1, [%rd1];
  add.f32 %f2, %f1, %f1;
  st.global.f32 [%rd2], %f2;
  ret;
}
)";

/// steps(x, y, counter, count): two rows x and y of one i32 a block; each step a
/// block writes its right neighbour's value plus one into the other row, then all
/// blocks meet. The counter only grows: nothing resets it.
inline constexpr const char *steps = R"(
.visible .entry steps(.param .u64 x, .param .u64 y, .param .u64 counter, .param .u32 count)
{
  .reg .pred %p;
  .reg .b32 %r<16>;
  .reg .b64 %rd<10>;
  mov.u32 %r1, %tid.x;
  setp.ne.u32 %p, %r1, 0;
  @%p ret;
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [y];
  ld.param.u64 %rd3, [counter];
  ld.param.u32 %r2, [count];
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %nctaid.x;
  add.u32 %r5, %r3, 1;
  rem.u32 %r5, %r5, %r4;
  mov.u32 %r6, 0;
again:
  setp.ge.u32 %p, %r6, %r2;
  @%p ret;
  mul.wide.u32 %rd4, %r5, 4;
  add.u64 %rd4, %rd4, %rd1;
  mul.wide.u32 %rd5, %r3, 4;
  add.u64 %rd5, %rd5, %rd2;
  ld.relaxed.gpu.global.u32 %r7, [%rd4];
  add.u32 %r7, %r7, 1;
  st.relaxed.gpu.global.u32 [%rd5], %r7;
  fence.acq_rel.gpu;
  atom.add.release.gpu.global.u32 %r8, [%rd3], 1;
  div.u32 %r9, %r8, %r4;
  add.u32 %r9, %r9, 1;
  mul.lo.u32 %r9, %r9, %r4;
wait:
  ld.acquire.gpu.global.u32 %r10, [%rd3];
  sub.s32 %r11, %r10, %r9;
  setp.lt.s32 %p, %r11, 0;
  @%p bra wait;
  mov.u64 %rd6, %rd1;
  mov.u64 %rd1, %rd2;
  mov.u64 %rd2, %rd6;
  add.u32 %r6, %r6, 1;
  bra again;
}
)";

/// cluster(y): y[block] = blocks in its cluster. From sm_90 on.
inline constexpr const char *cluster = R"(
.visible .entry cluster(.param .u64 y)
{
  .reg .b32 %r<3>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [y];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %cluster_nctaid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd1, %rd1, %rd2;
  st.global.u32 [%rd1], %r2;
  ret;
}
)";

/// tile(map, y): block (i, j) copies the 32x32 f32 tile at row 32 j, column 32 i to
/// y, tile after tile; the descriptor fills zeros outside. From sm_90 on.
inline constexpr const char *tile = R"(
.visible .entry tile(.param .align 64 .b8 map[128], .param .u64 y)
{
  .reg .pred %p;
  .reg .b32 %r<12>;
  .reg .b64 %rd<6>;
  .reg .f32 %f;
  .shared .align 128 .b8 data[4096];
  .shared .align 8 .b64 bar;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, data;
  mov.u32 %r3, bar;
  mov.u32 %r4, %ctaid.x;
  mov.u32 %r5, %ctaid.y;
  shl.b32 %r6, %r4, 5;
  shl.b32 %r7, %r5, 5;
  setp.ne.u32 %p, %r1, 0;
  @%p bra ready;
  mbarrier.init.shared.b64 [%r3], 1;
  fence.mbarrier_init.release.cluster;
ready:
  bar.sync 0;
  @%p bra wait;
  mbarrier.arrive.expect_tx.shared.b64 _, [%r3], 4096;
  mov.b64 %rd1, map;
  cvta.param.u64 %rd2, %rd1;
  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r2], [%rd2, {%r6, %r7}], [%r3];
wait:
  mbarrier.try_wait.parity.shared.b64 %p, [%r3], 0;
  @!%p bra wait;
  mov.u32 %r8, %nctaid.x;
  mad.lo.u32 %r9, %r5, %r8, %r4;
  shl.b32 %r9, %r9, 10;
  add.u32 %r9, %r9, %r1;
  ld.param.u64 %rd3, [y];
  mul.wide.u32 %rd4, %r9, 4;
  add.u64 %rd3, %rd3, %rd4;
  shl.b32 %r10, %r1, 2;
  add.u32 %r10, %r10, %r2;
  ld.shared.f32 %f, [%r10];
  st.global.f32 [%rd3], %f;
  ret;
}
)";

/// broken(mode, error): 0 does nothing, 1 traps, 2 writes to address 16, 3 reports
/// an index out of range.
inline constexpr const char *broken = R"(
.visible .entry broken(.param .u32 mode, .param .u64 error)
{
  .reg .pred %p<4>;
  .reg .b32 %r<2>;
  .reg .b64 %rd<3>;
  ld.param.u32 %r1, [mode];
  ld.param.u64 %rd1, [error];
  setp.eq.u32 %p1, %r1, 1;
  setp.eq.u32 %p2, %r1, 2;
  setp.ne.u32 %p3, %r1, 3;
  @%p1 trap;
  mov.u64 %rd2, 16;
  @%p2 st.global.u32 [%rd2], %r1;
  @%p3 ret;
  st.global.u32 [%rd1+4], 0;
  st.global.u64 [%rd1+8], 77;
  fence.acq_rel.sys;
  st.global.u32 [%rd1], 1;
  ret;
}
)";

} // namespace gpu

#endif // FT_UNITTESTS_RUNTIME_GPUKERNELS_H
