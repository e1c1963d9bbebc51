// What has no online form stays as it is, and the remark names the operation.
//
// RUN: ft-opt %s --pass-pipeline='builtin.module(convert-ft-to-etdg,etdg.graph(etdg-online,etdg-verify))' --split-input-file --remarks-filter=online -o %t.mlir 2>&1 | FileCheck %s
// RUN: ft-opt %s --pass-pipeline='builtin.module(convert-ft-to-etdg)' --split-input-file -o %t.before.mlir
// RUN: diff %t.before.mlir %t.mlir
// The option allows one of them:
// RUN: ft-opt %s --pass-pipeline='builtin.module(convert-ft-to-etdg,etdg.graph(etdg-online{ordered},etdg-verify))' --split-input-file --remarks-filter=online -o /dev/null 2>&1 | FileCheck %s --check-prefix=ALLOWED

!r = tensor<3xf32>
// tanh(x - m) is no product of something of x and something of m.
// CHECK: remark: [Missed] refused {{.*}}block @r1 has no online form: 'math.tanh' does not factor: no rule says how it follows the parameter
func.func @no_rule(%xs: !ft.list<[K], !r>) -> !ft.list<[1], !r> attributes {ft.bounds = #ft.bounds<"K >= 1">} {
  %low = arith.constant dense<-1.0e30> : !r
  %zero = arith.constant dense<0.0> : !r
  %single = ft.iota : !ft.list<[1], tensor<i64>>
  %m = ft.reduce (%x = %xs : !ft.list<[K], !r>) init (%a = %low : !r) -> !r {
    %b = arith.maximumf %a, %x : !r
    ft.yield %b : !r
  }
  %s = ft.reduce (%x = %xs : !ft.list<[K], !r>) init (%a = %zero : !r) -> !r {
    %d = arith.subf %x, %m : !r
    %e = math.tanh %d : !r
    %b = arith.addf %a, %e : !r
    ft.yield %b : !r
  } combine (%a, %b) {
    %c = arith.addf %a, %b : !r
    ft.yield %c : !r
  } identity (%zero : !r)
  %y = ft.map (%i = %single : !ft.list<[1], tensor<i64>>) -> !ft.list<[1], !r> {
    %z = arith.addf %s, %m : !r
    ft.yield %z : !r
  }
  return %y : !ft.list<[1], !r>
}

// -----
!r = tensor<3xf32>
// exp(x - mean): the mean so far is no bound, exp may overflow before the end.
// CHECK: remark: [Missed] refused {{.*}}'math.exp' may overflow before the end: no running maximum of its argument is computed in this loop
func.func @no_maximum(%xs: !ft.list<[K], !r>) -> !ft.list<[1], !r> attributes {ft.bounds = #ft.bounds<"K >= 1">} {
  %zero = arith.constant dense<0.0> : !r
  %single = ft.iota : !ft.list<[1], tensor<i64>>
  %m = ft.reduce (%x = %xs : !ft.list<[K], !r>) init (%a = %zero : !r) -> !r {
    %b = arith.addf %a, %x : !r
    ft.yield %b : !r
  }
  %s = ft.reduce (%x = %xs : !ft.list<[K], !r>) init (%a = %zero : !r) -> !r {
    %d = arith.subf %x, %m : !r
    %e = math.exp %d : !r
    %b = arith.addf %a, %e : !r
    ft.yield %b : !r
  }
  %y = ft.map (%i = %single : !ft.list<[1], tensor<i64>>) -> !ft.list<[1], !r> {
    ft.yield %s : !r
  }
  return %y : !ft.list<[1], !r>
}

