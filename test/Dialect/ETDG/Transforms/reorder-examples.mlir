// Fig. 6's T without the column dimension, and the LSTM and grid oracles (the
// grid's order of dimensions is (batch, d, i, j) here). Steps L + D - 1 and
// D + S + T - 2, all regions in one wavefront.

// RUN: ft-opt %examples/stacked_rnn.mlir --pass-pipeline='builtin.module(ft-compile{to=etdg},etdg.graph(etdg-reorder))' --remarks-filter='reorder.*' 2>&1 | FileCheck %s --check-prefix=RNN
// RNN: remark: [Passed] transform | Category:reorder:etdg-reorder
// RNN-SAME: "j + k sequential, j parallel, i parallel"
// RNN-SAME: T="{{\[\[}}0, 1, 1], [0, 1, 0], [1, 0, 0]]"
// RNN-SAME: distances="(0, 0, 1), (0, 1, 0)"
// RNN-SAME: steps-after="D + L - 1", steps-before="D * L"
// RNN-DAG: #[[T:map[0-9]*]] = affine_map<(d0, d1, d2) -> (d1 + d2, d1, d0)>
// RNN-DAG: #[[ID:map[0-9]*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// RNN: etdg.nest schedule <map = #[[T]], loops = [<dimension = 0, kind = sequential>, <dimension = 1, kind = parallel>, <dimension = 2, kind = parallel>]>
// The further orders; the last is that of the dimensions as they stand.
// RNN-SAME: etdg.candidates = [#etdg.schedule<map = #[[T]],
// RNN-SAME: #etdg.schedule<map = #[[ID]], loops = [<dimension = 0, kind = parallel>, <dimension = 1, kind = sequential>, <dimension = 2, kind = sequential>]>]

// RUN: ft-opt %examples/stacked_lstm.mlir --pass-pipeline='builtin.module(ft-compile{to=etdg},etdg.graph(etdg-reorder))' | FileCheck %s --check-prefix=LSTM
// LSTM: #[[T:map[0-9]*]] = affine_map<(d0, d1, d2) -> (d1 + d2, d1, d0)>
// LSTM: etdg.nest schedule <map = #[[T]],

// RUN: ft-opt %examples/grid_rnn.mlir --pass-pipeline='builtin.module(ft-compile{to=etdg},etdg.graph(etdg-reorder))' --remarks-filter='reorder.*' 2>&1 | FileCheck %s --check-prefix=GRID
// GRID: T="{{\[\[}}0, 1, 1, 1], [0, 1, 0, 0], [0, 0, 1, 0], [1, 0, 0, 0]]"
// GRID-SAME: steps-after="D + S + T - 2", steps-before="D * S * T"

// One plain dimension carries all: the batch stays outside, without barriers.
// RUN: ft-opt %examples/gru.mlir --pass-pipeline='builtin.module(ft-compile{to=etdg},etdg.graph(etdg-reorder))' | FileCheck %s --check-prefix=GRU
// GRU-DAG: #[[ID:map[0-9]*]] = affine_map<(d0, d1) -> (d0, d1)>
// GRU-DAG: #[[SWAP:map[0-9]*]] = affine_map<(d0, d1) -> (d1, d0)>
// GRU: etdg.nest schedule <map = #[[ID]], loops = [<dimension = 0, kind = parallel>, <dimension = 1, kind = sequential>]>
// GRU-SAME: #etdg.schedule<map = #[[SWAP]], loops = [<dimension = 0, kind = sequential>, <dimension = 1, kind = parallel>]>

// Dilated layers: one nest each, t = k + l; lags 1, 2, 4 and 8.
// RUN: ft-opt %examples/dilated_rnn.mlir --pass-pipeline='builtin.module(ft-compile{to=etdg},etdg.graph(etdg-reorder,etdg-verify))' --remarks-filter='reorder.*' -o %t.rnn.mlir 2>&1 | FileCheck %s --check-prefix=DILATED
// RUN: ft-run %t.rnn.mlir --engine=interpret --order=declared --compare=interpret
// DILATED: [Passed] kernel {{.*}}offsets="0, 1, 2, 3", steps-after="L + 3", steps-before="4 * L"

// Two of three layers are a map around a scan.
// RUN: ft-opt %examples/dilated_lstm.mlir --pass-pipeline='builtin.module(ft-compile{to=etdg},etdg.graph(etdg-reorder,etdg-verify))' --remarks-filter='reorder.*' -o %t.lstm.mlir 2>&1 | FileCheck %s --check-prefix=DLSTM
// RUN: ft-run %t.lstm.mlir --engine=interpret --order=declared --compare=interpret
// DLSTM: [Passed] kernel {{.*}}offsets="0, 1, 2", steps-after="L + 2", steps-before="3 * L"

// Remarks as YAML.
// RUN: ft-opt %examples/stacked_rnn.mlir --pass-pipeline='builtin.module(ft-compile{to=etdg},etdg.graph(etdg-reorder))' --remark-format=yaml --remarks-output-file=%t.yaml --remarks-filter='reorder.*' -o /dev/null
// RUN: FileCheck %s --check-prefix=YAML < %t.yaml
// YAML: --- !Passed
// YAML: Name: {{ *}}transform
// YAML: - T: {{ *}}'{{\[\[}}0, 1, 1], [0, 1, 0], [1, 0, 0]]'
// YAML: - steps-before: {{ *}}'D * L'
// YAML: - steps-after: {{ *}}'D + L - 1'
