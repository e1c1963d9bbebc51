// Layers that are equal have one price: more of them are no more groups that are scheduled on copies.
//
// RUN: ft-opt %s --ft-compile="to=partition skip=coarsen target=sm_90a machine=%S/../machines/h200.json partition=cost" --remarks-filter=partition 2>&1 >/dev/null | FileCheck %s

// CHECK: kernels of 8 nests, {{.*}}; unlike groups priced: [[N:[0-9]+]]"
// CHECK: kernels of 16 nests, {{.*}}; unlike groups priced: [[N]]"

func.func @four(%x: tensor<1000xf32>) -> tensor<1000xf32> {
  %a0 = math.exp %x : tensor<1000xf32>
  %b0 = math.sin %a0 : tensor<1000xf32>
  %a1 = math.exp %b0 : tensor<1000xf32>
  %b1 = math.sin %a1 : tensor<1000xf32>
  %a2 = math.exp %b1 : tensor<1000xf32>
  %b2 = math.sin %a2 : tensor<1000xf32>
  %a3 = math.exp %b2 : tensor<1000xf32>
  %b3 = math.sin %a3 : tensor<1000xf32>
  return %b3 : tensor<1000xf32>
}

func.func @eight(%x: tensor<1000xf32>) -> tensor<1000xf32> {
  %a0 = math.exp %x : tensor<1000xf32>
  %b0 = math.sin %a0 : tensor<1000xf32>
  %a1 = math.exp %b0 : tensor<1000xf32>
  %b1 = math.sin %a1 : tensor<1000xf32>
  %a2 = math.exp %b1 : tensor<1000xf32>
  %b2 = math.sin %a2 : tensor<1000xf32>
  %a3 = math.exp %b2 : tensor<1000xf32>
  %b3 = math.sin %a3 : tensor<1000xf32>
  %a4 = math.exp %b3 : tensor<1000xf32>
  %b4 = math.sin %a4 : tensor<1000xf32>
  %a5 = math.exp %b4 : tensor<1000xf32>
  %b5 = math.sin %a5 : tensor<1000xf32>
  %a6 = math.exp %b5 : tensor<1000xf32>
  %b6 = math.sin %a6 : tensor<1000xf32>
  %a7 = math.exp %b6 : tensor<1000xf32>
  %b7 = math.sin %a7 : tensor<1000xf32>
  return %b7 : tensor<1000xf32>
}
