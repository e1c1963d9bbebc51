//===- ETDGDialect.td - the etdg dialect -------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ETDG_DIALECT
#define ETDG_DIALECT

include "mlir/IR/OpBase.td"

def ETDG_Dialect : Dialect {
  let name = "etdg";
  let cppNamespace = "::mlir::etdg";
  let summary = "The extended task dependence graph (FT §4.4)";
  let description = [{
    Blocks with an integer iteration domain, one operator per dimension, and
    affine access maps to buffers. A buffer is written once at each index (single
    assignment), so dependences are a question about maps and sets alone.

    Names: an *iteration vector* is that of a block's ancestors followed by its
    own dimensions. Maps and sets range over it; their symbols are named lengths
    (`symbols` of the block, sorted).

    Discardable attributes, all verified:
    - `etdg.candidates` of a nest or block: the schedules among which a pass chooses, best first;
    - `etdg.slot` of a buffer: which memory of the arena it takes; buffers of one slot never live at once;
    - `etdg.layouts` of a leaf: how a GPU's threads share it, a `#etdg.tiling` for each loop nest of its normal form, or one `#etdg.row_lanes`;
    - `etdg.rows` of a leaf: which of its rows one call computes, a `#etdg.rows` (`etdg-choose-leaf-rows`);
    - `etdg.cut` of a leaf: of which reduction or scan it has the shares, a `#etdg.cut`;
    - `etdg.checks` of a function or graph: what the lengths of a call satisfy, `{holds, because, at}`;
    - `etdg.excess` of a graph: numbers of its bodies that are rounded to halves as it is written need not be, where nothing sees it (`etdg-excess-precision`);
    - `etdg.merged` of a function or graph: products of lengths that became one name;
    - `etdg.in_place` of a graph: which results may take the memory of which arguments (`ft/Dialect/ETDG/IR/InPlace.h`);
    - `etdg.kept_together` of a nest or block: that it was refused to be taken apart;
    - `etdg.dims` of an argument: the names of its dimensions, `""` for one without;
    - `etdg.divisions` of a nest or block: how it may be distributed, a list of `#etdg.division`, among which the phase `schedule` chooses;
    - `etdg.apart` of a graph: merges of two products that are left out, `"first+second"` by the names of the blocks;
    - `etdg.together` of a graph: merges of two products that were made, as `etdg.apart` names them;
    - `etdg.partitioned` of a graph: by which mode its kernels were chosen. `etdg-schedule-for-gpu` joins no short nests then;
    - `etdg.number` of a nest or block in a kernel: its number, by which edges name it;
    - `etdg.edges` of a kernel: the edges into its nests, a list of `#etdg.edge`;
    - `etdg.before` of a nest or block in a kernel of several: `"grid"`, thread blocks wait before it;
    - `etdg.handed` of a leaf whose work the threads of a GPU share: pairs of a write and a dimension, by `etdg-hand-states`. The next
      iteration along the dimension reads what the leaf writes there. Other code reads the last one alone (T15 of the validator). A thread
      with the state in registers need not store it before the loop has ended;
    - `etdg.snapshots` of a module: the graphs as they were before a phase, with which the validator compares.
  }];
  let discardableAttrs = (ins "::mlir::ArrayAttr":$candidates, "::mlir::IntegerAttr":$slot, "::mlir::ArrayAttr":$layouts, "::mlir::etdg::RowsAttr":$rows,
                              "::mlir::ArrayAttr":$checks, "::mlir::DictionaryAttr":$merged,
                              "::mlir::UnitAttr":$kept_together, "::mlir::etdg::CutAttr":$cut, "::mlir::ArrayAttr":$dims, "::mlir::ArrayAttr":$divisions,
                              "::mlir::DictionaryAttr":$snapshots, "::mlir::UnitAttr":$excess, "::mlir::DenseI64ArrayAttr":$in_place,
                              "::mlir::ArrayAttr":$apart, "::mlir::ArrayAttr":$together, "::mlir::StringAttr":$partitioned,
                              "::mlir::ArrayAttr":$edges, "::mlir::IntegerAttr":$number, "::mlir::StringAttr":$before,
                              "::mlir::DenseI64ArrayAttr":$handed);
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::mlir::ft::FTDialect"];
}

#endif // ETDG_DIALECT
