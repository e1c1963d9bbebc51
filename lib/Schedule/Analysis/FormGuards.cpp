//===- FormGuards.cpp - lengths that decide between forms -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ft/Schedule/Analysis/FormGuards.h"

#include "ft/Analysis/Extents.h"
#include "ft/Dialect/FT/IR/AttributeNames.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

#include <cmath>

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;
using etdg::BlockOp;

/// Of a length without a declared range: from the `farApart`th part to as many times what stands for it, by
/// steps of `apart`. That is a decode of a few tokens beside a prompt of thousands.
static constexpr int64_t farApart = 16, apart = 4;
//===----------------------------------------------------------------------===//
// At which lengths
//===----------------------------------------------------------------------===//

static SmallVector<StringAttr> namesOf(Operation *item) {
  llvm::SetVector<StringAttr> names;
  item->walk([&](BlockOp block) {
    for (StringAttr name : block.getSymbolNames())
      names.insert(name);
  });
  return names.takeVector();
}

/// What `ft.typical` says, [least, greatest].
static std::optional<std::pair<int64_t, int64_t>> typicalRange(etdg::GraphOp graph, StringAttr name) {
  auto ranges = graph->getAttrOfType<DictionaryAttr>(ft::names::typical);
  auto range = ranges ? dyn_cast_or_null<ArrayAttr>(ranges.get(name)) : ArrayAttr();
  if (!range || range.size() != 2 || !llvm::all_of(range, llvm::IsaPred<IntegerAttr>))
    return std::nullopt;
  return std::pair(cast<IntegerAttr>(range[0]).getInt(), cast<IntegerAttr>(range[1]).getInt());
}

static SmallVector<int64_t> valuesOf(etdg::GraphOp graph, StringAttr name, int64_t typical) {
  std::pair<int64_t, int64_t> bounds(1, std::numeric_limits<int64_t>::max());
  for (auto assume : graph.getBody().getOps<etdg::AssumeOp>())
    if (assume.getLengthAttr() == name) {
      if (!assume.getTypical().empty())
        return llvm::to_vector(assume.getTypical());
      bounds = {std::max<int64_t>(assume.getLo(), 1), assume.getHi()};
    }
  llvm::SetVector<int64_t> values;
  auto add = [&](int64_t value) { values.insert(std::clamp(value, bounds.first, std::max(bounds.first, bounds.second))); };
  if (auto range = typicalRange(graph, name)) {
    for (int64_t value : {range->first, typical, range->second})
      add(value);
  } else {
    typical = std::max<int64_t>(typical, 1);
    for (int64_t part = farApart; part >= 1; part /= apart)
      add(typical / part);
    for (int64_t times = apart; times <= farApart; times *= apart)
      add(typical * times);
  }
  return values.takeVector();
}

/// So many of a list at most: the first and the last one, and others between at equal distances.
static SmallVector<int64_t> thinOut(ArrayRef<int64_t> values, size_t most) {
  if (values.size() <= most)
    return SmallVector<int64_t>(values);
  SmallVector<int64_t> kept;
  for (size_t i = 0; i < most; ++i)
    kept.push_back(values[i * (values.size() - 1) / (most - 1)]);
  return kept;
}

std::vector<Lengths> schedule::sampleLengths(etdg::GraphOp graph, Operation *item, size_t mostPoints) {
  etdg::TypicalLengths typical(graph);
  llvm::MapVector<StringAttr, SmallVector<int64_t>> values;
  size_t most = 0;
  for (StringAttr name : namesOf(item)) {
    values[name] = valuesOf(graph, name, typical.get(name));
    most = std::max(most, values[name].size());
  }
  // As many values of each length as can be combined.
  auto count = [&](size_t ofEach) {
    size_t all = 1;
    for (auto &[name, some] : values)
      all = std::min(all * std::min(some.size(), ofEach), mostPoints + 1);
    return all;
  };
  while (most > 2 && count(most) > mostPoints)
    --most;
  std::vector<Lengths> points(1);
  for (auto &[name, some] : values) {
    SmallVector<int64_t> kept = thinOut(some, std::max<size_t>(most, 2));
    if (points.size() * kept.size() > mostPoints)
      kept = {typical.get(name)};
    std::vector<Lengths> longer;
    for (const Lengths &point : points)
      for (int64_t value : kept) {
        longer.push_back(point);
        longer.back().push_back({name, value});
      }
    points = std::move(longer);
  }
  return points;
}

//===----------------------------------------------------------------------===//
// By which guard
//===----------------------------------------------------------------------===//

/// Forms that are kept of an item at most: each is code of its own.
static constexpr size_t mostForms = 3;
/// Bounds of a guard at most.
static constexpr unsigned mostBounds = 2;

