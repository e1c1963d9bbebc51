// How each length of each example can be divided; three tables in full.

// RUN: ft-translate --etdg-to-sharding %S/../../examples/stacked_rnn.mlir | grep -v '^    ' | FileCheck %s --strict-whitespace --match-full-lines --check-prefix=STACKED-RNN
// RUN: ft-translate --etdg-to-sharding %S/../../examples/stacked_lstm.mlir | grep -v '^    ' | FileCheck %s --strict-whitespace --match-full-lines --check-prefix=STACKED-LSTM
// RUN: ft-translate --etdg-to-sharding %S/../../examples/dilated_rnn.mlir | grep -v '^    ' | FileCheck %s --strict-whitespace --match-full-lines --check-prefix=DILATED-RNN
// RUN: ft-translate --etdg-to-sharding %S/../../examples/grid_rnn.mlir | grep -v '^    ' | FileCheck %s --strict-whitespace --match-full-lines --check-prefix=GRID-RNN
// RUN: ft-translate --etdg-to-sharding %S/../../examples/flash_attention.mlir | grep -v '^    ' | FileCheck %s --strict-whitespace --match-full-lines --check-prefix=FLASH-ATTENTION
// RUN: ft-translate --etdg-to-sharding %S/../../examples/flash_attention_causal.mlir | grep -v '^    ' | FileCheck %s --strict-whitespace --match-full-lines --check-prefix=FLASH-ATTENTION-CAUSAL
// RUN: ft-translate --etdg-to-sharding %S/../../examples/conv1d.mlir | FileCheck %s --strict-whitespace --match-full-lines --check-prefix=CONV1D
// RUN: ft-translate --etdg-to-sharding %S/../../examples/mamba.mlir | grep -v '^    ' | FileCheck %s --strict-whitespace --match-full-lines --check-prefix=MAMBA
// RUN: ft-translate --etdg-to-sharding %S/../../examples/bigbird.mlir | grep -v '^    ' | FileCheck %s --strict-whitespace --match-full-lines --check-prefix=BIGBIRD
// RUN: ft-translate --etdg-to-sharding %S/../../examples/back_to_back_gemm.mlir | FileCheck %s --strict-whitespace --match-full-lines --check-prefix=BACK-TO-BACK-GEMM
// RUN: ft-translate --etdg-to-sharding %S/../../examples/mlp.mlir | FileCheck %s --strict-whitespace --match-full-lines --check-prefix=MLP
// RUN: ft-translate --etdg-to-sharding %S/../../examples/layer_norm.mlir | grep -v '^    ' | FileCheck %s --strict-whitespace --match-full-lines --check-prefix=LAYER-NORM
// RUN: ft-translate --etdg-to-sharding %S/../../examples/rwkv.mlir | grep -v '^    ' | FileCheck %s --strict-whitespace --match-full-lines --check-prefix=RWKV
// RUN: ft-translate --etdg-to-sharding %S/../../examples/retention.mlir | grep -v '^    ' | FileCheck %s --strict-whitespace --match-full-lines --check-prefix=RETENTION
// RUN: ft-translate --etdg-to-sharding %S/../../examples/gru.mlir | grep -v '^    ' | FileCheck %s --strict-whitespace --match-full-lines --check-prefix=GRU
// RUN: ft-translate --etdg-to-sharding %S/../../examples/attention_three_step.mlir | grep -v '^    ' | FileCheck %s --strict-whitespace --match-full-lines --check-prefix=ATTENTION-THREE-STEP
// RUN: ft-translate --etdg-to-sharding %S/../../examples/back_to_back_gemm_relu.mlir | grep -v '^    ' | FileCheck %s --strict-whitespace --match-full-lines --check-prefix=BACK-TO-BACK-GEMM-RELU
// RUN: ft-translate --etdg-to-sharding %S/../../examples/dilated_lstm.mlir | grep -v '^    ' | FileCheck %s --strict-whitespace --match-full-lines --check-prefix=DILATED-LSTM

//      STACKED-RNN:sharding of @stacked_rnn
// STACKED-RNN-NEXT:  N: local; xss [0], result 0 [0]
// STACKED-RNN-NEXT:  L: pipeline; xss [1], result 0 [2]
// STACKED-RNN-NEXT:  D: pipeline; ws [0], result 0 [1]
// STACKED-RNN-NEXT:  ranks run the program on shards of N

