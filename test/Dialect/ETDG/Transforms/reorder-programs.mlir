// Nests that are in no example: distances, T, steps, kernels, and each program in
// the declared order of its schedules against the reference on lists.

// RUN: ft-opt %s --pass-pipeline='builtin.module(ft-compile{to=etdg},etdg.graph(etdg-reorder,etdg-verify))' --remarks-filter='reorder.*' -o %t.mlir 2>%t.log
// RUN: FileCheck %s < %t.log
// RUN: FileCheck %s --check-prefix=IR < %t.mlir
// RUN: ft-run %s --entry=imperfect --engine=interpret --out=%t.1.npy && ft-run %t.mlir --entry=imperfect --engine=interpret --order=declared --out=%t.2.npy && cmp %t.1.npy %t.2.npy
// RUN: ft-run %s --entry=mixed --engine=interpret --out=%t.1.npy && ft-run %t.mlir --entry=mixed --engine=interpret --order=declared --out=%t.2.npy && cmp %t.1.npy %t.2.npy
// RUN: ft-run %s --entry=three --engine=interpret --out=%t.1.npy && ft-run %t.mlir --entry=three --engine=interpret --order=declared --out=%t.2.npy && cmp %t.1.npy %t.2.npy
// RUN: ft-run %s --entry=fold_in_scan --engine=interpret --out=%t.1.npy && ft-run %t.mlir --entry=fold_in_scan --engine=interpret --order=declared --out=%t.2.npy && cmp %t.1.npy %t.2.npy
// RUN: ft-run %s --entry=reversed --engine=interpret --out=%t.1.npy && ft-run %t.mlir --entry=reversed --engine=interpret --order=declared --out=%t.2.npy && cmp %t.1.npy %t.2.npy
// RUN: ft-run %s --entry=ahead --engine=interpret --out=%t.1.npy && ft-run %t.mlir --entry=ahead --engine=interpret --order=declared --out=%t.2.npy && cmp %t.1.npy %t.2.npy
// RUN: ft-run %s --entry=window --engine=interpret --out=%t.1.npy && ft-run %t.mlir --entry=window --engine=interpret --order=declared --out=%t.2.npy && cmp %t.1.npy %t.2.npy
// RUN: ft-run %t.mlir --entry=bidirectional --engine=interpret --order=declared --compare=interpret
// RUN: ft-run %t.mlir --entry=opposed --engine=interpret --order=declared --compare=interpret
// RUN: ft-run %s --entry=between --engine=interpret --out=%t.1.npy && ft-run %t.mlir --entry=between --engine=interpret --order=declared --out=%t.2.npy && cmp %t.1.npy %t.2.npy
// RUN: ft-run %s --entry=taken_apart --engine=interpret --out=%t.1.npy && ft-run %t.mlir --entry=taken_apart --engine=interpret --order=declared --out=%t.2.npy && cmp %t.1.npy %t.2.npy
// RUN: ft-run %s --entry=over_a_map --engine=interpret --out=%t.1.npy && ft-run %t.mlir --entry=over_a_map --engine=interpret --order=declared --out=%t.2.npy && cmp %t.1.npy %t.2.npy
// RUN: ft-run %s --entry=grid_reversed --engine=interpret --out=%t.1.npy && ft-run %t.mlir --entry=grid_reversed --engine=interpret --order=declared --out=%t.2.npy && cmp %t.1.npy %t.2.npy
// RUN: ft-opt %t.mlir --pass-pipeline='builtin.module(etdg.graph(etdg-apply-schedule,etdg-verify))' -o %t.applied.mlir
// RUN: ft-run %t.applied.mlir --entry=imperfect --engine=interpret --order=declared --compare=interpret
// RUN: ft-run %t.applied.mlir --entry=three --engine=interpret --order=declared --compare=interpret
// RUN: ft-run %t.applied.mlir --entry=ahead --engine=interpret --order=declared --compare=interpret
// RUN: ft-run %t.applied.mlir --entry=between --engine=interpret --order=declared --compare=interpret
// RUN: ft-run %t.applied.mlir --entry=taken_apart --engine=interpret --order=declared --compare=interpret
// RUN: ft-run %t.applied.mlir --entry=over_a_map --engine=interpret --order=declared --compare=interpret
// RUN: ft-run %t.applied.mlir --entry=grid_reversed --engine=interpret --order=declared --compare=interpret

!x = tensor<4xf32>

