// Rows of leaves from several dimensions (RowLists.cpp). By hand: of 34 steps of the grid's wavefront
// at batch 4, 120.5 points lie in one (4 * 4 * 16 * 16 / 34), and layer j has up to 4 * 16 of them:
// all are rows of one product, where lines of one sequence have 16 at most.
//
// RUN: env FT_NUM_THREADS=2 %ft_bin/ft-run %S/../../../examples/grid_rnn.mlir --engine=cpu --json --candidate=0 \
// RUN:   --dim N=4 --dim S=16 --dim T=16 --dim D=4 --type 'x=tensor<1x128xf32>' --type 'w=tensor<128x128xf32>' \
// RUN:   | FileCheck %s --check-prefix=PLAN
// PLAN: "grid_rnn_k{{[0-9]}}: team t, shared j, listed rows {{i k|k i}}: 34 steps of 1{{[12][0-9]}}.{{[0-9]}} points, {{[23][0-9]}}.{{[0-9]}} rows a call, 34 barriers
//
// At batch 1 a line has 7.5 points (256 / 34), which are rows of one call although three regions share it.
// RUN: env FT_NUM_THREADS=2 %ft_bin/ft-run %S/../../../examples/grid_rnn.mlir --engine=cpu --json \
// RUN:   --dim N=1 --dim S=16 --dim T=16 --dim D=4 --type 'x=tensor<1x128xf32>' --type 'w=tensor<128x128xf32>' \
// RUN:   | FileCheck %s --check-prefix=ONE
// ONE: listed rows {{i k|k i}}: 34 steps of {{29|30|31}}.{{[0-9]}} points, {{[78]}}.{{[0-9]}} rows a call
//
// Every way to run these, at odd lengths, against the interpreter. Integers: the same bit for bit.
// RUN: %python %S/Inputs/rows.py %ft_bin/ft-run %s | FileCheck %s
// CHECK: 4 programs, 96 runs, 0 failures{{$}}

!v = tensor<1x3xi32>
!w = tensor<3x3xi32>

// A grid whose weights vary with the layer: three dimensions of each step can be rows of one product.
func.func @grid(%as: !ft.list<[N, S], !v>, %bs: !ft.list<[N, T], !v>, %ws: !ft.list<[D], !w>, %us: !ft.list<[D], !w>)
    -> !ft.list<[N, D, S, T], !v> {
  %zero = arith.constant dense<2> : !v
  %all = ft.map (%a, %b = %as, %bs : !ft.list<[N, S], !v>, !ft.list<[N, T], !v>) -> !ft.list<[N, D, S, T], !v> {
    %columns = ft.repeat %a times T : !ft.list<[S], !v>
    %x0 = ft.transpose %columns [1, 0] : !ft.list<[T, S], !v>
    %layers = ft.scanl (%w, %u = %ws, %us : !ft.list<[D], !w>, !ft.list<[D], !w>) init (%xss = %x0 : !ft.list<[S, T], !v>)
        -> !ft.list<[D, S, T], !v> {
      %border = ft.repeat %zero times T : !v
      %down = ft.scanl (%xs = %xss : !ft.list<[S, T], !v>) init (%above = %border : !ft.list<[T], !v>) -> !ft.list<[S, T], !v> {
        %along = ft.scanl (%x, %up, %b0 = %xs, %above, %b : !ft.list<[T], !v>, !ft.list<[T], !v>, !ft.list<[T], !v>) init (%left = %zero : !v) -> !ft.list<[T], !v> {
          %0 = linalg.matmul ins(%up, %u : !v, !w) outs(%b0 : !v) -> !v
          %1 = linalg.matmul ins(%left, %u : !v, !w) outs(%0 : !v) -> !v
          %2 = linalg.matmul ins(%x, %w : !v, !w) outs(%1 : !v) -> !v
          ft.yield %2 : !v
        }
        ft.yield %along : !ft.list<[T], !v>
      }
      ft.yield %down : !ft.list<[S, T], !v>
    }
    ft.yield %layers : !ft.list<[D, S, T], !v>
  }
  return %all : !ft.list<[N, D, S, T], !v>
}