// -----
!r = tensor<3xf32>
// The maximum of something else: 2 x is not bounded by max x.
// CHECK: remark: [Missed] refused {{.*}}'math.exp' may overflow before the end
func.func @other_maximum(%xs: !ft.list<[K], !r>) -> !ft.list<[1], !r> attributes {ft.bounds = #ft.bounds<"K >= 1">} {
  %low = arith.constant dense<-1.0e30> : !r
  %zero = arith.constant dense<0.0> : !r
  %two = arith.constant dense<2.0> : !r
  %single = ft.iota : !ft.list<[1], tensor<i64>>
  %m = ft.reduce (%x = %xs : !ft.list<[K], !r>) init (%a = %low : !r) -> !r {
    %b = arith.maximumf %a, %x : !r
    ft.yield %b : !r
  }
  %s = ft.reduce (%x = %xs : !ft.list<[K], !r>) init (%a = %zero : !r) -> !r {
    %x2 = arith.mulf %x, %two : !r
    %d = arith.subf %x2, %m : !r
    %e = math.exp %d : !r
    %b = arith.addf %a, %e : !r
    ft.yield %b : !r
  }
  %y = ft.map (%i = %single : !ft.list<[1], tensor<i64>>) -> !ft.list<[1], !r> {
    ft.yield %s : !r
  }
  return %y : !ft.list<[1], !r>
}

// -----
!r = tensor<3xf32>
// A sum that starts at 1: the correction would scale the 1, too.
// CHECK: remark: [Missed] refused {{.*}}its initial state is not 0: the correction would change it
func.func @start(%xs: !ft.list<[K], !r>) -> !ft.list<[1], !r> attributes {ft.bounds = #ft.bounds<"K >= 1">} {
  %low = arith.constant dense<-1.0e30> : !r
  %one = arith.constant dense<1.0> : !r
  %single = ft.iota : !ft.list<[1], tensor<i64>>
  %m = ft.reduce (%x = %xs : !ft.list<[K], !r>) init (%a = %low : !r) -> !r {
    %b = arith.maximumf %a, %x : !r
    ft.yield %b : !r
  }
  %s = ft.fold (%x = %xs : !ft.list<[K], !r>) init (%a = %one : !r) -> !r {
    %d = arith.subf %x, %m : !r
    %e = math.exp %d : !r
    %b = arith.addf %a, %e : !r
    ft.yield %b : !r
  }
  %y = ft.map (%i = %single : !ft.list<[1], tensor<i64>>) -> !ft.list<[1], !r> {
    ft.yield %s : !r
  }
  return %y : !ft.list<[1], !r>
}

// -----
!r = tensor<3xf32>
// exp(x - m) + 1: the two terms follow m in different ways.
// CHECK: remark: [Missed] refused {{.*}}block @r1 has no online form: 'arith.addf' does not factor: adds terms that follow the parameter in different ways
func.func @not_linear(%xs: !ft.list<[K], !r>) -> !ft.list<[1], !r> attributes {ft.bounds = #ft.bounds<"K >= 1">} {
  %low = arith.constant dense<-1.0e30> : !r
  %zero = arith.constant dense<0.0> : !r
  %one = arith.constant dense<1.0> : !r
  %single = ft.iota : !ft.list<[1], tensor<i64>>
  %m = ft.reduce (%x = %xs : !ft.list<[K], !r>) init (%a = %low : !r) -> !r {
    %b = arith.maximumf %a, %x : !r
    ft.yield %b : !r
  }
  %s = ft.foldl (%x = %xs : !ft.list<[K], !r>) init (%a = %zero : !r) -> !r {
    %d = arith.subf %x, %m : !r
    %e = math.exp %d : !r
    %q = arith.addf %e, %one : !r
    %b = arith.addf %a, %q : !r
    ft.yield %b : !r
  }
  %y = ft.map (%i = %single : !ft.list<[1], tensor<i64>>) -> !ft.list<[1], !r> {
    ft.yield %s : !r
  }
  return %y : !ft.list<[1], !r>
}

