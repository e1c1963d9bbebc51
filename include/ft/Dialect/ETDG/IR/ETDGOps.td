//===- ETDGOps.td - operations of the etdg dialect ---------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ETDG_OPS
#define ETDG_OPS

include "ft/Dialect/ETDG/IR/ETDGAttrs.td"
include "ft/Dialect/ETDG/IR/ETDGInterfaces.td"
include "ft/Dialect/FT/IR/FTAttrs.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def ETDG_BufferMemoryAttr : EnumAttr<ETDG_Dialect, ETDG_BufferMemory, "buffer_memory">;

class ETDG_Op<string mnemonic, list<Trait> traits = []> : Op<ETDG_Dialect, mnemonic, traits>;

def ETDG_GraphOp : ETDG_Op<"graph", [FunctionOpInterface, IsolatedFromAbove, AutomaticAllocationScope]> {
  let summary = "a program: buffers in, blocks, buffers out";
  let description = [{
    A function whose arguments and results are buffers. The body is a sequence of
    buffers, constants, nests and blocks that ends in `etdg.return`; textual order
    is a legal order. Every result is a buffer of the body that is not an
    argument, none twice. Bounds, default lengths and generators are attributes
    as on `ft` functions.

    Constraints:
    - (G1) arguments and results are buffers;
    - (G2) every result is defined by an `etdg.buffer` of the body, each once;
    - (G3) every name in the body's types, symbols and guards is a length of an argument.

    ```mlir
    etdg.graph @f(%xs: !etdg.buffer<[L], tensor<1x4xf32>>) -> !etdg.buffer<[L], tensor<1x4xf32>> {
      %ys = etdg.buffer : !etdg.buffer<[L], tensor<1x4xf32>>
      etdg.block @b [map] (i) in [0, L) reads (%x = %xs[i] : tensor<1x4xf32>) writes (%ys[i]) {
        %y = math.exp %x : tensor<1x4xf32>
        etdg.yield %y : tensor<1x4xf32>
      } : !etdg.buffer<[L], tensor<1x4xf32>>, !etdg.buffer<[L], tensor<1x4xf32>>
      etdg.return %ys : !etdg.buffer<[L], tensor<1x4xf32>>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
                       OptionalAttr<StrAttr>:$sym_visibility,
                       OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ArrayRef<Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ArrayRef<Type> getResultTypes() { return getFunctionType().getResults(); }
    Region *getCallableRegion() { return &getBody(); }
    /// The names that the arguments bind, sorted.
    SmallVector<StringAttr> getSymbolNames();
  }];
}

def ETDG_ReturnOp : ETDG_Op<"return", [Pure, Terminator, HasParent<"GraphOp">]> {
  let summary = "the buffers that a graph returns";
  let arguments = (ins Variadic<ETDG_BufferType>:$operands);
  let assemblyFormat = "attr-dict ($operands^ `:` qualified(type($operands)))?";
}

def ETDG_BufferOp : ETDG_Op<"buffer", [DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "a buffer, private to the enclosing block or graph";
  let description = [{
    In a block's body there is one for each point of the block's iteration
    vector. `live` says how many planes of each dimension are needed *between*
    iterations: plane p lies at p mod `live[d]`; -1 (printed `all`) keeps every
    plane. A body reads all before it writes. Engines keep one plane more than are
    live, so that it never writes what it still reads: `getPlanes`, and `getBytes`, by
    which the code that plans, places or makes memory knows its size.

    `in` says where it lies, for thread blocks of a GPU (`etdg-place-buffers`):
    `shared` by the threads of a block, in a part of the `workspace` that each thread
    block has for itself, or in the memory of the `call`, at the graph's slot.

    (B1) `live` is absent or has one entry for each length, positive or -1.
    (B2) the graph's own buffers are `in call`, a block's `in shared` or `in workspace`,
    where it is said.
    (B3) a buffer in shared memory has a size that is known: lengths that are no
    constants have `live` planes.
    ```mlir
    %s = etdg.buffer live [1] in shared : !etdg.buffer<[K], tensor<1xf32>>
    ```
  }];
  let arguments = (ins OptionalAttr<DenseI64ArrayAttr>:$live, OptionalAttr<StrAttr>:$name_hint,
                       OptionalAttr<ETDG_BufferMemoryAttr>:$memory);
  let results = (outs ETDG_BufferType:$result);
  let assemblyFormat = "(`live` custom<Live>($live)^)? (`in` `` $memory^)? attr-dict `:` qualified(type($result))";
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::DenseI64ArrayAttr":$live, "::mlir::StringAttr":$name_hint), [{
    build($_builder, $_state, result, live, name_hint, BufferMemoryAttr());
  }]>];
  let extraClassDeclaration = [{
    bool keepsAllPlanes();
    /// Planes of which there is memory, where so many are live: one more, and a body never writes what it still reads.
    static int64_t planesOf(int64_t live) { return live < 0 ? 0 : live + 1; }
    /// Planes in memory for each dimension, 0 where all are; none where nothing is specified.
    ::llvm::SmallVector<int64_t> getPlanes();
    /// Bytes of one instance. Lengths that only a call knows count as `open`; without that there are none then.
    std::optional<int64_t> getBytes(std::optional<int64_t> open = std::nullopt);
  }];
}

def ETDG_ConstantOp : ETDG_Op<"constant", [Pure]> {
  let summary = "a buffer of given contents, of depth 0";
  let description = [{
    ```mlir
    %c = etdg.constant dense<[1.0, 2.0]> : tensor<2xf32> as !etdg.buffer<[], tensor<2xf32>>
    ```
    (K1) the value's type is the buffer's element, the depth is 0.
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs ETDG_BufferType:$result);
  let assemblyFormat = "attr-dict $value `as` qualified(type($result))";
  let hasVerifier = 1;
}

def ETDG_NestOp : ETDG_Op<"nest", [NoTerminator, SingleBlock, ETDG_ScheduledOpInterface]> {
  let summary = "the regions of one loop nest";
  let description = [{
    Blocks with the same iteration vector whose domains are disjoint: the regions
    that FT §4.4 makes of the first iterations of scans. Untransformed, a nest is
    one lexicographic loop over the union of the domains, each block running at
    its own points. (N1) it holds blocks only, at least one, with equal dimension
    names and numbers of ancestors. (N2) domains are disjoint (checked by
    `etdg-verify`). The schedule, where one is given, is that of all its blocks.

    ```mlir
    etdg.nest {
      etdg.block @first [map, scanl] (i, k) in [0, N) x [0, 1) reads (...) writes (%ys[i, k]) {...} : ...
      etdg.block @others [map, scanl] (i, k) in [0, N) x [1, L) reads (..., %s = %ys[i, k - 1] : !x) writes (%ys[i, k]) {...} : ...
    }
    ```
  }];
  let arguments = (ins OptionalAttr<ETDG_ScheduleAttr>:$schedule);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "(`schedule` $schedule^)? attr-dict-with-keyword $body";
  let hasVerifier = 1;
}

def ETDG_BlockOp : ETDG_Op<"block", [ETDG_ScheduledOpInterface,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "an iteration domain, an operator for each dimension, access maps and a body (FT §4.4)";
  let description = [{
    A *leaf* has a body of tensor operations whose arguments are the reads and whose
    yielded values are the writes. A *graph* block has no reads and writes of
    its own; its body is a sequence of buffers, nests and blocks, whose iteration
    vectors begin with this block's, and it ends in an empty `etdg.yield`.

    ```mlir
    etdg.block @r3 [map, scanl, scanl] (i, j, k) in [0, N) x [1, D) x [1, L)
        reads (%x = %ysss[i, j - 1, k] : tensor<1x512xf32>, %w = %ws[j] : tensor<512x512xf32>,
               %s = %ysss[i, j, k - 1] : tensor<1x512xf32>)
        writes (%ysss[i, j, k]) {
      %y = linalg.matmul ins(%x, %w : ...) outs(%s : ...) -> tensor<1x512xf32>
      etdg.yield %y : tensor<1x512xf32>
    } : !etdg.buffer<[N, D, L], tensor<1x512xf32>>, !etdg.buffer<[D], tensor<512x512xf32>>
    ```

    A child prints its ancestors' dimensions before a bar, `(i, j | g)`. The
    domain prints as one range for each own dimension where the constraints have that
    form, the rest after `where`. A read of several pieces prints as
    `{k = 0: splat 0.0 : f32, k >= 1: %s[k - 1]}`.

    `combine` and `identity` belong to the innermost own dimension that may be
    re-associated (`reduce`, `fold`, `scan`): it may be cut anywhere, a cut
    restarting from `identity`, and partial states join in order by `combine`.

    Constraints:
    - (K1) one operator for each own dimension; `dims` names all dimensions, ancestors
      first, without repetition; a child's begin with its parent's;
    - (K2) `domain`, sets and maps have as many dimensions as `dims` and the symbols `symbols`;
    - (K3) a leaf's region arguments have the reads' element types, and the yield's operands those of the writes;
    - (K4) operands' indices in reads and writes are in range, map results match the buffer's depth
      (or depth + element rank), and a piece's element type is the read's;
    - (K5) a graph block has no reads and writes; a leaf has at least one write;
    - (K6) no graph argument is written;
    - (K7) `combine` takes the states twice and yields them once.
  }];
  let arguments = (ins Variadic<ETDG_BufferType>:$buffers,
                       OptionalAttr<StrAttr>:$block_name,
                       StrArrayAttr:$operators,
                       StrArrayAttr:$dims,
                       I64Attr:$num_ancestors,
                       StrArrayAttr:$symbols,
                       IntegerSetAttr:$domain,
                       DefaultValuedAttr<TypedArrayAttrBase<ETDG_ReadAttr, "reads">, "{}">:$reads,
                       DefaultValuedAttr<TypedArrayAttrBase<ETDG_WriteAttr, "writes">, "{}">:$writes,
                       DefaultValuedAttr<TypedArrayAttrBase<ETDG_ReadAttr, "reads">, "{}">:$identity,
                       OptionalAttr<ETDG_ScheduleAttr>:$schedule);
  let regions = (region SizedRegion<1>:$body, AnyRegion:$combine);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    unsigned getNumDims() { return getDims().size(); }
    unsigned getNumOwnDims() { return getOperators().size(); }
    bool isLeaf() { return !getWrites().empty(); }
    ::mlir::ft::OperatorKind getOperator(unsigned ownDim);
    /// reads as attributes
    ReadAttr getRead(unsigned i) { return ::llvm::cast<ReadAttr>(getReads()[i]); }
    WriteAttr getWrite(unsigned i) { return ::llvm::cast<WriteAttr>(getWrites()[i]); }
    unsigned getNumReads() { return getReads().size(); }
    unsigned getNumWrites() { return getWrites().size(); }
    SmallVector<StringAttr> getDimNames();
    SmallVector<StringAttr> getSymbolNames();
    IntegerSet getDomainSet() { return getDomain(); }
    YieldOp getYield();
    /// The block whose body holds this one, or null at the top of a graph.
    BlockOp getParentBlock();
    /// The nest that holds this block, or null.
    NestOp getNest();
    /// What has its schedule: the nest that it is a region of, else the block.
    ScheduledOpInterface getScheduledOp();
    /// The schedule of its nest where that has one, else its own; null: none.
    ScheduleAttr getEffectiveSchedule();
  }];
}

def ETDG_YieldOp : ETDG_Op<"yield", [Pure, Terminator, ParentOneOf<["BlockOp"]>]> {
  let summary = "the values that a leaf writes";
  let description = [{
    A leaf yields a value for each of its writes, in their order (K3); what ends a graph block, or a `combine`, is this operation, too.

    ```mlir
    etdg.yield %h, %c : tensor<1x512xf32>, tensor<1x512xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$operands);
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
}

def ETDG_KernelOp : ETDG_Op<"kernel", [NoTerminator, SingleBlock]> {
  let summary = "nests that run as one kernel";
  let description = [{
    Its nests run as one loop over their first `shared` transformed dimensions, in textual order inside a step.
    `exit` names the value that ends a loop on data (`#etdg.exit`).
    (M1) it holds nests and blocks only; `shared` is not negative and at most the dimension of each.
    (M2) an `exit` stands where the nests share one dimension; it is a single `i1` that one of them writes in each step.

    ```mlir
    // All points of step t of both, then those of step t + 1.
    etdg.kernel shared 1 {
      etdg.block @state [scanl, map] (t, j) in [0, L) x [0, D) ... schedule <map = affine_map<(t, j) -> (t, j)>, ...> {...} : ...
      etdg.block @output [map] (t) in [0, L) ... schedule <map = affine_map<(t) -> (t)>, ...> {...} : ...
    }
    ```
  }];
  let arguments = (ins DefaultValuedAttr<I64Attr, "0">:$shared, OptionalAttr<ETDG_ExitAttr>:$exit);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "(`shared` $shared^)? (`exit` $exit^)? attr-dict-with-keyword $body";
  let builders = [OpBuilder<(ins CArg<"int64_t", "0">:$shared), [{ build($_builder, $_state, shared, ExitAttr()); }]>];
  let hasVerifier = 1;
}

def ETDG_VariantsOp : ETDG_Op<"variants", [NoTerminator, NoRegionArguments, HasParent<"GraphOp">]> {
  let summary = "one of several ways to compute the same, chosen by the call's lengths";
  let description = [{
    Each region computes the same elements of the same buffers; the first whose guard holds runs, the last one has none. Each
    is legal for all lengths: the validator proves a graph with every one of them, storage is enough for all.

    ```mlir
    etdg.variants when <[N] below 2112> {
      etdg.nest schedule <...> {...}
    } else {
      etdg.nest schedule <...> {...}
    }
    ```

    Constraints:
    - (W1) there are at least two regions, and one guard for each but the last;
    - (W2) a region holds nests, blocks and kernels, at least one;
    - (W3) regions write the same buffers and read the same ones, but for buffers that nothing outside uses: what the
      nests of one region leave each other.
  }];
  let arguments = (ins TypedArrayAttrBase<ETDG_GuardAttr, "guards">:$guards);
  let regions = (region VariadicRegion<SizedRegion<1>>:$variants);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def ETDG_AssumeOp : ETDG_Op<"assume"> {
  let summary = "a range and typical values of a length";
  let description = [{
    ```mlir
    etdg.assume "L" in [1, 4096] typical [128, 256]
    ```
    (A1) lower end ≤ upper end, typical values inside.
  }];
  let arguments = (ins StrAttr:$length, I64Attr:$lo, I64Attr:$hi, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$typical);
  let assemblyFormat = "$length `in` ` ` `[` $lo `,` $hi `]` (`typical` $typical^)? attr-dict";
  let hasVerifier = 1;
}

#endif // ETDG_OPS