// From the last to the first and the first to the last, with rows that are gathered and indices among the operands.
func.func @corners(%table: !ft.list<[N, S], !v>, %idx: !ft.list<[T], tensor<i64>> {ft.gen = #ft.index<0, S>}, %w: !w)
    -> !ft.list<[N, S, T], !v> attributes {ft.bounds = #ft.bounds<"S >= 1">} {
  %zero = arith.constant dense<1> : !v
  %numbers = ft.iota : !ft.list<[T], tensor<i32>>
  %all = ft.map (%rows = %table : !ft.list<[N, S], !v>) -> !ft.list<[N, S, T], !v> {
    %g = ft.gather %rows[%idx] : !ft.list<[S], !v>, !ft.list<[T], tensor<i64>>
    %border = ft.repeat %zero times T : !v
    %down = ft.scanr (%x = %rows : !ft.list<[S], !v>) init (%above = %border : !ft.list<[T], !v>) -> !ft.list<[S, T], !v> {
      %along = ft.scanl (%up, %e, %n = %above, %g, %numbers : !ft.list<[T], !v>, !ft.list<[T], !v>, !ft.list<[T], tensor<i32>>) init (%left = %zero : !v) -> !ft.list<[T], !v> {
        %s = tensor.extract %n[] : tensor<i32>
        %f = tensor.splat %s : !v
        %0 = arith.addi %up, %f : !v
        %1 = arith.addi %e, %x : !v
        %2 = linalg.matmul ins(%0, %w : !v, !w) outs(%1 : !v) -> !v
        %3 = linalg.matmul ins(%left, %w : !v, !w) outs(%2 : !v) -> !v
        ft.yield %3 : !v
      }
      ft.yield %along : !ft.list<[T], !v>
    }
    ft.yield %down : !ft.list<[S, T], !v>
  }
  return %all : !ft.list<[N, S, T], !v>
}

// Layers of sequences that look two steps back.
func.func @lagged(%xs: !ft.list<[N, T], !v>, %ws: !ft.list<[D], !w>) -> !ft.list<[N, D, T], !v> {
  %zero = arith.constant dense<1> : !v
  %all = ft.map (%x = %xs : !ft.list<[N, T], !v>) -> !ft.list<[N, D, T], !v> {
    %layers = ft.scanl (%w = %ws : !ft.list<[D], !w>) init (%in = %x : !ft.list<[T], !v>) -> !ft.list<[D, T], !v> {
      %out = ft.scanl (%e = %in : !ft.list<[T], !v>) init (%s = %zero : !v) lag 2 -> !ft.list<[T], !v> {
        %0 = linalg.matmul ins(%s, %w : !v, !w) outs(%e : !v) -> !v
        ft.yield %0 : !v
      }
      ft.yield %out : !ft.list<[T], !v>
    }
    ft.yield %layers : !ft.list<[D, T], !v>
  }
  return %all : !ft.list<[N, D, T], !v>
}

// No sequential loop outside: rows of two dimensions, a recurrence inside.
func.func @heads(%xs: !ft.list<[N, S, T], !v>, %w: !w) -> !ft.list<[N, S, T], !v> {
  %zero = arith.constant dense<1> : !v
  %all = ft.map (%x2 = %xs : !ft.list<[N, S, T], !v>) -> !ft.list<[N, S, T], !v> {
    %each = ft.map (%x = %x2 : !ft.list<[S, T], !v>) -> !ft.list<[S, T], !v> {
      %out = ft.scanl (%e = %x : !ft.list<[T], !v>) init (%s = %zero : !v) -> !ft.list<[T], !v> {
        %0 = linalg.matmul ins(%s, %w : !v, !w) outs(%e : !v) -> !v
        ft.yield %0 : !v
      }
      ft.yield %out : !ft.list<[T], !v>
    }
    ft.yield %each : !ft.list<[S, T], !v>
  }
  return %all : !ft.list<[N, S, T], !v>
}
