# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A chain of loops, as the layers of a model are: each keeps the greatest of blocks of columns for each row, and adds it to all.

What the analysis may ask grows with the number of loops: the rows of a long chain are lists as those of a short one are.

RUN: %python %s 3 > %t.short.mlir && ft-opt %t.short.mlir --convert-scf-to-etdg --remarks-filter="etdg.*" -o /dev/null 2>&1 | FileCheck %s --check-prefix=SHORT
RUN: %python %s 48 > %t.mlir && ft-opt %t.mlir --convert-scf-to-etdg --remarks-filter="etdg.*" -o /dev/null 2>&1 | FileCheck %s --check-prefix=LONG

SHORT: raise {{.*}}batches=6
LONG-NOT: batches |
LONG: raise {{.*}}batches=96
"""

import sys

STEP = """  %e{n} = tensor.empty() : tensor<4x5x1xf32>
  %z{n} = linalg.fill ins(%low : f32) outs(%e{n} : tensor<4x5x1xf32>) -> tensor<4x5x1xf32>
  %f{n} = tensor.empty() : tensor<4x5x1xf32>
  %g{n} = linalg.fill ins(%low : f32) outs(%f{n} : tensor<4x5x1xf32>) -> tensor<4x5x1xf32>
  %m{n}:2 = scf.for %k = %c0 to %c6 step %c1 iter_args(%s = %z{n}, %r = %g{n}) -> (tensor<4x5x1xf32>, tensor<4x5x1xf32>) {{
    %at = arith.muli %k, %c3 : index
    %part = tensor.extract_slice %x{n}[0, 0, %at] [4, 5, 3] [1, 1, 1] : tensor<4x5x18xf32> to tensor<4x5x3xf32>
    %most = linalg.generic {{indexing_maps = [#in, #out], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}}
        ins(%part : tensor<4x5x3xf32>) outs(%s : tensor<4x5x1xf32>) {{
    ^bb0(%a: f32, %b: f32):
      %y = arith.maximumf %a, %b : f32
      linalg.yield %y : f32
    }} -> tensor<4x5x1xf32>
    %sum = arith.addf %r, %most : tensor<4x5x1xf32>
    scf.yield %most, %sum : tensor<4x5x1xf32>, tensor<4x5x1xf32>
  }}
  %o{n} = tensor.empty() : tensor<4x5x18xf32>
  %x{after} = linalg.generic {{indexing_maps = [#all, #row, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]}}
      ins(%x{n}, %m{n}#0, %m{n}#1 : tensor<4x5x18xf32>, tensor<4x5x1xf32>, tensor<4x5x1xf32>) outs(%o{n} : tensor<4x5x18xf32>) {{
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    %y = arith.addf %a, %b : f32
    %z = arith.addf %y, %c : f32
    linalg.yield %z : f32
  }} -> tensor<4x5x18xf32>"""


def main():
    count = int(sys.argv[1])
    print("""#in = affine_map<(i, j, o, k) -> (i, j, k)>
#out = affine_map<(i, j, o, k) -> (i, j, o)>
#all = affine_map<(i, j, k) -> (i, j, k)>
#row = affine_map<(i, j, k) -> (i, j, 0)>
func.func @chain(%x0: tensor<4x5x18xf32>) -> tensor<4x5x18xf32> {
  %low = arith.constant -1.0e+30 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c6 = arith.constant 6 : index""")
    for n in range(count):
        print(STEP.format(n=n, after=n + 1))
    print(f"  return %x{count} : tensor<4x5x18xf32>\n}}")


if __name__ == "__main__":
    main()
