// RUN: ft-opt %s --ft-compile="to=tile" --remarks-filter="reorder|coarsen" -o %t.mlir 2>&1 | FileCheck %s
// RUN: ft-run %s --entry=three_deep --engine=interpret --order=declared --to=tile --seed=0 --compare=interpret --dim D=1 --dim E=1 --dim L=1
// RUN: ft-run %s --entry=three_deep --engine=interpret --order=declared --to=tile --seed=1 --compare=interpret --dim D=2 --dim E=7 --dim L=3
// RUN: ft-run %s --entry=three_deep --engine=cpu --compare=interpret --dim D=2 --dim E=7 --dim L=3
// RUN: ft-run %s --entry=three_deep --engine=interpret --order=declared --to=tile --seed=2 --compare=interpret --dim D=7 --dim E=2 --dim L=5
// RUN: ft-run %s --entry=three_deep --engine=interpret --order=declared --to=tile --seed=3 --compare=interpret --dim D=3 --dim E=13 --dim L=1
// RUN: ft-run %s --entry=three_deep --engine=cpu --compare=interpret --dim D=3 --dim E=13 --dim L=1
// RUN: ft-run %s --entry=mixed --engine=interpret --order=declared --to=tile --seed=0 --compare=interpret --dim D=1 --dim L=1
// RUN: ft-run %s --entry=mixed --engine=interpret --order=declared --to=tile --seed=1 --compare=interpret --dim D=2 --dim L=7
// RUN: ft-run %s --entry=mixed --engine=cpu --compare=interpret --dim D=2 --dim L=7
// RUN: ft-run %s --entry=mixed --engine=interpret --order=declared --to=tile --seed=2 --compare=interpret --dim D=7 --dim L=2
// RUN: ft-run %s --entry=mixed --engine=interpret --order=declared --to=tile --seed=3 --compare=interpret --dim D=3 --dim L=13
// RUN: ft-run %s --entry=mixed --engine=cpu --compare=interpret --dim D=3 --dim L=13
// RUN: ft-run %s --entry=serpentine --engine=interpret --order=declared --to=tile --seed=0 --compare=interpret --dim D=1 --dim L=1
// RUN: ft-run %s --entry=serpentine --engine=interpret --order=declared --to=tile --seed=1 --compare=interpret --dim D=2 --dim L=7
// RUN: ft-run %s --entry=serpentine --engine=cpu --compare=interpret --dim D=2 --dim L=7
// RUN: ft-run %s --entry=serpentine --engine=interpret --order=declared --to=tile --seed=2 --compare=interpret --dim D=7 --dim L=2
// RUN: ft-run %s --entry=serpentine --engine=interpret --order=declared --to=tile --seed=3 --compare=interpret --dim D=3 --dim L=13
// RUN: ft-run %s --entry=serpentine --engine=cpu --compare=interpret --dim D=3 --dim L=13
// RUN: ft-run %s --entry=windows --engine=interpret --order=declared --to=tile --seed=0 --compare=interpret --dim D=1 --dim L=1
// RUN: ft-run %s --entry=windows --engine=interpret --order=declared --to=tile --seed=1 --compare=interpret --dim D=2 --dim L=7
// RUN: ft-run %s --entry=windows --engine=cpu --compare=interpret --dim D=2 --dim L=7
// RUN: ft-run %s --entry=windows --engine=interpret --order=declared --to=tile --seed=2 --compare=interpret --dim D=7 --dim L=2
// RUN: ft-run %s --entry=windows --engine=interpret --order=declared --to=tile --seed=3 --compare=interpret --dim D=3 --dim L=13
// RUN: ft-run %s --entry=windows --engine=cpu --compare=interpret --dim D=3 --dim L=13
// RUN: ft-run %s --entry=fold_in_scan --engine=interpret --order=declared --to=tile --seed=0 --compare=interpret --dim N=1 --dim L=1 --dim K=1
// RUN: ft-run %s --entry=fold_in_scan --engine=interpret --order=declared --to=tile --seed=1 --compare=interpret --dim N=2 --dim L=7 --dim K=3
// RUN: ft-run %s --entry=fold_in_scan --engine=cpu --compare=interpret --dim N=2 --dim L=7 --dim K=3
// RUN: ft-run %s --entry=fold_in_scan --engine=interpret --order=declared --to=tile --seed=2 --compare=interpret --dim N=7 --dim L=2 --dim K=5
// RUN: ft-run %s --entry=fold_in_scan --engine=interpret --order=declared --to=tile --seed=3 --compare=interpret --dim N=3 --dim L=13 --dim K=1
// RUN: ft-run %s --entry=fold_in_scan --engine=cpu --compare=interpret --dim N=3 --dim L=13 --dim K=1
// RUN: ft-run %s --entry=imperfect --engine=interpret --order=declared --to=tile --seed=0 --compare=interpret --dim D=1 --dim L=1
// RUN: ft-run %s --entry=imperfect --engine=interpret --order=declared --to=tile --seed=1 --compare=interpret --dim D=2 --dim L=7
// RUN: ft-run %s --entry=imperfect --engine=cpu --compare=interpret --dim D=2 --dim L=7
// RUN: ft-run %s --entry=imperfect --engine=interpret --order=declared --to=tile --seed=2 --compare=interpret --dim D=7 --dim L=2
// RUN: ft-run %s --entry=imperfect --engine=interpret --order=declared --to=tile --seed=3 --compare=interpret --dim D=3 --dim L=13
// RUN: ft-run %s --entry=imperfect --engine=cpu --compare=interpret --dim D=3 --dim L=13
// RUN: ft-run %s --entry=lags --engine=interpret --order=declared --to=tile --seed=0 --compare=interpret --dim D=1 --dim L=1
// RUN: ft-run %s --entry=lags --engine=interpret --order=declared --to=tile --seed=1 --compare=interpret --dim D=2 --dim L=7
// RUN: ft-run %s --entry=lags --engine=cpu --compare=interpret --dim D=2 --dim L=7
// RUN: ft-run %s --entry=lags --engine=interpret --order=declared --to=tile --seed=2 --compare=interpret --dim D=7 --dim L=2
// RUN: ft-run %s --entry=lags --engine=interpret --order=declared --to=tile --seed=3 --compare=interpret --dim D=3 --dim L=13
// RUN: ft-run %s --entry=lags --engine=cpu --compare=interpret --dim D=3 --dim L=13
// RUN: ft-run %s --entry=apart --engine=interpret --order=declared --to=tile --seed=0 --compare=interpret --dim L=1
// RUN: ft-run %s --entry=apart --engine=interpret --order=declared --to=tile --seed=1 --compare=interpret --dim L=2
// RUN: ft-run %s --entry=apart --engine=cpu --compare=interpret --dim L=2
// RUN: ft-run %s --entry=apart --engine=interpret --order=declared --to=tile --seed=2 --compare=interpret --dim L=7
// RUN: ft-run %s --entry=apart --engine=interpret --order=declared --to=tile --seed=3 --compare=interpret --dim L=3
// RUN: ft-run %s --entry=apart --engine=cpu --compare=interpret --dim L=3
// RUN: ft-run %s --entry=normalise --engine=interpret --order=declared --to=tile --seed=0 --compare=interpret --dim N=1 --dim L=1
// RUN: ft-run %s --entry=normalise --engine=interpret --order=declared --to=tile --seed=1 --compare=interpret --dim N=2 --dim L=7
// RUN: ft-run %s --entry=normalise --engine=cpu --compare=interpret --dim N=2 --dim L=7
// RUN: ft-run %s --entry=normalise --engine=interpret --order=declared --to=tile --seed=2 --compare=interpret --dim N=7 --dim L=2
// RUN: ft-run %s --entry=normalise --engine=interpret --order=declared --to=tile --seed=3 --compare=interpret --dim N=3 --dim L=13
// RUN: ft-run %s --entry=normalise --engine=cpu --compare=interpret --dim N=3 --dim L=13
//
// Nests that are in no example: what the optimiser makes of them, and that they
// compute the same after it, integers bit for bit.

