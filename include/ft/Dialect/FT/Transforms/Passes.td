//===- Passes.td - passes over ft --------------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_DIALECT_FT_TRANSFORMS_PASSES
#define FT_DIALECT_FT_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def FTAlignMaps : Pass<"ft-align-maps", "::mlir::func::FuncOp"> {
  let summary = "let maps beside a scan from the right begin at their last element";
  string reads = "maps beside scans from the right";
  string writes = "maps over reversed lists";
  let description = [{
    In the body of an operator with states, a map has no order of its own, and a nest counts its iterations from the first
    element. A scan from the right over lists of the same length begins at the last one. What one reads of the other is
    then at no constant distance, and the nest keeps its order. This pass lets such maps go through reversed lists and
    reverses what they give, which costs nothing (`ft.reverse` is an access). Where the body also has a fold or scan from
    the left of that length, maps stay.

    ```mlir
    %as = ft.scanr (%h = %hs : !ft.list<[L], !x>) init (%a = %z : !x) -> !ft.list<[L], !x> { ... }
    %ds = ft.map (%a = %as : !ft.list<[L], !x>) -> !ft.list<[L], !x> { ... }
    ```
    ==>
    ```mlir
    %0 = ft.reverse %as : !ft.list<[L], !x>
    %1 = ft.map (%a = %0 : !ft.list<[L], !x>) -> !ft.list<[L], !x> { ... }
    %ds = ft.reverse %1 : !ft.list<[L], !x>
    ```
  }];
}
def FTDifferentiate : Pass<"ft-differentiate", "::mlir::ModuleOp"> {
  let summary = "add the derivative of a function over lists, in reverse or forward mode";
  let description = [{
    Adds functions beside `@f`, which stays. They hold operators of `ft` alone: every later pass takes them, and so does
    this one.

    `mode=reverse` makes

    - `@f_forward`: the arguments of `@f` to the chosen results and, after them, what the backward function reads
      besides arguments and results (*saved* values);
    - `@f_backward`: residuals and a cotangent for each chosen result of floats, to a gradient for each argument of `wrt`.
      The attribute `ft.residuals` says of each residual where it comes from: `argument 0`, `result 1`, `saved 0`.

    `mode=forward` makes `@f_jvp`: the arguments of `@f` and a tangent for each argument of `wrt`, to the chosen results
    and a tangent for each one of floats.

    A fold or scan over `xs` becomes a fold over the same lists in the opposite direction, whose state is the cotangent of
    the state; a map stays a map. What a body captures gets the sum of what its iterations give. There is no tape: the
    list of a value of a body leaves the operators around it.

    What the backward function reads is at hand (an argument, a result), *saved*, or *computed again* from other values.
    Access operators, constants, reshapes and integers made of integers are always done again. `save` says what else:

    - `all`: nothing.
    - `states`: all but folds and scans and what holds one.
    - `auto`: what a minimum cut of each body says, from the innermost outwards. To save costs the time to write and read
      the bytes, to compute again that of the operations, by the machine's model at typical lengths. A remark tells each
      choice and both prices.

    `ft.saved` on an operation binds: `true` saves its results and what leaves its body, `false` computes them again.

    `ft.checkpoint = [64]` on a fold or scan saves its states at each 64th iteration. The iterations are taken in chunks;
    the backward function computes the states of a chunk again before it reverses the chunk. More numbers divide chunks
    again. It holds for any length; a scan with a `lag` is not divided, which a remark says.

    ```mlir
    %h = ft.foldl (%x = %xs : !ft.list<[L], !x>) init (%s = %h0 : !x) -> !x { ... %n = math.tanh ... }
    ```
    ==>
    ```mlir
    %gh0, %gxs = ft.foldr (%x, %n = %xs, %ns : ...) init (%a = %gh : !x) -> !x, !ft.list<[L], !x> { ... }
    ```

    The function holds neither calls, branches, layers with a length of their own nor tuples: `ft-unroll`, `ft-inline`,
    `ft-select` and `canonicalize` come before. Refused, with an error at the operation: ragged lists, and operations
    without a derivative (`DifferentiableOpInterface`).
  }];
  let options = [
    Option<"function", "function", "std::string", "", "the function; by default the only public one">,
    Option<"mode", "mode", "std::string", "\"reverse\"", "reverse or forward">,
    ListOption<"wrt", "wrt", "unsigned", "numbers of the arguments; by default all of floats">,
    ListOption<"results", "results", "unsigned", "numbers of the results; by default all">,
    Option<"save", "save", "std::string", "\"auto\"", "what reverse mode saves: auto, states or all">,
    Option<"machine", "machine", "std::string", "\"\"", "a machine by its name or file, for prices (default: cpu)">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"];
}

def FTExpand : Pass<"ft-expand", "::mlir::ModuleOp"> {
  let summary = "put upstream operations in the place of short forms";
  string reads = "short forms of `ft`";
  string writes = "`linalg`, `arith`, `math`";
  let description = [{
    `ft.softmax`, `ft.layer_norm`, `ft.scale` and the like become operations of `linalg`, `arith`, `math`
    and `tensor`, wherever they stand. A tensor of one value that data indexes becomes a `linalg.generic`: folding would
    take its elements for that value, and forget that the index may be out of range. Quotients of tensors that are rounded down
    become quotients and remainders towards 0, of which folding keeps all results.

    ```mlir
    %y = ft.silu %x : !x
    ```
    ==>
    ```mlir
    %0 = arith.negf %x : !x
    %1 = math.exp %0 : !x
    %2 = arith.addf %1, %one : !x
    %y = arith.divf %x, %2 : !x
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"];
}

def FTInline : Pass<"ft-inline", "::mlir::ModuleOp"> {
  let summary = "inline calls in functions over lists, and of functions over tensors";
  string reads = "calls";
  string writes = "their bodies";
  let description = [{
    Replaces each `func.call` in a function over lists by the callee's body, that
    of a cell over tensors as well; what has no body stays. A private callee that is no longer called goes. A call has
    the types of its callee, so a length has the same name on both sides and
    nothing is renamed. The bounds of the callee must follow from those of the
    caller. Recursion is an error: a program of lists has a finite nest.

    In a function over tensors, calls that pass tensors and numbers alone are inlined, too. There, recursive callees, those of
    several blocks and those that still call something stay as they are (raising refuses them).

    ```mlir
    func.func private @cell(%x: !x) -> !ft.list<[L], !x> { ... }
    func.func @main(...) { %y = func.call @cell(%x) : (!x) -> !ft.list<[L], !x> ... }
    ```
    ==>
    ```mlir
    func.func @main(...) { ... }
    ```
  }];
}

def FTPadRagged : Pass<"ft-pad-ragged", "::mlir::ModuleOp"> {
  let summary = "give ragged lists the domain of the longest one";
  let description = [{
    A list of lists of different lengths is stored as its elements one after the other. This pass makes such a list an argument
    of these values, `[r_total]` of them. For each ragged level r the function gets, after its own arguments, five lists of
    `tensor<i64>` that its caller makes:

    - `[N, r]`: where element j of list i is among the values (anywhere where list i has ended);
    - `[N]`: the lengths of the lists;
    - `[r]`: 0, 1, …, of which r is the length of the longest list;
    - `[r_total]`, twice: of each value, its list and its place there.

    The domain is that of the longest list. Elements are gathered. A fold or scan keeps its state where a list has
    ended. What is computed there is left out where results are put one after the other again.

    The pass refuses, with an error, folds and scans over a ragged level without an initial state, and access operators on
    ragged lists. It also refuses more than one ragged level, and one below two others.

    ```mlir
    func.func @sums(%xss: !ft.list<[N, ragged(r)], !x>) -> !ft.list<[N], !x>
    ```
    ==>
    ```mlir
    func.func @sums(%values: !ft.list<[r_total], !x>, %index: !ft.list<[N, r], tensor<i64>>, ...) -> !ft.list<[N], !x>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def FTSelect : Pass<"ft-select", "::mlir::ModuleOp"> {
  let summary = "turn the conditions in functions over lists into selections";
  string reads = "`scf.if` in functions over lists";
  string writes = "`arith.select`";
  let description = [{
    Leaves are straight lines: an `scf.if` in a body, or in that of a `linalg` operation, becomes both of its sides and an
    `arith.select` for each result. What only one side may compute is guarded: a division gets the divisor 1 and
    `tensor.extract` the first element where the side is not taken. It is an error where a side holds what must not run in vain,
    or the results are lists. Any other operation of `scf` is one, too: loops over elements are map, fold and scan.

    ```mlir
    %y = scf.if %p -> !x { %a = math.exp %x : !x  scf.yield %a : !x } else { scf.yield %x : !x }
    ```
    ==>
    ```mlir
    %a = math.exp %x : !x
    %y = arith.select %p, %a, %x : !x
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def FTDropUnitDims : Pass<"ft-drop-unit-dims", "::mlir::func::FuncOp"> {
  let summary = "drop dimensions of one element that a reshape adds and a later one drops";
  string reads = "reshapes";
  string writes = "operations of lower rank";
  let description = [{
    Of functions over whole tensors of static shape. An operation of `linalg` on a value to which `tensor.expand_shape` has added dimensions of one
    element computes without loops over these, and its result gets them instead. Where a reader drops them, both reshapes are gone. Leading
    dimensions of one element stay: a batch of one.

    ```mlir
    %k = tensor.expand_shape %s [[0, 1]] output_shape [384, 1] : tensor<384xf32> into tensor<384x1xf32>
    %d = linalg.generic {...} ins(%k : tensor<384x1xf32>) outs(%e : tensor<384x1xf32>) ...
    %m = tensor.extract_slice %d[0, 0] [384, 1] [1, 1] : tensor<384x1xf32> to tensor<384xf32>
    ==>
    %m = linalg.generic {...} ins(%s : tensor<384xf32>) outs(%e' : tensor<384xf32>) ...
    ```
  }];
  let statistics = [Statistic<"numOperations", "num-operations", "Operations without such a dimension">];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def FTSplitHeld : Pass<"ft-split-held", "::mlir::ModuleOp"> {
  let summary = "move what depends on held arguments alone to a function that runs when they are bound";
  let description = [{
    Of functions over whole tensors with arguments that a module holds (`ft.held`). What is computed from such arguments alone, once for all calls,
    becomes a function of its own, which says by `ft.binds` under which names its results are held. Operations that only say where elements lie stay
    with their readers, and so does a value that is larger than all that is held.

    ```mlir
    func.func @f(%x: tensor<4xf32>, %v: tensor<4xf32> {ft.held = "v"}) -> tensor<4xf32> {
      %s = math.rsqrt %v : tensor<4xf32>
      %y = arith.mulf %x, %s : tensor<4xf32>
    ==>
    func.func @f(%x: tensor<4xf32>, %v: tensor<4xf32> {ft.held = "v"}, %s: tensor<4xf32> {ft.held = "f_bind.0"}) -> tensor<4xf32> {
      %y = arith.mulf %x, %s : tensor<4xf32>
    func.func @f_bind(%v: tensor<4xf32> {ft.held = "v"}) -> tensor<4xf32> attributes {ft.binds = ["f_bind.0"]} {
      %s = math.rsqrt %v : tensor<4xf32>
    ```
  }];
  let statistics = [Statistic<"numFunctions", "num-functions", "Functions that were divided">];
  string reads = "functions with held arguments";
  string writes = "functions that run when these are bound";
}

def FTUnroll : Pass<"ft-unroll", "::mlir::ModuleOp"> {
  let summary = "put the layers of operators with a length of their own at each element in their place";
  string reads = "short forms with layers, `ft.lengths`";
  string writes = "loops and calls";
  let description = [{
    An operator with `for d in [...]` goes through as many elements as it gives values. Its body is put into its place once for
    each, with the value in the place of d in every length. What is then left has constants for lags, dilations, offsets. States
    go from one to the next; lists of results are joined.

    ```mlir
    %h = ft.foldl (%w = %ws : !ft.list<[2], !w>) init (%s = %h0 : !ft.list<[L], !x>) for d in [1, 2] {
      %p = ft.shift %s by d fill %zero : !ft.list<[L], !x>, !x
      ...
    }
    ```
    ==>
    ```mlir
    %w0 = ft.at %ws[0] : !ft.list<[2], !w>
    %p0 = ft.shift %h0 by 1 fill %zero : !ft.list<[L], !x>, !x
    ...
    %w1 = ft.at %ws[1] : !ft.list<[2], !w>
    %p1 = ft.shift %s1 by 2 fill %zero : !ft.list<[L], !x>, !x
    ...
    ```

    An error where copies would exceed 2^20 operations.
  }];
}

def FTVerify : Pass<"ft-verify", "::mlir::ModuleOp"> {
  let summary = "check what the verifier of one operation cannot see";
  let description = [{
    The contract of the `ft` phase, asked of every function over lists; all that
    is violated is reported, not the first only.

    - (V1) every name in a type is bound by an argument's length that is just
      this name; `[L - 2]` binds nothing;
    - (V2) the bounds of a callee follow from those of the caller, and no function
      calls itself;
    - (V3) values are lists, static tensors, tuples of these, or scalars;
    - (V4) bodies have no side effects;
    - (V5) a function has one block and ends in `func.return`.
  }];
}

#endif // FT_DIALECT_FT_TRANSFORMS_PASSES
