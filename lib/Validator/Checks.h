//===- Checks.h - what the validator asks -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef LIB_FT_VALIDATOR_CHECKS_H
#define LIB_FT_VALIDATOR_CHECKS_H

#include "Order.h"
#include "ft/Validator/Validator.h"

namespace mlir::etdg::validator {

class Checks {
public:
  Checks(GraphOp graph, const ValidateOptions &options)
      : graph(graph), options(options), model(graph) {}
  LogicalResult run();

private:
  /// A thing that is wrong: where, what, a point that shows it, the other end.
  struct Finding {
    Operation *op;
    StringRef number;
    std::string message;
    std::string example;
    std::optional<Location> otherEnd;
    std::string note;
  };
  /// A set over [shared | variables …] and the names of some of them, for an example.
  struct Shown {
    Conjunction set;
    SmallVector<unsigned> variables;
    SmallVector<StringAttr> names;
  };

  void report(Finding finding);
  void reportOpen(Operation *op);
  void writeReproducer();
  std::string sample(const Shown &shown);
  /// Adds the point of another access, named with a stroke.
  void showPoint(Shown &shown, const Access &access, ArrayRef<Row> point);
  /// The point of an access that a conjunction begins with.
  Shown show(const Conjunction &set, const Access &access);
  /// Empty, or what to do about it: `fn` on a point, or an error where numbers are too large.
  /// Returns whether it is empty.
  bool expectEmpty(const Conjunction &set, Operation *op, llvm::function_ref<void()> fn);

  void checkInterface();
  void checkNest(ArrayRef<BlockOp> nest);
  void checkPieces(BlockOp block, ArrayAttr reads, TypeRange types, StringRef what);
  void checkBounds(const Access &access);
  void checkBuffer(Value buffer);
  void checkSingle(const Image &a, const Image &b);
  /// T2 where the read belongs to a leaf, and T4.
  void checkRead(const Access &read, ArrayRef<Image> images);
  void checkLive(const Access &read, const Image &write, const Image &clobber,
                 ArrayRef<int64_t> live);
  /// T10: buffers with one `etdg.slot` share memory.
  void checkSlots();
  void checkShared(Value buffer, Value other);
  /// T10: a result of `etdg.in_place` is in its argument's memory.
  void checkInPlace();
  void checkReplaced(const Access &read, const Access &writer);
  /// T11: what a placement stages, nothing writes between then and the read. `before`: the steps around it,
  /// in the last of which it is `ahead` by so many iterations.
  void checkPlacements(const Leaf &leaf);
  /// T12: shares of a reduction cover it, begin from `identity` and are joined in order.
  void checkCut(BlockOp shares);
  /// T15: of a state that `etdg.handed` lists, others than the leaf's next iteration read the last one alone.
  void checkHanded(const Leaf &leaf);
  void checkHanded(const Access &write, const Access &read, unsigned dim);
  /// T14: the kinds of edges between the nests of kernels are strong enough.
  void checkEdges();
  void checkStaged(const Access &read, const Image &image, ArrayRef<Step> before, int64_t ahead);
  /// `clobber`, at a place that `base` gives it, never comes between `write` and `read`.
  /// `c` and `w` are where they are in `base`.
  bool checkClobber(const Conjunction &base, const Access &read, const Image &write,
                    const Placed &w, const Image &clobber, const Placed &c, StringRef number,
                    const Twine &message);
  void reportUncovered(const Access &read, ArrayRef<Conjunction> covers);

  bool isDone() const { return numErrors >= options.maxErrors; }
  Operation *opOf(const Access &access) {
    return access.leaf ? BlockOp(access.leaf->block).getOperation() : graph.getOperation();
  }
  std::string whose(const Access &access);

  GraphOp graph;
  const ValidateOptions &options;
  Model model;
  unsigned numErrors = 0;
  std::string reproducer;
};

} // namespace mlir::etdg::validator

#endif // LIB_FT_VALIDATOR_CHECKS_H
