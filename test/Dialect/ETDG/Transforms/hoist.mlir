// What repeats along a dimension is computed once, in a block of its own (FT §5.2's null spaces).
// RUN: ft-opt %s --ft-compile=to=coarsen --remarks-filter="coarsen.*" 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t
// RUN: ft-run %s --entry=dots --engine=cpu --compare=interpret
// RUN: ft-run %s --entry=dots --engine=cpu --compare=interpret --dim K=0
// RUN: ft-run %s --entry=dots --engine=cpu --compare=interpret --dim Q=0
// RUN: ft-run %s --entry=dots --engine=cpu --compare=interpret --dim K=1 --dim Q=7
// RUN: ft-run %s --entry=dots --engine=cpu --compare=interpret --dim K=127
// RUN: ft-run %s --entry=attention --engine=cpu --compare=interpret
// RUN: ft-run %s --entry=attention --engine=cpu --compare=interpret --dim Q=0
// RUN: ft-run %s --entry=attention --engine=cpu --compare=interpret --dim Q=1 --dim K=7
// RUN: ft-run %s --entry=layer_context --engine=cpu --compare=interpret
// RUN: ft-run %s --entry=layer_context --engine=cpu --compare=interpret --dim L=0
// RUN: ft-run %s --entry=layer_context --engine=cpu --compare=interpret --dim D=0
// RUN: ft-run %s --entry=layer_context --engine=cpu --compare=interpret --dim L=1
// RUN: ft-run %s --entry=layer_context --engine=cpu --compare=interpret --dim D=1
// RUN: ft-run %s --entry=layer_context --engine=cpu --compare=interpret --dim L=7 --dim D=5
// RUN: ft-run %s --entry=private --engine=cpu --compare=interpret
// RUN: ft-run %s --entry=private --engine=cpu --compare=interpret --dim K=0
// RUN: ft-run %s --entry=private --engine=cpu --compare=interpret --dim N=0
// RUN: ft-run %s --entry=private --engine=cpu --compare=interpret --dim B=0
// RUN: ft-run %s --entry=private --engine=cpu --compare=interpret --dim N=1 --dim K=7
// RUN: ft-run %s --entry=gathered --engine=cpu --compare=interpret
// RUN: ft-run %s --entry=gathered --engine=cpu --compare=interpret --dim A=0
// RUN: ft-run %s --entry=gathered --engine=cpu --compare=interpret --dim K=0
// RUN: ft-run %s --entry=gathered --engine=cpu --compare=interpret --dim N=1 --dim K=127
// RUN: ft-run %s --entry=chain --engine=cpu --compare=interpret
// RUN: ft-run %s --entry=chain --engine=cpu --compare=interpret --dim Q=0
// RUN: ft-run %s --entry=chain --engine=cpu --compare=interpret --dim K=1
// RUN: ft-run %s --entry=chain --engine=cpu --compare=interpret --dim Q=7 --dim K=127
// RUN: ft-run %s --entry=seen --engine=cpu --compare=interpret
// RUN: ft-run %s --entry=seen --engine=cpu --compare=interpret --dim M=0
// RUN: ft-run %s --entry=seen --engine=cpu --compare=interpret --dim N=0
// RUN: ft-run %s --entry=seen --engine=cpu --compare=interpret --dim M=1
// RUN: ft-run %s --entry=narrow --engine=cpu --compare=interpret --rtol=0.004
// RUN: ft-run %s --entry=narrow --engine=cpu --compare=interpret --dim M=1 --dim N=7
// RUN: ft-run %s --entry=integers --engine=cpu --compare=interpret
// RUN: ft-run %s --entry=integers --engine=cpu --compare=interpret --dim M=0
// RUN: ft-run %s --entry=integers --engine=cpu --compare=interpret --dim N=0
// RUN: ft-run %s --entry=integers --engine=cpu --compare=interpret --dim M=127 --dim N=1

!x = tensor<1x64xf32>
!w = tensor<64x64xf32>

