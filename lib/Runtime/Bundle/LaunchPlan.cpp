//===- LaunchPlan.cpp - launch plans as JSON ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading checks everything that the executor relies on and that needs no call's
// sizes, in time linear in the text: a manifest may come from anywhere, and its
// checksum only says that it arrived whole. What depends on sizes (offsets and
// ranges in buffers, the number of steps) is checked by the call (Program.cpp).
// The code in a bundle is beyond that: what runs as a kernel is trusted.
//
//===----------------------------------------------------------------------===//
#include "ft/Runtime/Bundle/LaunchPlan.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <unordered_set>

using namespace ft::rt;

static constexpr const char *bufferKinds[] = {"argument", "workspace", "constant", "counter",
                                              "error"};
static constexpr const char *argumentKinds[] = {"pointer", "integer", "tensor_map"};
static constexpr const char *stepKinds[] = {"launch", "fill", "copy", "loop", "branch", "repeat"};

Expr Entry::named(Extent extent) {
  auto it = std::find(extents.begin(), extents.end(), extent);
  int64_t index = it - extents.begin();
  if (it == extents.end())
    extents.push_back(extent);
  return Expr::var(firstExtent() + index);
}

std::string Entry::variableName(int64_t index) const {
  if (index < int64_t(symbols.size()))
    return symbols[size_t(index)].name;
  if (index < firstExtent())
    return "%" + std::to_string(index - int64_t(symbols.size()));
  const Extent &e = extents[size_t(index - firstExtent())];
  return (e.stride ? "stride(" : "dim(") + arguments[size_t(e.argument)].name + ", " +
         std::to_string(e.dim) + ")";
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

namespace {
class Writer {
public:
  explicit Writer(const Entry &entry) : entry(entry) {}

  Json expr(const Expr &e) const {
    return e.toJson([this](int64_t index) -> Json {
      if (index < entry.firstExtent())
        return entry.variableName(index);
      const Entry::Extent &x = entry.extents[size_t(index - entry.firstExtent())];
      return Json::makeObject().set(x.stride ? "stride" : "dim",
                                    Json::makeArray().push(x.argument).push(x.dim));
    });
  }
  template <class Range>
  Json exprs(const Range &range) const {
    Json list = Json::makeArray();
    for (const Expr &e : range)
      list.push(expr(e));
    return list;
  }
  template <class Range>
  static Json plain(const Range &range) {
    Json list = Json::makeArray();
    for (const auto &value : range)
      list.push(value);
    return list;
  }

  Json kernelArgument(const KernelArgument &a) const {
    Json json = Json::makeObject().set("kind", argumentKinds[a.kind]).set("value", expr(a.value));
    if (a.kind == KernelArgument::integer)
      return json.set("bits", a.bits);
    json.set("buffer", a.buffer);
    if (a.kind == KernelArgument::tensorMap)
      json.set("map", Json::makeObject()
                          .set("type", a.map.type)
                          .set("extents", exprs(a.map.extents))
                          .set("strides", exprs(a.map.strides))
                          .set("box", plain(a.map.box))
                          .set("element_strides", plain(a.map.elementStrides))
                          .set("interleave", a.map.interleave)
                          .set("swizzle", a.map.swizzle)
                          .set("l2_promotion", a.map.l2Promotion)
                          .set("oob_fill", a.map.oobFill));
    return json;
  }

  Json steps(const std::vector<Step> &list) const {
    Json out = Json::makeArray();
    for (const Step &s : list)
      out.push(step(s));
    return out;
  }

  Json step(const Step &s) const {
    Json json = Json::makeObject().set("step", stepKinds[s.kind]);
    switch (s.kind) {
    case Step::launch: {
      const Launch &l = s.launched;
      json.set("kernel", l.kernel).set("grid", exprs(l.grid)).set("block", exprs(l.block));
      json.set("cluster", plain(l.cluster)).set("shared_bytes", expr(l.sharedBytes));
      json.set("cooperative", l.cooperative).set("shrinks", l.shrinks);
      if (l.overlaps)
        json.set("overlaps", true).set("overlap_bytes", expr(l.overlapBytes));
      Json arguments = Json::makeArray();
      for (const KernelArgument &a : l.arguments)
        arguments.push(kernelArgument(a));
      return json.set("arguments", std::move(arguments));
    }
    case Step::fill:
      return json.set("to", s.to)
          .set("to_offset", expr(s.toOffset))
          .set("bytes", expr(s.bytes))
          .set("value", s.value);
    case Step::copy:
      return json.set("to", s.to)
          .set("to_offset", expr(s.toOffset))
          .set("from", s.from)
          .set("from_offset", expr(s.fromOffset))
          .set("bytes", expr(s.bytes));
    case Step::loop:
      return json.set("lower", expr(s.lower))
          .set("upper", expr(s.upper))
          .set("by", s.step)
          .set("body", steps(s.body));
    case Step::branch:
      return json.set("condition", expr(s.condition))
          .set("body", steps(s.body))
          .set("otherwise", steps(s.otherwise));
    case Step::repeat:
      return json.set("from", s.from)
          .set("from_offset", expr(s.fromOffset))
          .set("upper", expr(s.upper))
          .set("body", steps(s.body));
    }
    return json;
  }

  Json plan(const Plan &p) const {
    Json buffers = Json::makeArray();
    for (const Buffer &b : p.buffers)
      buffers.push(Json::makeObject()
                       .set("kind", bufferKinds[b.kind])
                       .set("index", b.index)
                       .set("offset", expr(b.offset)));
    Json json = Json::makeObject();
    json.set("target", p.target)
        .set("variant", p.variant)
        .set("modules", plain(p.modules))
        .set("kernels", plain(p.kernels))
        .set("buffers", std::move(buffers))
        .set("workspace_bytes", expr(p.workspaceBytes))
        .set("counter_bytes", p.counterBytes)
        .set("steps", steps(p.steps));
    if (!p.places.empty())
      json.set("places", plain(p.places));
    return json;
  }

private:
  const Entry &entry;
};
} // namespace

Json Entry::toJson() const {
  Writer w(*this);
  Json symbolList = Json::makeArray(), argumentList = Json::makeArray();
  Json requirementList = Json::makeArray(), planList = Json::makeArray();
  Json choices = Json::makeObject();
  for (const Symbol &s : symbols)
    symbolList.push(
        Json::makeObject().set("name", s.name).set("value", w.expr(s.value)).set("least", s.least));
  for (const Argument &a : arguments) {
    Json argument = Json::makeObject()
                        .set("name", a.name)
                        .set("dtype", dtypeName(a.dtype))
                        .set("shape", w.exprs(a.shape))
                        .set("output", a.output)
                        .set("strided_dims", a.stridedDims)
                        .set("alignment", a.alignment)
                        .set("writeback", a.writeback);
    if (a.held)
      argument.set("held", true);
    argumentList.push(std::move(argument));
  }
  for (const Requirement &r : requirements)
    requirementList.push(
        Json::makeObject().set("non_negative", w.expr(r.nonNegative)).set("text", r.text));
  for (const Plan &p : plans)
    planList.push(w.plan(p));
  for (const auto &[target, variant] : chosen)
    choices.set(target, variant);
  Json json = Json::makeObject()
                  .set("name", name)
                  .set("symbols", std::move(symbolList))
                  .set("arguments", std::move(argumentList))
                  .set("requirements", std::move(requirementList))
                  .set("chosen", std::move(choices))
                  .set("plans", std::move(planList));
  if (binds)
    json.set("binds", true);
  return json;
}

int64_t Entry::passedBefore(int64_t argument) const {
  return std::count_if(arguments.begin(), arguments.begin() + argument, [](const Argument &a) { return !a.held; });
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {
/// Reads members of one object; the first error sticks. `done` refuses members
/// that nothing read: a newer format would have a newer number.
class Members {
public:
  Members(const Json &json, std::string where) : json(json), where(std::move(where)) {
    if (!json.isObject())
      fail("expected an object");
  }
  const Json *get(const char *key) {
    ++read;
    const Json *member = json.find(key);
    if (!member)
      fail(std::string("no \"") + key + "\"");
    return member;
  }
  /// A text of one line, which the C interface can hand out whole.
  std::string string(const char *key) {
    const Json *member = get(key);
    if (member && !member->isString())
      fail(std::string("\"") + key + "\" is not a string");
    else if (member && !isLine(member->asString()))
      fail(std::string("\"") + key + "\" is longer than " + std::to_string(mostText) +
           " bytes or has a control character");
    return member ? member->asString() : std::string();
  }
  std::string name(const char *key) {
    std::string text = string(key);
    if (text.empty())
      fail(std::string("\"") + key + "\" is empty");
    return text;
  }
  static bool isLine(const std::string &text) {
    return text.size() <= mostText && std::none_of(text.begin(), text.end(), [](unsigned char c) {
             return c < 0x20 || c == 0x7f;
           });
  }
  bool boolean(const char *key) {
    const Json *member = get(key);
    if (member && !member->isBool())
      fail(std::string("\"") + key + "\" is not a boolean");
    return member && member->asBool();
  }
  /// A mark: false where it is not there.
  bool mark(const char *key) { return json.find(key) && boolean(key); }
  int64_t integer(const char *key, int64_t least, int64_t most) {
    const Json *member = get(key);
    return member ? checked(*member, key, least, most) : least;
  }
  const std::vector<Json> &list(const char *key, size_t atMost = 1 << 20) {
    static const std::vector<Json> none;
    const Json *member = get(key);
    if (member && (!member->isArray() || member->size() > atMost))
      fail(std::string("\"") + key + "\" is not a list of at most " + std::to_string(atMost));
    return member && status.ok() ? member->items() : none;
  }
  /// Strings; a member that is not there has none.
  std::vector<std::string> optionalStrings(const char *key) {
    std::vector<std::string> out;
    if (!json.find(key))
      return out;
    for (const Json &item : list(key)) {
      if (!item.isString())
        fail(std::string("\"") + key + "\" holds what is not a string");
      out.push_back(item.isString() ? item.asString() : std::string());
    }
    return out;
  }
  std::vector<int64_t> integers(const char *key, int64_t least, int64_t most) {
    std::vector<int64_t> out;
    for (const Json &item : list(key))
      out.push_back(checked(item, key, least, most));
    return out;
  }
  template <size_t n>
  void integers(const char *key, int64_t (&out)[n], int64_t least, int64_t most) {
    std::vector<int64_t> values = integers(key, least, most);
    if (values.size() != n)
      return fail(std::string("\"") + key + "\" has not " + std::to_string(n) + " elements");
    std::copy(values.begin(), values.end(), out);
  }
  template <class Names>
  int64_t oneOf(const char *key, const Names &names) {
    std::string text = string(key);
    auto it = std::find(std::begin(names), std::end(names), text);
    if (it == std::end(names)) {
      fail("unknown " + std::string(key) + " \"" + text + "\"");
      return 0;
    }
    return it - std::begin(names);
  }
  void fail(const std::string &why) {
    if (status.ok())
      status = Status::error(Code::corrupt, where + ": " + why);
  }
  void take(Status other) {
    if (status.ok() && !other.ok())
      status = std::move(other).inside(where);
  }
  bool ok() const { return status.ok(); }
  Status done() {
    if (status.ok() && json.size() != read)
      fail("members that this version does not know");
    return status;
  }

private:
  static constexpr size_t mostText = 4096;
  int64_t checked(const Json &value, const char *key, int64_t least, int64_t most) {
    if (value.isInteger() && value.asInteger() >= least && value.asInteger() <= most)
      return value.asInteger();
    fail(std::string("\"") + key + "\" is not an integer from " + std::to_string(least) + " to " +
         std::to_string(most));
    return least;
  }
  const Json &json;
  std::string where;
  size_t read = 0;
  Status status;
};

class Reader {
public:
  Reader(Entry &entry, int64_t numSections) : entry(entry), numSections(numSections) {}

  /// Numbers these extents first.
  void number(const std::vector<Entry::Extent> &extents) {
    for (const Entry::Extent &extent : extents)
      extentVariable(extent);
  }

  Status run(const Json &json) {
    Members m(json, "entry");
    entry.name = m.name("name");
    // Names first: expressions anywhere below use them.
    const std::vector<Json> &symbols = m.list("symbols", 256);
    for (const Json &s : symbols) {
      const Json *name = s.find("name");
      if (!name || !name->isString() || name->asString().empty() || !Members::isLine(name->asString()))
        m.fail("a symbol without a name of one line");
      else if (name->asString().starts_with('%'))
        m.fail("a symbol named like a loop variable: \"" + name->asString() + "\"");
      else if (!symbolIndex.emplace(name->asString(), int64_t(entry.symbols.size())).second)
        m.fail("two symbols named \"" + name->asString() + "\"");
      else
        entry.symbols.push_back({name->asString(), Expr(), 0});
    }
    const std::vector<Json> &arguments = m.list("arguments", 4096);
    for (const Json &a : arguments) {
      const Json *shape = a.find("shape");
      if (!shape || !shape->isArray() || shape->size() > maxRank)
        m.fail("an argument without a shape of at most " + std::to_string(maxRank) + " dimensions");
      else
        ranks.push_back(int64_t(shape->size()));
    }
    for (size_t i = 0; i < symbols.size() && m.ok(); ++i)
      m.take(readSymbol(symbols[i], entry.symbols[i]));
    for (size_t i = 0; i < arguments.size() && m.ok(); ++i)
      m.take(readArgument(arguments[i], int64_t(i)));
    for (const Json &r : m.list("requirements", 4096)) {
      Members members(r, "requirement");
      Requirement requirement;
      expr(members, "non_negative", requirement.nonNegative);
      requirement.text = members.string("text");
      m.take(members.done());
      entry.requirements.push_back(std::move(requirement));
    }
    if (const Json *chosen = m.get("chosen")) {
      if (chosen->size() > 4096)
        m.fail("\"chosen\" has more than 4096 members");
      for (size_t i = 0; i < chosen->size(); ++i)
        if (m.ok() && chosen->isObject() && (*chosen)[i].isString())
          entry.chosen.emplace_back(chosen->keys()[i], (*chosen)[i].asString());
        else
          m.fail("malformed \"chosen\"");
    }
    for (const Json &p : m.list("plans", 4096)) {
      if (!m.ok())
        break;
      entry.plans.emplace_back();
      m.take(readPlan(p, entry.plans.back()));
      const Plan &plan = entry.plans.back();
      if (m.ok() && !planNames.insert(plan.target + '\n' + plan.variant).second)
        m.fail("two plans for " + plan.target + " named \"" + plan.variant + "\"");
    }
    entry.binds = m.mark("binds");
    auto isBound = [](const Argument &a) {
      return a.output ? std::all_of(a.shape.begin(), a.shape.end(), [](const Expr &e) { return e.asConstant().has_value(); }) : a.held;
    };
    if (entry.binds && !std::all_of(entry.arguments.begin(), entry.arguments.end(), isBound))
      m.fail("\"binds\" is of an entry of held inputs and outputs of constant shape");
    return m.done();
  }

private:
  int64_t index(const std::string &symbol) const {
    auto it = symbolIndex.find(symbol);
    return it == symbolIndex.end() ? -1 : it->second;
  }

  /// The variable of an extent or a stride; each is listed once.
  int64_t extentVariable(Entry::Extent extent) {
    int64_t key = (extent.argument * maxRank + extent.dim) * 2 + extent.stride;
    auto [it, isNew] = extentIndex.emplace(key, int64_t(entry.extents.size()));
    if (isNew)
      entry.extents.push_back(extent);
    return entry.firstExtent() + it->second;
  }

  int64_t resolve(const Json &json, bool extentsOnly) {
    if (json.isString() && !extentsOnly) {
      const std::string &name = json.asString();
      if (name.size() == 2 && name[0] == '%' && name[1] >= '0' && name[1] - '0' < depth)
        return int64_t(entry.symbols.size()) + (name[1] - '0');
      return index(name);
    }
    const Json *dim = json.find("dim"), *stride = json.find("stride");
    const Json *pair = dim ? dim : stride;
    if (json.size() != 1 || !pair || !pair->isArray() || pair->size() != 2 ||
        !(*pair)[0].isInteger() || !(*pair)[1].isInteger())
      return -1;
    int64_t argument = (*pair)[0].asInteger(), d = (*pair)[1].asInteger();
    if (argument < 0 || argument >= int64_t(ranks.size()) || d < 0 || d >= ranks[size_t(argument)])
      return -1;
    return extentVariable({argument, d, /*stride=*/!dim});
  }

  Status exprOf(const Json &json, Expr &out, bool extentsOnly = false) {
    return Expr::fromJson(json, [&](const Json &v) { return resolve(v, extentsOnly); }, out);
  }
  void expr(Members &m, const char *key, Expr &out, bool extentsOnly = false) {
    if (const Json *json = m.get(key))
      m.take(exprOf(*json, out, extentsOnly));
  }
  /// An expression that is no negative number; one with variables is looked at by the call.
  void size(Members &m, const char *key, Expr &out) {
    expr(m, key, out);
    if (out.asConstant().value_or(0) < 0)
      m.fail(std::string("\"") + key + "\" is negative");
  }
  void exprs(Members &m, const char *key, std::vector<Expr> &out) {
    for (const Json &item : m.list(key)) {
      out.emplace_back();
      m.take(exprOf(item, out.back()));
    }
  }
  void triple(Members &m, const char *key, Expr (&out)[3]) {
    std::vector<Expr> values;
    exprs(m, key, values);
    if (values.size() != 3)
      return m.fail(std::string("\"") + key + "\" has not 3 elements");
    std::copy(values.begin(), values.end(), out);
  }

  Status readSymbol(const Json &json, Symbol &symbol) {
    Members m(json, "symbol " + symbol.name);
    m.string("name");
    // Over extents alone: there is no order in which symbols could be computed.
    expr(m, "value", symbol.value, /*extentsOnly=*/true);
    symbol.least = m.integer("least", INT64_MIN, INT64_MAX);
    return m.done();
  }

  Status readArgument(const Json &json, int64_t position) {
    Argument a;
    Members m(json, "argument " + std::to_string(position));
    a.name = m.name("name");
    std::optional<DType> dtype = parseDType(m.string("dtype"));
    if (!dtype)
      m.fail("unknown element type");
    a.dtype = dtype.value_or(DType::f32);
    exprs(m, "shape", a.shape);
    for (const Expr &extent : a.shape)
      if (extent.asConstant().value_or(0) < 0)
        m.fail("\"shape\" has a negative extent");
    a.output = m.boolean("output");
    a.stridedDims = m.integer("strided_dims", 0, ranks[size_t(position)]);
    a.alignment = m.integer("alignment", 0, 4096);
    if (a.alignment & (a.alignment - 1))
      m.fail("an alignment that is no power of two");
    a.writeback = m.integer("writeback", -1, int64_t(ranks.size()) - 1);
    a.held = m.mark("held");
    if (a.held && (a.output || a.stridedDims > 0 || std::any_of(a.shape.begin(), a.shape.end(), [](const Expr &e) { return !e.asConstant(); })))
      m.fail("\"held\" is of a dense input of constant shape");
    entry.arguments.push_back(std::move(a));
    return m.done();
  }

  Status readPlan(const Json &json, Plan &p) {
    Members m(json, "plan");
    p.target = m.name("target");
    p.variant = m.name("variant");
    p.modules = m.integers("modules", 0, numSections - 1);
    for (const Json &kernel : m.list("kernels")) {
      if (!kernel.isString() || kernel.asString().empty() || !Members::isLine(kernel.asString()))
        m.fail("a kernel's name is not a string of one line");
      p.kernels.push_back(kernel.asString());
    }
    for (const Json &b : m.list("buffers"))
      m.take(readBuffer(b, p));
    size(m, "workspace_bytes", p.workspaceBytes);
    p.counterBytes = m.integer("counter_bytes", 0, maxCounterBytes);
    m.take(readSteps(m.list("steps"), p, p.steps));
    p.places = m.optionalStrings("places");
    return m.done();
  }

  Status readBuffer(const Json &json, Plan &p) {
    Buffer b;
    Members m(json, "buffer");
    b.kind = Buffer::Kind(m.oneOf("kind", bufferKinds));
    int64_t most = b.kind == Buffer::argument   ? int64_t(entry.arguments.size()) - 1
                   : b.kind == Buffer::constant ? numSections - 1
                                                : 0;
    b.index = m.integer("index", 0, most);
    size(m, "offset", b.offset);
    p.buffers.push_back(std::move(b));
    return m.done();
  }

  Status readSteps(const std::vector<Json> &list, const Plan &p, std::vector<Step> &out) {
    for (const Json &json : list) {
      out.emplace_back();
      FT_RT_TRY(readStep(json, p, out.back()));
    }
    return {};
  }

  Status readStep(const Json &json, const Plan &p, Step &s) {
    Members m(json, "step");
    s.kind = Step::Kind(m.oneOf("step", stepKinds));
    int64_t lastBuffer = int64_t(p.buffers.size()) - 1;
    switch (s.kind) {
    case Step::launch:
      m.take(readLaunch(m, p, s.launched));
      break;
    case Step::fill:
      s.value = m.integer("value", 0, 255);
      break;
    case Step::copy:
      s.from = m.integer("from", 0, lastBuffer);
      size(m, "from_offset", s.fromOffset);
      break;
    case Step::loop:
      expr(m, "lower", s.lower);
      expr(m, "upper", s.upper);
      s.step = m.integer("by", 1, INT64_MAX);
      checkTrips(m, s);
      break;
    case Step::branch:
      expr(m, "condition", s.condition);
      m.take(readSteps(m.list("otherwise"), p, s.otherwise));
      break;
    case Step::repeat:
      s.from = m.integer("from", 0, lastBuffer);
      size(m, "from_offset", s.fromOffset);
      size(m, "upper", s.upper);
      checkTrips(m, s);
      break;
    }
    if (s.kind == Step::fill || s.kind == Step::copy) {
      s.to = m.integer("to", 0, lastBuffer);
      size(m, "to_offset", s.toOffset);
      size(m, "bytes", s.bytes);
      if (m.ok() && !isWritable(p.buffers[size_t(s.to)]))
        m.fail("writes to a constant, an error record or an argument that is no output");
    }
    if (s.kind == Step::loop || s.kind == Step::branch || s.kind == Step::repeat) {
      // Loops and repeats bind the variable of their level.
      if (depth == maxLoopDepth)
        m.fail("loops nested too deeply");
      depth += s.kind != Step::branch;
      if (m.ok())
        m.take(readSteps(m.list("body"), p, s.body));
      depth -= s.kind != Step::branch;
    }
    return m.done();
  }

  bool isWritable(const Buffer &b) const {
    return b.kind == Buffer::workspace || b.kind == Buffer::counter ||
           (b.kind == Buffer::argument && entry.arguments[size_t(b.index)].output);
  }

  /// A loop of constant bounds has no more iterations than a call may have steps.
  void checkTrips(Members &m, const Step &s) {
    std::optional<int64_t> lower = s.lower.asConstant(), upper = s.upper.asConstant();
    int64_t span = 0;
    if (lower && upper && *lower < *upper &&
        (__builtin_sub_overflow(*upper, *lower, &span) || (span - 1) / s.step >= maxSteps))
      m.fail("a loop of more than " + std::to_string(maxSteps) + " iterations");
  }

  Status readLaunch(Members &m, const Plan &p, Launch &l) {
    l.kernel = m.integer("kernel", 0, int64_t(p.kernels.size()) - 1);
    triple(m, "grid", l.grid);
    triple(m, "block", l.block);
    m.integers("cluster", l.cluster, 1, 16);
    expr(m, "shared_bytes", l.sharedBytes);
    l.cooperative = m.boolean("cooperative");
    l.shrinks = m.boolean("shrinks");
    l.overlaps = m.mark("overlaps");
    if (l.overlaps)
      size(m, "overlap_bytes", l.overlapBytes);
    if (l.overlaps && l.cooperative)
      m.fail("\"overlaps\" is of a launch that is not cooperative");
    for (const Json &a : m.list("arguments", 4096)) {
      l.arguments.emplace_back();
      m.take(readKernelArgument(a, p, l.arguments.back()));
    }
    return {};
  }

  Status readKernelArgument(const Json &json, const Plan &p, KernelArgument &a) {
    Members m(json, "kernel argument");
    a.kind = KernelArgument::Kind(m.oneOf("kind", argumentKinds));
    expr(m, "value", a.value);
    if (a.kind == KernelArgument::integer) {
      a.bits = m.integer("bits", 32, 64);
      if (a.bits != 32 && a.bits != 64)
        m.fail("\"bits\" is neither 32 nor 64");
      return m.done();
    }
    a.buffer = m.integer("buffer", 0, int64_t(p.buffers.size()) - 1);
    const Json *map = a.kind == KernelArgument::tensorMap ? m.get("map") : nullptr;
    if (map)
      m.take(readTensorMap(*map, a.map));
    return m.done();
  }

  Status readTensorMap(const Json &json, TensorMap &t) {
    Members m(json, "tensor map");
    t.type = m.integer("type", 0, 15);
    exprs(m, "extents", t.extents);
    exprs(m, "strides", t.strides);
    t.box = m.integers("box", 1, 256);
    t.elementStrides = m.integers("element_strides", 1, 8);
    t.interleave = m.integer("interleave", 0, 2);
    t.swizzle = m.integer("swizzle", 0, 6);
    t.l2Promotion = m.integer("l2_promotion", 0, 3);
    t.oobFill = m.integer("oob_fill", 0, 1);
    size_t rank = t.extents.size();
    if (rank < 1 || rank > 5 || t.strides.size() != rank - 1 || t.box.size() != rank ||
        t.elementStrides.size() != rank)
      m.fail("extents, strides, box and element strides do not fit each other");
    return m.done();
  }

  Entry &entry;
  int64_t numSections;
  std::vector<int64_t> ranks;
  std::unordered_map<std::string, int64_t> symbolIndex;
  std::unordered_map<int64_t, int64_t> extentIndex;
  std::unordered_set<std::string> planNames;
  int64_t depth = 0; // loops around the expression being read
};
} // namespace

Status Entry::fromJson(const Json &json, int64_t numSections, Entry &out, const std::vector<Extent> &numbered) {
  Entry entry;
  Reader reader(entry, numSections);
  reader.number(numbered);
  FT_RT_TRY(reader.run(json));
  out = std::move(entry);
  return {};
}
