// Programs on which public implementations go wrong, each as a test: the heap says what they
// mean, the functionalized and the lowered form and the CPU engine must agree.
// RUN: ft-fuzz --imperative %s | FileCheck %s
// CHECK: 23 programs: 23 equal, 20 of them on the CPU engine, 0 refused, 0 failed

// The old version stays alive: an assign must not write into its operand.
func.func @version_fork(%a: !tssa.tensor<4xi32>, %x: tensor<i32>) -> (tensor<4xi32>, tensor<i32>) {
  %old = tssa.read %a : !tssa.tensor<4xi32>
  %s = tssa.view %a[select(0, 1)] : !tssa.tensor<4xi32> -> !tssa.tensor<i32>
  tssa.mutate %s, %x : !tssa.tensor<i32>, tensor<i32>
  %now = tssa.read %s : !tssa.tensor<i32>
  return %old, %now : tensor<4xi32>, tensor<i32>
}

// What a loop starts from is used again after the loop.
func.func @init_reused(%a: !tssa.tensor<4x2xi32>) -> (tensor<4x2xi32>, !tssa.tensor<4x2xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %first = tssa.read %a : !tssa.tensor<4x2xi32>
  %b = tssa.new %first : tensor<4x2xi32>
  scf.for %i = %c0 to %c4 step %c1 {
    %v = tssa.view %b[select(0, %i)] : !tssa.tensor<4x2xi32> -> !tssa.tensor<2xi32>
    %x = tssa.read %v : !tssa.tensor<2xi32>
    %y = arith.addi %x, %x : tensor<2xi32>
    tssa.mutate %v, %y : !tssa.tensor<2xi32>, tensor<2xi32>
  }
  %sum = tssa.read %b : !tssa.tensor<4x2xi32>
  %both = arith.addi %sum, %first : tensor<4x2xi32>
  return %both, %b : tensor<4x2xi32>, !tssa.tensor<4x2xi32>
}

// copy_ broadcasts and casts to the destination.
func.func @broadcast_cast(%a: !tssa.tensor<3x4xi32>, %s: tensor<f32>, %r: tensor<1x4xf32>, %b: !tssa.tensor<3xi1>, %w: tensor<3xi32>) {
  %row = tssa.view %a[select(0, 2)] : !tssa.tensor<3x4xi32> -> !tssa.tensor<4xi32>
  tssa.mutate %a, %r : !tssa.tensor<3x4xi32>, tensor<1x4xf32>
  tssa.mutate %row, %s : !tssa.tensor<4xi32>, tensor<f32>
  tssa.mutate %b, %w : !tssa.tensor<3xi1>, tensor<3xi32>
  return
}

// Negative indices and starts, in reads as in writes; ends beyond the end.
func.func @negative(%a: !tssa.tensor<5x3xi32>) -> (tensor<3xi32>, tensor<2x3xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %m = tssa.view %a[select(0, -2)] : !tssa.tensor<5x3xi32> -> !tssa.tensor<3xi32>
  %t = tssa.view %a[slice(0, -2, 99, 1)] : !tssa.tensor<5x3xi32> -> !tssa.tensor<2x3xi32>
  %ones = arith.constant dense<1> : tensor<3xi32>
  scf.for %i = %c0 to %c3 step %c1 {
    %back = arith.subi %i, %c3 : index
    %v = tssa.view %a[select(0, %back)] : !tssa.tensor<5x3xi32> -> !tssa.tensor<3xi32>
    %x = tssa.read %v : !tssa.tensor<3xi32>
    %y = arith.addi %x, %ones : tensor<3xi32>
    tssa.mutate %v, %y : !tssa.tensor<3xi32>, tensor<3xi32>
  }
  %0 = tssa.read %m : !tssa.tensor<3xi32>
  %1 = tssa.read %t : !tssa.tensor<2x3xi32>
  return %0, %1 : tensor<3xi32>, tensor<2x3xi32>
}