//      STACKED-LSTM:sharding of @stacked_lstm
// STACKED-LSTM-NEXT:  N: local; xss [0], result 0 [0], result 1 [0]
// STACKED-LSTM-NEXT:  L: pipeline; xss [1], result 0 [2], result 1 [2]
// STACKED-LSTM-NEXT:  D: pipeline; wss [0], uss [0], bss [0], result 0 [1], result 1 [1]
// STACKED-LSTM-NEXT:  ranks run the program on shards of N

//      DILATED-RNN:sharding of @dilated_rnn
// DILATED-RNN-NEXT:  N: local; xss [0], result 0 [0]
// DILATED-RNN-NEXT:  L: pipeline; xss [1], result 0 [1]
// DILATED-RNN-NEXT:  ranks run the program on shards of N

//      GRID-RNN:sharding of @grid_rnn
// GRID-RNN-NEXT:  N: local; srcs [0], trgs [0], result 0 [0], result 1 [0]
// GRID-RNN-NEXT:  S: pipeline; srcs [1], result 0 [2], result 1 [2]
// GRID-RNN-NEXT:  T: pipeline; trgs [1], result 0 [3], result 1 [3]
// GRID-RNN-NEXT:  D: pipeline; ws [0], uxs [0], uys [0], bs [0], result 0 [1], result 1 [1]
// GRID-RNN-NEXT:  ranks run the program on shards of N

//      FLASH-ATTENTION:sharding of @flash_attention
// FLASH-ATTENTION-NEXT:  B: local; qsss [0], ksss [0], vsss [0], result 0 [0]
// FLASH-ATTENTION-NEXT:  H: local; qsss [1], ksss [1], vsss [1], result 0 [1]
// FLASH-ATTENTION-NEXT:  Q: local; qsss [2], result 0 [2]
// FLASH-ATTENTION-NEXT:  K: partial; ksss [2], vsss [2]
// FLASH-ATTENTION-NEXT:  ranks run the program on shards of B
// FLASH-ATTENTION-NEXT:  ranks run the program on shards of H
// FLASH-ATTENTION-NEXT:  ranks run the program on shards of Q

//      FLASH-ATTENTION-CAUSAL:sharding of @flash_attention_causal
// FLASH-ATTENTION-CAUSAL-NEXT:  B: local; qsss [0], ksss [0], vsss [0], result 0 [0]
// FLASH-ATTENTION-CAUSAL-NEXT:  H: local; qsss [1], ksss [1], vsss [1], result 0 [1]
// FLASH-ATTENTION-CAUSAL-NEXT:  L: local; qsss [2], result 0 [2]
// FLASH-ATTENTION-CAUSAL-NEXT:  L: partial; ksss [2], vsss [2]
// FLASH-ATTENTION-CAUSAL-NEXT:  ranks run the program on shards of B
// FLASH-ATTENTION-CAUSAL-NEXT:  ranks run the program on shards of H

//      CONV1D:sharding of @conv1d
// CONV1D-NEXT:  N: local; xss [0], result 0 [0]
// CONV1D-NEXT:  L: halo; xss [1], result 0 [1]
// CONV1D-NEXT:    halo: block @r1 read 0 of xss at [i, j + k - 1], distance -1..1, 512 * N bytes
// CONV1D-NEXT:  ranks run the program on shards of L, with 1 before and 1 after
// CONV1D-NEXT:  ranks run the program on shards of N

//      MAMBA:sharding of @mamba
// MAMBA-NEXT:  N: local; xss [0], result 0 [0]
// MAMBA-NEXT:  L: pipeline; xss [1], result 0 [1]
// MAMBA-NEXT:  ranks run the program on shards of N

//      BIGBIRD:sharding of @bigbird
// BIGBIRD-NEXT:  B: local; qss [0], kss [0], vss [0], result 0 [0]
// BIGBIRD-NEXT:  L: refused; qss [1], result 0 [1]
// BIGBIRD-NEXT:  L: refused; kss [1], vss [1], random [1]
// BIGBIRD-NEXT:  L - 2: refused; random [0]
// BIGBIRD-NEXT:  R + 5: refused
// BIGBIRD-NEXT:  ranks run the program on shards of B

