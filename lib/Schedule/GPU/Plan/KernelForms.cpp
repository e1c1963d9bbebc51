//===- KernelForms.cpp - which form a kernel has, at which lengths --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Thread blocks that are independent or steps of the whole grid; rows of the kernel or of its body; steps with products in
// tiles or without. Forms are written on copies of the graph and priced at several lengths; where lengths decide,
// `etdg.variants` holds them.
//
//===----------------------------------------------------------------------===//
#include "Scheduler.h"

#include "StepLeaf.h"
#include "ft/Dialect/ETDG/IR/AttributeNames.h"
#include "ft/Schedule/Analysis/Dimensions.h"
#include "ft/Schedule/GPU/Layouts/RowRuns.h"
#include "ft/Schedule/GPU/Prices/KernelPrices.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;

namespace mlir::ft::schedule {
/// A copy of the graph in which a kernel has another form, to be priced.
struct FormOfKernel {
  OwningOpRef<etdg::GraphOp> graph;
  Operation *kernel = nullptr; // or the variants that took its place
  std::unique_ptr<KernelPrices> prices;

  double secondsAt(const Lengths &lengths) {
    prices->setLengths(lengths);
    return prices->priceItem(*kernel)->seconds;
  }
};

/// A form of what the grid takes in steps.
struct StepForm {
  std::optional<Lengths> tiles; // with each nest as one leaf whose products are in tiles for these lengths; nothing: as it stands
  FormOfKernel form;
};
} // namespace mlir::ft::schedule

/// Nothing where the kernel can't have the form, or has no price in it. `write` may put variants in the place of the kernel.
static std::optional<FormOfKernel> formWith(etdg::GraphOp graph, Operation *item, const GpuScheduleOptions &options,
                                            llvm::function_ref<LogicalResult(etdg::GraphOp, Operation *)> write) {
  QuietForms quiet(graph.getContext());
  IRMapping mapping;
  FormOfKernel form;
  form.graph = cast<etdg::GraphOp>(graph->clone(mapping));
  Operation *own = mapping.lookup(item), *before = own->getPrevNode();
  Block *body = own->getBlock();
  if (failed(write(*form.graph, own)))
    return std::nullopt;
  form.kernel = before ? before->getNextNode() : &body->front();
  form.prices = std::make_unique<KernelPrices>(*form.graph, options);
  if (failed(form.prices->priceItem(*form.kernel)))
    return std::nullopt;
  return form;
}

/// Lengths at which rows are compared: also such at which there are very many points, since that is what rows are for, while others are usual or long.
static std::vector<Lengths> lengthsOfRows(etdg::GraphOp graph, Operation *item) {
  constexpr int64_t times = 16, most = times * times * times; // as far apart as lengths that nothing knows (FormGuards.cpp), three times
  constexpr size_t mostPoints = 32; // without those that are added
  std::vector<Lengths> points = sampleLengths(graph, item, mostPoints);
  etdg::TypicalLengths typical(graph);
  Lengths usual = points.front(), longest = usual;
  for (auto &[name, value] : usual)
    value = typical.get(name);
  for (const Lengths &point : points)
    for (auto [most, one] : llvm::zip_equal(longest, point))
      most.second = std::max(most.second, one.second);
  BlockOp front = nestsOf(item).front().front();
  for (size_t i = 0; i < usual.size(); ++i)
    if (llvm::is_contained(front.getSymbolNames(), usual[i].first))
      for (int64_t factor = times; factor <= most; factor *= times) {
        for (Lengths point : {usual, longest}) {
          point[i].second = std::max<int64_t>(usual[i].second, 1) * factor;
          if (!llvm::is_contained(points, point))
            points.push_back(std::move(point));
        }
      }
  return points;
}

/// Whose rows nests of a body have, by the number of the form in which they have them.
static constexpr RowsOf rowsOfForms[] = {RowsOf::Kernel, RowsOf::Body};

