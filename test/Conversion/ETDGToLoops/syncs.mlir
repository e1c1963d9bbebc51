// Cores wait where the schedule says so: before nests of a kernel, and after the steps that these share. Where a dependence needs
// a wait that is not there, the schedule is refused.
//
// RUN: ft-opt %s --convert-etdg-to-loops --cse | FileCheck %s
// RUN: sed 's/schedule #free {/schedule #waits {/' %s | ft-opt --convert-etdg-to-loops --cse | FileCheck %s --check-prefix=MORE
// RUN: sed 's/schedule #waits {/schedule #free {/' %s | not ft-opt --convert-etdg-to-loops 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: sed 's/#free {/#hasty {/' %s | not ft-opt --convert-etdg-to-loops 2>&1 | FileCheck %s --check-prefix=HASTY
// RUN: sed 's/#free {/#turn {/' %s | not ft-opt --convert-etdg-to-loops 2>&1 | FileCheck %s --check-prefix=TURN
// RUN: sed 's/#free {/#parallel {/' %s | not ft-opt --convert-etdg-to-loops 2>&1 | FileCheck %s --check-prefix=PARALLEL
// RUN: sed 's/schedule #inside/schedule #waiting/' %s | not ft-opt --convert-etdg-to-loops 2>&1 | FileCheck %s --check-prefix=INSIDE
// RUN: sed 's/schedule #inside/schedule #steps/' %s | not ft-opt --convert-etdg-to-loops 2>&1 | FileCheck %s --check-prefix=SYNC
// RUN: sed 's/schedule #inside/schedule #open/' %s | not ft-opt --etdg-schedule-for-cpu 2>&1 | FileCheck %s --check-prefix=OPEN
// RUN: sed 's/schedule #inside/schedule #vector/' %s | not ft-opt --etdg-schedule-for-cpu 2>&1 | FileCheck %s --check-prefix=VECTOR
// RUN: sed 's/schedule #first {/schedule #waits {/' %s | not ft-opt --convert-etdg-to-loops 2>&1 | FileCheck %s --check-prefix=FIRST
// RUN: sed 's/schedule #first {/schedule #waits {/' %s | not ft-opt --etdg-schedule-for-cpu 2>&1 | FileCheck %s --check-prefix=FIRST
// RUN: sed 's/schedule #alone {/schedule #early {/' %s | not ft-opt --convert-etdg-to-loops 2>&1 | FileCheck %s --check-prefix=FIRST
// RUN: sed 's/schedule #sum {/schedule #early {/' %s | not ft-opt --convert-etdg-to-loops 2>&1 | FileCheck %s --check-prefix=FIRST
// RUN: sed 's/schedule #inside/schedule #unroll/' %s | ft-opt --convert-etdg-to-loops | FileCheck %s --check-prefix=UNROLL
//
// NONE: <stdin>:[[#]]:[[#]]: error: the CPU engine can't run the schedule: the nest touches what one before it in the kernel writes, or writes what it touches, and cores don't wait in between; expected before = cores
// NONE: <stdin>:[[#]]:[[#]]: note: it would have to wait for this block
// HASTY: error: the CPU engine can't run the schedule's loop over t: the kernel's nests share it, and the cores wait after its iterations: expected sync = cores, found none
// TURN: error: the CPU engine can't run the schedule's loop over i (level core): cores that run the nests of a kernel together have shares of each: expected mapping = block, found dynamic
// PARALLEL: error: the CPU engine can't run the schedule's loop over t (level core): the kernel's nests share it in order, expected kind = sequential, found parallel
// INSIDE: error: the CPU engine can't run the schedule: one core runs the block around it, expected no 'before', found cores
// SYNC: error: the CPU engine can't run the schedule's loop over t: expected sync = cores outside of what one core runs, found cores
// OPEN: error: the CPU engine can't run the schedule: where levels are left open, so is who waits, expected no 'before', found cores
// VECTOR: error: the CPU engine can't run the schedule's loop over t: where levels are left open, loops are sequential or parallel, found vector
// FIRST: <stdin>:[[#]]:[[#]]: error: the CPU engine can't run the schedule: nothing stands before the nest that cores could wait for, expected no 'before', found cores
// UNROLL: #[[UNROLL:.*]] = #llvm.loop_unroll<disable = false>
// UNROLL: #[[LOOP:.*]] = #llvm.loop_annotation<unroll = #[[UNROLL]]>
// UNROLL-LABEL: func.func @alone_k0
// UNROLL: scf.for
// UNROLL: } {loop_annotation = #[[LOOP]]}

