// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Channels that would hang, or give up what is read, are found before code is made of them.
// RUN: ft-opt %s --split-input-file --verify-diagnostics --tile-check-phases

!a = !tile.shared<128x64xf16, swizzle = 128, stages = 1>
!b = !tile.shared<64x128xf16, swizzle = 128, stages = 1>
#layout = #tile.blocked<vector = [1, 2], threads = [64, 4], warp = [8, 4], repeat = [2, 1]>
!sums = !tile.registers<128x128xf32, #layout>
!flight = !tile.in_flight<!sums>
!channel = !tile.channel<[!a, !b], slots = 4>

llvm.func @no_publish(%memory: !llvm.ptr<3>) attributes {nvvm.kernel} {
  // expected-note @+1 {{of this channel}}
  %c = tile.channel %memory : !channel
  tile.roles <slots = 4, loaders = 1, computers = 2, registers = [24, 240]> load {
    // expected-error @+1 {{a slot is taken and not given back on each path}}
    %l:2, %full = tile.acquire %c : !channel -> !a, !b
  } compute {
    %r:2 = tile.receive %c : !channel -> !a, !b
    tile.release %c : !channel
  }
  llvm.return
}

// -----

!a = !tile.shared<128x64xf16, swizzle = 128, stages = 1>
!channel = !tile.channel<[!a], slots = 4>

llvm.func @release_on_one_path(%memory: !llvm.ptr<3>, %yes: i1) attributes {nvvm.kernel} {
  // expected-note @+1 {{of this channel}}
  %c = tile.channel %memory : !channel
  tile.roles <slots = 4, loaders = 1, computers = 2, registers = [24, 240]> load {
    %l, %full = tile.acquire %c : !channel -> !a
    tile.publish %c : !channel
  } compute {
    %r = tile.receive %c : !channel -> !a
    // expected-error @+1 {{a slot is taken and not given back before this}}
    scf.if %yes {
      tile.release %c : !channel
    }
  }
  llvm.return
}

// -----

!a = !tile.shared<128x64xf16, swizzle = 128, stages = 1>
!b = !tile.shared<64x128xf16, swizzle = 128, stages = 1>
#layout = #tile.blocked<vector = [1, 2], threads = [64, 4], warp = [8, 4], repeat = [2, 1]>
!sums = !tile.registers<128x128xf32, #layout>
!flight = !tile.in_flight<!sums>
!channel = !tile.channel<[!a, !b], slots = 4>

llvm.func @early_release(%memory: !llvm.ptr<3>) attributes {nvvm.kernel} {
  %nothing = arith.constant 0.0 : f32
  %sums = tile.splat %nothing : f32 -> !sums
  // expected-note @+1 {{of this channel}}
  %c = tile.channel %memory : !channel
  tile.roles <slots = 4, loaders = 1, computers = 2, registers = [24, 240]> load {
    %l:2, %full = tile.acquire %c : !channel -> !a, !b
    tile.publish %c : !channel
  } compute {
    %r:2 = tile.receive %c : !channel -> !a, !b
    %s = tile.start_mma %sums, %r#0, %r#1 : !sums, !a, !b -> !flight
    // expected-error @+1 {{a slot is released while a product that reads it may be in flight}}
    tile.release %c : !channel
    %t = tile.await %s : !flight -> !sums
  }
  llvm.return
}

// -----

!a = !tile.shared<128x64xf16, swizzle = 128, stages = 1>
!channel = !tile.channel<[!a], slots = 4>

llvm.func @unequal(%memory: !llvm.ptr<3>, %n: i64) attributes {nvvm.kernel} {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  // expected-error @+1 {{both roles take the slots of a channel in the same loops and conditions: found 'for{()}' and '()'}}
  %c = tile.channel %memory : !channel
  tile.roles <slots = 4, loaders = 1, computers = 2, registers = [24, 240]> load {
    scf.for %i = %zero to %n step %one : i64 {
      %l, %full = tile.acquire %c : !channel -> !a
      tile.publish %c : !channel
    }
  } compute {
    %r = tile.receive %c : !channel -> !a
    tile.release %c : !channel
  }
  llvm.return
}

