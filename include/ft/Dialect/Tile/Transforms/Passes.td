//===- Passes.td - passes over tile ------------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_DIALECT_TILE_TRANSFORMS_PASSES
#define FT_DIALECT_TILE_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

/// A pass over kernels; those without the attribute `tile.pipeline` stay.
class PipelinePass<string name> : Pass<name> {
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect",
                           "::mlir::tile::TileDialect"];
}

def TileSplitMasks : PipelinePass<"tile-split-masks"> {
  let summary = "ask for a mask in those blocks alone that it cuts, and leave out those that it hides";
  string reads = "`tile.pipeline`, `tile.map`";
  string writes = "loops, branches, `tile.flag`";
  let description = [{
    Index-set splitting of a loop over blocks of columns whose scores a mask hides: causal attention, windows, and both with biases or caps. The mask is a conjunction of
    comparisons of sums: of the loop's index, of an element's row and column, and of what the loop does not change. It may be said by what is hidden, too.
    Rows of a tile have unequal ranges.
    - Where all elements of a block are shown, what depends on the mask is computed without it. The other blocks go through a branch with the mask, in the same loop:
      the products on both sides stay in flight.
    - The loop runs over the union of the rows' ranges. Blocks without a score are left out where each row has one, and the body leaves such a row's states as they
      are. That is derived of ranges of values (`MaskedStates.cpp`): a hidden term is e to the power of something far below zero.
    - A row's maximum may turn out to be about as low as the number that hides scores. What was left out would then count: a thread block that finds such a row
      computes its task again, with all blocks (`Repeats.cpp`). Blocks stay where results may lie in what the kernel reads.
    - Tasks that have more blocks come first (`OrderTasks.cpp`).

    What a hidden element multiplies is not read: a NaN there does not spread.
  }];
}

def TileHoistFetches : PipelinePass<"tile-hoist-fetches"> {
  let summary = "fetch before a loop what is the same in all of its iterations";
  string reads = "`tile.pipeline`, `tile.fetch`";
  string writes = "`tile.fetch`";
  let description = [{
    A `tile.fetch` whose map and coordinates no iteration of a loop changes moves before the loop, with what its coordinates are computed from. Loops that carry
    tiles in registers are left so, and no others: an operand of what stays in registers stays in shared memory as long.
  }];
}

def TileRotateLoops : PipelinePass<"tile-rotate-loops"> {
  let summary = "multiply the last product of an iteration beside the first of the next one";
  string reads = "`tile.pipeline`, `tile.mma`";
  string writes = "loops";
  let description = [{
    Software pipelining of a loop with a chain of products (`#tile.chain`), by one iteration. The last product, and what follows of it, moves into the next iteration,
    after its first product. So it may be in flight while others compute what leads from the first product to the last one (FlashAttention-3, arXiv 2407.08608, §3.2).
    The first iteration begins before the loop, and the last one ends after it. What the last product takes is carried by the loop.

    A loop that may have no iteration, or does something else than fetch, load and multiply, stays. So does one whose sums have columns beyond a matrix.
  }];
}

def TileSplitRoles : PipelinePass<"tile-split-roles"> {
  let summary = "divide a kernel among warp groups that fetch and warp groups that compute";
  string reads = "`tile.pipeline`, `tile.fetch`";
  string writes = "`tile.roles`, threads of the launch";
  let description = [{
    What a kernel with `tile.pipeline` does becomes `tile.roles` (FT §5.3; "warp specialization"). The computing role has all of it. The loading role has the
    same loops and conditions without what no `tile.fetch` needs: it runs ahead over steps, tiles and tasks alike. What both use and has no
    effect, such as tensor maps, stays before. Barriers of the block become those of the computing groups; the launch gets the loaders' threads.
    After a barrier of the grid, which the computing role takes part in, both roles have `tile.join`: the loading one waits there.
    Where no thread reads what another one writes, barriers go: groups need not wait for each other.

    A fetch whose coordinates depend on what the computing role makes is an error.
  }];
}