!x = tensor<1x4xi32>

#first = #etdg.schedule<map = affine_map<(t, i) -> (t, i)>, loops = [<dimension = 0, kind = sequential, sync = cores>, <dimension = 1, kind = parallel, level = core, mapping = block>]>
#free = #etdg.schedule<map = affine_map<(t, i) -> (t, i)>, loops = [<dimension = 0, kind = sequential, sync = cores>, <dimension = 1, kind = parallel, level = core, mapping = block>]>
#waits = #etdg.schedule<map = affine_map<(t, i) -> (t, i)>, loops = [<dimension = 0, kind = sequential, sync = cores>, <dimension = 1, kind = parallel, level = core, mapping = block>] before = cores>
#hasty = #etdg.schedule<map = affine_map<(t, i) -> (t, i)>, loops = [<dimension = 0, kind = sequential>, <dimension = 1, kind = parallel, level = core, mapping = block>]>
#turn = #etdg.schedule<map = affine_map<(t, i) -> (t, i)>, loops = [<dimension = 0, kind = sequential, sync = cores>, <dimension = 1, kind = parallel, level = core, mapping = dynamic>]>
#parallel = #etdg.schedule<map = affine_map<(t, i) -> (t, i)>, loops = [<dimension = 0, kind = parallel, level = core>, <dimension = 1, kind = parallel, level = core>]>

// Nothing needs what `b` computes before the next step.
// CHECK-LABEL: func.func @waits_k0
// CHECK: scf.for
// CHECK: scf.forall
// CHECK-NOT: loops.sync
// CHECK: scf.forall
// CHECK: loops.sync cores
// CHECK: scf.forall
// CHECK: loops.sync cores
// CHECK-NOT: loops.sync
// CHECK: return
// MORE-LABEL: func.func @waits_k0
// MORE-COUNT-3: loops.sync cores
// MORE-NOT: loops.sync
// MORE: return
etdg.graph @waits(%xs: !etdg.buffer<[T, N], !x>) -> (!etdg.buffer<[T, N], !x>, !etdg.buffer<[T, N], !x>, !etdg.buffer<[T, N], !x>) {
  %as = etdg.buffer : !etdg.buffer<[T, N], !x>
  %bs = etdg.buffer : !etdg.buffer<[T, N], !x>
  %cs = etdg.buffer : !etdg.buffer<[T, N], !x>
  etdg.kernel shared 1 {
    etdg.block @a [scanl, map] (t, i) in [0, T) x [0, N)
        reads (%x = %xs[t, i] : !x, %s = {t = 0: splat 3 : i32, t >= 1: %cs[t - 1, N - 1 - i]} : !x) writes (%as[t, i]) schedule #first {
      %y = arith.addi %x, %s : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[T, N], !x>, !etdg.buffer<[T, N], !x>, !etdg.buffer<[T, N], !x>
    etdg.block @b [scanl, map] (t, i) in [0, T) x [0, N)
        reads (%x = %xs[t, i] : !x, %s = {t = 0: splat 3 : i32, t >= 1: %cs[t - 1, i]} : !x) writes (%bs[t, i]) schedule #free {
      %y = arith.addi %x, %s : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[T, N], !x>, !etdg.buffer<[T, N], !x>, !etdg.buffer<[T, N], !x>
    etdg.block @c [scanl, map] (t, i) in [0, T) x [0, N)
        reads (%x = %as[t, N - 1 - i] : !x) writes (%cs[t, i]) schedule #waits {
      %y = arith.addi %x, %x : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[T, N], !x>, !etdg.buffer<[T, N], !x>
  }
  etdg.return %as, %bs, %cs : !etdg.buffer<[T, N], !x>, !etdg.buffer<[T, N], !x>, !etdg.buffer<[T, N], !x>
}

