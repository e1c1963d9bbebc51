// RUN: ft-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{'ft.held' of argument 0 must be a name, found 3 : i64}}
func.func @number(%w: tensor<3xf32> {ft.held = 3 : i64}) { return }

// -----

// expected-error @+1 {{'ft.held' of argument 1: argument 0 has the name "w" already}}
func.func @twice(%a: tensor<3xf32> {ft.held = "w"}, %b: tensor<3xf32> {ft.held = "w"}) { return }

// -----

// expected-error @+1 {{'ft.binds' must list a name for each result of a function, found ["a"]}}
func.func @none(%a: tensor<3xf32> {ft.held = "w"}) attributes {ft.binds = ["a"]} { return }

// -----

// expected-error @+1 {{a function with 'ft.binds' takes held arguments alone, and argument 0 has no 'ft.held'}}
func.func @open(%a: tensor<3xf32>) -> tensor<3xf32> attributes {ft.binds = ["a"]} { return %a : tensor<3xf32> }