!x = tensor<1xi32>

// Three scans inside each other: D + E + L - 2 steps instead of D * E * L.
// CHECK-DAG: remark: {{.*}} transform {{.*}}"i + j + k sequential, i parallel, j parallel"{{.*}}steps-after="D + E + L - 2", steps-before="D * E * L"
func.func @three_deep(%xs: !ft.list<[L], !x>, %ys: !ft.list<[E], !x>, %ws: !ft.list<[D], !x>) -> !ft.list<[D, E, L], !x>
    attributes {ft.lengths = {D = 3 : i64, E = 4 : i64, L = 5 : i64}} {
  %zero = arith.constant dense<0> : !x
  %rows = ft.repeat %xs times E : !ft.list<[L], !x>
  %border = ft.repeat %zero times L : !x
  %d = ft.scanl (%w = %ws : !ft.list<[D], !x>) init (%plane = %rows : !ft.list<[E, L], !x>) -> !ft.list<[D, E, L], !x> {
    %e = ft.scanl (%row, %y = %plane, %ys : !ft.list<[E, L], !x>, !ft.list<[E], !x>)
        init (%above = %border : !ft.list<[L], !x>) -> !ft.list<[E, L], !x> {
      %l = ft.scanl (%c, %a = %row, %above : !ft.list<[L], !x>, !ft.list<[L], !x>) init (%left = %zero : !x) -> !ft.list<[L], !x> {
        %p = arith.muli %c, %w : !x
        %q = arith.subi %p, %left : !x
        %r = arith.addi %q, %a : !x
        %s = arith.xori %r, %y : !x
        ft.yield %s : !x
      }
      ft.yield %l : !ft.list<[L], !x>
    }
    ft.yield %e : !ft.list<[E, L], !x>
  }
  return %d : !ft.list<[D, E, L], !x>
}