// scan j { map k ; scan k }.
// One nest over (layer, item, token); map k needs what scan k - 1 gave one layer
// below: (1, -1, 0).
// CHECK: [Passed] distribute {{.*}}typical-steps-after=10, typical-steps-before=18
// CHECK: T="{{\[\[}}2, 1, 1], [1, 0, 0], [0, 0, 1]]"
// CHECK-SAME: distances="(0, 1, 0), (0, 0, 1), (1, -1, 0)"
// CHECK-SAME: steps-after="2 * D + L - 1"
// IR-LABEL: etdg.graph @imperfect
// IR: etdg.nest schedule
// IR: etdg.block @r1 [scanl, scanl, map] (i, s, j) in = 0 x = 0 x [0, L) where D >= 1
// IR: etdg.block @r5 [scanl, scanl, map] (i, s, j) in [1, D) x = 0 x [0, L)
func.func @imperfect(%xs: !ft.list<[L], !x>, %ws: !ft.list<[D], !x>) -> !ft.list<[D, L], !x> attributes {ft.lengths = {D = 3 : i64, L = 5 : i64}} {
  %zero = arith.constant dense<0.0> : !x
  %r = ft.scanl (%w = %ws : !ft.list<[D], !x>) init (%s = %xs : !ft.list<[L], !x>) -> !ft.list<[D, L], !x> {
    %m = ft.map (%a = %s : !ft.list<[L], !x>) -> !ft.list<[L], !x> {
      %t = math.tanh %a : !x
      %u = arith.addf %t, %w : !x
      ft.yield %u : !x
    }
    %c = ft.scanl (%a = %m : !ft.list<[L], !x>) init (%h = %zero : !x) -> !ft.list<[L], !x> {
      %u = arith.addf %h, %a : !x
      %v = arith.mulf %u, %w : !x
      ft.yield %v : !x
    }
    ft.yield %c : !ft.list<[L], !x>
  }
  return %r : !ft.list<[D, L], !x>
}

// scanl of scanr
// Planes lie reversed, so that both directions are (0, 1) and (1, 0).
// CHECK: distances="(0, 1), (1, 0)"
// CHECK-SAME: steps-after="D + L - 1", steps-before="D * L"
func.func @mixed(%xs: !ft.list<[L], !x>, %ws: !ft.list<[D], !x>) -> !ft.list<[D, L], !x> attributes {ft.lengths = {D = 3 : i64, L = 5 : i64}} {
  %zero = arith.constant dense<0.0> : !x
  %r = ft.scanl (%w = %ws : !ft.list<[D], !x>) init (%s = %xs : !ft.list<[L], !x>) -> !ft.list<[D, L], !x> {
    %c = ft.scanr (%a = %s : !ft.list<[L], !x>) init (%h = %zero : !x) -> !ft.list<[L], !x> {
      %u = arith.addf %h, %a : !x
      %v = arith.mulf %u, %w : !x
      ft.yield %v : !x
    }
    ft.yield %c : !ft.list<[L], !x>
  }
  return %r : !ft.list<[D, L], !x>
}

// three deep, a map around: [map, scan, scan, scan] with a lag of 2, two chains l0
// CHECK: T="{{\[\[}}0, 1, 1, 1, 0], [0, 1, 0, 0, 0], [0, 0, 1, 0, 0], [1, 0, 0, 0, 0], [0, 0, 0, 0, 1]]"
// CHECK-SAME: distances="(0, 0, 0, 1, 0), (0, 0, 1, 0, 0), (0, 1, 0, 0, 0)"
// CHECK-SAME: steps-after="D + S + ceildiv(T, 2) - 2", steps-before="D * S * ceildiv(T, 2)"
func.func @three(%xss: !ft.list<[N, S, T], !x>, %ws: !ft.list<[D], !x>) -> !ft.list<[N, D, S, T], !x> attributes {ft.lengths = {N = 2 : i64, D = 3 : i64, S = 4 : i64, T = 5 : i64}} {
  %zero = arith.constant dense<0.0> : !x
  %zeros = ft.repeat %zero times T : !x
  %r = ft.map (%xs = %xss : !ft.list<[N, S, T], !x>) -> !ft.list<[N, D, S, T], !x> {
   %a = ft.scanl (%w = %ws : !ft.list<[D], !x>) init (%s = %xs : !ft.list<[S, T], !x>) -> !ft.list<[D, S, T], !x> {
    %b = ft.scanl (%row = %s : !ft.list<[S, T], !x>) init (%up = %zeros : !ft.list<[T], !x>) -> !ft.list<[S, T], !x> {
      %c = ft.scanl (%e, %f = %row, %up : !ft.list<[T], !x>, !ft.list<[T], !x>) init (%h = %zero : !x) lag 2 -> !ft.list<[T], !x> {
        %u = arith.addf %h, %e : !x
        %v = arith.addf %u, %f : !x
        %z = arith.mulf %v, %w : !x
        ft.yield %z : !x
      }
      ft.yield %c : !ft.list<[T], !x>
    }
    ft.yield %b : !ft.list<[S, T], !x>
   }
   ft.yield %a : !ft.list<[D, S, T], !x>
  }
  return %r : !ft.list<[N, D, S, T], !x>
}

