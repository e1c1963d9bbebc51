// Types and attributes in canonical form.
//
// RUN: ft-opt --allow-unregistered-dialect %s | FileCheck %s
// RUN: ft-opt --allow-unregistered-dialect %s | ft-opt --allow-unregistered-dialect | FileCheck %s
// RUN: ft-opt --allow-unregistered-dialect %s --mlir-print-op-generic | ft-opt --allow-unregistered-dialect | FileCheck %s
// RUN: ft-opt --allow-unregistered-dialect %s --verify-roundtrip

// CHECK-LABEL: func.func private @lists
// CHECK-SAME: !ft.list<[N, 256, L - 2], tensor<1x512xf16>>
// CHECK-SAME: !ft.list<[L], tensor<i64>>
// CHECK-SAME: !ft.list<[K, 0], tensor<4xindex>>
// CHECK-SAME: !ft.list<[N, ragged(lens)], tensor<2xbf16>>
func.func private @lists(!ft.list<[N, 256, L - 2], tensor<1x512xf16>>, !ft.list<[L], tensor<i64>>,
                         !ft.list<[K, 0], tensor<4xindex>>,
                         !ft.list<[N, ragged(lens)], tensor<2xbf16>>)

// CHECK-LABEL: func.func private @tuples
// CHECK-SAME: !ft.list<[L], tuple<tensor<2xf32>, !ft.list<[K], tensor<f32>>>>
func.func private @tuples(!ft.list<[L], tuple<tensor<2xf32>, !ft.list<[K], tensor<f32>>>>)

// Equal lengths are the same attribute.
// CHECK-LABEL: "test.lengths"
// CHECK-SAME: a00 = #ft.len<512>
// CHECK-SAME: a01 = #ft.len<L - 2>
// CHECK-SAME: a02 = #ft.len<L - 2>
// CHECK-SAME: a03 = #ft.len<2 * L + 1>
// CHECK-SAME: a04 = #ft.len<ceildiv(L, 2)>
// CHECK-SAME: a05 = #ft.len<ceildiv(L, 2)>
// CHECK-SAME: a06 = #ft.len<floordiv(L, 2) + 1>
// CHECK-SAME: a07 = #ft.len<mod(L, 4)>
// CHECK-SAME: a08 = #ft.len<4 * L * N>
// CHECK-SAME: a09 = #ft.len<4 * L * N>
// CHECK-SAME: a10 = #ft.len<N>
// CHECK-SAME: a11 = #ft.len<0>
// CHECK-SAME: a12 = #ft.len<ceildiv(L, 4)>
// CHECK-SAME: a13 = #ft.len<4 - L>
// CHECK-SAME: a14 = #ft.len<L + 4>
// CHECK-SAME: a15 = #ft.len<ragged(lens)>
// CHECK-SAME: a16 = #ft.len<-2>
// CHECK-SAME: a17 = #ft.len<K * L + K - L - 1>
// CHECK-SAME: a18 = #ft.len<2 * L + floordiv(L, 2)>
// CHECK-SAME: a19 = #ft.len<L + floordiv(K, N)>
// CHECK-SAME: a20 = #ft.len<-K - L>
"test.lengths"() {
  a00 = #ft.len<512>, a01 = #ft.len<L - 2>, a02 = #ft.len<-2 + 2 * L - L>, a03 = #ft.len<1 + L * 2>,
  a04 = #ft.len<ceildiv(L, 2)>, a05 = #ft.len<floordiv(L + 1, 2)>, a06 = #ft.len<floordiv(L + 2, 2)>,
  a07 = #ft.len<mod(L + 8, 4)>, a08 = #ft.len<N * 4 * L>, a09 = #ft.len<L * (N + N) * 2>,
  a10 = #ft.len<floordiv(4 * N, 4) + L - L>, a11 = #ft.len<mod(4 * L, 2)>,
  a12 = #ft.len<ceildiv(ceildiv(L, 2), 2)>, a13 = #ft.len<4 - L>, a14 = #ft.len<4 + L>,
  a15 = #ft.len<ragged(lens)>, a16 = #ft.len<-2>, a17 = #ft.len<(K - 1) * (L + 1)>,
  a18 = #ft.len<floordiv(5 * L, 2)>, a19 = #ft.len<floordiv(N * L + K, N)>, a20 = #ft.len<-(L + K)>
} : () -> ()

// CHECK-LABEL: func.func private @function
// CHECK-SAME: {ft.gen = #ft.normal<0.044194173>}
// CHECK-SAME: {ft.gen = #ft.uniform<-3, 3>}
// CHECK-SAME: {ft.gen = #ft.index<0, L>}
// CHECK-SAME: {ft.gen = #ft.uniform<-0.5, 1.0e-20>}
// CHECK-SAME: ft.bounds = #ft.bounds<"L >= 5", "L >= K", "2 * K >= N + 1", "N <= 7", "K >= L", "L >= K">
// CHECK-SAME: ft.lengths = {K = 2 : i64, L = 64 : i64}
// CHECK-SAME: ft.typical = {L = [64, 4096]}
func.func private @function(!ft.list<[L, K], tensor<2xf32>> {ft.gen = #ft.normal<0.044194173>},
                            !ft.list<[N], tensor<2xi8>> {ft.gen = #ft.uniform<-3, 3>},
                            !ft.list<[K], tensor<i64>> {ft.gen = #ft.index<0, L>},
                            tensor<2xf32> {ft.gen = #ft.uniform<-0.5, 1.0e-20>})
  attributes {ft.bounds = #ft.bounds<"L >= 5", "K <= L", "2 * K >= N + 1", "7 >= N", "K == L">,
              ft.lengths = {L = 64 : i64, K = 2 : i64}, ft.typical = {L = [64, 4096]}}