// -----
!x = tensor<3x4xf32>
!r = tensor<3xf32>
!n = tensor<f32>
// One sum over all rows, each with a maximum of its own.
// CHECK: remark: [Missed] refused {{.*}}'linalg.reduce' does not factor: the correction varies along what it reduces
func.func @along(%xs: !ft.list<[K], !x>) -> !ft.list<[1], !n> attributes {ft.bounds = #ft.bounds<"K >= 1">} {
  %low = arith.constant dense<-1.0e30> : !r
  %zero = arith.constant dense<0.0> : !n
  %single = ft.iota : !ft.list<[1], tensor<i64>>
  %m = ft.reduce (%x = %xs : !ft.list<[K], !x>) init (%a = %low : !r) -> !r {
    %b = linalg.reduce { arith.maximumf } ins(%x : !x) outs(%a : !r) dimensions = [1]
    ft.yield %b : !r
  } combine (%a, %b) {
    %c = arith.maximumf %a, %b : !r
    ft.yield %c : !r
  } identity (%low : !r)
  %s = ft.reduce (%x = %xs : !ft.list<[K], !x>) init (%a = %zero : !n) -> !n {
    %e = tensor.empty() : !x
    %mb = linalg.broadcast ins(%m : !r) outs(%e : !x) dimensions = [1]
    %d = arith.subf %x, %mb : !x
    %p = math.exp %d : !x
    %b = linalg.reduce { arith.addf } ins(%p : !x) outs(%a : !n) dimensions = [0, 1]
    ft.yield %b : !n
  } combine (%a, %b) {
    %c = arith.addf %a, %b : !n
    ft.yield %c : !n
  } identity (%zero : !n)
  %y = ft.map (%i = %single : !ft.list<[1], tensor<i64>>) -> !ft.list<[1], !n> {
    ft.yield %s : !n
  }
  return %y : !ft.list<[1], !n>
}

// -----
!r = tensor<3xf16>
// A state of f16 would run as f32, but what the fold does with its bits has no form over f32.
// CHECK: remark: [Missed] refused {{.*}}its state would round once more in every iteration, and 'arith.bitcast' has no form over wider numbers
func.func @bits(%xs: !ft.list<[K], !r>) -> !ft.list<[1], !r> attributes {ft.bounds = #ft.bounds<"K >= 1">} {
  %low = arith.constant dense<-3.0e4> : !r
  %zero = arith.constant dense<0.0> : !r
  %single = ft.iota : !ft.list<[1], tensor<i64>>
  %m = ft.reduce (%x = %xs : !ft.list<[K], !r>) init (%a = %low : !r) -> !r {
    %b = arith.maximumf %a, %x : !r
    ft.yield %b : !r
  }
  %s, %bits = ft.foldl (%x = %xs : !ft.list<[K], !r>) init (%a = %zero : !r) -> !r, !ft.list<[K], tensor<3xi16>> {
    %d = arith.subf %x, %m : !r
    %e = math.exp %d : !r
    %b = arith.addf %a, %e : !r
    %c = arith.bitcast %b : !r to tensor<3xi16>
    ft.yield %b : !r emit %c : tensor<3xi16>
  }
  %y = ft.map (%i = %single : !ft.list<[1], tensor<i64>>) -> !ft.list<[1], !r> {
    ft.yield %s : !r
  }
  return %y : !ft.list<[1], !r>
}