def TileMakeChannels : PipelinePass<"tile-make-channels"> {
  let summary = "let fetched tiles go from the loading role to the computing one through channels";
  string reads = "`tile.roles`, `tile.fetch`";
  string writes = "`tile.channel`, shared memory of the launch";
  let description = [{
    Fetches of one block of operations, which lie side by side, become an element of a channel with the `slots` of the kernel's `tile.pipeline`. All elements that
    are read before the next one is share one channel, whose slots are as large as the largest. One that stays while others come has a channel of one slot. The loading
    role has `tile.acquire`, a `tile.start_fetch` for each tile, and `tile.publish`. The computing role has `tile.receive`, and `tile.release` after the last use,
    which of a product in flight is its `tile.await`.
    The channels' shared memory is added to the launch. What does not fit the device is an error that names the channel.
  }];
  let options = [Option<"sharedBytes", "shared-bytes", "int64_t", "0", "of a thread block at most; 0: no limit">];
}

def TileOrderLoops : PipelinePass<"tile-order-loops"> {
  let summary = "start products of warp groups and await them";
  string reads = "`tile.mma`";
  string writes = "`tile.start_mma`, `tile.await`";
  let description = [{
    `tile.mma` with `wgmma` becomes `tile.start_mma`, and `tile.await` before its sums are used. So products that follow are in flight meanwhile.
  }];
}

def TilePlaceSlots : PipelinePass<"tile-place-slots"> {
  let summary = "count the slots of channels that a role has taken";
  string reads = "`tile.channel`";
  string writes = "numbers of slots";
  let description = [{
    Each operation of a channel gets the number of slots that its role has taken of it before (`at`), which loops and conditions carry.
  }];
}

def TileFetchEarly : PipelinePass<"tile-fetch-early"> {
  let summary = "fetch what no launch writes before the launches before have ended";
  string reads = "`nvvm.griddepcontrol`, the launch plan, `tile.acquire`";
  string writes = "`tile.ahead`, `tile.start_fetch`, `nvvm.griddepcontrol`";
  let description = [{
    In a kernel that overlaps the launches before it each role waits for them by itself (`griddepcontrol wait`). Before it does, the loading role fetches tiles
    of a channel's first elements, as many as there are slots. They lie in constants or in inputs of the call that no launch writes: weights, above all.
    After the wait the same elements are acquired and published as all others, and their other tiles are fetched.
    - Such elements are those of one `tile.acquire`, in the first iteration of the loops around and the first ones of the innermost loop.
    - Coordinates and conditions that are read from memory stay after the wait.
  }];
}

def TileCheckPhases : PipelinePass<"tile-check-phases"> {
  let summary = "check that roles and channels can't wait for ever, nor release what is read";
  string reads = "`tile.roles`, `tile.channel`";
  string writes = "errors";
  let description = [{
    A slot that is acquired and not published, or received and not released, on some path is an error. So is a release while a product that reads the slot may be in
    flight. So are a channel that both roles write or read, roles whose loops around a channel or a join differ, and a barrier of the whole block in a role.
    Before a role has waited for the launches before, it touches no memory, but for fetches of what no launch writes.
  }];
}

def TileLowerChannels : PipelinePass<"tile-lower-channels"> {
  let summary = "turn roles into branches, and channels into mbarriers";
  string reads = "`tile.roles`, `tile.channel`";
  string writes = "mbarriers";
  let description = [{
    Of each slot one mbarrier says that its bytes have landed, another one that each warp of the computing groups has left it. Slot and parity are those of
    the number that operations of a channel have (`at`). One thread makes the barriers. A warp group finds its role by a shuffle, so that warps know it to be one
    for all lanes; a loader's first warp elects a thread, which does all. Registers are dealt by `setmaxnreg`.
  }];
}

#endif // FT_DIALECT_TILE_TRANSFORMS_PASSES