static std::optional<int64_t> valueOf(const Lengths &point, StringAttr name) {
  for (auto [other, value] : point)
    if (other == name)
      return value;
  return std::nullopt;
}

static int64_t valueOf(const Lengths &point, const LengthMeasure &measure) {
  std::optional<int64_t> least;
  for (ArrayAttr product : measure.products) {
    int64_t value = 1;
    for (auto length : product.getAsRange<LengthAttr>())
      value = int64_t(std::min<uint64_t>(llvm::SaturatingMultiply<uint64_t>(value, std::max<int64_t>(length.evaluate([&](StringAttr name) { return valueOf(point, name); }).value_or(1), 0)),
                                         std::numeric_limits<int64_t>::max()));
    least = std::min(value, least.value_or(value));
  }
  return *least;
}

/// The point with a measure of about so much, the least that is no less where there is one.
static Lengths withValue(Lengths point, const LengthMeasure &measure, int64_t value) {
  auto at = [&](int64_t varied) {
    for (auto &[name, own] : point)
      if (name == measure.varied)
        own = varied;
    return valueOf(point, measure);
  };
  if (int64_t ofOne = at(1); ofOne > 0)
    at(std::max<int64_t>(llvm::divideCeil(value, ofOne), 1));
  return point;
}

namespace {
/// A bound between two sampled values of one measure, most often a length.
struct Bound {
  const LengthMeasure *measure;
  ArrayRef<int64_t> values;     // by sampled point
  int64_t below = 0, limit = 0; // on either side of it
  bool isBelow = true;

  bool holds(const Lengths &point) const { return (valueOf(point, *measure) < limit) == isBelow; }
  bool holdsAt(size_t point) const { return (values[point] < limit) == isBelow; }
};

/// Lengths at which a form takes the place of what is taken there so far.
struct Exception {
  SmallVector<Bound, mostBounds> bounds;
  unsigned form = 0;
  double gain = 0; // sum of logarithms of what it promises of the other's time: less than 0

  bool holds(const Lengths &point) const {
    return llvm::all_of(bounds, [&](const Bound &bound) { return bound.holds(point); });
  }
  bool holdsAt(size_t point) const {
    return llvm::all_of(bounds, [&](const Bound &bound) { return bound.holdsAt(point); });
  }
};

/// Finds exceptions, and what is taken then.
class FormChooser {
public:
  FormChooser(etdg::GraphOp graph, ArrayRef<Lengths> points, unsigned numForms, double share, FormPrices price, ArrayRef<LengthMeasure> measures);
  FormChoice choose();

private:
  unsigned findUsual() const;
  /// Of a form that is not taken yet.
  std::optional<Exception> findException(const FormChoice &choice) const;
  /// With this form where no exception is.
  FormChoice chooseAround(unsigned form, double &loss);
  void weigh(Exception &exception, std::optional<Exception> &best) const;
  /// The form that is taken at lengths without the last exception.
  unsigned formAt(const Lengths &lengths) const;
  int64_t refine(const Exception &exception, unsigned number) const;
  bool promises(size_t point, unsigned form, unsigned other) const {
    return logs[point][form] <= std::log(share) + logs[point][other];
  }

  etdg::GraphOp graph;
  ArrayRef<Lengths> points;
  unsigned numForms;
  double share;
  FormPrices price;
  std::vector<LengthMeasure> measures;   // each length, and others
  std::vector<SmallVector<int64_t>> valuesOf; // of each measure, by point
  std::vector<SmallVector<double>> logs; // of seconds, by point and form
  SmallVector<Bound> allBounds;
  unsigned usual = 0;
  SmallVector<unsigned> taken;        // by point
  std::vector<Exception> exceptions; // later ones are asked first
};
} // namespace

FormChooser::FormChooser(etdg::GraphOp graph, ArrayRef<Lengths> points, unsigned numForms, double share, FormPrices price, ArrayRef<LengthMeasure> more)
    : graph(graph), points(points), numForms(numForms), share(share), price(price) {
  MLIRContext *context = graph.getContext();
  for (auto [name, first] : points.front()) {
    Attribute length = LengthAttr::get(context, {name}, getAffineSymbolExpr(0, context));
    measures.push_back({{ArrayAttr::get(context, length)}, name});
  }
  llvm::append_range(measures, more);
  for (const Lengths &point : points) {
    logs.emplace_back();
    for (unsigned form = 0; form < numForms; ++form)
      logs.back().push_back(std::log(std::max(price(form, point), 1e-12)));
  }
  for (const LengthMeasure &measure : measures) {
    valuesOf.emplace_back();
    for (const Lengths &point : points)
      valuesOf.back().push_back(valueOf(point, measure));
  }
  for (auto [measure, all] : llvm::zip_equal(measures, valuesOf)) {
    SmallVector<int64_t> values(all);
    llvm::sort(values);
    values.erase(llvm::unique(values), values.end());
    for (auto [below, limit] : llvm::zip(values, ArrayRef(values).drop_front()))
      for (bool isBelow : {true, false})
        allBounds.push_back({&measure, all, below, limit, isBelow});
  }
}