// -----
!r = tensor<3xf32>
// A fold in order beside a map: the map would run in order, too.
// CHECK: remark: [Missed] refused {{.*}}one of the reductions is ordered (foldl, or no combine is given)
// ALLOWED: remark: [Passed] merged
func.func @in_order(%xs: !ft.list<[K], !r>) -> !ft.list<[1], !r> attributes {ft.bounds = #ft.bounds<"K >= 1">} {
  %low = arith.constant dense<-1.0e30> : !r
  %zero = arith.constant dense<0.0> : !r
  %single = ft.iota : !ft.list<[1], tensor<i64>>
  %m = ft.foldl (%x = %xs : !ft.list<[K], !r>) init (%a = %low : !r) -> !r {
    %b = arith.maximumf %a, %x : !r
    ft.yield %b : !r
  }
  %es = ft.map (%x = %xs : !ft.list<[K], !r>) -> !ft.list<[K], !r> {
    %d = arith.subf %x, %m : !r
    %e = math.exp %d : !r
    ft.yield %e : !r
  }
  %s = ft.foldl (%x = %es : !ft.list<[K], !r>) init (%a = %zero : !r) -> !r {
    %b = arith.addf %a, %x : !r
    ft.yield %b : !r
  }
  %y = ft.map (%i = %single : !ft.list<[1], tensor<i64>>) -> !ft.list<[1], !r> {
    ft.yield %s : !r
  }
  return %y : !ft.list<[1], !r>
}

// -----
!r = tensor<3xf32>
// Squares of shares: unscaled, they might overflow.
// CHECK: remark: [Missed] refused {{.*}}power -2 of a last state: taken out of the sum, the terms might overflow
func.func @powers(%xs: !ft.list<[K], !r>) -> !ft.list<[1], !r> attributes {ft.bounds = #ft.bounds<"K >= 1">} {
  %zero = arith.constant dense<0.0> : !r
  %single = ft.iota : !ft.list<[1], tensor<i64>>
  %m = ft.reduce (%x = %xs : !ft.list<[K], !r>) init (%a = %zero : !r) -> !r {
    %c = math.absf %x : !r
    %b = arith.maximumf %a, %c : !r
    ft.yield %b : !r
  }
  %s = ft.reduce (%x = %xs : !ft.list<[K], !r>) init (%a = %zero : !r) -> !r {
    %d = arith.divf %x, %m : !r
    %e = arith.mulf %d, %d : !r
    %b = arith.addf %a, %e : !r
    ft.yield %b : !r
  }
  %y = ft.map (%i = %single : !ft.list<[1], tensor<i64>>) -> !ft.list<[1], !r> {
    ft.yield %s : !r
  }
  return %y : !ft.list<[1], !r>
}

// -----
!r = tensor<3xf32>
// x ≥ m + 1 is not x ≥ m: what was chosen before need not be forgotten.
// CHECK: remark: [Missed] refused {{.*}}compares with the last state of what is no maximum or minimum of the same values
func.func @near(%xs: !ft.list<[K], !r>) -> !ft.list<[1], !r> attributes {ft.bounds = #ft.bounds<"K >= 1">} {
  %low = arith.constant dense<-1.0e30> : !r
  %zero = arith.constant dense<0.0> : !r
  %one = arith.constant dense<1.0> : !r
  %single = ft.iota : !ft.list<[1], tensor<i64>>
  %m = ft.reduce (%x = %xs : !ft.list<[K], !r>) init (%a = %low : !r) -> !r {
    %b = arith.maximumf %a, %x : !r
    ft.yield %b : !r
  }
  %s = ft.foldl (%x = %xs : !ft.list<[K], !r>) init (%a = %zero : !r) -> !r {
    %d = arith.addf %x, %one : !r
    %is = arith.cmpf oge, %d, %m : !r
    %b = arith.select %is, %x, %a : tensor<3xi1>, !r
    ft.yield %b : !r
  }
  %y = ft.map (%i = %single : !ft.list<[1], tensor<i64>>) -> !ft.list<[1], !r> {
    ft.yield %s : !r
  }
  return %y : !ft.list<[1], !r>
}

