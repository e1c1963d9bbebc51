// A product moves in with one that reads all of what it computes where that leaves a tile for each unit of the machine at
// typical lengths, or where the two have no more tiles apart. H200: 132 SMs, whose tiles have 16 rows at least; the CPU: two cores.
//
// RUN: ft-opt %s --etdg-merge="machine=%S/../../../machines/h200.json" --remarks-filter="coarsen.*" --remark-policy=all 2>&1 | FileCheck %s --check-prefix=FEW
// RUN: sed 's/N = 4/N = 132/' %s | ft-opt --etdg-merge="machine=%S/../../../machines/h200.json" | FileCheck %s --check-prefix=TWO
// RUN: sed 's/N = 4/N = 2112/; s/4096/512/g' %s | ft-opt --etdg-merge="machine=%S/../../../machines/h200.json" --remarks-filter="coarsen.*" --remark-policy=all 2>&1 | FileCheck %s --check-prefixes=SAID,ONE
// What a tile's rows hand on has to fit beside its operands: 16 rows of 4096 numbers don't.
// RUN: sed 's/N = 4/N = 2112/' %s | ft-opt --etdg-merge="machine=%S/../../../machines/h200.json" --remarks-filter="coarsen.*" --remark-policy=all 2>&1 | FileCheck %s --check-prefixes=ROOM,TWO
// ROOM: of two products, as one, 0 tiles are left
// SAID: merged block 'second' into 'first'{{.*}}; of two products, as one, 132 tiles are left at typical lengths, apart {{[0-9]+}}; the machine has 132 units
// RUN: sed 's/4096/256/g' %s | ft-opt --etdg-merge="machine=%S/../../../machines/cpu.json" | FileCheck %s --check-prefix=ONE
// RUN: sed 's/N = 4/N = 1/' %s | ft-opt --etdg-merge="machine=%S/../../../machines/cpu.json" | FileCheck %s --check-prefix=TWO
// Cores share out the columns of large right-hand sides apart; as one, each reads both, and again for each call's rows, unless its
// second cache keeps them.
// RUN: ft-opt %s --etdg-merge="machine=%S/../../../machines/cpu.json" | FileCheck %s --check-prefix=TWO
// RUN: sed 's/N = 4/N = 1024/; s/4096/1024/g' %s | ft-opt --etdg-merge="machine=%S/../../../machines/cpu.json" --remarks-filter="coarsen.*" --remark-policy=all 2>&1 | FileCheck %s --check-prefixes=AGAIN,TWO
// RUN: sed 's/N = 4/N = 1024/; s/4096/256/g' %s | ft-opt --etdg-merge="machine=%S/../../../machines/cpu.json" | FileCheck %s --check-prefix=ONE
// RUN: sed 's/N = 4/N = 1024/; s/4096/1024/g' %s | ft-opt --etdg-merge="machine=%S/../../../machines/h200.json" | FileCheck %s --check-prefix=TWO
// AGAIN: two products, as one, read right-hand sides of 8388608 bytes again for each call's rows, {{[0-9]+}} us of a unit; apart, with what is between them in memory, {{[0-9]+}} us
// So narrow that a launch takes longer than either: apart there is nothing to share out.
// RUN: sed 's/4096/32/g' %s | ft-opt --etdg-merge="machine=%S/../../../machines/h200.json" | FileCheck %s --check-prefix=ONE
// The phase tells the pass for which machine:
// RUN: ft-opt %s --ft-compile="to=coarsen target=sm_90a machine=%S/../../../machines/h200.json" | FileCheck %s --check-prefix=TWO
// RUN: sed 's/4096/256/g' %s | ft-opt --ft-compile="to=coarsen target=cpu machine=%S/../../../machines/cpu.json" | FileCheck %s --check-prefix=ONE
// RUN: not ft-opt %s --etdg-merge="machine=nowhere" 2>&1 | FileCheck %s --check-prefix=NOWHERE
// NOWHERE: error: {{.*}}nowhere

// FEW: tiles
// FEW-SAME: of two products, as one, {{[01]}} tiles are left at typical lengths, apart {{[0-9]+}}; the machine has 132 units
// FEW-LABEL: etdg.graph @two_products
// FEW-COUNT-2: etdg.block {{.*}} (i) in

// TWO-LABEL: etdg.graph @two_products
// TWO-COUNT-2: etdg.block {{.*}} (i) in
// ONE-LABEL: etdg.graph @two_products
// ONE: etdg.block {{.*}} (i) in
// ONE-NOT: (i) in
// ONE: linalg.matmul
// ONE-NOT: (i) in
// ONE: linalg.matmul
// ONE-NOT: (i) in
// ONE: etdg.return

!x = tensor<1x4096xf32>
!w = tensor<4096x4096xf32>

etdg.graph @two_products(%xs: !etdg.buffer<[N], !x>, %v: !etdg.buffer<[], !w>, %w: !etdg.buffer<[], !w>) -> !etdg.buffer<[N], !x>
    attributes {ft.lengths = {N = 4 : i64}} {
  %hs = etdg.buffer : !etdg.buffer<[N], !x>
  %ys = etdg.buffer : !etdg.buffer<[N], !x>
  etdg.block @first [map] (i) in [0, N)
      reads (%x = %xs[i] : !x, %m = %v[] : !w)
      writes (%hs[i]) {
    %zero = arith.constant dense<0.0> : !x
    %h = linalg.matmul ins(%x, %m : !x, !w) outs(%zero : !x) -> !x
    etdg.yield %h : !x
  } : !etdg.buffer<[N], !x>, !etdg.buffer<[], !w>, !etdg.buffer<[N], !x>
  etdg.block @second [map] (i) in [0, N)
      reads (%h = %hs[i] : !x, %m = %w[] : !w)
      writes (%ys[i]) {
    %zero = arith.constant dense<0.0> : !x
    %y = linalg.matmul ins(%h, %m : !x, !w) outs(%zero : !x) -> !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N], !x>, !etdg.buffer<[], !w>, !etdg.buffer<[N], !x>
  etdg.return %ys : !etdg.buffer<[N], !x>
}
