// Schedules that a user changed: tiles, levels, mapping, order, waiting, placements of rows, layouts, thread blocks.
//
// RUN: %python %S/Inputs/by-hand.py ft-opt %ft_bin/ft-run %S/../../../examples %S/../../machines/cpu.json %s | FileCheck %s --check-prefix=ALL
// ALL: 58 changes, 0 failures
//
// On the CPU.
// stacked_rnn, cpu: most = 64 => most = 3: equal
// stacked_rnn, cpu: mapping = dynamic => mapping = block: equal
// stacked_rnn, cpu: tile = \?, most = 64, kind = parallel, level = core, mapping = dynamic>, (.*), <dimension = 0, most = 64, kind = parallel, level = rows> => kind = parallel, level = core, mapping = dynamic>, \1: equal
// stacked_rnn, cpu: level = core, mapping = dynamic => level = grid, mapping = cyclic: refused: the CPU engine can't run the schedule's loop over i (level grid)
// stacked_rnn, cpu: most = 64, kind = parallel, level = rows => most = 65537, kind = parallel, level = rows: refused: a call has at most 65536 rows
// stacked_rnn, cpu: <dimension = 2, kind = sequential> => <dimension = 2, kind = parallel>: refused: error: the schedule breaks a dependence: (T2)
// stacked_rnn, cpu: <dimension = 1, kind = sequential>, <dimension = 2, kind = sequential> => <dimension = 2, kind = sequential>, <dimension = 1, kind = sequential>: equal
// conv1d, cpu: most = 64 => most = 5: equal
// conv1d, cpu: tile = \?, most = 64 => tile = ?, most = 5: refused: the CPU engine can't run the schedule's loop over j (level core): the rows inside have room for most = 64, found most = 5
// conv1d, cpu: tile = \?, most = 64 => tile = 16: refused: cores cut rows where they like, up to most = ..., expected tile = ?, found 16
// conv1d, cpu: level = core, mapping = dynamic => level = cluster, mapping = cyclic: refused: the CPU engine can't run the schedule's loop over i (level cluster): it has the levels core, rows and listed_rows
// conv1d, cpu: <dimension = 0, kind = parallel, level = core, mapping = dynamic> => <dimension = 0, kind = sequential, sync = cores>: refused: iterations are mapped dynamically where they are a box and no core waits; expected mapping = block
// conv1d, cpu: <dimension = 0, kind = parallel, level = core, mapping = dynamic> => <dimension = 0, kind = sequential>: refused: the cores share loops inside, and don't wait after its iterations (sync = cores)
// conv1d, cpu: <dimension = 0, kind = parallel, level = core, mapping = dynamic>, <dimension = 1, tile = \?, most = 64, kind = parallel, level = core, mapping = dynamic> => <dimension = 0, kind = sequential, sync = cores>, <dimension = 1, tile = ?, most = 64, kind = parallel, level = core, mapping = block>: equal
// flash_attention, cpu: most = 15 => most = 7: equal
// flash_attention, cpu: target = "cpu" => target = "sm_90a": refused: the schedule is for "sm_90a", the engine for "cpu"
//
// Tiles of loops of one thread: other loops stand between a tile and its points.
// stacked_rnn, cpu: <dimension = 1, kind = sequential>, <dimension = 2, kind = sequential> => <dimension = 2, tile = 3, kind = sequential>, <dimension = 1, kind = sequential>, <dimension = 2, kind = sequential>: equal
// stacked_rnn, cpu: <dimension = 1, kind = sequential>, <dimension = 2, kind = sequential> => <dimension = 1, tile = 2, kind = sequential>, <dimension = 2, tile = 4, kind = sequential>, <dimension = 2, tile = 2, kind = sequential>, <dimension = 1, kind = sequential>, <dimension = 2, kind = sequential>: equal
// grid_rnn, cpu: <dimension = 1, kind = sequential>, <dimension = 2, kind = sequential>, <dimension = 3, kind = sequential> => <dimension = 2, tile = 3, kind = sequential>, <dimension = 3, tile = 2, kind = sequential>, <dimension = 1, kind = sequential>, <dimension = 2, kind = sequential>, <dimension = 3, kind = sequential>: equal
// grid_rnn, cpu: <dimension = 1, kind = sequential>, <dimension = 2, kind = sequential>, <dimension = 3, kind = sequential> => <dimension = 3, tile = 5, kind = sequential>, <dimension = 2, kind = sequential>, <dimension = 1, kind = sequential>, <dimension = 3, kind = sequential>: equal
// flash_attention_causal, cpu: loops = \[<dimension = 0, kind = sequential>\] => loops = [<dimension = 0, tile = 2, kind = sequential>, <dimension = 0, kind = sequential>]: equal
// stacked_rnn, cpu: <dimension = 1, kind = sequential>, <dimension = 2, kind = sequential> => <dimension = 1, tile = 2, kind = sequential>, <dimension = 2, kind = sequential>: refused: rows of a leaf stand inside of all other loops
// stacked_rnn, cpu: <dimension = 1, kind = sequential>, <dimension = 2, kind = sequential> => <dimension = 1, tile = 2, kind = sequential>, <dimension = 2, kind = sequential>, <dimension = 1, tile = 4, kind = sequential>, <dimension = 1, kind = sequential>: refused: have falling tile sizes, found 4 inside 2
// conv1d, cpu: <dimension = 0, kind = parallel, level = core, mapping = dynamic>, <dimension = 1, tile = \?, most = 64, kind = parallel, level = core, mapping = dynamic> => <dimension = 0, tile = 2, kind = sequential>, <dimension = 0, kind = sequential, sync = cores>, <dimension = 1, tile = ?, most = 64, kind = parallel, level = core, mapping = block>: refused: tiles are built for loops of one thread, found tile = 2
//
// Reductions in shares.
// flash_attention, cpu: loops = \[<dimension = 0, kind = sequential>\] => loops = [<dimension = 0, tile = 2, kind = associative>, <dimension = 0, kind = sequential>]: equal
// flash_attention, cpu: loops = \[<dimension = 0, kind = sequential>\] => loops = [<dimension = 0, tile = 2, kind = associative, level = core>, <dimension = 0, kind = sequential>]: refused: one core runs the block around it
// stacked_rnn, cpu: <dimension = 2, kind = sequential> => <dimension = 2, tile = 3, kind = associative>, <dimension = 2, kind = sequential>: refused: loop 2 of the schedule is associative, and the block has no 'combine' along it
//
// What one core unrolls, and what no engine runs.
// stacked_rnn, cpu: <dimension = 2, kind = sequential> => <dimension = 2, kind = unroll>: equal
// stacked_rnn, cpu: <dimension = 1, kind = sequential>, <dimension = 2, kind = sequential> => <dimension = 1, kind = sequential>, <dimension = 2, tile = 4, kind = sequential>, <dimension = 2, kind = unroll>: equal
// stacked_rnn, cpu: <dimension = 1, kind = sequential>, <dimension = 2, kind = sequential> => <dimension = 2, tile = 4, kind = unroll>, <dimension = 1, kind = sequential>, <dimension = 2, kind = sequential>: refused: the CPU engine can't run the schedule's loop over k: loops over points are unrolled, found tile = 4
// conv1d, cpu: kind = parallel, level = rows => kind = vector, level = rows: refused: (level rows): layouts of leaves say what one core takes at once, expected kind = parallel, found vector
// stacked_rnn, cpu: target = "cpu" => target = "cpu" placements = [<read = 1, loop = 2, level = l2, stages = 2>]: equal
// stacked_rnn, cpu: target = "cpu" => target = "cpu" placements = [<read = 0, loop = 1, level = l2, stages = 1>]: refused: error: the schedule breaks a dependence: (T11)
// stacked_rnn, cpu: target = "cpu" => target = "cpu" placements = [<read = 1, loop = 1, level = shared, stages = 1>]: refused: the CPU engine can't run the schedule's placement of read 1 at the loop over j (level shared): the machine has no such memory, expected one of
// stacked_rnn, cpu: target = "cpu" => before = grid target = "cpu": refused: the CPU engine can't run the schedule: expected before = cores, found grid
// stacked_rnn, cpu: target = "cpu" => block = <threads = 64> target = "cpu": refused: the CPU engine can't run the schedule: cores are no thread blocks, expected no 'block'
// stacked_rnn, cpu: target = "cpu" => weights = [1, 2] target = "cpu": refused: the schedule has 2 weights for 4 regions
//
// On a GPU.
// stacked_rnn, sm_90a: most = 8, => most = 4,: equal
// stacked_rnn, sm_90a: unit = 8 => unit = 16: equal
// stacked_rnn, sm_90a: threads = 256, shared = 98304 => threads = 128, shared = 98304: equal
// stacked_rnn, sm_90a: sync = grid>, <dimension = 1 => sync = none>, <dimension = 1: refused: that another thread block writes, and units do not wait in between: expected sync = grid on the loop 't'
// stacked_rnn, sm_90a: threads = 256 => threads = 4096: refused: block: threads are a multiple of 32, at most 1024 on
// conv1d, sm_90a: threads = 128 => threads = 256: refused: loop nest 0: the tile is for 128 threads, the block has 256
// conv1d, sm_90a: most = 128 => most = 64: equal
// conv1d, sm_90a: tile = \?, most = 128 => tile = ?, most = 64: refused: the rows inside have room for most = 128, found most = 64
// conv1d, sm_90a: level = grid, mapping = cyclic => level = core, mapping = dynamic: refused: it has the levels grid, rows and lifted
// stacked_rnn, sm_90a: mapping = cyclic => mapping = static: equal
// conv1d, sm_90a: shared = 98304 => shared = 98304000: refused: bytes of shared memory on
// flash_attention, sm_90a: vector = 1, width = 4 => vector = 1, width = 2: equal
// flash_attention, sm_90a: fused = 4>, #etdg.tiling<> => fused = 4>, #etdg.tiling<vector = 1, width = 2>: refused: loop nest 1: it is computed in the tiles of nest 0 (fused), expected #etdg.tiling<>
// flash_attention, sm_90a: loops = \[<dimension = 0, kind = sequential>\] => loops = [<dimension = 0, tile = 2, kind = sequential>, <dimension = 0, kind = sequential>]: refused: tiles of sequential loops are not built, found tile = 2
// conv1d, sm_90a: loops = \[<dimension = 0, kind = sequential>\] => loops = [<dimension = 0, tile = 2, kind = associative>, <dimension = 0, kind = sequential>]: equal
// mlp, sm_90a: loops = \[<dimension = 0, kind = sequential>\] => loops = [<dimension = 0, tile = 2, kind = associative>, <dimension = 0, kind = sequential>]: equal
// flash_attention, sm_90a: loops = \[<dimension = 0, kind = sequential>\] => loops = [<dimension = 0, tile = 2, kind = associative>, <dimension = 0, kind = sequential>]: refused: can't be cut: the dimension does not begin at a constant
// flash_attention, sm_90a: mapping = cyclic => mapping = block: equal
// flash_attention, sm_90a: loops = \[<dimension = 0, kind = sequential>\] => loops = [<dimension = 0, kind = unroll>]: refused: layouts of leaves say what a thread unrolls and takes at once, expected kind = sequential, found unroll
// conv1d, sm_90a: kind = parallel, level = rows => kind = vector, level = rows: refused: (level rows): layouts of leaves say what a thread unrolls and takes at once, expected kind = parallel, found vector
// conv1d, sm_90a: block = <threads = 128 => weights = [3] block = <threads = 128: refused: shares of thread blocks go by the number of points, expected no weights
