// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What modules of kernels say of themselves, in each way it can be wrong.
//
// RUN: ft-opt %s --split-input-file --verify-diagnostics

gpu.module @right attributes {tile.plan = "{}", tile.target = "sm_90a"} {}

// -----

// expected-error @+1 {{(tile_module1) 'tile.target' is an attribute of a gpu.module}}
module attributes {tile.target = "sm_90a"} {}

// -----

// expected-error @+1 {{(tile_module1) kernels say what they are for and how they are launched: expected 'tile.plan' beside 'tile.target'}}
gpu.module @noplan attributes {tile.target = "sm_90a"} {}

// -----

// expected-error @+1 {{(tile_module1) kernels say what they are for and how they are launched: expected 'tile.target' beside 'tile.plan'}}
gpu.module @notarget attributes {tile.plan = "{}"} {}

// -----

// expected-error @+1 {{(tile_module2) 'tile.plan' is a text, found 7 : i64}}
gpu.module @number attributes {tile.plan = 7, tile.target = "sm_90a"} {}

// -----

// expected-error @+1 {{(tile_module2) 'tile.target' is a text, found ""}}
gpu.module @empty attributes {tile.plan = "{}", tile.target = ""} {}

// -----

// expected-error @+1 {{no attribute of tile is called 'tile.plane': expected 'tile.plan' or 'tile.target'}}
gpu.module @typo attributes {tile.plane = "{}"} {}