// A squeeze of what was not 1 leaves it; a permutation that is no involution comes back.
func.func @squeeze_permute(%a: !tssa.tensor<2x3x4xi32>, %v: tensor<4x2x3xi32>, %w: tensor<3xi32>) {
  %s = tssa.view %a[squeeze(1), permute(2, 0, 1)] : !tssa.tensor<2x3x4xi32> -> !tssa.tensor<4x2x3xi32>
  tssa.mutate %s, %v : !tssa.tensor<4x2x3xi32>, tensor<4x2x3xi32>
  %u = tssa.view %s[select(0, 1), unsqueeze(1), squeeze(1), select(0, 0)] : !tssa.tensor<4x2x3xi32> -> !tssa.tensor<3xi32>
  tssa.mutate %u, %w : !tssa.tensor<3xi32>, tensor<3xi32>
  return
}

// v = a[0] if c else a[1]; v.add_(1)
func.func @merged_by_if(%a: !tssa.tensor<2x3xi32>, %c: tensor<i32>) -> !tssa.tensor<3xi32> {
  %n = tensor.extract %c[] : tensor<i32>
  %zero = arith.constant 0 : i32
  %test = arith.cmpi sgt, %n, %zero : i32
  %v = scf.if %test -> (!tssa.tensor<3xi32>) {
    %0 = tssa.view %a[select(0, 0)] : !tssa.tensor<2x3xi32> -> !tssa.tensor<3xi32>
    scf.yield %0 : !tssa.tensor<3xi32>
  } else {
    %1 = tssa.view %a[select(0, 1)] : !tssa.tensor<2x3xi32> -> !tssa.tensor<3xi32>
    scf.yield %1 : !tssa.tensor<3xi32>
  }
  %ones = arith.constant dense<1> : tensor<3xi32>
  %x = tssa.read %v : !tssa.tensor<3xi32>
  %y = arith.addi %x, %ones : tensor<3xi32>
  tssa.mutate %v, %y : !tssa.tensor<3xi32>, tensor<3xi32>
  return %v : !tssa.tensor<3xi32>
}

// v = a if c else b, two storages; both are written through v.
func.func @two_roots(%a: !tssa.tensor<3xi32>, %b: !tssa.tensor<3xi32>, %c: tensor<i32>) -> !tssa.tensor<3xi32> {
  %n = tensor.extract %c[] : tensor<i32>
  %zero = arith.constant 0 : i32
  %test = arith.cmpi sgt, %n, %zero : i32
  %v = arith.select %test, %a, %b : !tssa.tensor<3xi32>
  %ones = arith.constant dense<7> : tensor<3xi32>
  tssa.mutate %v, %ones : !tssa.tensor<3xi32>, tensor<3xi32>
  return %v : !tssa.tensor<3xi32>
}

// u, v = v, u in a loop that writes u.
func.func @swapped_views(%a: !tssa.tensor<2x3xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %u0 = tssa.view %a[select(0, 0)] : !tssa.tensor<2x3xi32> -> !tssa.tensor<3xi32>
  %v0 = tssa.view %a[select(0, 1)] : !tssa.tensor<2x3xi32> -> !tssa.tensor<3xi32>
  %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%u = %u0, %v = %v0) -> (!tssa.tensor<3xi32>, !tssa.tensor<3xi32>) {
    %x = tssa.read %u : !tssa.tensor<3xi32>
    %y = tssa.read %v : !tssa.tensor<3xi32>
    %z = arith.addi %x, %y : tensor<3xi32>
    tssa.mutate %u, %z : !tssa.tensor<3xi32>, tensor<3xi32>
    scf.yield %v, %u : !tssa.tensor<3xi32>, !tssa.tensor<3xi32>
  }
  %k = arith.constant dense<5> : tensor<3xi32>
  tssa.mutate %r#0, %k : !tssa.tensor<3xi32>, tensor<3xi32>
  return
}