// q W is the same for all keys: it leaves the loop over them, a product over rows.
// REMARK: [Passed] hoist | Category:coarsen | Reason="linalg.matmul is computed once, not along 'j'", blocks=1, bytes="256 * Q", operations=10485760, operations-after=262144, readers=1, seconds={{[0-9.]+E-[0-9]+}}, seconds-after={{[0-9.]+E-[0-9]+}}
// CHECK-LABEL: etdg.graph @dots
// CHECK:         %[[H:.*]] = etdg.buffer : !etdg.buffer<[Q], tensor<1x64xf32>>
// CHECK-NEXT:    etdg.block @r0_once [map] (i) in [0, Q) where K >= 1
// CHECK-NEXT:      reads (%x = %arg0[i] : tensor<1x64xf32>, %{{.*}} = %arg2[] : tensor<64x64xf32>)
// CHECK-NEXT:      writes (%[[H]][i])
// CHECK:           linalg.matmul
// CHECK:         etdg.block @r0 [map, map] (i, j) in [0, Q) x [0, K)
// CHECK-NEXT:      reads (%x = %arg1[j] : tensor<1x64xf32>, %{{.*}} = %[[H]][i] : tensor<1x64xf32>)
// CHECK:           linalg.matmul
// CHECK-NOT:       linalg.matmul
// CHECK:         etdg.return
func.func @dots(%qs: !ft.list<[Q], !x> {ft.gen = #ft.normal<1.0>}, %ks: !ft.list<[K], !x> {ft.gen = #ft.normal<1.0>}, %w: !w {ft.gen = #ft.normal<0.125>})
    -> !ft.list<[Q, K], tensor<1x1xf32>> attributes {ft.lengths = {Q = 32 : i64, K = 40 : i64}} {
  %r = ft.map (%q = %qs : !ft.list<[Q], !x>) -> !ft.list<[Q, K], tensor<1x1xf32>> {
    %s = ft.map (%k = %ks : !ft.list<[K], !x>) -> !ft.list<[K], tensor<1x1xf32>> {
      %z = arith.constant dense<0.0> : !x
      %p = linalg.matmul ins(%q, %w : !x, !w) outs(%z : !x) -> !x
      %z1 = arith.constant dense<0.0> : tensor<1x1xf32>
      %kt = arith.constant dense<0.0> : tensor<64x1xf32>
      %t = linalg.transpose ins(%k : !x) outs(%kt : tensor<64x1xf32>) permutation = [1, 0]
      %d = linalg.matmul ins(%p, %t : !x, tensor<64x1xf32>) outs(%z1 : tensor<1x1xf32>) -> tensor<1x1xf32>
      ft.yield %d : tensor<1x1xf32>
    }
    ft.yield %s : !ft.list<[K], tensor<1x1xf32>>
  }
  return %r : !ft.list<[Q, K], tensor<1x1xf32>>
}

// Projections written inside the loops of attention: three maps in front of it. The transposition stays where
// it is used.
// CHECK-LABEL: etdg.graph @attention
// CHECK:         etdg.block @{{.*}}_once{{2?}} [map] (i) in [0, Q) where K >= 1
// CHECK:         etdg.block @{{.*}}_once{{2?}} [map] (j) in [0, K) where Q >= 1
// CHECK:         etdg.block @{{.*}}_once{{2?}} [map] (j) in [0, K) where Q >= 1
// CHECK:         etdg.block @r0 [map] (i) in [0, Q)
// CHECK-NOT:       tensor<64x64xf32>
// CHECK:         etdg.return
func.func @attention(%qs: !ft.list<[Q], !x> {ft.gen = #ft.normal<1.0>}, %xs: !ft.list<[K], !x> {ft.gen = #ft.normal<1.0>}, %wq: !w {ft.gen = #ft.normal<0.125>}, %wk: !w {ft.gen = #ft.normal<0.125>}, %wv: !w {ft.gen = #ft.normal<0.125>})
    -> !ft.list<[Q], !x> attributes {ft.lengths = {Q = 32 : i64, K = 40 : i64}} {
  %r = ft.map (%q = %qs : !ft.list<[Q], !x>) -> !ft.list<[Q], !x> {
    %z = arith.constant dense<0.0> : !x
    %z1 = arith.constant dense<0.0> : tensor<1x1xf32>
    %m0 = arith.constant dense<-1.0e30> : tensor<1x1xf32>
    %scores = ft.map (%x = %xs : !ft.list<[K], !x>) -> !ft.list<[K], tensor<1x1xf32>> {
      %p = linalg.matmul ins(%q, %wq : !x, !w) outs(%z : !x) -> !x
      %k = linalg.matmul ins(%x, %wk : !x, !w) outs(%z : !x) -> !x
      %e = tensor.empty() : tensor<64x1xf32>
      %t = linalg.transpose ins(%k : !x) outs(%e : tensor<64x1xf32>) permutation = [1, 0]
      %d = linalg.matmul ins(%p, %t : !x, tensor<64x1xf32>) outs(%z1 : tensor<1x1xf32>) -> tensor<1x1xf32>
      ft.yield %d : tensor<1x1xf32>
    }
    %m = ft.reduce (%s = %scores : !ft.list<[K], tensor<1x1xf32>>) init (%a = %m0 : tensor<1x1xf32>) -> tensor<1x1xf32> {
      %n = arith.maximumf %a, %s : tensor<1x1xf32>
      ft.yield %n : tensor<1x1xf32>
    }
    %l = ft.reduce (%s = %scores : !ft.list<[K], tensor<1x1xf32>>) init (%a = %z1 : tensor<1x1xf32>) -> tensor<1x1xf32> {
      %c = arith.subf %s, %m : tensor<1x1xf32>
      %e = math.exp %c : tensor<1x1xf32>
      %n = arith.addf %a, %e : tensor<1x1xf32>
      ft.yield %n : tensor<1x1xf32>
    }
    %ws = ft.map (%s, %x = %scores, %xs : !ft.list<[K], tensor<1x1xf32>>, !ft.list<[K], !x>) -> !ft.list<[K], !x> {
      %c = arith.subf %s, %m : tensor<1x1xf32>
      %e = math.exp %c : tensor<1x1xf32>
      %v = linalg.matmul ins(%x, %wv : !x, !w) outs(%z : !x) -> !x
      %n = linalg.matmul ins(%e, %v : tensor<1x1xf32>, !x) outs(%z : !x) -> !x
      ft.yield %n : !x
    }
    %o = ft.reduce (%s = %ws : !ft.list<[K], !x>) init (%a = %z : !x) -> !x {
      %n = arith.addf %a, %s : !x
      ft.yield %n : !x
    }
    %em = tensor.empty() : tensor<1x64xf32>
    %l1 = tensor.collapse_shape %l [[0, 1]] : tensor<1x1xf32> into tensor<1xf32>
    %lb = linalg.broadcast ins(%l1 : tensor<1xf32>) outs(%em : tensor<1x64xf32>) dimensions = [1]
    %y = arith.divf %o, %lb : !x
    ft.yield %y : !x
  }
  return %r : !ft.list<[Q], !x>
}

// A layer's own input: once for each layer. The scans stay one nest, all four regions read it; added to the
// state, it is taken apart.
// REMARK: Reason="linalg.matmul is computed once, not along 'j'; added later, it is rounded in another order", blocks=1, bytes="256 * D", operations=1179648, operations-after=33792, readers=4
// CHECK-LABEL: etdg.graph @layer_context
// CHECK:         %[[H:.*]] = etdg.buffer : !etdg.buffer<[D], tensor<1x64xf32>>
// CHECK-NEXT:    etdg.block @r3_once [map] (i) in [0, D) where L >= 1
// CHECK:         etdg.nest {
// CHECK-COUNT-4:   %{{.*}} = %[[H]][i] : tensor<1x64xf32>
// CHECK-NOT:     etdg.nest
// CHECK:         etdg.return
func.func @layer_context(%cs: !ft.list<[D], !x> {ft.gen = #ft.normal<1.0>}, %us: !ft.list<[D], !w> {ft.gen = #ft.normal<0.1>}, %ws: !ft.list<[D], !w> {ft.gen = #ft.normal<0.1>}, %xs: !ft.list<[L], !x> {ft.gen = #ft.normal<1.0>})
    -> !ft.list<[D, L], !x> attributes {ft.lengths = {D = 3 : i64, L = 48 : i64}} {
  %z = arith.constant dense<0.0> : !x
  %r = ft.scanl (%c, %u, %w = %cs, %us, %ws : !ft.list<[D], !x>, !ft.list<[D], !w>, !ft.list<[D], !w>) init (%below = %xs : !ft.list<[L], !x>) -> !ft.list<[D, L], !x> {
    %y = ft.scanl (%b = %below : !ft.list<[L], !x>) init (%s = %z : !x) -> !ft.list<[L], !x> {
      %0 = linalg.matmul ins(%s, %w : !x, !w) outs(%b : !x) -> !x
      %1 = linalg.matmul ins(%c, %u : !x, !w) outs(%0 : !x) -> !x
      %2 = math.tanh %1 : !x
      ft.yield %2 : !x
    }
    ft.yield %y : !ft.list<[L], !x>
  }
  return %r : !ft.list<[D, L], !x>
}

// What it needs is private to an iteration of i: the block stands there. Reversed as it was.
// CHECK-LABEL: etdg.graph @private
// CHECK:         etdg.block @r0 [map] (i) in [0, B) {
// CHECK:           etdg.nest
// CHECK:           %[[H:.*]] = etdg.buffer : !etdg.buffer<[N], tensor<1x64xf32>>
// CHECK-NEXT:      etdg.block @r3_once [map] (i | j) in [0, N) where K >= 1
// CHECK-NEXT:        reads (%x = %{{.*}}[N - j - 1] : tensor<1x64xf32>
// CHECK-NEXT:        writes (%[[H]][j])
// CHECK:           etdg.block @r3 [map, map] (i | j, k) in [0, N) x [0, K)
// CHECK-NOT:         linalg.matmul
// CHECK:             arith.addf
func.func @private(%xs: !ft.list<[B, N], !x> {ft.gen = #ft.normal<1.0>}, %ks: !ft.list<[K], !x> {ft.gen = #ft.normal<1.0>}, %w: !w {ft.gen = #ft.normal<0.1>})
    -> !ft.list<[B, N, K], !x> attributes {ft.lengths = {B = 2 : i64, N = 24 : i64, K = 20 : i64}} {
  %z = arith.constant dense<0.0> : !x
  %r = ft.map (%row = %xs : !ft.list<[B, N], !x>) -> !ft.list<[B, N, K], !x> {
    %ys = ft.scanl (%x = %row : !ft.list<[N], !x>) init (%s = %z : !x) -> !ft.list<[N], !x> {
      %0 = arith.addf %s, %x : !x
      %1 = math.tanh %0 : !x
      ft.yield %1 : !x
    }
    %rev = ft.reverse %ys : !ft.list<[N], !x>
    %o = ft.map (%y = %rev : !ft.list<[N], !x>) -> !ft.list<[N, K], !x> {
      %p = ft.map (%k = %ks : !ft.list<[K], !x>) -> !ft.list<[K], !x> {
        %0 = linalg.matmul ins(%y, %w : !x, !w) outs(%k : !x) -> !x
        ft.yield %0 : !x
      }
      ft.yield %p : !ft.list<[K], !x>
    }
    ft.yield %o : !ft.list<[N, K], !x>
  }
  return %r : !ft.list<[B, N, K], !x>
}

// Two dimensions at once; the index of a gather is data, but the same.
// REMARK: Reason="math.tanh is computed once, not along 'i', 'k'"
// CHECK-LABEL: etdg.graph @gathered
// CHECK:         etdg.block @r0_once [map] (j) in [0, N) where A >= 1 and K >= 1
// CHECK-NEXT:      reads (%x = %arg0[%arg1[j]] : tensor<1x64xf32>
// CHECK:         etdg.block @r0 [map, map, map]
// CHECK-NEXT:      reads (%x = %arg2[i, k] : tensor<1x64xf32>, %{{.*}}[j] : tensor<1x64xf32>)
func.func @gathered(%xs: !ft.list<[V], !x> {ft.gen = #ft.normal<1.0>}, %ids: !ft.list<[N], tensor<i64>> {ft.gen = #ft.index<0, V>}, %ks: !ft.list<[A, K], !x> {ft.gen = #ft.normal<1.0>}, %w: !w {ft.gen = #ft.normal<0.1>})
    -> !ft.list<[A, N, K], !x> attributes {ft.lengths = {V = 7 : i64, N = 24 : i64, K = 20 : i64, A = 3 : i64}} {
  %z = arith.constant dense<0.0> : !x
  %g = ft.gather %xs[%ids] : !ft.list<[V], !x>, !ft.list<[N], tensor<i64>>
  %r = ft.map (%kk = %ks : !ft.list<[A, K], !x>) -> !ft.list<[A, N, K], !x> {
    %o = ft.map (%y = %g : !ft.list<[N], !x>) -> !ft.list<[N, K], !x> {
      %p = ft.map (%k = %kk : !ft.list<[K], !x>) -> !ft.list<[K], !x> {
        %0 = linalg.matmul ins(%y, %w : !x, !w) outs(%z : !x) -> !x
        %1 = math.tanh %0 : !x
        %2 = arith.mulf %1, %k : !x
        ft.yield %2 : !x
      }
      ft.yield %p : !ft.list<[K], !x>
    }
    ft.yield %o : !ft.list<[N, K], !x>
  }
  return %r : !ft.list<[A, N, K], !x>
}

// The list of products is the same for all queries: no copy of it stays, and so the products of these
// products are seen.
// CHECK-LABEL: etdg.graph @chain
// CHECK:         etdg.block @r1_once [map] (j) in [0, K) where Q >= 1
// CHECK:         %[[P:.*]] = etdg.buffer : !etdg.buffer<[K], tensor<1x64xf32>>
// CHECK-NEXT:    etdg.block @r3_once [map] (j) in [0, K) where Q >= 1
// CHECK:         etdg.block @r0 [map] (i) in [0, Q) {
// CHECK-NOT:       linalg.matmul
// CHECK:           etdg.block @r3 [scanl] (i | j) in [1, K)
// CHECK-NEXT:        reads (%s = %{{.*}}[j - 1] : tensor<1x64xf32>, %x = %[[P]][j] : tensor<1x64xf32>)
func.func @chain(%qs: !ft.list<[Q], !x> {ft.gen = #ft.normal<1.0>}, %ks: !ft.list<[K], !x> {ft.gen = #ft.normal<1.0>}, %w: !w {ft.gen = #ft.normal<0.1>}, %u: !w {ft.gen = #ft.normal<0.1>})
    -> !ft.list<[Q], !x> attributes {ft.bounds = #ft.bounds<"K >= 1">, ft.lengths = {Q = 24 : i64, K = 20 : i64}} {
  %z = arith.constant dense<0.0> : !x
  %r = ft.map (%q = %qs : !ft.list<[Q], !x>) -> !ft.list<[Q], !x> {
    %ps = ft.map (%k = %ks : !ft.list<[K], !x>) -> !ft.list<[K], !x> {
      %0 = linalg.matmul ins(%k, %w : !x, !w) outs(%z : !x) -> !x
      ft.yield %0 : !x
    }
    %s = ft.scanl (%p = %ps : !ft.list<[K], !x>) init (%s = %q : !x) -> !ft.list<[K], !x> {
      %0 = linalg.matmul ins(%p, %u : !x, !w) outs(%s : !x) -> !x
      ft.yield %0 : !x
    }
    %last = ft.at %s[-1] : !ft.list<[K], !x>
    ft.yield %last : !x
  }
  return %r : !ft.list<[Q], !x>
}

// A result that repeats is copied from what is computed once.
// CHECK-LABEL: etdg.graph @seen
// CHECK:         etdg.block @r0_once [map] (j) in [0, N) where M >= 1
// CHECK:         etdg.block @r0 [map, map] (i, j) in [0, M) x [0, N)
// CHECK-NEXT:      reads (%x = %{{.*}}[j] : tensor<1x64xf32>)
// CHECK-NOT:       linalg
// CHECK:         etdg.return
func.func @seen(%ms: !ft.list<[M], tensor<1xi64>> {ft.gen = #ft.index<0, 1>}, %xs: !ft.list<[N], !x> {ft.gen = #ft.normal<1.0>}, %w: !w {ft.gen = #ft.normal<0.1>})
    -> !ft.list<[M, N], !x> attributes {ft.lengths = {N = 24 : i64, M = 20 : i64}} {
  %z = arith.constant dense<0.0> : !x
  %rr = ft.repeat %xs times M : !ft.list<[N], !x>
  %r = ft.map (%row = %rr : !ft.list<[M, N], !x>) -> !ft.list<[M, N], !x> {
    %p = ft.map (%k = %row : !ft.list<[N], !x>) -> !ft.list<[N], !x> {
      %0 = linalg.matmul ins(%k, %w : !x, !w) outs(%z : !x) -> !x
      ft.yield %0 : !x
    }
    ft.yield %p : !ft.list<[N], !x>
  }
  return %r : !ft.list<[M, N], !x>
}


// Integers are exact in any order.
// REMARK: Reason="linalg.matmul is computed once, not along 'j'", blocks=1, bytes="324 * M"
// CHECK-LABEL: etdg.graph @integers
// CHECK:         etdg.block @r0_once [map] (i) in [0, M) where N >= 1
// CHECK:         etdg.block @r0 [map, map]
// CHECK:           arith.addi
func.func @integers(%a: !ft.list<[M], tensor<3x27xi32>> {ft.gen = #ft.index<-9, 9>}, %b: !ft.list<[N], tensor<3x27xi32>> {ft.gen = #ft.index<-9, 9>},
                    %w: tensor<27x27xi32> {ft.gen = #ft.index<-9, 9>}) -> !ft.list<[M, N], tensor<3x27xi32>> attributes {ft.lengths = {M = 50 : i64, N = 40 : i64}} {
  %r = ft.map (%x = %a : !ft.list<[M], tensor<3x27xi32>>) -> !ft.list<[M, N], tensor<3x27xi32>> {
    %s = ft.map (%y = %b : !ft.list<[N], tensor<3x27xi32>>) -> !ft.list<[N], tensor<3x27xi32>> {
      %0 = linalg.matmul ins(%x, %w : tensor<3x27xi32>, tensor<27x27xi32>) outs(%y : tensor<3x27xi32>) -> tensor<3x27xi32>
      ft.yield %0 : tensor<3x27xi32>
    }
    ft.yield %s : !ft.list<[N], tensor<3x27xi32>>
  }
  return %r : !ft.list<[M, N], tensor<3x27xi32>>
}

// A product in bf16 is rounded once, when it is added: it is stored in f32.
// CHECK-LABEL: etdg.graph @narrow
// CHECK:         etdg.block @r0_once [map] (i) in [0, M) where N >= 1
// CHECK:           linalg.matmul ins({{.*}} : tensor<16x64xbf16>, tensor<64x64xbf16>) outs(%{{.*}} : tensor<16x64xf32>) -> tensor<16x64xf32>
// CHECK:         etdg.block @r0 [map, map]
// CHECK:           %[[S:.*]] = arith.extf
// CHECK:           %[[T:.*]] = arith.addf %[[S]], %{{.*}} : tensor<16x64xf32>
// CHECK:           arith.truncf %[[T]] : tensor<16x64xf32> to tensor<16x64xbf16>
func.func @narrow(%a: !ft.list<[M], tensor<16x64xbf16>> {ft.gen = #ft.normal<1.0>}, %b: !ft.list<[N], tensor<16x64xbf16>> {ft.gen = #ft.normal<1.0>},
                    %w: tensor<64x64xbf16> {ft.gen = #ft.normal<0.125>}) -> !ft.list<[M, N], tensor<16x64xbf16>> attributes {ft.lengths = {M = 30 : i64, N = 20 : i64}} {
  %r = ft.map (%x = %a : !ft.list<[M], tensor<16x64xbf16>>) -> !ft.list<[M, N], tensor<16x64xbf16>> {
    %s = ft.map (%y = %b : !ft.list<[N], tensor<16x64xbf16>>) -> !ft.list<[N], tensor<16x64xbf16>> {
      %0 = linalg.matmul ins(%x, %w : tensor<16x64xbf16>, tensor<64x64xbf16>) outs(%y : tensor<16x64xbf16>) -> tensor<16x64xbf16>
      ft.yield %0 : tensor<16x64xbf16>
    }
    ft.yield %s : !ft.list<[N], tensor<16x64xbf16>>
  }
  return %r : !ft.list<[M, N], tensor<16x64xbf16>>
}