//      BACK-TO-BACK-GEMM:sharding of @back_to_back_gemm
// BACK-TO-BACK-GEMM-NEXT:  M: local; as [0], result 0 [0]
// BACK-TO-BACK-GEMM-NEXT:  N: partial; bs [0], cs [0], sum of result 0
// BACK-TO-BACK-GEMM-NEXT:    partial: block @r1 read 3 of a buffer of type !etdg.buffer<[N], tensor<64x64xf32>> at [j - 1], distance -1, 16384 bytes
// BACK-TO-BACK-GEMM-NEXT:  ranks run the program on shards of M
// BACK-TO-BACK-GEMM-NEXT:  ranks run the program on shards of N

//      MLP:sharding of @mlp
// MLP-NEXT:  N: local; xs [0], result 0 [0]
// MLP-NEXT:  F: partial; w1s [0], b1s [0], w2s [0]
// MLP-NEXT:    partial: block @r1 read 4 of a buffer of type !etdg.buffer<[F], tensor<16x64xf32>> at [j - 1], distance -1, 4096 bytes
// MLP-NEXT:    join: block @r2 reads a part
// MLP-NEXT:  ranks run the program on shards of N

//      LAYER-NORM:sharding of @layer_norm
// LAYER-NORM-NEXT:  N: local; xs [0], result 0 [0]
// LAYER-NORM-NEXT:  ranks run the program on shards of N

//      RWKV:sharding of @rwkv
// RWKV-NEXT:  N: local; xss [0], result 0 [0]
// RWKV-NEXT:  L: pipeline; xss [1], result 0 [1]
// RWKV-NEXT:  ranks run the program on shards of N

//      RETENTION:sharding of @retention
// RETENTION-NEXT:  N: local; qsss [0], ksss [0], vsss [0], result 0 [0]
// RETENTION-NEXT:  H: local; qsss [1], ksss [1], vsss [1], logs [0], result 0 [1]
// RETENTION-NEXT:  L: pipeline; qsss [2], ksss [2], vsss [2], result 0 [2]
// RETENTION-NEXT:  ranks run the program on shards of H
// RETENTION-NEXT:  ranks run the program on shards of N

//      GRU:sharding of @gru
// GRU-NEXT:  N: local; xss [0], result 0 [0]
// GRU-NEXT:  L: pipeline; xss [1], result 0 [1]
// GRU-NEXT:  ranks run the program on shards of N

//      ATTENTION-THREE-STEP:sharding of @attention_three_step
// ATTENTION-THREE-STEP-NEXT:  B: local; qsss [0], ksss [0], vsss [0], result 0 [0]
// ATTENTION-THREE-STEP-NEXT:  H: local; qsss [1], ksss [1], vsss [1], result 0 [1]
// ATTENTION-THREE-STEP-NEXT:  Q: local; qsss [2], result 0 [2]
// ATTENTION-THREE-STEP-NEXT:  K: partial; ksss [2], vsss [2], sum of result 0
// ATTENTION-THREE-STEP-NEXT:  ranks run the program on shards of B
// ATTENTION-THREE-STEP-NEXT:  ranks run the program on shards of H
// ATTENTION-THREE-STEP-NEXT:  ranks run the program on shards of Q

//      BACK-TO-BACK-GEMM-RELU:sharding of @back_to_back_gemm_relu
// BACK-TO-BACK-GEMM-RELU-NEXT:  M: local; as [0], result 0 [0]
// BACK-TO-BACK-GEMM-RELU-NEXT:  N: partial; bs [0], cs [0], sum of result 0
// BACK-TO-BACK-GEMM-RELU-NEXT:  ranks run the program on shards of M
// BACK-TO-BACK-GEMM-RELU-NEXT:  ranks run the program on shards of N

//      DILATED-LSTM:sharding of @dilated_lstm
// DILATED-LSTM-NEXT:  N: local; xss [0], result 0 [0], result 1 [0]
// DILATED-LSTM-NEXT:  L: pipeline; xss [1], result 0 [1], result 1 [1]
// DILATED-LSTM-NEXT:  ranks run the program on shards of N