// v = v.t() in a loop that writes v.
func.func @transposed_each_time(%a: !tssa.tensor<3x3xi32>, %row: tensor<3xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%v = %a) -> (!tssa.tensor<3x3xi32>) {
    %s = tssa.view %v[select(0, %i)] : !tssa.tensor<3x3xi32> -> !tssa.tensor<3xi32>
    %x = tssa.read %s : !tssa.tensor<3xi32>
    %y = arith.addi %x, %row : tensor<3xi32>
    tssa.mutate %s, %y : !tssa.tensor<3xi32>, tensor<3xi32>
    %t = tssa.view %v[permute(1, 0)] : !tssa.tensor<3x3xi32> -> !tssa.tensor<3x3xi32>
    scf.yield %t : !tssa.tensor<3x3xi32>
  }
  return
}

// x is the caller's in the first iteration only: x.add_(1); x = x.clone().
func.func @first_is_the_callers(%a: !tssa.tensor<3xi32>) -> !tssa.tensor<3xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %ones = arith.constant dense<1> : tensor<3xi32>
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%x = %a) -> (!tssa.tensor<3xi32>) {
    %0 = tssa.read %x : !tssa.tensor<3xi32>
    %1 = arith.addi %0, %ones : tensor<3xi32>
    tssa.mutate %x, %1 : !tssa.tensor<3xi32>, tensor<3xi32>
    %2 = tssa.read %x : !tssa.tensor<3xi32>
    %n = tssa.new %2 : tensor<3xi32>
    scf.yield %n : !tssa.tensor<3xi32>
  }
  tssa.mutate %r, %ones : !tssa.tensor<3xi32>, tensor<3xi32>
  return %r : !tssa.tensor<3xi32>
}

// Mutation in the condition alone, of something written before the loop.
func.func @condition_mutates(%a: !tssa.tensor<2xi32>, %v: tensor<2xi32>) -> tensor<2xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %ones = arith.constant dense<1> : tensor<2xi32>
  tssa.mutate %a, %v : !tssa.tensor<2xi32>, tensor<2xi32>
  %n = scf.while (%i = %c0) : (index) -> index {
    %x = tssa.read %a : !tssa.tensor<2xi32>
    %y = arith.addi %x, %ones : tensor<2xi32>
    tssa.mutate %a, %y : !tssa.tensor<2xi32>, tensor<2xi32>
    %go = arith.cmpi slt, %i, %c3 : index
    scf.condition(%go) %i : index
  } do {
  ^bb0(%i: index):
    %next = arith.addi %i, %c1 : index
    scf.yield %next : index
  }
  %r = tssa.read %a : !tssa.tensor<2xi32>
  return %r : tensor<2xi32>
}

// A condition that is never true writes once.
func.func @condition_false(%a: !tssa.tensor<2xi32>) {
  %false = arith.constant false
  %ones = arith.constant dense<1> : tensor<2xi32>
  scf.while : () -> () {
    tssa.mutate %a, %ones : !tssa.tensor<2xi32>, tensor<2xi32>
    scf.condition(%false)
  } do {
    tssa.mutate %a, %ones : !tssa.tensor<2xi32>, tensor<2xi32>
    scf.yield
  }
  return
}

// The same tensor carried and captured.
func.func @carried_and_captured(%a: !tssa.tensor<2xi32>) -> !tssa.tensor<2xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r:2 = scf.while (%x = %a, %i = %c0) : (!tssa.tensor<2xi32>, index) -> (!tssa.tensor<2xi32>, index) {
    %go = arith.cmpi slt, %i, %c3 : index
    scf.condition(%go) %x, %i : !tssa.tensor<2xi32>, index
  } do {
  ^bb0(%x: !tssa.tensor<2xi32>, %i: index):
    %0 = tssa.read %a : !tssa.tensor<2xi32>
    %1 = arith.addi %0, %0 : tensor<2xi32>
    tssa.mutate %x, %1 : !tssa.tensor<2xi32>, tensor<2xi32>
    %next = arith.addi %i, %c1 : index
    scf.yield %x, %next : !tssa.tensor<2xi32>, index
  }
  return %r#0 : !tssa.tensor<2xi32>
}