// -----

!a = !tile.shared<128x64xf16, swizzle = 128, stages = 1>
!channel = !tile.channel<[!a], slots = 4>

llvm.func @both_write(%memory: !llvm.ptr<3>) attributes {nvvm.kernel} {
  // expected-note @+1 {{of this channel}}
  %c = tile.channel %memory : !channel
  tile.roles <slots = 4, loaders = 1, computers = 2, registers = [24, 240]> load {
    %other = arith.constant 0 : i32
  } compute {
    // expected-error @+1 {{the loading role writes a channel, and the computing one reads it}}
    tile.publish %c : !channel
  }
  llvm.return
}

// -----

llvm.func @barrier() attributes {nvvm.kernel} {
  tile.roles <slots = 4, loaders = 1, computers = 2, registers = [24, 240]> load {
    // expected-error @+1 {{a barrier of the whole block stands in a role}}
    tile.barrier
  } compute {
    %other = arith.constant 0 : i32
  }
  llvm.return
}

// -----

// expected-error @+1 {{(K3) expected at most 64512 registers for a block of 384 threads, found 65536}}
llvm.func @registers() attributes {nvvm.kernel, tile.pipeline = #tile.pipeline<slots = 4, loaders = 1, computers = 2, registers = [32, 240]>} {
  llvm.return
}

// -----

// expected-error @+1 {{(K2) expected one loader and 1 to 3 computers, found loaders = 2, computers = 2}}
llvm.func @loaders() attributes {nvvm.kernel, tile.pipeline = #tile.pipeline<slots = 4, loaders = 2, computers = 2, registers = [24, 128]>} {
  llvm.return
}

// -----

// expected-error @+1 {{(S4) expected a swizzle of 32, 64 or 128 bytes that divides a row, no pad and rows in eights}}
func.func @swizzle(%a: !tile.shared<128x32xf16, swizzle = 128, stages = 1>) {
  return
}

// -----

llvm.func @one_waits(%memory: !llvm.ptr<3>) attributes {nvvm.kernel} {
  // expected-error @+1 {{both roles wait for the launches before: found one that does}}
  tile.roles <slots = 4, loaders = 1, computers = 2, registers = [24, 240]> load {
    nvvm.griddepcontrol launch_dependents
  } compute {
    nvvm.griddepcontrol wait
  }
  llvm.return
}

// -----

llvm.func @touches_early(%to: !llvm.ptr<1>, %yes: i1) attributes {nvvm.kernel} {
  %none = arith.constant 0 : i32
  tile.roles <slots = 4, loaders = 1, computers = 2, registers = [24, 240]> load {
    nvvm.griddepcontrol wait
  } compute {
    scf.if %yes {
      // expected-error @+1 {{memory is touched before this kernel has waited for the launches before}}
      llvm.store %none, %to : i32, !llvm.ptr<1>
    }
    nvvm.griddepcontrol wait
  }
  llvm.return
}

// -----

// Without a launch plan nothing says that no launch writes this.
!a = !tile.shared<128x64xf16, swizzle = 128, stages = 1>
!map_a = !tile.tensor_map<128x64xf16, swizzle = 128>
!channel = !tile.channel<[!a], slots = 4>

llvm.func @fetches_early(%memory: !llvm.ptr<3>, %da: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant, llvm.align = 64 : i64, tile.tensor_map = !map_a})
    attributes {nvvm.kernel} {
  %none = arith.constant 0 : i32
  %zero = arith.constant 0 : i64
  %map = tile.tensor_map %da : !map_a
  %c = tile.channel %memory : !channel
  tile.roles <slots = 4, loaders = 1, computers = 2, registers = [24, 240]> load {
    %l, %full = tile.ahead %c at %none : !channel -> !a
    // expected-error @+1 {{a launch may write what is fetched before this kernel has waited for the launches before}}
    tile.start_fetch %map[%zero, %zero] to %l counts %full : !map_a -> !a
    nvvm.griddepcontrol wait
  } compute {
    nvvm.griddepcontrol wait
  }
  llvm.return
}
