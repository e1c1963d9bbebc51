// RUN: ft-translate --etdg-to-sharding %s | FileCheck %s
// RUN: ft-translate --etdg-to-json %s | FileCheck %s --check-prefix=JSON

!x = tensor<4xf32>

// Both ends of the list are one class: it is read from the other end throughout.
// CHECK-LABEL: sharding of @from_the_end
// CHECK-NEXT: L: pipeline; xs [0], result 0 [0]
// CHECK-NEXT: pipeline: {{.*}} distance -1, 16 bytes
func.func @from_the_end(%xs: !ft.list<[L], !x>) -> !ft.list<[L], !x> {
  %zero = arith.constant dense<0.0> : !x
  %ys = ft.scanr (%x = %xs : !ft.list<[L], !x>) init (%s = %zero : !x) -> !ft.list<[L], !x> {
    %t = math.tanh %s : !x
    %y = arith.addf %t, %x : !x
    ft.yield %y : !x
  }
  return %ys : !ft.list<[L], !x>
}

// Of one list read by two loops at once only one loop goes with it; the other one needs every shard.
// CHECK-LABEL: sharding of @pairs
// CHECK: N: ring; xs [0], result 0 [0]
// CHECK-NEXT: ring: block @{{.*}} of xs at [j], {{.*}}16 * N bytes
// CHECK-NEXT: N: partial
// CHECK-NOT: ranks run the program on shards of N
func.func @pairs(%xs: !ft.list<[N], !x>) -> !ft.list<[N], !x> {
  %zero = arith.constant dense<0.0> : !x
  %ys = ft.map (%x = %xs : !ft.list<[N], !x>) -> !ft.list<[N], !x> {
    %s = ft.reduce (%z = %xs : !ft.list<[N], !x>) init (%a = %zero : !x) -> !x {
      %p = arith.mulf %x, %z : !x
      %b = arith.addf %a, %p : !x
      ft.yield %b : !x
    }
    ft.yield %s : !x
  }
  return %ys : !ft.list<[N], !x>
}

// A sum from zero is joined by a sum, a sum from another number only by the program's own combine.
// CHECK-LABEL: sharding of @sums
// CHECK-NEXT: N: partial; xs [0], sum of result 0, combine of result 1
func.func @sums(%xs: !ft.list<[N], !x>) -> (!x, !x) {
  %zero = arith.constant dense<0.0> : !x
  %one = arith.constant dense<1.0> : !x
  %s = ft.reduce (%x = %xs : !ft.list<[N], !x>) init (%a = %zero : !x) -> !x {
    %b = arith.addf %a, %x : !x
    ft.yield %b : !x
  }
  %t = ft.reduce (%x = %xs : !ft.list<[N], !x>) init (%a = %one : !x) -> !x {
    %b = arith.addf %a, %x : !x
    ft.yield %b : !x
  }
  return %s, %t : !x, !x
}

// Rows at indices that are data are refused, the list of indices is local.
// CHECK-LABEL: sharding of @picked
// CHECK: V: refused; table [0]
// CHECK-NEXT: refused: block @{{.*}} of table at [gather]
// CHECK: M: local; at [0], result 0 [0]
// CHECK: ranks run the program on shards of M
func.func @picked(%table: !ft.list<[V], !x>, %at: !ft.list<[M], tensor<i64>>) -> !ft.list<[M], !x> {
  %ys = ft.gather %table[%at] : !ft.list<[V], !x>, !ft.list<[M], tensor<i64>>
  return %ys : !ft.list<[M], !x>
}

// What two shifts need adds up where one reads the other.
// CHECK-LABEL: sharding of @shifted_twice
// CHECK: N: halo; xs [0], result 0 [0]
// CHECK: ranks run the program on shards of N, with 3 before and 2 after
func.func @shifted_twice(%xs: !ft.list<[N], !x>) -> !ft.list<[N], !x> {
  %zero = arith.constant dense<0.0> : !x
  %before = ft.shift %xs by 3 fill %zero : !ft.list<[N], !x>, !x
  %ys = ft.map (%x, %b = %xs, %before : !ft.list<[N], !x>, !ft.list<[N], !x>) -> !ft.list<[N], !x> {
    %y = arith.subf %x, %b : !x
    ft.yield %y : !x
  }
  %after = ft.shift %ys by -2 fill %zero : !ft.list<[N], !x>, !x
  %zs = ft.map (%y, %a = %ys, %after : !ft.list<[N], !x>, !ft.list<[N], !x>) -> !ft.list<[N], !x> {
    %z = arith.mulf %y, %a : !x
    ft.yield %z : !x
  }
  return %zs : !ft.list<[N], !x>
}

// JSON: "name": "picked"
// JSON: "shardingRules": [
// JSON: "length": "M",
// JSON-NEXT: "least": 0,
// JSON-NEXT: "arguments": [
// JSON-NEXT: {},
// JSON-NEXT: {
// JSON-NEXT: "shard": 0
