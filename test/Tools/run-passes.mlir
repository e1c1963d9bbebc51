// MLIR's options of pass managers reach the engines of ft-run and the translations, which run the passes of --ft-compile.
//
// RUN: ft-run %s --compare=interpret --mlir-print-ir-after=convert-etdg-to-loops --mlir-print-ir-after=loops-lower-leaves 2>&1 | FileCheck %s --check-prefix=CPU
// CPU: IR Dump After ConvertETDGToLoops (convert-etdg-to-loops)
// CPU: loops.program @double
// CPU: IR Dump After LoopsLowerLeaves (loops-lower-leaves)
// CPU: func.func private @leaf
// CPU: {{^}}equal
//
// RUN: ft-run %s --engine=emulate --mlir-print-ir-after=convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=GPU
// GPU: IR Dump After ConvertLoopsToGPU (convert-loops-to-gpu)
// GPU: gpu.module @double
//
// One report has the passes of all pass managers that the tool and the engine run, those of graphs among them.
// RUN: ft-run %s --mlir-timing --mlir-timing-display=list 2>&1 | FileCheck %s --check-prefix=TIME --implicit-check-not="Execution time report"
// TIME: Execution time report
// (MLIR tells timers apart by the addresses of passes, which several pass managers use again: a pass may be counted with another.)
// TIME: ETDG{{[A-Z]}}
// RUN: ft-translate %s --mlir-to-ptx --mlir-timing --mlir-timing-display=list 2>&1 >/dev/null | FileCheck %s --check-prefix=PTX --implicit-check-not="Execution time report"
// PTX: Execution time report
// PTX: ETDG{{[A-Z]}}
//
// A directory that is none is said before anything runs, and what is asked for with other loops is refused.
// RUN: not ft-run %s --dump=%t.none 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: ft-run: error: --dump: no such directory: '{{.*}}none'
// RUN: not ft-run %s --dump=%S --loops=%s 2>&1 | FileCheck %s --check-prefix=LOOPS
// LOOPS: ft-run: error: --dump has a program's own phases: --loops runs others
// RUN: rm -rf %t.d && mkdir %t.d
// RUN: ft-run %s --engine=interpret --to=coarsen --dump=%t.d && ls %t.d | FileCheck %s --check-prefix=PHASES
// PHASES: 0-input.mlir
// PHASES-NEXT: 1-ft.mlir
// PHASES-NEXT: 2-etdg.mlir
// PHASES-NEXT: 3-coarsen.mlir
// PHASES-NOT: mlir

!x = tensor<4xf32>

func.func @double(%xs: !ft.list<[N], !x>) -> !ft.list<[N], !x> attributes {ft.lengths = {N = 7 : i64}} {
  %ys = ft.map (%x = %xs : !ft.list<[N], !x>) -> !ft.list<[N], !x> {
    %y = arith.addf %x, %x : !x
    ft.yield %y : !x
  }
  return %ys : !ft.list<[N], !x>
}