/// A body that is computed for several points of the kernel at once reads weights once for them; where there are few such points for each thread
/// block, nests of the body have rows of their own points.
FormChoice Scheduler::chooseRowsOf(Operation *item) {
  FormChoice choice{{0}, {}};
  if (!planner.mayHaveRowsInside(nestsOf(item).front()))
    return choice;
  std::optional<FormOfKernel> forms[std::size(rowsOfForms)];
  if (options.planSeed == 0)
    for (auto [form, rowsOf] : llvm::zip_equal(forms, rowsOfForms))
      form = formWith(graph, item, options, [&, rowsOf = rowsOf](etdg::GraphOp copy, Operation *own) {
        return Scheduler(copy, options).writeBlocks(nestsOf(own).front(), rowsOf);
      });
  if (!forms[0] || !forms[1]) {
    RowsOf drawn = options.planSeed != 0 ? planner.drawRowsOf() : forms[1] ? RowsOf::Body : RowsOf::Kernel;
    choice.forms = {unsigned(llvm::find(rowsOfForms, drawn) - std::begin(rowsOfForms))};
    return choice;
  }
  constexpr double percent = 100; // shares are given in
  auto priceOf = [&](unsigned form, const Lengths &lengths) { return forms[form]->secondsAt(lengths); };
  choice = chooseForms(graph, lengthsOfRows(graph, item), std::size(rowsOfForms), double(machine.gpu.divisionShare) / percent, priceOf);
  if (isTold(item)) {
    auto about = remark::RemarkOpts::name("choose-rows").category("gpu");
    std::string text =
        llvm::formatv("rows of nests in the body: {0:F0} percent of the time of the kernel's own rows", priceOf(1, {}) / priceOf(0, {}) * percent);
    for (auto [form, guard] : llvm::zip(choice.forms, choice.guards))
      llvm::raw_string_ostream(text) << "; " << (form == 0 ? "the kernel's" : "the body's") << " where " << describe(guard);
    (choice.takes(1) ? remark::passed(item->getLoc(), about) : remark::missed(item->getLoc(), about)) << text;
  }
  return choice;
}

/// The item and copies of it, one for each guard and the item itself elsewhere.
static SmallVector<Operation *> makeVariants(Operation *item, ArrayRef<etdg::GuardAttr> guards) {
  OpBuilder builder(item);
  SmallVector<Attribute> list(guards.begin(), guards.end());
  auto variants = etdg::VariantsOp::create(builder, item->getLoc(), builder.getArrayAttr(list), /*variantsCount=*/guards.size() + 1);
  SmallVector<Operation *> made;
  for (Region &variant : variants.getVariants().drop_back()) {
    made.push_back(item->clone());
    variant.emplaceBlock().push_back(made.back());
  }
  Block &last = variants.getVariants().back().emplaceBlock();
  item->moveBefore(&last, last.end());
  made.push_back(item);
  return made;
}

LogicalResult Scheduler::writeBlocks(Operation *item) {
  FormChoice choice = chooseRowsOf(item);
  if (!choice.takesSeveral())
    return writeBlocks(nestsOf(item).front(), rowsOfForms[choice.forms.front()]);
  for (auto [form, own] : llvm::zip_equal(choice.forms, makeVariants(item, choice.guards)))
    if (failed(writeBlocks(nestsOf(own).front(), rowsOfForms[form])))
      return failure();
  return success();
}

static bool hasProductTiles(Operation *item) {
  return item->walk([](BlockOp leaf) { return hasProductLayout(leaf) ? WalkResult::interrupt() : WalkResult::advance(); }).wasInterrupted();
}

/// Whether independent thread blocks compute the products of the nest's steps in tiles, at most at the price of a grid that waits after each step.
bool Scheduler::prefersBlocks(Operation *item) {
  if (options.planSeed != 0) // either will do
    return false;
  std::optional<FormOfKernel> blocks =
      formWith(graph, item, options, [&](etdg::GraphOp copy, Operation *own) { return Scheduler(copy, options).writeBlocks(own); });
  if (!blocks || !hasProductTiles(blocks->kernel))
    return false;
  std::optional<FormOfKernel> steps = formWith(graph, item, options, [&](etdg::GraphOp copy, Operation *own) {
    Nests nests = nestsOf(own);
    return Scheduler(copy, options).writeSteps(nests, planner.sortDimensions(nests.front()));
  });
  return !steps || blocks->secondsAt(options.lengths) <= steps->secondsAt(options.lengths);
}