// A fold inside a scan inside a map: each step of the scan sums a row first.
// CHECK: [Missed] keep-nesting
// CHECK: "i parallel, j sequential"
func.func @fold_in_scan(%xss: !ft.list<[N, L, K], !x>) -> !ft.list<[N, L], !x> attributes {ft.lengths = {N = 3 : i64, L = 5 : i64, K = 4 : i64}} {
  %zero = arith.constant dense<0.0> : !x
  %r = ft.map (%xs = %xss : !ft.list<[N, L, K], !x>) -> !ft.list<[N, L], !x> {
    %a = ft.scanl (%row = %xs : !ft.list<[L, K], !x>) init (%h = %zero : !x) -> !ft.list<[L], !x> {
      %f = ft.foldl (%e = %row : !ft.list<[K], !x>) init (%s = %h : !x) -> !x {
        %u = arith.mulf %s, %e : !x
        %v = arith.addf %u, %e : !x
        ft.yield %v : !x
      }
      ft.yield %f : !x
    }
    ft.yield %a : !ft.list<[L], !x>
  }
  return %r : !ft.list<[N, L], !x>
}

// Layers that read the layer below reversed.
// CHECK: [Missed] keep-order
// CHECK-SAME: Reason="a dependence has no constant distance"
// CHECK-SAME: example="D = 2, L = 2, i = 0, j = 0, i' = 1, j' = 1"
func.func @reversed(%xs: !ft.list<[L], !x>, %ws: !ft.list<[D], !x>) -> !ft.list<[D, L], !x> attributes {ft.lengths = {D = 3 : i64, L = 5 : i64}} {
  %zero = arith.constant dense<0.0> : !x
  %r = ft.scanl (%w = %ws : !ft.list<[D], !x>) init (%s = %xs : !ft.list<[L], !x>) -> !ft.list<[D, L], !x> {
    %q = ft.reverse %s : !ft.list<[L], !x>
    %c = ft.scanl (%a = %q : !ft.list<[L], !x>) init (%h = %zero : !x) -> !ft.list<[L], !x> {
      %u = arith.addf %h, %a : !x
      %v = arith.mulf %u, %w : !x
      ft.yield %v : !x
    }
    ft.yield %c : !ft.list<[L], !x>
  }
  return %r : !ft.list<[D, L], !x>
}

// Layers that look one token ahead: (1, -1) and (0, 1).
// CHECK: T="{{\[\[}}2, 1], [1, 0]]"
// CHECK-SAME: distances="(0, 1), (1, -1)"
// CHECK-SAME: steps-after="2 * D + L - 2", steps-before="D * L"
func.func @ahead(%xs: !ft.list<[L], !x>, %ws: !ft.list<[D], !x>) -> !ft.list<[D, L], !x> attributes {ft.lengths = {D = 3 : i64, L = 6 : i64}} {
  %zero = arith.constant dense<0.0> : !x
  %r = ft.scanl (%w = %ws : !ft.list<[D], !x>) init (%s = %xs : !ft.list<[L], !x>) -> !ft.list<[D, L], !x> {
    %q = ft.shift %s by -1 fill %zero : !ft.list<[L], !x>, !x
    %c = ft.scanl (%a = %q : !ft.list<[L], !x>) init (%h = %zero : !x) -> !ft.list<[L], !x> {
      %u = arith.addf %h, %a : !x
      %v = arith.mulf %u, %w : !x
      ft.yield %v : !x
    }
    ft.yield %c : !ft.list<[L], !x>
  }
  return %r : !ft.list<[D, L], !x>
}