#inside = #etdg.schedule<map = affine_map<(t) -> (t)>, loops = [<dimension = 0, kind = sequential>] target = "cpu">
#waiting = #etdg.schedule<map = affine_map<(t) -> (t)>, loops = [<dimension = 0, kind = sequential>] before = cores target = "cpu">
#open = #etdg.schedule<map = affine_map<(t) -> (t)>, loops = [<dimension = 0, kind = sequential>] before = cores>
#unroll = #etdg.schedule<map = affine_map<(t) -> (t)>, loops = [<dimension = 0, kind = unroll>] target = "cpu">
#steps = #etdg.schedule<map = affine_map<(t) -> (t)>, loops = [<dimension = 0, kind = sequential, sync = cores>] target = "cpu">
#vector = #etdg.schedule<map = affine_map<(t) -> (t)>, loops = [<dimension = 0, kind = vector>]>

// What one core runs does not wait.
// CHECK-LABEL: func.func @alone_k0
// CHECK-NOT: loops.sync
// CHECK: return
etdg.graph @alone(%xs: !etdg.buffer<[N, T], !x>) -> !etdg.buffer<[N, T], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N, T], !x>
  etdg.block @each [map] (i) in [0, N)
      schedule <map = affine_map<(i) -> (i)>, loops = [<dimension = 0, kind = parallel, level = core, mapping = dynamic>]> {
    etdg.block @y [scanl] (i | t) in [0, T) reads (%x = %xs[i, t] : !x, %s = {t = 0: splat 3 : i32, t >= 1: %ys[i, t - 1]} : !x) writes (%ys[i, t]) schedule #inside {
      %y = arith.addi %x, %s : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[N, T], !x>, !etdg.buffer<[N, T], !x>
    etdg.yield
  }
  etdg.return %ys : !etdg.buffer<[N, T], !x>
}

#step = #etdg.schedule<map = affine_map<(t) -> (t)>, loops = [<dimension = 0, kind = sequential, sync = cores>]>
#sum = #etdg.schedule<map = affine_map<(i) -> (i)>, loops = [<dimension = 0, kind = parallel, level = core, mapping = block>]>
#alone = #etdg.schedule<map = affine_map<(i) -> (i)>, loops = [<dimension = 0, kind = parallel, level = core, mapping = block>]>
#early = #etdg.schedule<map = affine_map<(i) -> (i)>, loops = [<dimension = 0, kind = parallel, level = core, mapping = block>] before = cores>

// The body of a step begins when all cores are there; a kernel begins with nothing before it.
// CHECK-LABEL: func.func @bodies_k0
// CHECK: scf.for
// CHECK: scf.forall
// CHECK: loops.sync cores
// CHECK-NOT: loops.sync
// CHECK-LABEL: func.func @bodies_k1
// CHECK-NOT: loops.sync
etdg.graph @bodies(%xs: !etdg.buffer<[N], !x>, %ts: !etdg.buffer<[T], !x>) -> (!etdg.buffer<[T, N], !x>, !etdg.buffer<[N], !x>) {
  %ys = etdg.buffer : !etdg.buffer<[T, N], !x>
  %zs = etdg.buffer : !etdg.buffer<[N], !x>
  etdg.block @step [scanl] (t) in [0, T) schedule #step {
    etdg.block @y [map] (t | i) in [0, N) reads (%x = %xs[i] : !x, %s = {t = 0: %ts[t], t >= 1: %ys[t - 1, N - 1 - i]} : !x) writes (%ys[t, i]) schedule #sum {
      %y = arith.addi %x, %s : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[N], !x>, !etdg.buffer<[T], !x>, !etdg.buffer<[T, N], !x>
    etdg.yield
  }
  etdg.block @z [map] (i) in [0, N) reads (%x = %xs[i] : !x) writes (%zs[i]) schedule #alone {
    %z = arith.addi %x, %x : !x
    etdg.yield %z : !x
  } : !etdg.buffer<[N], !x>, !etdg.buffer<[N], !x>
  etdg.return %ys, %zs : !etdg.buffer<[T, N], !x>, !etdg.buffer<[N], !x>
}
