// What the attributes of functions and the names of lengths refuse.
//
// RUN: ft-opt %s --split-input-file --verify-diagnostics

!x = tensor<2xf32>

// An argument of length L - 2 binds nothing.
// expected-error @+2 {{argument 0: length 'L' is not bound: no argument of 'names' has a dimension that is just L}}
// expected-note @+1 {{the function is here}}
func.func @names(%xs: !ft.list<[L - 2], !x>) {
  %0 = ft.reverse %xs : !ft.list<[L - 2], !x>
  return
}

// -----
!x = tensor<2xf32>
// expected-note @+1 {{the function is here}}
func.func @names(%xs: !ft.list<[L], !x>, %z: !x) {
  // expected-error @+1 {{length 'K' is not bound}}
  %0 = ft.repeat %z times K : !x
  return
}

// -----
!x = tensor<2xf32>
// expected-note @+1 {{the function is here}}
func.func @names(%xs: !ft.list<[L], !x>) attributes {ft.bounds = #ft.bounds<"L >= 1">} {
  // expected-error @+1 {{'ft.at' op length 'K' is not bound}}
  %0 = ft.at %xs[K] : !ft.list<[L], !x>
  return
}

// -----
!x = tensor<2xf32>
// expected-error @+2 {{'ft.bounds': length 'K' is not bound}}
// expected-note @+1 {{the function is here}}
func.func private @bounds(!ft.list<[L], !x>) attributes {ft.bounds = #ft.bounds<"K >= 5">}

// -----
!x = tensor<2xf32>
// expected-error @+2 {{'func.func' op length 'K' is not bound: no argument of 'bounds' has a dimension that is just K}}
// expected-note @+1 {{the function is here}}
func.func private @bounds(!ft.list<[L, K + 1], !x>) attributes {ft.bounds = #ft.bounds<"L >= 5">}

// -----
// expected-error @+1 {{'ft.bounds' must be inequalities such as #ft.bounds<"L >= 5">, found 5 : i64}}
func.func private @bounds(!ft.list<[L], tensor<2xf32>>) attributes {ft.bounds = 5}

// -----
// expected-error @+1 {{'ft.bounds' belongs on a function}}
module attributes {ft.bounds = #ft.bounds<"L >= 5">} {}

// -----
// expected-error @+1 {{unknown attribute 'ft.bound': the ft dialect has 'ft.binds', 'ft.bounds', 'ft.lengths', 'ft.partition', 'ft.residuals' and 'ft.typical' on functions, 'ft.gen' on their arguments, and 'ft.checkpoint' and 'ft.saved' on operations}}
func.func private @bounds() attributes {ft.bound = 5}

// -----
// expected-error @+1 {{'ft.partition' of a function must be boundary, souffle or cost, found "all"}}
func.func private @partition() attributes {ft.partition = "all"}

// -----
// expected-error @+1 {{'ft.lengths' must be a dictionary of lengths by name, such as {L = 64 : i64}}}
func.func private @lengths(!ft.list<[L], tensor<2xf32>>) attributes {ft.lengths = 64}

// -----
// expected-error @+1 {{'ft.lengths' gives 'L' no integer}}
func.func private @lengths(!ft.list<[L], tensor<2xf32>>) attributes {ft.lengths = {L = 1.0}}

// -----
// expected-error @+1 {{'ft.lengths' gives 'L' a value that no length has}}
func.func private @lengths(!ft.list<[L], tensor<2xf32>>) attributes {ft.lengths = {L = -1}}

// -----
// expected-error @+2 {{'ft.lengths': length 'K' is not bound}}
// expected-note @+1 {{the function is here}}
func.func private @lengths(!ft.list<[L], tensor<2xf32>>) attributes {ft.lengths = {K = 1}}

// -----
// expected-error @+1 {{'ft.typical' must be a dictionary of lengths by name, such as {L = [64, 4096]}}}
func.func private @typical(!ft.list<[L], tensor<2xf32>>) attributes {ft.typical = [1, 2]}

// -----
// expected-error @+1 {{'ft.typical' gives 'L' no [least, greatest]}}
func.func private @typical(!ft.list<[L], tensor<2xf32>>) attributes {ft.typical = {L = 4}}

// -----
// expected-error @+1 {{'ft.typical' gives 'L' a value that no length has}}
func.func private @typical(!ft.list<[L], tensor<2xf32>>) attributes {ft.typical = {L = [4, 2]}}

// -----
// expected-error @+1 {{unknown argument attribute 'ft.generate'}}
func.func private @gen(tensor<2xf32> {ft.generate = 1})

// -----
// expected-error @+1 {{'ft.gen' of argument 0 must be #ft.normal, #ft.uniform or #ft.index, found 1 : i64}}
func.func private @gen(tensor<2xf32> {ft.gen = 1})

// -----
// expected-error @+1 {{'ft.gen' of argument 1: #ft.normal<1> generates floats, the elements are 'tensor<2xi32>'}}
func.func private @gen(tensor<2xf32>, !ft.list<[L], tensor<2xi32>> {ft.gen = #ft.normal<1>})

// -----
// expected-error @+1 {{'ft.gen' of argument 0: #ft.index<0, 4> generates integers, the elements are 'tensor<2xf32>'}}
func.func private @gen(tensor<2xf32> {ft.gen = #ft.index<0, 4>})

// -----
// expected-error @+2 {{'ft.gen' of argument 0: length 'L' is not bound}}
// expected-note @+1 {{the function is here}}
func.func private @gen(tensor<2xi32> {ft.gen = #ft.index<0, L>})

// -----
// expected-error @+1 {{'ft.gen' of argument 0, which holds no tensors but 'tuple<tensor<f32>>'}}
func.func private @gen(!ft.list<[L], tuple<tensor<f32>>> {ft.gen = #ft.normal<1>})

// -----

// expected-error @+1 {{'ft.leaf_batched': expected a truth value for each argument, array<i1: ...>, found 3 : i64}}
func.func private @flags(%a: tensor<4xf32>) -> tensor<4xf32> attributes {ft.leaf, ft.leaf_batched = 3} {
  return %a : tensor<4xf32>
}

// -----

// expected-error @+1 {{'ft.leaf_aliases': expected a truth value for each result, array<i1: ...>, found array<i1: true, true>}}
func.func private @aliases(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> attributes {ft.leaf, ft.leaf_aliases = array<i1: true, true>} {
  return %a : tensor<4xf32>
}

// -----

// expected-error @+1 {{'ft.scratch_fixed': expected a number of bytes, an i64 of at least 0, found -1 : i64}}
func.func private @scratch() attributes {ft.scratch_fixed = -1 : i64}

// -----

// expected-error @+1 {{unknown attribute 'ft.leaf_colour'}}
func.func private @unknown() attributes {ft.leaf_colour}

// -----

func.func @place() {
  // expected-error @+1 {{'ft.leaf_listed' belongs on a function}}
  %0 = arith.constant {ft.leaf_listed} 0 : index
  return
}

// -----

func.func @saved(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{'ft.saved' is true or false, on an operation with results; found 3 : i64}}
  %y = math.exp %x {ft.saved = 3} : tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

func.func @checkpoint(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{'ft.checkpoint' belongs on a fold or scan, whose states it saves}}
  %y = math.exp %x {ft.checkpoint = [64]} : tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

func.func @checkpoint(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{'ft.checkpoint' is a list of numbers of iterations, each an i64 of at least 1, [64]; found [0]}}
  %y = math.exp %x {ft.checkpoint = [0]} : tensor<2xf32>
  return %y : tensor<2xf32>
}