/// Without tiles of products in the steps of a recurrence, but where its leaves have such as they stand.
LogicalResult Scheduler::planAsItStands(Operation *item) {
  Nests nests = nestsOf(item);
  if (GpuPlace place = placeOf(item, nests); place.isGrouped)
    return planGrouped(nests, place);
  GpuPlan steps = planner.sortDimensions(nests.front());
  FailureOr<GpuPlanner::Forms> forms = planner.chooseForms(nests.front(), steps);
  if (failed(forms))
    return failure();
  if (!forms->blocks)
    return writeSteps(nests, std::move(steps));
  if (!forms->steps || (forms->isPriced && prefersBlocks(item)))
    return writeBlocks(item);
  Operation *copy = makeVariants(item, *forms->guard).front();
  auto variants = cast<etdg::VariantsOp>(copy->getParentOp());
  if (failed(writeSteps(nestsOf(copy), std::move(steps))) || failed(writeBlocks(item)))
    return failure();
  flattenVariants(variants);
  return success();
}

/// Makes the step of each nest one leaf where it can be; the item then, null where no nest could.
static Operation *makeStepLeaves(Operation *item) {
  auto make = [](Operation *nest) -> Operation * {
    Operation *leaf = makeStepLeaf(nest);
    if (leaf)
      nest->erase();
    return leaf;
  };
  auto kernel = dyn_cast<etdg::KernelOp>(item);
  if (!kernel)
    return make(item);
  bool isMade = false;
  for (Operation &op : llvm::make_early_inc_range(kernel.getBody().front()))
    isMade |= isa<etdg::NestOp, BlockOp>(op) && make(&op);
  return isMade ? item : nullptr;
}

/// Writes steps as one leaf each; a failure where no products are in tiles then.
LogicalResult Scheduler::planStepLeaf(Operation *item) {
  Operation *made = makeStepLeaves(item);
  if (!made)
    return failure();
  Nests nests = nestsOf(made);
  GpuPlace place = placeOf(made, nests);
  if (failed(place.isGrouped ? planGrouped(nests, place) : writeSteps(nests, planner.sortDimensions(nests.front()))))
    return failure();
  return success(hasProductTiles(made));
}

/// How the nests of an item run: equal for two plans of the same nests that are one.
static SmallVector<Attribute> plansOf(Operation *item) {
  SmallVector<Attribute> plans;
  for (ArrayRef<BlockOp> nest : nestsOf(item)) {
    plans.push_back(scheduleOf(nest));
    for (BlockOp block : nest)
      plans.push_back(block->getAttr(etdg::names::layouts));
  }
  return plans;
}

/// The names of lengths that decide how many rows the nests of an item have, and the most that the program lets each be.
std::vector<std::pair<StringAttr, int64_t>> Scheduler::namesOfRows(Operation *item) {
  llvm::MapVector<StringAttr, int64_t> names;
  for (ArrayRef<BlockOp> nest : nestsOf(item)) {
    BlockOp front = nest.front();
    std::optional<unsigned> row = planner.sortDimensions(nest).row;
    if (!row)
      continue;
    DimBounds bounds = boundsOf(front, *row);
    for (auto [number, name] : llvm::enumerate(front.getSymbolNames()))
      if (llvm::any_of(bounds.uppers, [&](AffineExpr upper) { return upper.isFunctionOfSymbol(unsigned(number)); }))
        names.insert({name, std::numeric_limits<int64_t>::max()});
  }
  for (auto assume : graph.getBody().getOps<etdg::AssumeOp>())
    if (auto *found = names.find(assume.getLengthAttr()); found != names.end())
      found->second = assume.getHi();
  return {names.begin(), names.end()};
}

