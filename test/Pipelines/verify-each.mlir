// Contracts are checked up to etdg and of the last phase; of each phase where that is asked for or nothing is proved.
// RUN: ft-opt %s --ft-compile="to=target target=cpu" --dump-pass-pipeline -o /dev/null 2>&1 | FileCheck %s --check-prefix=LAST
// RUN: ft-opt %s --ft-compile="to=storage target=cpu skip=storage" --dump-pass-pipeline -o /dev/null 2>&1 | FileCheck %s --check-prefix=SKIP
// RUN: ft-opt %s --ft-compile="to=tile target=cpu verify-each" --dump-pass-pipeline -o /dev/null 2>&1 | FileCheck %s --check-prefix=EACH
// RUN: ft-opt %s --ft-compile="to=tile target=cpu validate=off" --dump-pass-pipeline -o /dev/null 2>&1 | FileCheck %s --check-prefix=EACH
// RUN: ft-opt %s --ft-compile="to=tile target=cpu verify=false" --dump-pass-pipeline -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE

// LAST: ft-verify-phase{phase=ft}
// LAST: ft-verify-phase{phase=etdg}
// LAST-NOT: ft-verify-phase{phase=coarsen}
// LAST-NOT: ft-verify-phase{phase=schedule}
// LAST: ft-verify-phase{phase=storage}

// SKIP: ft-verify-phase{phase=etdg}
// SKIP-NOT: ft-verify-phase{phase=coarsen}
// SKIP: ft-verify-phase{phase=schedule}

// EACH: ft-verify-phase{phase=etdg}
// EACH: ft-verify-phase{phase=coarsen}
// EACH: ft-verify-phase{phase=reorder}
// EACH: ft-verify-phase{phase=schedule}
// EACH: ft-verify-phase{phase=storage}

// NONE-NOT: ft-verify-phase
// NONE: etdg-apply-schedule
// NONE-NOT: ft-verify-phase

func.func @copy(%x: !ft.list<[N], tensor<4xf32>>) -> !ft.list<[N], tensor<4xf32>> {
  return %x : !ft.list<[N], tensor<4xf32>>
}