unsigned FormChooser::findUsual() const {
  auto sumOf = [&](unsigned form) {
    double sum = 0;
    for (const SmallVector<double> &point : logs)
      sum += point[form];
    return sum;
  };
  auto winsSomewhere = [&](unsigned form, unsigned other) {
    return llvm::any_of(llvm::seq(points.size()), [&](size_t point) { return promises(point, form, other); });
  };
  unsigned best = 0;
  for (unsigned form = 1; form < numForms; ++form)
    if (sumOf(form) < sumOf(best))
      best = form;
  bool isSure = sumOf(best) <= sumOf(0) + double(points.size()) * std::log(share);
  return isSure || (winsSomewhere(best, 0) && !winsSomewhere(0, best)) ? best : 0;
}

void FormChooser::weigh(Exception &exception, std::optional<Exception> &best) const {
  unsigned covered = 0, left = 0;
  exception.gain = 0;
  for (size_t number = 0; number < points.size(); ++number) {
    if (!exception.holdsAt(number)) {
      ++left;
      continue;
    }
    ++covered;
    exception.gain += logs[number][exception.form] - logs[number][taken[number]];
  }
  if (covered == 0 || left == 0 || exception.gain > covered * std::log(share))
    return;
  // Another bound has to be worth what a form has to be.
  exception.gain -= double(exception.bounds.size() - 1) * std::log(share);
  if (!best || exception.gain < best->gain)
    best = exception;
}

std::optional<Exception> FormChooser::findException(const FormChoice &choice) const {
  std::optional<Exception> best;
  for (unsigned form = 0; form < numForms; ++form)
    for (auto [number, bound] : llvm::enumerate(allBounds)) {
      if (choice.takes(form))
        break;
      Exception one{{bound}, form, 0};
      weigh(one, best);
      for (const Bound &other : ArrayRef(allBounds).drop_front(number + 1)) {
        if (other.measure == bound.measure)
          continue;
        Exception two{{bound, other}, form, 0};
        weigh(two, best);
      }
    }
  return best;
}

unsigned FormChooser::formAt(const Lengths &lengths) const {
  for (const Exception &exception : llvm::reverse(exceptions))
    if (exception.holds(lengths))
      return exception.form;
  return usual;
}

/// Where the two forms' times cross between the values of a bound, the exception's other bounds being kept.
int64_t FormChooser::refine(const Exception &exception, unsigned number) const {
  const Bound &bound = exception.bounds[number];
  // Of other lengths what is typical, where the exception has that.
  etdg::TypicalLengths typical(graph);
  Lengths point = points.front();
  for (auto &[name, value] : point)
    value = typical.get(name);
  for (auto [other, own] : llvm::enumerate(exception.bounds))
    if (other != number && !own.holds(point))
      point = withValue(point, *own.measure, own.isBelow ? own.below : own.limit);
  int64_t below = bound.below, limit = bound.limit;
  constexpr int64_t close = 8; // an eighth of the length is near enough: prices are no better
  while (limit - below > std::max<int64_t>(below / close, 1)) {
    int64_t middle = std::clamp<int64_t>(std::llround(std::sqrt(double(below) * double(limit))), below + 1, limit - 1);
    point = withValue(point, *bound.measure, middle);
    bool isBetter = price(exception.form, point) < price(formAt(point), point);
    (isBetter == bound.isBelow ? below : limit) = middle;
  }
  return limit;
}

/// The bounds of an exception as a guard's: where the least of several products is large, all of them are.
static etdg::GuardAttr makeGuard(MLIRContext *context, ArrayRef<Bound> bounds) {
  SmallVector<etdg::BoundAttr> all;
  for (const Bound &bound : bounds) {
    if (bound.isBelow)
      all.push_back(etdg::BoundAttr::get(context, bound.measure->products, bound.limit, true));
    for (ArrayAttr product : bound.measure->products)
      if (!bound.isBelow)
        all.push_back(etdg::BoundAttr::get(context, product, bound.limit, false));
  }
  return etdg::GuardAttr::get(context, all);
}

