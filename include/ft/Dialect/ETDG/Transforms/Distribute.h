//===- Distribute.h - what does not wait, before what waits --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loop distribution at the level of statements: at each loop only what lies on a
// dependence cycle of that loop has to run in its order (FT §5.1 keeps a body
// whole). The products of a recurrent network with its inputs lie on none.
//
//===----------------------------------------------------------------------===//
#ifndef FT_DIALECT_ETDG_TRANSFORMS_DISTRIBUTE_H
#define FT_DIALECT_ETDG_TRANSFORMS_DISTRIBUTE_H

#include "ft/Dialect/ETDG/IR/ETDG.h"

namespace mlir::etdg {

/// How a nest is divided.
struct Division {
  /// This many sequential dimensions, the first ones, stay around both parts: layers.
  unsigned outer = 0;
  /// The sequential dimension that comes first, as declared; the others follow in their order. A program that goes
  /// through its layers at each step may as well go through the steps of each layer.
  unsigned first = 0;
  /// Both parts are regions of one wavefront, the products a step ahead, in place of one after the other.
  bool lags = false;
  /// A loop of maps around several parts becomes a loop for each of them (`takeApart`): all parallel dimensions of a part can be shared
  /// out then. Nothing else is specified for such a division.
  bool apart = false;
  bool operator==(const Division &other) const {
    return outer == other.outer && first == other.first && lags == other.lags && apart == other.apart;
  }
};

/// A nest after its division.
struct DividedNest {
  /// Blocks around both parts, where dimensions stay around.
  SmallVector<Operation *> around;
  /// What holds values between the parts, for one iteration of the block around, and of each how many of these
  /// there are in its dimensions.
  SmallVector<BufferOp> buffers;
  SmallVector<SmallVector<ft::LengthAttr>> times;
};

/// Whether a nest or lone block at the top of a graph, or one inside of it that has blocks of maps alone
/// around, could have products off its dependence cycles: it has a loop in order, contractions, and no partial
/// states to combine. Costs no sets.
bool mayBeDivided(Operation *item);

/// A nest or block that a division takes apart, and its own dimensions that are sequential, in their order.
struct DivisionSite {
  Operation *op;
  SmallVector<unsigned> sequential;
};
/// Those of an item.
SmallVector<DivisionSite> getDivisionSites(Operation *item);

/// The nests and blocks of a graph's body, but those inside kernels, in textual order.
SmallVector<Operation *> getTopItems(GraphOp graph);

/// How many sequential dimensions such a nest has, at most: `outer` is less.
unsigned countSequentialDims(Operation *item);

/// Takes the values of an item's leaves that contain a product and that no iteration waits for, at equal
/// values of the first `outer` sequential dimensions (in the division's order), out of it: they get blocks of their
/// own, all of whose dimensions are maps, in front of what is left. Where `outer` is not 0, both stand in a new block
/// over these dimensions. That the order keeps dependences is the caller's to know (`mayComeFirst`). Products added to what does wait are taken apart (floats are rounded in another
/// order; f16 and bf16 are kept in f32). No value: nothing could be taken out, or not with lengths that
/// bound a buffer; the graph may then be changed and is to be thrown away, so this is asked of copies.
std::optional<DividedNest> divideNest(GraphOp graph, Operation *item, const Division &division);

/// Whether an item is a loop of maps alone whose body is several parts, that `takeApart` takes apart. A price decides whether it should be.
bool mayBeTakenApart(GraphOp graph, Operation *item);
/// Loop fission: a loop for each of the parts, and of those that are such loops again; buffers that one part hands on to another get planes for each
/// iteration, and stand in front. No value, with nothing changed, where it is no such loop.
std::optional<DividedNest> takeApart(GraphOp graph, Operation *item);

/// Whether the nests and blocks of an item that may be divided may run with their sequential dimension number `first`
/// outermost: no dependence points back then.
bool mayComeFirst(GraphOp graph, Operation *item, unsigned first);

/// The part of `divideNest` in one body: returns the buffers that were made in front of `item`.
SmallVector<BufferOp> computeBefore(GraphOp graph, Block &body, Operation *item);

/// What `etdg-reorder` does. Of a copy that stands in no module nothing is remarked: it may be thrown away.
void reorderGraph(GraphOp graph);

/// The divisions of an item that differ in what they take out, fewest dimensions around first, each as
/// it stands and, where dimensions stay around, lagging; first in the order as declared, then with each other
/// dimension outermost.
SmallVector<Division> findDivisions(GraphOp graph, Operation *item);

/// `etdg.divisions` of an item: what `etdg-reorder` leaves for a choice by cost.
void setDivisions(Operation *item, ArrayRef<Division> divisions);
SmallVector<Division> getDivisions(Operation *item);

/// What a division keeps in memory, as types: the buffers themselves may become others when items get an order.
struct Between {
  SmallVector<BufferType> buffers;
  SmallVector<SmallVector<ft::LengthAttr>> times; // of each, how often it is filled
};

/// `graph` with item number `number` of its body (nests and blocks at the top, in textual order) divided
/// and everything that has no order yet given one. `own` gets the items that stand for it now. Null
/// where that can't be done.
OwningOpRef<GraphOp> makeDivided(GraphOp graph, unsigned number, const Division &division,
                                 SmallVectorImpl<Operation *> &own, Between &between);

/// A block at the top of a graph whose dimensions run in order and whose body holds several nests, as a kernel whose nests share
/// these dimensions: all units take each nest together. Null, with nothing changed, where it is none, a range bounds no
/// buffer, or something inside is bound to a target.
KernelOp shareLoops(GraphOp graph, BlockOp around);

} // namespace mlir::etdg

#endif // FT_DIALECT_ETDG_TRANSFORMS_DISTRIBUTE_H