// A window of three tokens of the layer below, its sum inside the cell.
// CHECK: T="{{\[\[}}2, 1], [1, 0]]"
// CHECK-SAME: distances="(0, 1), (1, 0), (1, 1), (1, -1), (1, -1..1)"
func.func @window(%xs: !ft.list<[L], !x>, %ws: !ft.list<[D], !x>) -> !ft.list<[D, L], !x> attributes {ft.lengths = {D = 3 : i64, L = 6 : i64}} {
  %zero = arith.constant dense<0.0> : !x
  %r = ft.scanl (%w = %ws : !ft.list<[D], !x>) init (%s = %xs : !ft.list<[L], !x>) -> !ft.list<[D, L], !x> {
    %q = ft.window %s size 3 boundary zero : !ft.list<[L], !x>
    %c = ft.scanl (%as = %q : !ft.list<[L, 3], !x>) init (%h = %zero : !x) -> !ft.list<[L], !x> {
      %f = ft.foldl (%e = %as : !ft.list<[3], !x>) init (%t = %h : !x) -> !x {
        %u = arith.addf %t, %e : !x
        ft.yield %u : !x
      }
      %v = arith.mulf %f, %w : !x
      ft.yield %v : !x
    }
    ft.yield %c : !ft.list<[L], !x>
  }
  return %r : !ft.list<[D, L], !x>
}

// Two directions over one sequence: independent, of one length: one loop.
// CHECK: [Passed] kernel {{.*}}offsets="0, 0", steps-after=L, steps-before="2 * L"
// IR-LABEL: etdg.graph @bidirectional
// IR: etdg.kernel shared 1
func.func @bidirectional(%xs: !ft.list<[L], !x>) -> (!ft.list<[L], !x>, !ft.list<[L], !x>) attributes {ft.lengths = {L = 5 : i64}} {
  %zero = arith.constant dense<0.0> : !x
  %a = ft.scanl (%e = %xs : !ft.list<[L], !x>) init (%h = %zero : !x) -> !ft.list<[L], !x> {
    %u = arith.addf %h, %e : !x
    ft.yield %u : !x
  }
  %b = ft.scanr (%e = %xs : !ft.list<[L], !x>) init (%h = %zero : !x) -> !ft.list<[L], !x> {
    %u = arith.mulf %h, %e : !x
    ft.yield %u : !x
  }
  return %a, %b : !ft.list<[L], !x>, !ft.list<[L], !x>
}

// The second reads the first from its end: no.
// CHECK: [Missed] no-kernel {{.*}}Reason="a dependence spans no bounded number of steps"
// IR-LABEL: etdg.graph @opposed
// IR-NOT: etdg.kernel
func.func @opposed(%xs: !ft.list<[L], !x>) -> (!ft.list<[L], !x>, !ft.list<[L], !x>) attributes {ft.lengths = {L = 5 : i64}} {
  %zero = arith.constant dense<0.0> : !x
  %a = ft.scanl (%e = %xs : !ft.list<[L], !x>) init (%h = %zero : !x) -> !ft.list<[L], !x> {
    %u = arith.addf %h, %e : !x
    ft.yield %u : !x
  }
  %b = ft.scanr (%e = %a : !ft.list<[L], !x>) init (%h = %zero : !x) -> !ft.list<[L], !x> {
    %u = arith.addf %h, %e : !x
    ft.yield %u : !x
  }
  return %a, %b : !ft.list<[L], !x>, !ft.list<[L], !x>
}

// Scan, map, scan: the map goes along; what a later scan alone needs goes before.
// CHECK: [Passed] kernel {{.*}}offsets="0, 1, 2", steps-after="L + 2", steps-before="2 * L + 1"
// IR-LABEL: etdg.graph @between
// IR: etdg.block @r3 [map]
// IR: etdg.kernel shared 1
// IR: etdg.block @r2 [map]
func.func @between(%xs: !ft.list<[L], !x>, %zs: !ft.list<[L], !x>) -> (!ft.list<[L], !x>) attributes {ft.lengths = {L = 5 : i64}} {
  %zero = arith.constant dense<0.0> : !x
  %a = ft.scanl (%e = %xs : !ft.list<[L], !x>) init (%h = %zero : !x) -> !ft.list<[L], !x> {
    %u = arith.addf %h, %e : !x
    ft.yield %u : !x
  }
  %m = ft.map (%e = %a : !ft.list<[L], !x>) -> !ft.list<[L], !x> {
    %u = math.tanh %e : !x
    ft.yield %u : !x
  }
  %p = ft.map (%e = %zs : !ft.list<[L], !x>) -> !ft.list<[L], !x> {
    %u = math.exp %e : !x
    ft.yield %u : !x
  }
  %b = ft.scanl (%e, %f = %m, %p : !ft.list<[L], !x>, !ft.list<[L], !x>) init (%h = %zero : !x) -> !ft.list<[L], !x> {
    %u = arith.addf %h, %e : !x
    %v = arith.addf %u, %f : !x
    ft.yield %v : !x
  }
  return %b : !ft.list<[L], !x>
}