// Mutation in branches of branches, on one side only.
func.func @nested_branches(%a: !tssa.tensor<4xi32>, %c: tensor<2xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %p = tensor.extract %c[%c0] : tensor<2xi32>
  %q = tensor.extract %c[%c1] : tensor<2xi32>
  %one = arith.constant dense<9> : tensor<i32>
  %outer = arith.cmpi sgt, %p, %zero : i32
  %inner = arith.cmpi sgt, %q, %zero : i32
  %v = tssa.view %a[select(0, 1)] : !tssa.tensor<4xi32> -> !tssa.tensor<i32>
  scf.if %outer {
    scf.if %inner {
      tssa.mutate %v, %one : !tssa.tensor<i32>, tensor<i32>
    }
  } else {
    %w = tssa.view %a[select(0, 2)] : !tssa.tensor<4xi32> -> !tssa.tensor<i32>
    tssa.mutate %w, %one : !tssa.tensor<i32>, tensor<i32>
    tssa.mutate %v, %one : !tssa.tensor<i32>, tensor<i32>
  }
  return
}

// a[1:].copy_(a[:-1]): the value has been read before anything is written.
func.func @overlapping_copy(%a: !tssa.tensor<5xi32>) {
  %to = tssa.view %a[slice(0, 1, _, 1)] : !tssa.tensor<5xi32> -> !tssa.tensor<4xi32>
  %from = tssa.view %a[slice(0, 0, -1, 1)] : !tssa.tensor<5xi32> -> !tssa.tensor<4xi32>
  %v = tssa.read %from : !tssa.tensor<4xi32>
  tssa.mutate %to, %v : !tssa.tensor<4xi32>, tensor<4xi32>
  return
}

// A loop of no iterations leaves all as it was.
func.func @zero_trips(%a: !tssa.tensor<3xi32>, %n: tensor<i32>) -> !tssa.tensor<3xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %ones = arith.constant dense<1> : tensor<3xi32>
  %r = scf.for %i = %c0 to %c0 step %c1 iter_args(%x = %a) -> (!tssa.tensor<3xi32>) {
    %n2 = tssa.new %ones : tensor<3xi32>
    scf.yield %n2 : !tssa.tensor<3xi32>
  }
  tssa.mutate %r, %ones : !tssa.tensor<3xi32>, tensor<3xi32>
  return %r : !tssa.tensor<3xi32>
}

// index_put_, with and without accumulate, through a view.
func.func @put(%a: !tssa.tensor<4x3xi32>, %v: tensor<3x3xi32>) {
  %at = arith.constant dense<[1, -1, 1]> : tensor<3xi64>
  %0 = tssa.read %a : !tssa.tensor<4x3xi32>
  %1 = tssa.index_put accumulate %v into %0 [0] by %at : tensor<3x3xi32> into tensor<4x3xi32>, tensor<3xi64>
  tssa.mutate %a, %1 : !tssa.tensor<4x3xi32>, tensor<4x3xi32>
  %t = tssa.view %a[permute(1, 0)] : !tssa.tensor<4x3xi32> -> !tssa.tensor<3x4xi32>
  %2 = tssa.read %t : !tssa.tensor<3x4xi32>
  %row = arith.constant dense<[5, 6, 7, 8]> : tensor<4xi32>
  %one = arith.constant dense<0> : tensor<1xi64>
  %3 = tssa.index_put %row into %2 [0] by %one : tensor<4xi32> into tensor<3x4xi32>, tensor<1xi64>
  tssa.mutate %t, %3 : !tssa.tensor<3x4xi32>, tensor<3x4xi32>
  return
}