// -----
!r = tensor<3xf32>
// Planes in the middle are read: they would hold other values.
// CHECK: remark: [Missed] refused {{.*}}what it writes in each iteration is
func.func @planes(%xs: !ft.list<[K], !r>) -> !ft.list<[K], !r> attributes {ft.bounds = #ft.bounds<"K >= 1">} {
  %low = arith.constant dense<-1.0e30> : !r
  %zero = arith.constant dense<0.0> : !r
  %m = ft.reduce (%x = %xs : !ft.list<[K], !r>) init (%a = %low : !r) -> !r {
    %b = arith.maximumf %a, %x : !r
    ft.yield %b : !r
  }
  %s, %es = ft.foldl (%x = %xs : !ft.list<[K], !r>) init (%a = %zero : !r) -> !r, !ft.list<[K], !r> {
    %d = arith.subf %x, %m : !r
    %e = math.exp %d : !r
    %b = arith.addf %a, %e : !r
    ft.yield %b : !r emit %b : !r
  }
  %y = ft.map (%i = %es : !ft.list<[K], !r>) -> !ft.list<[K], !r> {
    %z = arith.addf %s, %i : !r
    ft.yield %z : !r
  }
  return %y : !ft.list<[K], !r>
}

// -----
!r = tensor<3xf32>
// Divided by the exponential the terms grow with the maximum: from -1e30 the correction
// would be infinite.
// CHECK: remark: [Missed] refused {{.*}}its terms are divided by an exponential: the correction would grow
func.func @divided(%xs: !ft.list<[K], !r>) -> !ft.list<[1], !r> attributes {ft.bounds = #ft.bounds<"K >= 1">} {
  %low = arith.constant dense<-1.0e30> : !r
  %zero = arith.constant dense<0.0> : !r
  %single = ft.iota : !ft.list<[1], tensor<i64>>
  %m = ft.reduce (%x = %xs : !ft.list<[K], !r>) init (%a = %low : !r) -> !r {
    %b = arith.maximumf %a, %x : !r
    ft.yield %b : !r
  }
  %s = ft.reduce (%x = %xs : !ft.list<[K], !r>) init (%a = %zero : !r) -> !r {
    %d = arith.subf %x, %m : !r
    %e = math.exp %d : !r
    %q = arith.divf %x, %e : !r
    %b = arith.addf %a, %q : !r
    ft.yield %b : !r
  }
  %y = ft.map (%i = %single : !ft.list<[1], tensor<i64>>) -> !ft.list<[1], !r> {
    ft.yield %s : !r
  }
  return %y : !ft.list<[1], !r>
}

// -----
!r = tensor<3xf32>
!h = tensor<3xf16>
// Shares of large numbers, narrowed: without the division they would not fit f16.
// CHECK: remark: [Missed] refused {{.*}}'arith.truncf' does not factor: narrows what may be greater before the end
func.func @narrowed(%xs: !ft.list<[K], !r>) -> !ft.list<[1], !r> attributes {ft.bounds = #ft.bounds<"K >= 1">} {
  %zero = arith.constant dense<0.0> : !r
  %single = ft.iota : !ft.list<[1], tensor<i64>>
  %m = ft.reduce (%x = %xs : !ft.list<[K], !r>) init (%a = %zero : !r) -> !r {
    %b = arith.addf %a, %x : !r
    ft.yield %b : !r
  }
  %s = ft.reduce (%x = %xs : !ft.list<[K], !r>) init (%a = %zero : !r) -> !r {
    %d = arith.divf %x, %m : !r
    %h = arith.truncf %d : !r to !h
    %e = arith.extf %h : !h to !r
    %b = arith.addf %a, %e : !r
    ft.yield %b : !r
  }
  %y = ft.map (%i = %single : !ft.list<[1], tensor<i64>>) -> !ft.list<[1], !r> {
    ft.yield %s : !r
  }
  return %y : !ft.list<[1], !r>
}