// A scan from the left of scans from the right.
// CHECK-DAG: remark: {{.*}} transform {{.*}}"i + j sequential, i parallel"{{.*}}distances="(0, 1), (1, 0)"{{.*}}steps-after="D + L - 1"
func.func @mixed(%xs: !ft.list<[L], !x>, %ws: !ft.list<[D], !x>) -> !ft.list<[D, L], !x>
    attributes {ft.lengths = {D = 3 : i64, L = 5 : i64}} {
  %one = arith.constant dense<1> : !x
  %d = ft.scanl (%w = %ws : !ft.list<[D], !x>) init (%row = %xs : !ft.list<[L], !x>) -> !ft.list<[D, L], !x> {
    %l = ft.scanr (%c = %row : !ft.list<[L], !x>) init (%s = %one : !x) -> !ft.list<[L], !x> {
      %p = arith.muli %c, %w : !x
      %q = arith.subi %p, %s : !x
      ft.yield %q : !x
    }
    ft.yield %l : !ft.list<[L], !x>
  }
  return %d : !ft.list<[D, L], !x>
}

// The direction alternates with the layer: cell k of an odd layer needs the last cell of
// the one before, so that no wavefront exists.
// CHECK-DAG: remark: {{.*}} keep-order {{.*}}"a dependence has no constant distance"{{.*}}example="D = 2, L = 2
func.func @serpentine(%xs: !ft.list<[L], !x>, %ws: !ft.list<[D], !x>) -> !ft.list<[D, L], !x>
    attributes {ft.lengths = {D = 3 : i64, L = 5 : i64}} {
  %one = arith.constant dense<1> : !x
  %d = ft.scanl (%w = %ws : !ft.list<[D], !x>) init (%row = %xs : !ft.list<[L], !x>) -> !ft.list<[D, L], !x> {
    %back = ft.reverse %row : !ft.list<[L], !x>
    %l = ft.scanl (%c = %back : !ft.list<[L], !x>) init (%s = %one : !x) -> !ft.list<[L], !x> {
      %p = arith.muli %c, %w : !x
      %q = arith.subi %p, %s : !x
      ft.yield %q : !x
    }
    ft.yield %l : !ft.list<[L], !x>
  }
  return %d : !ft.list<[D, L], !x>
}

// Each cell folds a window of the layer before and takes its left neighbour: distances
// (1, -1), (1, 0), (1, 1) and (0, 1) ask for steps 2 j + k.
// CHECK-DAG: remark: {{.*}} transform {{.*}}"2 * i + j sequential, i parallel", T="{{\[\[}}2, 1], [1, 0]]"{{.*}}(1, -1){{.*}}steps-after="2 * D + L - 2"
func.func @windows(%xs: !ft.list<[L], !x>, %ws: !ft.list<[D], !x>) -> !ft.list<[D, L], !x>
    attributes {ft.lengths = {D = 3 : i64, L = 5 : i64}} {
  %zero = arith.constant dense<0> : !x
  %d = ft.scanl (%w = %ws : !ft.list<[D], !x>) init (%row = %xs : !ft.list<[L], !x>) -> !ft.list<[D, L], !x> {
    %wins = ft.window %row size 3 boundary zero : !ft.list<[L], !x>
    %l = ft.scanl (%win = %wins : !ft.list<[L, 3], !x>) init (%s = %zero : !x) -> !ft.list<[L], !x> {
      %sum = ft.foldl (%e = %win : !ft.list<[3], !x>) init (%acc = %s : !x) -> !x {
        %p = arith.muli %acc, %w : !x
        %q = arith.addi %p, %e : !x
        ft.yield %q : !x
      }
      ft.yield %sum : !x
    }
    ft.yield %l : !ft.list<[L], !x>
  }
  return %d : !ft.list<[D, L], !x>
}