/// The lengths for which steps with tiles are planned: typical ones, and many more rows, whatever is typical. Tiles for many rows are none for few.
std::vector<Lengths> Scheduler::lengthsOfTiles(Operation *item) {
  constexpr int64_t times = 16; // as lengths at which rows are compared
  etdg::TypicalLengths typical(graph);
  std::vector<Lengths> all(1);
  for (int64_t factor : {times, times * times}) {
    Lengths more;
    for (auto [name, most] : namesOfRows(item))
      if (int64_t usual = std::max<int64_t>(typical.get(name), 1); usual < most)
        more.push_back({name, std::min(usual * factor, most)});
    if (!more.empty())
      all.push_back(std::move(more));
  }
  return all;
}

/// Both kinds of forms that can be, those with tiles first; no two that are the same.
std::vector<StepForm> Scheduler::makeStepForms(Operation *item) {
  std::vector<StepForm> forms;
  for (const Lengths &lengths : lengthsOfTiles(item)) {
    GpuScheduleOptions at = options;
    at.lengths = lengths;
    std::optional<FormOfKernel> form = formWith(graph, item, options, [&](etdg::GraphOp copy, Operation *own) { return Scheduler(copy, at).planStepLeaf(own); });
    if (form && llvm::none_of(forms, [&](const StepForm &other) { return plansOf(other.form.kernel) == plansOf(form->kernel); }))
      forms.push_back({lengths, std::move(*form)});
    if (options.planSeed != 0) // any plan will do
      break;
  }
  if (forms.empty() || options.planSeed != 0)
    return forms;
  if (std::optional<FormOfKernel> form = formWith(graph, item, options, [&](etdg::GraphOp copy, Operation *own) { return Scheduler(copy, options).planAsItStands(own); }))
    forms.insert(forms.begin(), {std::nullopt, std::move(*form)});
  return forms;
}

/// How many points a step of a nest has at most: what its dealt loops have, where no step decides that. Nothing where lengths don't say it.
static std::optional<LengthMeasure> pointsOfStep(ArrayRef<BlockOp> nest) {
  BlockOp front = nest.front();
  MLIRContext *context = front.getContext();
  llvm::SmallSetVector<unsigned, 4> dealt;
  std::optional<unsigned> row;
  for (etdg::LoopAttr loop : scheduleOf(nest).getLoops())
    if (loop.getDimension() < front.getNumOwnDims() && loop.getLevel() == etdg::LoopLevel::Grid)
      dealt.insert(front.getNumAncestors() + loop.getDimension());
    else if (loop.getLevel() == etdg::LoopLevel::Rows)
      row = front.getNumAncestors() + loop.getDimension();
  LengthMeasure measure{{ArrayAttr::get(context, {})}, nullptr};
  auto isOfLengths = [&](AffineExpr expr) { return llvm::none_of(llvm::seq(front.getNumDims()), [&](unsigned d) { return expr.isFunctionOfDim(d); }); };
  for (unsigned dim : dealt) {
    DimBounds bounds = boundsOf(front, dim);
    SmallVector<ArrayAttr> longer;
    for (AffineExpr upper : bounds.uppers)
      for (AffineExpr lower : bounds.lowers) {
        AffineExpr count = simplifyAffineExpr(upper - lower, front.getNumDims(), front.getSymbolNames().size());
        for (ArrayAttr product : measure.products)
          if (isOfLengths(count)) {
            SmallVector<Attribute> factors(product.getValue());
            if (!isa<AffineConstantExpr>(count)) // (which is the same for all calls)
              factors.push_back(LengthAttr::get(context, front.getSymbolNames(), count));
            longer.push_back(ArrayAttr::get(context, factors));
          }
        for (auto [number, name] : llvm::enumerate(front.getSymbolNames()))
          if (row == dim && count.isFunctionOfSymbol(unsigned(number)))
            measure.varied = name;
      }
    constexpr size_t most = 4; // each is a product that a guard evaluates
    if (longer.empty() || longer.size() > most)
      return std::nullopt;
    measure.products = std::move(longer);
  }
  return measure.varied && dealt.size() > 1 ? std::optional(measure) : std::nullopt;
}