// -----
!r = tensor<3xf32>
// The sum of what has been seen, over the number of all elements, is no mean of what has been seen:
// cubes would be taken around 0 at first, and cancel.
// CHECK: remark: [Missed] refused {{.*}}what shifts its terms grows with the length of the reduction, and no mean of what has been seen stands for it
func.func @constant_count(%xs: !ft.list<[K], !r>) -> !ft.list<[1], !r> attributes {ft.bounds = #ft.bounds<"K >= 1">} {
  %zero = arith.constant dense<0.0> : !r
  %inverse = arith.constant dense<0.01> : !r
  %single = ft.iota : !ft.list<[1], tensor<i64>>
  %t = ft.reduce (%x = %xs : !ft.list<[K], !r>) init (%a = %zero : !r) -> !r {
    %b = arith.addf %a, %x : !r
    ft.yield %b : !r
  }
  %s = ft.reduce (%x = %xs : !ft.list<[K], !r>) init (%a = %zero : !r) -> !r {
    %mean = arith.mulf %t, %inverse : !r
    %d = arith.subf %x, %mean : !r
    %q = arith.mulf %d, %d : !r
    %c = arith.mulf %d, %q : !r
    %b = arith.addf %a, %c : !r
    ft.yield %b : !r
  }
  %y = ft.map (%i = %single : !ft.list<[1], tensor<i64>>) -> !ft.list<[1], !r> {
    ft.yield %s : !r
  }
  return %y : !ft.list<[1], !r>
}

// -----
!r = tensor<3xf32>
// A scale that changes from element to element: so would the correction.
// CHECK: remark: [Missed] refused {{.*}}what scales its exponent is not the same in all iterations
func.func @varying_scale(%xs: !ft.list<[K], !r>, %cs: !ft.list<[K], !r>) -> !ft.list<[1], !r>
    attributes {ft.bounds = #ft.bounds<"K >= 1">} {
  %low = arith.constant dense<-1.0e30> : !r
  %zero = arith.constant dense<0.0> : !r
  %single = ft.iota : !ft.list<[1], tensor<i64>>
  %m = ft.reduce (%x = %xs : !ft.list<[K], !r>) init (%a = %low : !r) -> !r {
    %b = arith.maximumf %a, %x : !r
    ft.yield %b : !r
  }
  %s = ft.foldl (%x, %c = %xs, %cs : !ft.list<[K], !r>, !ft.list<[K], !r>) init (%a = %zero : !r) -> !r {
    %d = arith.subf %x, %m : !r
    %q = arith.mulf %d, %c : !r
    %e = math.exp %q : !r
    %b = arith.addf %a, %e : !r
    ft.yield %b : !r
  }
  %y = ft.map (%i = %single : !ft.list<[1], tensor<i64>>) -> !ft.list<[1], !r> {
    ft.yield %s : !r
  }
  return %y : !ft.list<[1], !r>
}

// -----
!r = tensor<3xf32>
// What is not equal to the maximum, less the maximum: joins nothing that is known before the end.
// CHECK: remark: [Missed] refused {{.*}}block @r1 has no online form
func.func @apart_shifted(%xs: !ft.list<[K], !r>) -> !ft.list<[1], !r> attributes {ft.bounds = #ft.bounds<"K >= 1">} {
  %low = arith.constant dense<-1.0e30> : !r
  %zero = arith.constant dense<0.0> : !r
  %single = ft.iota : !ft.list<[1], tensor<i64>>
  %m = ft.reduce (%x = %xs : !ft.list<[K], !r>) init (%a = %low : !r) -> !r {
    %b = arith.maximumf %a, %x : !r
    ft.yield %b : !r
  }
  %s = ft.foldl (%x = %xs : !ft.list<[K], !r>) init (%a = %zero : !r) -> !r {
    %is = arith.cmpf oeq, %x, %m : !r
    %d = arith.subf %x, %m : !r
    %q = arith.select %is, %zero, %d : tensor<3xi1>, !r
    %b = arith.addf %a, %q : !r
    ft.yield %b : !r
  }
  %y = ft.map (%i = %single : !ft.list<[1], tensor<i64>>) -> !ft.list<[1], !r> {
    ft.yield %s : !r
  }
  return %y : !ft.list<[1], !r>
}