// A returned alias, and a call that writes through it.
func.func private @helper(%x: !tssa.tensor<2x2xi32>) -> !tssa.tensor<2xi32> {
  %v = tssa.view %x[select(1, 0)] : !tssa.tensor<2x2xi32> -> !tssa.tensor<2xi32>
  %k = arith.constant dense<3> : tensor<2xi32>
  tssa.mutate %v, %k : !tssa.tensor<2xi32>, tensor<2xi32>
  return %v : !tssa.tensor<2xi32>
}
func.func @returned_alias(%a: !tssa.tensor<3x2x2xi32>) -> !tssa.tensor<2xi32> {
  %s = tssa.view %a[select(0, 1)] : !tssa.tensor<3x2x2xi32> -> !tssa.tensor<2x2xi32>
  %v = func.call @helper(%s) : (!tssa.tensor<2x2xi32>) -> !tssa.tensor<2xi32>
  %x = tssa.read %v : !tssa.tensor<2xi32>
  %y = arith.addi %x, %x : tensor<2xi32>
  tssa.mutate %v, %y : !tssa.tensor<2xi32>, tensor<2xi32>
  return %v : !tssa.tensor<2xi32>
}

// inp = a[j + 1] at the end of each iteration, which is looked at before a[j + 1] has been written again.
func.func @looked_at_before(%a: !tssa.tensor<4x3xi32>) -> tensor<3xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %v0 = tssa.view %a[select(0, 0)] : !tssa.tensor<4x3xi32> -> !tssa.tensor<3xi32>
  %zero = arith.constant dense<0> : tensor<3xi32>
  %r:2 = scf.for %j = %c0 to %c3 step %c1 iter_args(%v = %v0, %sum = %zero) -> (!tssa.tensor<3xi32>, tensor<3xi32>) {
    %next = arith.addi %j, %c1 : index
    %here = tssa.view %a[select(0, %j)] : !tssa.tensor<4x3xi32> -> !tssa.tensor<3xi32>
    %there = tssa.view %a[select(0, %next)] : !tssa.tensor<4x3xi32> -> !tssa.tensor<3xi32>
    %x = tssa.read %v : !tssa.tensor<3xi32>
    %more = arith.addi %sum, %x : tensor<3xi32>
    %h = tssa.read %here : !tssa.tensor<3xi32>
    %t = tssa.read %there : !tssa.tensor<3xi32>
    %n = arith.addi %h, %t : tensor<3xi32>
    tssa.mutate %there, %n : !tssa.tensor<3xi32>, tensor<3xi32>
    tssa.mutate %here, %n : !tssa.tensor<3xi32>, tensor<3xi32>
    %w = tssa.view %a[select(0, %next)] : !tssa.tensor<4x3xi32> -> !tssa.tensor<3xi32>
    scf.yield %w, %more : !tssa.tensor<3xi32>, tensor<3xi32>
  }
  return %r#1 : tensor<3xi32>
}

// inp = a[j + 1] at the end of each iteration, which is looked at after a[j + 1] has been written again.
func.func @looked_at_after(%a: !tssa.tensor<4x3xi32>) -> tensor<3xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %v0 = tssa.view %a[select(0, 0)] : !tssa.tensor<4x3xi32> -> !tssa.tensor<3xi32>
  %zero = arith.constant dense<0> : tensor<3xi32>
  %r:2 = scf.for %j = %c0 to %c3 step %c1 iter_args(%v = %v0, %sum = %zero) -> (!tssa.tensor<3xi32>, tensor<3xi32>) {
    %next = arith.addi %j, %c1 : index
    %here = tssa.view %a[select(0, %j)] : !tssa.tensor<4x3xi32> -> !tssa.tensor<3xi32>
    %there = tssa.view %a[select(0, %next)] : !tssa.tensor<4x3xi32> -> !tssa.tensor<3xi32>
    %h = tssa.read %here : !tssa.tensor<3xi32>
    %t = tssa.read %there : !tssa.tensor<3xi32>
    %n = arith.addi %h, %t : tensor<3xi32>
    tssa.mutate %there, %n : !tssa.tensor<3xi32>, tensor<3xi32>
    tssa.mutate %here, %n : !tssa.tensor<3xi32>, tensor<3xi32>
    %x = tssa.read %v : !tssa.tensor<3xi32>
    %more = arith.addi %sum, %x : tensor<3xi32>
    %w = tssa.view %a[select(0, %next)] : !tssa.tensor<4x3xi32> -> !tssa.tensor<3xi32>
    scf.yield %w, %more : !tssa.tensor<3xi32>, tensor<3xi32>
  }
  return %r#1 : tensor<3xi32>
}