// A fold in a scan in a map: the scan carries the state, the fold is inside a step.
// CHECK-DAG: remark: {{.*}} transform {{.*}}"i parallel, j sequential"
func.func @fold_in_scan(%xss: !ft.list<[N, L], !x>, %ws: !ft.list<[K], !x>) -> !ft.list<[N, L], !x>
    attributes {ft.lengths = {N = 3 : i64, L = 5 : i64, K = 4 : i64}} {
  %zero = arith.constant dense<0> : !x
  %n = ft.map (%xs = %xss : !ft.list<[N, L], !x>) -> !ft.list<[N, L], !x> {
    %l = ft.scanl (%x = %xs : !ft.list<[L], !x>) init (%s = %zero : !x) -> !ft.list<[L], !x> {
      %f = ft.foldl (%w = %ws : !ft.list<[K], !x>) init (%acc = %s : !x) -> !x {
        %p = arith.muli %acc, %w : !x
        %q = arith.addi %p, %x : !x
        ft.yield %q : !x
      }
      ft.yield %f : !x
    }
    ft.yield %l : !ft.list<[L], !x>
  }
  return %n : !ft.list<[N, L], !x>
}

// A map, then a scan, inside a scan.
func.func @imperfect(%xs: !ft.list<[L], !x>, %ws: !ft.list<[D], !x>) -> !ft.list<[D, L], !x>
    attributes {ft.lengths = {D = 3 : i64, L = 5 : i64}} {
  %zero = arith.constant dense<0> : !x
  %d = ft.scanl (%w = %ws : !ft.list<[D], !x>) init (%row = %xs : !ft.list<[L], !x>) -> !ft.list<[D, L], !x> {
    %m = ft.map (%c = %row : !ft.list<[L], !x>) -> !ft.list<[L], !x> {
      %p = arith.muli %c, %w : !x
      ft.yield %p : !x
    }
    %l = ft.scanl (%c = %m : !ft.list<[L], !x>) init (%s = %zero : !x) -> !ft.list<[L], !x> {
      %q = arith.subi %c, %s : !x
      ft.yield %q : !x
    }
    ft.yield %l : !ft.list<[L], !x>
  }
  return %d : !ft.list<[D, L], !x>
}

// A scan with a lag of 2 over layers of scans with a lag of 3: six wavefronts side by side.
// CHECK-DAG: remark: {{.*}} chains {{.*}}chains="2, 3"{{.*}}typical-steps-after=5, typical-steps-before=11
// CHECK-DAG: remark: {{.*}} transform {{.*}}distances="(0, 0, 1, 0), (1, 0, 0, 0)"{{.*}}steps-after="ceildiv(D, 2) + ceildiv(L, 3) - 1"
func.func @lags(%xs: !ft.list<[L], !x>, %ws: !ft.list<[D], !x>) -> !ft.list<[D, L], !x>
    attributes {ft.lengths = {D = 5 : i64, L = 7 : i64}} {
  %zero = arith.constant dense<0> : !x
  %d = ft.scanl (%w = %ws : !ft.list<[D], !x>) init (%row = %xs : !ft.list<[L], !x>) lag 2 -> !ft.list<[D, L], !x> {
    %l = ft.scanl (%c = %row : !ft.list<[L], !x>) init (%s = %zero : !x) lag 3 -> !ft.list<[L], !x> {
      %p = arith.muli %c, %w : !x
      %q = arith.subi %p, %s : !x
      ft.yield %q : !x
    }
    ft.yield %l : !ft.list<[L], !x>
  }
  return %d : !ft.list<[D, L], !x>
}

// Two nests that must not become one: the second reads the first in reverse.
func.func @apart(%xs: !ft.list<[L], !x>) -> !ft.list<[L], !x> attributes {ft.lengths = {L = 5 : i64}} {
  %m = ft.map (%c = %xs : !ft.list<[L], !x>) -> !ft.list<[L], !x> {
    %p = arith.muli %c, %c : !x
    ft.yield %p : !x
  }
  %back = ft.reverse %m : !ft.list<[L], !x>
  %l = ft.map (%a, %b = %m, %back : !ft.list<[L], !x>, !ft.list<[L], !x>) -> !ft.list<[L], !x> {
    %q = arith.subi %a, %b : !x
    ft.yield %q : !x
  }
  return %l : !ft.list<[L], !x>
}

// A sum, then a map that needs all of it.
func.func @normalise(%xss: !ft.list<[N, L], !x>) -> !ft.list<[N, L], !x> attributes {ft.lengths = {N = 3 : i64, L = 5 : i64}} {
  %zero = arith.constant dense<0> : !x
  %n = ft.map (%xs = %xss : !ft.list<[N, L], !x>) -> !ft.list<[N, L], !x> {
    %s = ft.reduce (%x = %xs : !ft.list<[L], !x>) init (%acc = %zero : !x) -> !x {
      %q = arith.addi %acc, %x : !x
      ft.yield %q : !x
    }
    %l = ft.map (%x = %xs : !ft.list<[L], !x>) -> !ft.list<[L], !x> {
      %q = arith.subi %x, %s : !x
      ft.yield %q : !x
    }
    ft.yield %l : !ft.list<[L], !x>
  }
  return %n : !ft.list<[N, L], !x>
}