FormChoice FormChooser::chooseAround(unsigned form, double &loss) {
  usual = form;
  taken.assign(points.size(), usual);
  exceptions.clear();
  FormChoice choice;
  choice.forms = {usual};
  while (choice.forms.size() < mostForms) {
    std::optional<Exception> found = findException(choice);
    if (!found)
      break;
    SmallVector<int64_t, mostBounds> limits;
    for (unsigned number = 0; number < found->bounds.size(); ++number)
      limits.push_back(refine(*found, number));
    for (auto [bound, limit] : llvm::zip_equal(found->bounds, limits))
      bound.limit = limit;
    choice.guards.insert(choice.guards.begin(), makeGuard(graph.getContext(), found->bounds));
    choice.forms.insert(choice.forms.begin(), found->form);
    for (size_t number = 0; number < points.size(); ++number)
      if (found->holds(points[number])) // (its bounds have moved)
        taken[number] = found->form;
    exceptions.push_back(std::move(*found));
  }
  loss = 0;
  for (auto [number, form] : llvm::enumerate(taken))
    loss += logs[number][form];
  return choice;
}

FormChoice FormChooser::choose() {
  unsigned first = findUsual();
  double least = 0;
  FormChoice best = chooseAround(first, least);
  // Where another form is what is left, guards may tell more.
  for (unsigned form = 0; form < numForms; ++form) {
    double loss = 0;
    FormChoice other = form == first ? FormChoice() : chooseAround(form, loss);
    if (other.takesSeveral() && loss < least + std::log(share)) {
      least = loss;
      best = std::move(other);
    }
  }
  return best;
}

FormChoice schedule::chooseForms(etdg::GraphOp graph, ArrayRef<Lengths> points, unsigned numForms, double share,
                                 FormPrices price, ArrayRef<LengthMeasure> measures) {
  return FormChooser(graph, points, numForms, share, price, measures).choose();
}

//===----------------------------------------------------------------------===//
// Lengths of a variant
//===----------------------------------------------------------------------===//

/// Combinations of lengths that are looked at, at most.
static constexpr size_t mostCombinations = 4096;

Lengths schedule::lengthsOfVariant(etdg::GraphOp graph, ArrayRef<etdg::GuardAttr> guards, unsigned variant) {
  etdg::TypicalLengths typical(graph);
  // Of each length what is typical, and what stands on either side of a limit.
  llvm::MapVector<StringAttr, llvm::SmallSetVector<int64_t, 4>> values;
  for (etdg::GuardAttr guard : guards)
    for (StringAttr name : guard.getNames()) {
      values[name].insert(typical.get(name));
      for (etdg::BoundAttr bound : guard.getBounds())
        for (int64_t value : {bound.getLimit() - 1, bound.getLimit()})
          values[name].insert(value);
    }
  std::vector<Lengths> points(1);
  for (auto &[name, some] : values) {
    std::vector<Lengths> longer;
    for (const Lengths &point : points)
      for (int64_t value : some)
        if (longer.size() < mostCombinations) {
          longer.push_back(point);
          longer.back().push_back({name, value});
        }
    points = std::move(longer);
  }
  std::optional<double> least;
  Lengths nearest;
  for (const Lengths &point : points) {
    auto holds = [&](etdg::GuardAttr guard) { return guard.evaluate([&](StringAttr name) { return valueOf(point, name); }).value_or(false); };
    unsigned number = llvm::find_if(guards, holds) - guards.begin();
    double distance = 0;
    for (auto [name, value] : point)
      distance += std::abs(std::log(double(std::max<int64_t>(value, 1)) / double(std::max<int64_t>(typical.get(name), 1))));
    if (number == variant && (!least || distance < *least)) {
      least = distance;
      nearest = point;
    }
  }
  llvm::erase_if(nearest, [&](auto &entry) { return entry.second == typical.get(entry.first); });
  return nearest;
}

//===----------------------------------------------------------------------===//
// For remarks
//===----------------------------------------------------------------------===//

static void describe(ArrayAttr product, raw_ostream &out) {
  llvm::interleave(product.getAsRange<LengthAttr>(), out, [&](LengthAttr length) {
    std::string factor = length.str();
    bool isSum = product.size() > 1 && StringRef(factor).contains(' ');
    out << (isSum ? "(" : "") << factor << (isSum ? ")" : "");
  }, " * ");
}

std::string schedule::describe(etdg::GuardAttr guard) {
  std::string text;
  llvm::raw_string_ostream out(text);
  llvm::interleave(guard.getBounds(), out, [&](etdg::BoundAttr bound) {
    bool isGrouped = guard.getBounds().size() > 1 && bound.getProducts().size() > 1;
    out << (isGrouped ? "(" : "");
    llvm::interleave(bound.getProducts(), out, [&](ArrayAttr product) {
      ::describe(product, out);
      out << (bound.getIsBelow() ? " < " : " >= ") << bound.getLimit();
    }, " or ");
    out << (isGrouped ? ")" : "");
  }, " and ");
  return text;
}
