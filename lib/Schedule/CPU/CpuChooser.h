//===- CpuChooser.h - chooses among the forms of an item --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What `etdg-choose-schedule` asks: what an item of a graph costs in one of its
// orders, or divided (ChooseSchedule.cpp), and where lengths decide between such
// forms (CpuForms.cpp).
//
//===----------------------------------------------------------------------===//
#ifndef LIB_SCHEDULE_CPU_CPUCHOOSER_H
#define LIB_SCHEDULE_CPU_CPUCHOOSER_H

#include "ft/Dialect/ETDG/Transforms/ApplySchedule.h"
#include "ft/Schedule/Analysis/Candidates.h"
#include "ft/Schedule/Analysis/FormGuards.h"
#include "ft/Schedule/CPU/JoinSteps.h"

#include <memory>
#include <string>

namespace mlir::ft::schedule {

/// An item under a schedule and its cheapest plan.
struct Price {
  double seconds = 0, barriers = 0;
  std::string text;
  uint64_t plans = 0; // that were priced for it
  bool isOverBudget = false;

  /// What is run after it.
  Price &operator+=(const Price &next);
};

/// What is found out once for a graph and all copies of it in which something is tried.
struct KnownOfGraph {
  std::shared_ptr<etdg::TransformedDomains> domains = std::make_shared<etdg::TransformedDomains>();
  std::shared_ptr<LeafForms> leaves = std::make_shared<LeafForms>();
};

/// Decides for one graph. What is decided for an item may replace the graph's body.
class CpuChooser {
public:
  CpuChooser(etdg::GraphOp graph, const CpuScheduleOptions &options, KnownOfGraph known = {})
      : graph(graph), options(options), known(std::move(known)) {}
  LogicalResult run();

private:
  LogicalResult chooseFor(unsigned number);
  /// The order of least time, which the item then has; null where it has but one, and where one can't be applied. `ofAll`: of each.
  FailureOr<Price> chooseOrder(Operation *item, bool says, SmallVectorImpl<Price> *ofAll = nullptr);
  FailureOr<Price> price(Operation *item, etdg::ScheduleAttr schedule);
  static Price priceIn(CostModel &costs, ArrayRef<BlockOp> nest);
  /// What the items cost that stand for a divided one, and what is kept between its parts.
  FailureOr<Price> priceDivided(etdg::GraphOp copy, ArrayRef<Operation *> own, const etdg::Between &between);
  void addBetween(Price &total, CostModel &costs, const etdg::Between &between) const;
  /// Takes division `division` of an item, whatever it costs. False where it can't be done.
  bool divide(unsigned number, const etdg::Division &division);
  void replaceBody(etdg::GraphOp copy);

  /// Another form of an item, in a copy of the graph.
  struct Form {
    OwningOpRef<etdg::GraphOp> graph; // of an order: made where it is one of those that are compared
    etdg::ScheduleAttr order;
    SmallVector<Operation *> own; // the items that stand for it
    etdg::Between between;
    std::string name;
    Price price; // at typical lengths
    /// The same with its orders applied, of which prices are asked.
    OwningOpRef<etdg::GraphOp> applied;
    SmallVector<Operation *> ownApplied;
    /// By applied item: what prices it at any lengths, where there is that.
    SmallVector<std::unique_ptr<JoinableItem>> items;
    /// Prices that are known, by lengths that are not the typical ones.
    SmallVector<std::pair<Lengths, double>> prices;
  };
  /// The divisions of an item, with their cheapest orders.
  FailureOr<std::vector<Form>> makeDivisions(unsigned number, ArrayRef<etdg::Division> divisions);
  /// The body of the cheapest of an item's divisions in place of the graph's, where it is cheaper than `whole`.
  void chooseDivision(unsigned number, MutableArrayRef<Form> divisions, const Price &whole);
  /// Where lengths decide, forms as `etdg.variants` in the place of the item. False where one form is enough.
  bool chooseOverLengths(unsigned number, MutableArrayRef<Form> divisions, ArrayRef<Price> ofOrders);
  /// The item as it stands, and its other orders. `prices`: of each of its orders.
  std::vector<Form> makeOrders(unsigned number, ArrayRef<Price> prices);
  void makeOrder(Form &form, unsigned number);
  /// False where an order can't be applied.
  bool apply(Form &form);
  double priceAt(Form &form, const Lengths &lengths);
  FailureOr<Price> priceApplied(Form &form, const Lengths &lengths);
  /// A price to compare, where barriers are worth less than they seem, as among orders.
  double weigh(const Price &price) const;
  /// Leaves of many forms the first one, which is the item, and the best of the others.
  void keepBest(SmallVectorImpl<Form *> &forms);

  etdg::GraphOp graph;
  const CpuScheduleOptions &options;
  KnownOfGraph known;
  std::unique_ptr<etdg::ScheduleApplier> applier; // where one has been asked for
};

} // namespace mlir::ft::schedule

#endif // LIB_SCHEDULE_CPU_CPUCHOOSER_H