// A view of nothing, in another order: no distances between its elements.
func.func @rows_of_nothing(%a: !tssa.tensor<1x1xi32>, %c: tensor<i32>) -> (!tssa.tensor<1x0xi32>, !tssa.tensor<0xi32>) {
  %none = tssa.view %a[slice(0, 2, 1, 1)] : !tssa.tensor<1x1xi32> -> !tssa.tensor<0x1xi32>
  %turned = tssa.view %none[permute(1, 0)] : !tssa.tensor<0x1xi32> -> !tssa.tensor<1x0xi32>
  %flat = tssa.view %turned[reshape(0)] : !tssa.tensor<1x0xi32> -> !tssa.tensor<0xi32>
  %x = tssa.read %turned : !tssa.tensor<1x0xi32>
  %y = arith.addi %x, %x : tensor<1x0xi32>
  tssa.mutate %turned, %y : !tssa.tensor<1x0xi32>, tensor<1x0xi32>
  return %turned, %flat : !tssa.tensor<1x0xi32>, !tssa.tensor<0xi32>
}

// A row that a loop carries on from, and that is written when nothing reads the name any more: a value will do, and
// the program is raised (or the row's number would be data).
func.func @write_back(%x: !tssa.tensor<6x4xi32>, %w: tensor<3x4xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c6 = arith.constant 6 : index
  scf.for %t = %c0 to %c6 step %c1 {
    %v = tssa.view %x[select(0, %t)] : !tssa.tensor<6x4xi32> -> !tssa.tensor<4xi32>
    %r = scf.for %j = %c0 to %c3 step %c1 iter_args(%in = %v) -> (!tssa.tensor<4xi32>) {
      %a = tssa.read %in : !tssa.tensor<4xi32>
      %b = tensor.extract_slice %w[%j, 0] [1, 4] [1, 1] : tensor<3x4xi32> to tensor<4xi32>
      %h = arith.muli %a, %b : tensor<4xi32>
      %n = tssa.new %h : tensor<4xi32>
      scf.yield %n : !tssa.tensor<4xi32>
    }
    %o = tssa.read %r : !tssa.tensor<4xi32>
    %d = tssa.view %x[select(0, %t)] : !tssa.tensor<6x4xi32> -> !tssa.tensor<4xi32>
    tssa.mutate %d, %o : !tssa.tensor<4xi32>, tensor<4xi32>
  }
  return
}

// The name is looked at after the write: it must show it where the loop had no iteration, and not where it had.
func.func @looked_at_afterwards(%x: !tssa.tensor<4xi32>, %n: tensor<i32>) -> tensor<4xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.extract %n[] : tensor<i32>
  %i = arith.index_cast %e : i32 to index
  %ones = arith.constant dense<1> : tensor<4xi32>
  %r = scf.for %j = %c0 to %i step %c1 iter_args(%in = %x) -> (!tssa.tensor<4xi32>) {
    %a = tssa.read %in : !tssa.tensor<4xi32>
    %h = arith.addi %a, %a : tensor<4xi32>
    %m = tssa.new %h : tensor<4xi32>
    scf.yield %m : !tssa.tensor<4xi32>
  }
  tssa.mutate %x, %ones : !tssa.tensor<4xi32>, tensor<4xi32>
  %o = tssa.read %r : !tssa.tensor<4xi32>
  return %o : tensor<4xi32>
}
