// A cell of three gates, points inside of its step. For two sequences the step is one leaf, whose columns the cores share; for 24 the cores share
// the sequences, and the step stays as it is.
// RUN: env FT_NUM_THREADS=2 ft-opt %s --ft-compile="to=schedule machine=%S/../../machines/cpu.json" | FileCheck %s
// RUN: sed 's/N = 2/N = 24/' %s > %t.many.mlir
// RUN: env FT_NUM_THREADS=2 ft-opt %t.many.mlir --ft-compile="to=schedule machine=%S/../../machines/cpu.json" | FileCheck %t.many.mlir --check-prefix=MANY
// RUN: env FT_NUM_THREADS=2 ft-opt %s --mlir-disable-threading --ft-compile="to=schedule machine=%S/../../machines/cpu.json" --remarks-filter="cpu" --remark-policy=all 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// RUN: env FT_NUM_THREADS=2 ft-run %s --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: env FT_NUM_THREADS=3 ft-run %s --compare=interpret --dim=N=5 --order=random --seed=2 | FileCheck %s --check-prefix=EQUAL
// RUN: env FT_NUM_THREADS=3 ft-run %t.many.mlir --compare=interpret --dim=N=7 --plan-seed=1 --order=random --seed=4 | FileCheck %s --check-prefix=EQUAL

// CHECK: etdg.nest schedule <{{.*}}<dimension = 0, kind = sequential, sync = cores>, <dimension = 2, tile = 128, kind = parallel, level = core, mapping = block>, {{.*}} columns = 256 target = "cpu">
// CHECK-COUNT-3: linalg.matmul
// CHECK-NOT: linalg.matmul
// CHECK: etdg.yield
// MANY: etdg.block {{.*}}[map] ({{.*}} | k) in [0, 3)
// REMARK: join-steps {{.*}}Reason="the points inside of a step are one leaf, whose columns the cores share"
// EQUAL: equal
func.func @cell(%xss: !ft.list<[N, L], tensor<1x256xi32>>, %us: !ft.list<[3], tensor<256x256xi32>>, %h0: tensor<1x256xi32>) -> !ft.list<[N, L], tensor<1x256xi32>>
    attributes {ft.lengths = {N = 2 : i64, L = 9 : i64}} {
  %hss = ft.map (%xs = %xss : !ft.list<[N, L], tensor<1x256xi32>>) -> !ft.list<[N, L], tensor<1x256xi32>> {
    %hs = ft.scanl (%x = %xs : !ft.list<[L], tensor<1x256xi32>>) init (%h = %h0 : tensor<1x256xi32>) -> !ft.list<[L], tensor<1x256xi32>> {
      %gs = ft.map (%u = %us : !ft.list<[3], tensor<256x256xi32>>) -> !ft.list<[3], tensor<1x256xi32>> {
        %g = linalg.matmul ins(%h, %u : tensor<1x256xi32>, tensor<256x256xi32>) outs(%x : tensor<1x256xi32>) -> tensor<1x256xi32>
        ft.yield %g : tensor<1x256xi32>
      }
      %a = ft.at %gs[0] : !ft.list<[3], tensor<1x256xi32>>
      %b = ft.at %gs[1] : !ft.list<[3], tensor<1x256xi32>>
      %c = ft.at %gs[2] : !ft.list<[3], tensor<1x256xi32>>
      %ab = arith.xori %a, %b : tensor<1x256xi32>
      %n = arith.subi %ab, %c : tensor<1x256xi32>
      ft.yield %n : tensor<1x256xi32>
    }
    ft.yield %hs : !ft.list<[L], tensor<1x256xi32>>
  }
  return %hss : !ft.list<[N, L], tensor<1x256xi32>>
}
