// What cannot become a selection says so, and says what to write.
// RUN: ft-opt %s --ft-select --split-input-file --verify-diagnostics

!x = tensor<4xf32>
func.func @lists(%v: !ft.list<[N], !x>, %c: tensor<i1>) -> !ft.list<[N], !x> {
  %p = tensor.extract %c[] : tensor<i1>
  // expected-error @+1 {{chooses a value of type '!ft.list<[N], tensor<4xf32>>'; expected tensors or scalars: choose element by element, with arith.select in the body of a map}}
  %y = scf.if %p -> !ft.list<[N], !x> {
    scf.yield %v : !ft.list<[N], !x>
  } else {
    %r = ft.reverse %v : !ft.list<[N], !x>
    scf.yield %r : !ft.list<[N], !x>
  }
  return %y : !ft.list<[N], !x>
}

// -----

!x = tensor<4xf32>
func.func @loop(%v: !ft.list<[N], !x>) -> !ft.list<[N], !x> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = ft.map (%x = %v : !ft.list<[N], !x>) {
    // expected-error @+1 {{'scf.for' op has no place in a function over lists: loops over elements are map, fold and scan}}
    %y = scf.for %i = %c0 to %c1 step %c1 iter_args(%o = %x) -> !x {
      scf.yield %o : !x
    }
    ft.yield %y : !x
  }
  return %r : !ft.list<[N], !x>
}

// -----

!x = tensor<4xi32>
func.func @fold(%v: !ft.list<[N], !x>, %c: tensor<i1>) -> !ft.list<[N], !x> {
  %z = arith.constant dense<1> : !x
  %p = tensor.extract %c[] : tensor<i1>
  %r = ft.map (%x = %v : !ft.list<[N], !x>) {
    // expected-error @+1 {{cannot become a selection, for which both sides are computed: do so before it, and choose with arith.select}}
    %y = scf.if %p -> !x {
      // expected-note @+1 {{'ft.foldl' must not run in vain}}
      %s = ft.foldl (%a = %v : !ft.list<[N], !x>) init (%h = %z : !x) {
        %t = arith.divsi %a, %h : !x
        ft.yield %t : !x
      }
      scf.yield %s : !x
    } else {
      scf.yield %x : !x
    }
    ft.yield %y : !x
  }
  return %r : !ft.list<[N], !x>
}
