// The search's order and tiles become schedules of nests, which the phase `schedule` completes for each target.

// RUN: ft-opt %examples/attention_three_step.mlir --ft-compile="to=etdg" > %t.mlir
// RUN: ft-opt %t.mlir --pass-pipeline="builtin.module(etdg.graph(etdg-explore-dataflow{machine=cpu}))" -o %t.x.mlir 2> %t.remarks
// RUN: FileCheck %s --check-prefix=WALKS --input-file=%t.remarks
// RUN: FileCheck %s --check-prefix=WRITTEN --input-file=%t.x.mlir
// WALKS: remark: dataflow: walks i, j, k in tiles of 4
// WRITTEN: etdg.block @r0 [map, map, map]
// WRITTEN-NEXT: schedule <map = #map{{[0-9]*}}, loops = [<dimension = 0, kind = parallel>, <dimension = 1, kind = parallel>, <dimension = 2, tile = 4, kind = parallel>, <dimension = 2, kind = parallel>]> {

// Four blocks of queries are the rows of one task; without the search, which every compilation asks, the estimate alone decides, by a
// share of the cache.
// RUN: ft-opt %t.x.mlir --ft-compile="to=schedule target=cpu" 2>/dev/null | FileCheck %s --check-prefix=CPU
// RUN: ft-opt %t.mlir --ft-compile="to=schedule target=cpu dataflow=false" | FileCheck %s --check-prefix=ALONE
// RUN: ft-opt %t.mlir --ft-compile="to=schedule target=cpu" 2>%t.silent | FileCheck %s --check-prefix=CPU
// RUN: count 0 < %t.silent
// RUN: ft-opt %t.mlir --ft-compile="to=schedule target=cpu" --remarks-filter="schedule.*" -o /dev/null 2>&1 | FileCheck %s --check-prefix=QUIET
// QUIET: dataflow {{.*}}walks i, j, k in tiles of 4
// RUN: ft-opt %t.x.mlir --ft-compile="to=schedule target=sm_90a" 2>/dev/null | FileCheck %s --check-prefix=GPU
// CPU: etdg.block @r0 [map, map, map]
// CPU-NEXT: most = 4, kind = parallel, level = rows>] target = "cpu"
// CPU: etdg.block @r{{[0-9]+}} [reduce] (i, j, k | l) in [0, K)
// ALONE: most = 15, kind = parallel, level = rows>] target = "cpu"
// (On the GPU the planner takes two at a time.)
// GPU: <dimension = 2, tile = ?, most = 2, kind = parallel, level = grid, mapping = cyclic>, <dimension = 2, most = 2, kind = parallel, level = rows>]
// The schedule is flash attention's: one reduction over the keys makes the maximum, the sum and the values' sum.
// GPU: etdg.block @r{{[0-9]+}}_joined [reduce] (i, j, k | l) in [0, floordiv(K, 2))
// GPU: linalg.matmul
// GPU: linalg.reduce { arith.maximumf }
// GPU: linalg.matmul
// GPU-NOT: [reduce]

// The pipeline asks by itself; what is no operator graph stays as it is, with the reason.
// RUN: ft-opt %examples/attention_three_step.mlir --ft-compile="to=schedule target=cpu dataflow" 2>/dev/null | FileCheck %s --check-prefix=CPU
// RUN: ft-opt %examples/stacked_lstm.mlir --ft-compile="to=schedule target=cpu dataflow" -o %t.lstm.mlir 2>&1 | FileCheck %s --check-prefix=LSTM
// LSTM: remark: no dataflow was searched: read 0 takes elements by an expression

// Values stay the same, with tiles that do not divide the length.
// RUN: ft-run %t.x.mlir --engine=cpu --compare=interpret --dim Q=7 --dim K=5 | FileCheck %s --check-prefix=EQUAL
// EQUAL: equal

// Only remarks.
// RUN: ft-opt %t.mlir --pass-pipeline="builtin.module(etdg.graph(etdg-explore-dataflow{machine=cpu write=false}))" 2>/dev/null \
// RUN:   | FileCheck %s --check-prefix=DRY
// DRY-NOT: schedule <

// A schedule that is there stays.
// RUN: ft-opt %t.x.mlir --pass-pipeline="builtin.module(etdg.graph(etdg-explore-dataflow{buffer=9000}))" 2>/dev/null \
// RUN:   | FileCheck %s --check-prefix=WRITTEN

// RUN: not ft-opt %t.mlir --pass-pipeline="builtin.module(etdg.graph(etdg-explore-dataflow{machine=cpu objective=time}))" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=ARRAY
// ARRAY: error: etdg-explore-dataflow: objective=time needs machine=NAME of an accelerator (kind array)
// RUN: ft-opt %t.mlir --pass-pipeline="builtin.module(etdg.graph(etdg-explore-dataflow{machine=edge objective=energy}))" 2>&1 >/dev/null \
// RUN:   | FileCheck %s --check-prefix=ENERGY
// ENERGY: remark: dataflow: {{[0-9]+}} elements move
// RUN: not ft-opt %t.mlir --pass-pipeline="builtin.module(etdg.graph(etdg-explore-dataflow{machine=cpu objective=speed}))" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: etdg-explore-dataflow: unknown objective 'speed'