// Three layers, two of them in one map: all three in one wavefront.
// CHECK: [Passed] distribute {{.*}}the items of its body became nests
// CHECK: [Passed] kernel {{.*}}offsets="0, 1, 2", steps-after="L + 2", steps-before="3 * L"
// IR-LABEL: etdg.graph @taken_apart
// IR: etdg.kernel shared 1
func.func @taken_apart(%xss: !ft.list<[N, L], !x>) -> !ft.list<[N, L], !x> attributes {ft.lengths = {N = 2 : i64, L = 5 : i64}} {
  %zero = arith.constant dense<0.0> : !x
  %bs = ft.map (%xs = %xss : !ft.list<[N, L], !x>) -> !ft.list<[N, L], !x> {
    %a = ft.scanl (%e = %xs : !ft.list<[L], !x>) init (%h = %zero : !x) -> !ft.list<[L], !x> {
      %u = arith.addf %h, %e : !x
      ft.yield %u : !x
    }
    %b = ft.scanl (%e = %a : !ft.list<[L], !x>) init (%h = %zero : !x) lag 2 -> !ft.list<[L], !x> {
      %u = arith.mulf %h, %e : !x
      ft.yield %u : !x
    }
    ft.yield %b : !ft.list<[L], !x>
  }
  %cs = ft.map (%xs = %bs : !ft.list<[N, L], !x>) -> !ft.list<[N, L], !x> {
    %c = ft.scanl (%e = %xs : !ft.list<[L], !x>) init (%h = %zero : !x) -> !ft.list<[L], !x> {
      %u = arith.addf %h, %e : !x
      ft.yield %u : !x
    }
    ft.yield %c : !ft.list<[L], !x>
  }
  return %cs : !ft.list<[N, L], !x>
}

// (1, 2): the short map dimension carries it, as two chains: two steps are fewer than D.
// CHECK: T="{{\[\[}}0, 1, 0], [1, 0, 0], [0, 0, 1]]", {{.*}}distances="(1, 1, 0)", {{.*}}steps-after=2, steps-before=D
func.func @over_a_map(%xs: !ft.list<[3], !x>, %ws: !ft.list<[D], !x>) -> !ft.list<[D, 3], !x> attributes {ft.lengths = {D = 7 : i64}} {
  %zero = arith.constant dense<0.0> : !x
  %r = ft.scanl (%w = %ws : !ft.list<[D], !x>) init (%s = %xs : !ft.list<[3], !x>) -> !ft.list<[D, 3], !x> {
    %q = ft.shift %s by 2 fill %zero : !ft.list<[3], !x>, !x
    %m = ft.map (%a = %q : !ft.list<[3], !x>) -> !ft.list<[3], !x> {
      %u = arith.addf %a, %w : !x
      ft.yield %u : !x
    }
    ft.yield %m : !ft.list<[3], !x>
  }
  return %r : !ft.list<[D, 3], !x>
}

// Each layer is a grid over the rows of the layer below in reverse: a layer waits
// for the last, inside it there is a wavefront.
// CHECK: "i sequential, j + k sequential, j parallel"
// CHECK-SAME: T="{{\[\[}}1, 0, 0], [0, 1, 1], [0, 1, 0]]"
// CHECK-SAME: steps-after="D * S + D * T - D", steps-before="D * S * T"
func.func @grid_reversed(%xs: !ft.list<[S, T], !x>, %ws: !ft.list<[D], !x>) -> !ft.list<[D, S, T], !x> attributes {ft.lengths = {D = 3 : i64, S = 4 : i64, T = 5 : i64}} {
  %zero = arith.constant dense<0.0> : !x
  %zeros = ft.repeat %zero times T : !x
  %a = ft.scanl (%w = %ws : !ft.list<[D], !x>) init (%s = %xs : !ft.list<[S, T], !x>) -> !ft.list<[D, S, T], !x> {
    %q = ft.reverse %s : !ft.list<[S, T], !x>
    %b = ft.scanl (%row = %q : !ft.list<[S, T], !x>) init (%up = %zeros : !ft.list<[T], !x>) -> !ft.list<[S, T], !x> {
      %c = ft.scanl (%e, %f = %row, %up : !ft.list<[T], !x>, !ft.list<[T], !x>) init (%h = %zero : !x) -> !ft.list<[T], !x> {
        %u = arith.addf %h, %e : !x
        %v = arith.addf %u, %f : !x
        %z = arith.mulf %v, %w : !x
        ft.yield %z : !x
      }
      ft.yield %c : !ft.list<[T], !x>
    }
    ft.yield %b : !ft.list<[S, T], !x>
  }
  return %a : !ft.list<[D, S, T], !x>
}