/// Whether a nest has steps that wait for those before: iterations of a reduction do not, thread blocks take them without each other.
static bool isRecurrence(ArrayRef<BlockOp> nest, ArrayRef<unsigned> steps) {
  return llvm::any_of(nest, [&](BlockOp block) {
    return llvm::any_of(steps, [&](unsigned dim) { return block.getOperator(dim - block.getNumAncestors()) != OperatorKind::Reduce; });
  });
}

/// What the grid takes in steps may have tiles of products there. Whether these pay decide prices: small lengths leave tiles empty.
Scheduler::StepChoice Scheduler::chooseStepForm(Operation *item) {
  StepChoice choice{{std::nullopt}, {}};
  Nests nests = nestsOf(item);
  auto isStepped = [&](ArrayRef<BlockOp> nest) { return isRecurrence(nest, planner.sortDimensions(nest).steps); };
  if (llvm::none_of(nests, isStepped) || options.steps == GpuScheduleOptions::Steps::never)
    return choice;
  std::vector<StepForm> forms = makeStepForms(item);
  if (forms.empty() || (options.planSeed != 0 && !planner.drawStepLeaf()))
    return choice;
  if (forms.size() == 1)
    return {{forms.front().tiles}, {}};
  constexpr double percent = 100; // shares are given in
  auto priceOf = [&](unsigned form, const Lengths &lengths) { return forms[form].form.secondsAt(lengths); };
  // (As one leaf a step has one region most often, whose ranges are those of all points.)
  Nests leaves = nestsOf(forms.back().form.kernel);
  std::optional<LengthMeasure> points = leaves.front().size() == 1 ? pointsOfStep(leaves.front()) : std::nullopt;
  FormChoice chosen = chooseForms(graph, lengthsOfRows(graph, item), unsigned(forms.size()), double(machine.gpu.divisionShare) / percent, priceOf,
                                  points ? ArrayRef(*points) : ArrayRef<LengthMeasure>());
  auto isTiled = [&](unsigned form) { return forms[form].tiles.has_value(); };
  if (isTold(item)) {
    auto about = remark::RemarkOpts::name("step-tiles").category("gpu");
    std::string text = "products of a step in tiles";
    if (!isTiled(0))
      text += llvm::formatv(": {0:F0} percent of the time without", priceOf(1, {}) / priceOf(0, {}) * percent);
    for (auto [form, guard] : llvm::zip(chosen.forms, chosen.guards))
      llvm::raw_string_ostream(text) << "; " << (isTiled(form) ? "in tiles" : "without") << " where " << describe(guard);
    (llvm::any_of(chosen.forms, isTiled) ? remark::passed(item->getLoc(), about) : remark::missed(item->getLoc(), about)) << text;
  }
  choice = {{}, chosen.guards};
  for (unsigned form : chosen.forms)
    choice.tiles.push_back(forms[form].tiles);
  return choice;
}

LogicalResult Scheduler::planItem(Operation *item) {
  StepChoice choice = chooseStepForm(item);
  auto plan = [&](const std::optional<Lengths> &tiles, Operation *own) {
    if (!tiles)
      return planAsItStands(own);
    GpuScheduleOptions at = options;
    at.lengths = *tiles;
    return Scheduler(graph, at).planStepLeaf(own);
  };
  if (choice.guards.empty())
    return plan(choice.tiles.front(), item);
  SmallVector<Operation *> made = makeVariants(item, choice.guards);
  auto variants = cast<etdg::VariantsOp>(made.front()->getParentOp());
  for (auto [tiles, own] : llvm::zip_equal(choice.tiles, made))
    if (failed(plan(tiles, own)))
      return failure();
  flattenVariants(variants);
  return success();
}
