//===- Imperative.cpp - random imperative programs ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Statements are written as text, once in tssa and once in Python. What is in scope is
// known with all its sizes and strides, so that every view is one, and every index in
// range.
//
//===----------------------------------------------------------------------===//
#include "ft/Fuzz/Imperative.h"

#include "ft/Dialect/TSSA/IR/StridedView.h"
#include "ft/Fuzz/Random.h"

using namespace mlir;
using namespace mlir::ft::fuzz;
using tssa::StepKind;
using tssa::StridedView;

namespace {
using Shape = std::vector<int64_t>;

/// A mutable tensor in scope: its name, and where its elements may lie.
struct Mutable {
  std::string name;
  StridedView view;
  bool strides = true; // known, and the offset does not matter
  bool writable() const { return !view.repeats() && strides; }
  Shape shape() const { return Shape(view.sizes.begin(), view.sizes.end()); }
};

/// A value in scope.
struct Value_ {
  std::string name;
  Shape shape;
};

/// An index in [0, end).
struct Index {
  std::string name;
  int64_t end;
};

struct Scope {
  std::vector<Mutable> mutables;
  std::vector<Value_> values;
  std::vector<Index> indices;
};

struct Helper {
  std::string name;
  Shape shape;
  bool returns; // a view of its argument, or new storage
};

std::string join(ArrayRef<std::string> texts, StringRef separator = ", ") {
  std::string all;
  for (size_t i = 0; i < texts.size(); ++i)
    all += (i ? separator.str() : "") + texts[i];
  return all;
}

std::string sizesText(const Shape &shape) {
  std::string text;
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text;
}
std::string valueType(const Shape &shape, StringRef element = "i32") {
  return "tensor<" + sizesText(shape) + element.str() + ">";
}
std::string mutableType(const Shape &shape) { return "!tssa.tensor<" + sizesText(shape) + "i32>"; }
std::string listText(const Shape &numbers) {
  std::string text;
  for (int64_t number : numbers)
    text += (text.empty() ? "" : ", ") + std::to_string(number);
  return text;
}

/// A step of a view: its numbers, as the views take them (0 for an index of a loop), and its two spellings.
struct ViewStep {
  StepKind kind;
  Shape numbers;
  std::string mlir, python;
};

std::string numbersText(ArrayRef<int64_t> numbers) { return listText(Shape(numbers.begin(), numbers.end())); }

/// A step that both languages spell alike, as a method with its numbers.
ViewStep methodStep(StepKind kind, StringRef method, Shape numbers) {
  std::string text = method.str() + "(" + listText(numbers) + ")";
  return {kind, std::move(numbers), text, "." + text};
}

/// Dimension `dim` of a tensor indexed in Python, the ones before taken whole.
std::string pythonIndex(int64_t dim, const std::string &index) {
  return "[(slice(None),) * " + std::to_string(dim) + " + (slice(" + index + "),)]";
}

class Generator {
public:
  Generator(uint64_t seed, uint64_t number) : random(seed * 1000003 + number) {
    name = "p" + std::to_string(number);
    // A third is what raising takes: loops that count, parts that are boxes.
    plain = number % 3 == 0;
  }

  ImperativeProgram generate();

private:
  // Text.
  void line(const std::string &mlir, const std::string &python) {
    if (!mlir.empty())
      program.mlir += std::string(2 * depth, ' ') + mlir + "\n";
    if (!python.empty())
      program.python += std::string(4 * pythonDepth, ' ') + python + "\n";
  }
  std::string fresh(char letter = 'v') { return letter + std::to_string(next++); }
  std::string constantIndex(int64_t value) {
    std::string result = fresh('c');
    line("%" + result + " = arith.constant " + std::to_string(value) + " : index", "");
    return result;
  }

  // Statements.
  void statements(Scope &scope, int budget);
  void statement(Scope &scope);
  void makeView(Scope &scope);
  std::optional<ViewStep> drawView(const Scope &scope, const Mutable &base);
  std::optional<ViewStep> drawSelect(const Scope &scope, const Shape &shape, int64_t dim);
  ViewStep drawSlice(const Shape &shape, int64_t dim);
  ViewStep drawNarrow(const Scope &scope, const Shape &shape, int64_t dim);
  ViewStep drawPermute(int64_t rank);
  ViewStep drawReshape(const Mutable &base, int64_t dim);
  ViewStep drawExpand(Shape shape);
  std::optional<ViewStep> drawDiagonal(int64_t rank, int64_t dim);
  ViewStep drawUnfold(const Shape &shape, int64_t dim);
  void makeNew(Scope &scope);
  void mutate(Scope &scope);
  void inPlace(Scope &scope);
  void compute(Scope &scope);
  void makeFor(Scope &scope);
  void makeIf(Scope &scope);
  void makeWhile(Scope &scope);
  void makeCall(Scope &scope);
  void makeIndexPut(Scope &scope);
  void helper();

  // Operands.
  Value_ readOf(const Mutable &from);
  Value_ valueOf(Scope &scope, const Shape &shape);
  Value_ constantOf(const Shape &shape);
  Shape broadcastFrom(const Shape &shape);
  std::string condition(Scope &scope);
  const Mutable &pickMutable(const Scope &scope) {
    // Later ones more often: views of views.
    size_t count = scope.mutables.size();
    return scope.mutables[random.percent(40) ? count - 1 - random.below(std::min<size_t>(count, 3))
                                             : random.below(count)];
  }
  const Mutable *pickWritable(const Scope &scope) {
    for (int i = 0; i < 8; ++i)
      if (const Mutable &found = pickMutable(scope); found.writable())
        return &found;
    return nullptr;
  }

  Random random;
  ImperativeProgram program;
  std::string name;
  std::vector<Helper> helpers;
  bool plain;
  int depth = 1, pythonDepth = 1, nesting = 0, next = 0, left = 0;
};
} // namespace

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

Value_ Generator::readOf(const Mutable &from) {
  Value_ value{fresh(), from.shape()};
  line("%" + value.name + " = tssa.read %" + from.name + " : " + mutableType(value.shape),
       value.name + " = " + from.name + ".clone()");
  return value;
}

Value_ Generator::constantOf(const Shape &shape) {
  Value_ value{fresh(), shape};
  std::string number = std::to_string(random.between(-4, 4));
  line("%" + value.name + " = arith.constant dense<" + number + "> : " + valueType(shape),
       value.name + " = torch.full([" + listText(shape) + "], " + number + ", dtype=torch.int32)");
  return value;
}

Value_ Generator::valueOf(Scope &scope, const Shape &shape) {
  std::vector<const Value_ *> values;
  std::vector<const Mutable *> mutables;
  for (const Value_ &value : scope.values)
    if (value.shape == shape)
      values.push_back(&value);
  for (const Mutable &from : scope.mutables)
    if (from.shape() == shape)
      mutables.push_back(&from);
  if (!values.empty() && random.percent(50))
    return *values[random.below(values.size())];
  if (!mutables.empty() && random.percent(80))
    return readOf(*mutables[random.below(mutables.size())]);
  return constantOf(shape);
}

Shape Generator::broadcastFrom(const Shape &shape) {
  Shape from = shape;
  if (random.percent(25) && !from.empty())
    from.erase(from.begin(), from.begin() + random.between(1, from.size()));
  for (int64_t &size : from)
    if (random.percent(15))
      size = 1;
  return from;
}

/// A condition: of an index, of data, or of both.
std::string Generator::condition(Scope &scope) {
  std::string result = fresh('k');
  if (!scope.indices.empty() && (plain || random.percent(50))) {
    const Index &index = scope.indices[random.below(scope.indices.size())];
    std::string bound = constantIndex(random.below(index.end + 1));
    auto [mlir, python] = random.pick<std::pair<const char *, const char *>>(
        {{"slt", "<"}, {"eq", "=="}, {"sge", ">="}, {"ne", "!="}});
    std::string number = program.mlir.substr(0);
    (void)number;
    // The bound's value is in its definition, just written.
    size_t at = program.mlir.rfind("constant ");
    std::string value = program.mlir.substr(at + 9, program.mlir.find(' ', at + 9) - at - 9);
    line("%" + result + " = arith.cmpi " + mlir + ", %" + index.name + ", %" + bound + " : index",
         result + " = " + index.name + " " + python + " " + value);
    return result;
  }
  // The first element of something that is not empty.
  const Mutable *from = nullptr;
  for (int i = 0; i < 8 && !from; ++i)
    if (const Mutable &found = pickMutable(scope); found.view.numElements() > 0)
      from = &found;
  if (!from) {
    line("%" + result + " = arith.constant true", result + " = True");
    return result;
  }
  Value_ value = readOf(*from);
  std::string zero = constantIndex(0), element = fresh('e'), limit = fresh('e');
  std::vector<std::string> zeros(value.shape.size(), "%" + zero);
  line("%" + element + " = tensor.extract %" + value.name + "[" + join(zeros) + "] : " + valueType(value.shape), "");
  std::string bound = std::to_string(random.between(-2, 2));
  line("%" + limit + " = arith.constant " + bound + " : i32", "");
  line("%" + result + " = arith.cmpi sgt, %" + element + ", %" + limit + " : i32",
       result + " = int(" + value.name + ".reshape(-1)[0]) > " + bound);
  return result;
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

/// By the index of a loop, where one is small enough, or by a number.
std::optional<ViewStep> Generator::drawSelect(const Scope &scope, const Shape &shape, int64_t dim) {
  std::vector<const Index *> fits;
  for (const Index &index : scope.indices)
    if (index.end <= shape[dim])
      fits.push_back(&index);
  if (shape[dim] == 0)
    return std::nullopt;
  if (fits.empty() || !random.percent(75))
    return methodStep(StepKind::Select, "select", {dim, random.between(-shape[dim], shape[dim] - 1)});
  const Index &index = *fits[random.below(fits.size())];
  return ViewStep{StepKind::Select,
                  {dim, 0},
                  "select(" + std::to_string(dim) + ", %" + index.name + ")",
                  ".select(" + std::to_string(dim) + ", " + index.name + ")"};
}

/// With ends anywhere.
ViewStep Generator::drawSlice(const Shape &shape, int64_t dim) {
  int64_t from = random.between(-shape[dim] - 1, shape[dim] + 1), to = random.between(-shape[dim] - 1, shape[dim] + 2),
          by = random.pick<int64_t>({1, 1, 1, 2, 3});
  if (random.percent(60)) {
    from = random.below(std::max<int64_t>(1, shape[dim]));
    to = shape[dim];
  }
  return {StepKind::Slice,
          {dim, from, to, by},
          "slice(" + numbersText({dim, from, to, by}) + ")",
          pythonIndex(dim, numbersText({from, to, by}))};
}

/// A box that lies inside: from the index of a loop where the last one leaves room, else from a number.
ViewStep Generator::drawNarrow(const Scope &scope, const Shape &shape, int64_t dim) {
  int64_t count = random.below(shape[dim] + 1), by = count > 1 ? random.pick<int64_t>({1, 1, 2}) : 1;
  if (count > 0 && (count - 1) * by >= shape[dim])
    by = 1;
  int64_t room = shape[dim] - (count > 0 ? (count - 1) * by : 0);
  const Index *start = nullptr;
  for (const Index &index : scope.indices)
    if (index.end <= room && count > 0)
      start = &index;
  if (start)
    return {StepKind::Narrow,
            {dim, 0, count, by},
            "narrow(" + std::to_string(dim) + ", %" + start->name + ", " + numbersText({count, by}) + ")",
            pythonIndex(dim, start->name + ", " + start->name + " + " + std::to_string((count - 1) * by + 1) + ", " +
                                 std::to_string(by))};
  int64_t from = count > 0 ? random.below(room) : 0, to = from + (count > 0 ? (count - 1) * by + 1 : 0);
  return {StepKind::Narrow,
          {dim, from, count, by},
          "narrow(" + numbersText({dim, from, count, by}) + ")",
          pythonIndex(dim, numbersText({from, to, by}))};
}

ViewStep Generator::drawPermute(int64_t rank) {
  Shape order;
  for (int64_t d = 0; d < rank; ++d)
    order.push_back(d);
  for (int64_t d = rank - 1; d > 0; --d)
    std::swap(order[d], order[random.below(d + 1)]);
  return methodStep(StepKind::Permute, "permute", order);
}

/// Two dimensions joined, or one split; one size may be left to be found.
ViewStep Generator::drawReshape(const Mutable &base, int64_t dim) {
  Shape sizes = base.shape();
  if (sizes.size() > 1 && random.percent(60)) {
    int64_t at = random.below(sizes.size() - 1);
    sizes[at] *= sizes[at + 1];
    sizes.erase(sizes.begin() + at + 1);
  } else if (sizes[dim] % 2 == 0 && sizes[dim] > 0) {
    sizes[dim] /= 2;
    sizes.insert(sizes.begin() + dim, 2);
  }
  if (!sizes.empty() && base.view.numElements() > 0 && random.percent(20))
    sizes[random.below(sizes.size())] = -1;
  std::string text = listText(sizes);
  return {StepKind::Reshape, sizes, "reshape(" + text + ")", ".view([" + text + "])"};
}

/// Repeats dimensions of size 1, and perhaps the whole: for reading.
ViewStep Generator::drawExpand(Shape shape) {
  for (int64_t &size : shape)
    if (size == 1)
      size = random.between(1, 3);
  if (random.percent(40))
    shape.insert(shape.begin(), random.between(1, 3));
  return methodStep(StepKind::Expand, "expand", shape);
}

std::optional<ViewStep> Generator::drawDiagonal(int64_t rank, int64_t dim) {
  if (rank < 2)
    return std::nullopt;
  int64_t second = (dim + 1 + random.below(rank - 1)) % rank;
  return methodStep(StepKind::Diagonal, "diagonal", {random.between(-1, 1), dim, second});
}

ViewStep Generator::drawUnfold(const Shape &shape, int64_t dim) {
  int64_t window = random.between(1, shape[dim]);
  return methodStep(StepKind::Unfold, "unfold", {dim, window, random.pick<int64_t>({1, 2, window})});
}

/// A step from `base` to a view of it; none where the kind that was drawn does not fit its shape.
std::optional<ViewStep> Generator::drawView(const Scope &scope, const Mutable &base) {
  Shape shape = base.shape();
  int64_t rank = shape.size(), dim = random.below(rank);
  int choice = random.below(plain ? 4 : 11);
  switch (rank == 0 ? 7 : choice) {
  case 0:
  case 1:
    return drawSelect(scope, shape, dim);
  case 2:
    return drawSlice(shape, dim);
  case 3:
    return drawNarrow(scope, shape, dim);
  case 4:
    return drawPermute(rank);
  case 5:
    return drawReshape(base, dim);
  case 6:
    return methodStep(StepKind::Squeeze, "squeeze", {dim});
  case 7:
    if (rank > 3)
      return std::nullopt;
    return methodStep(StepKind::Unsqueeze, "unsqueeze", {random.below(rank + 1)});
  case 8:
    if (rank > 3)
      return std::nullopt;
    return drawExpand(shape);
  case 9:
    return drawDiagonal(rank, dim);
  default:
    if (rank > 3 || shape[dim] == 0)
      return std::nullopt;
    return drawUnfold(shape, dim);
  }
}

void Generator::makeView(Scope &scope) {
  const Mutable base = pickMutable(scope);
  Mutable result{fresh(), base.view, base.strides};
  std::optional<ViewStep> step = drawView(scope, base);
  // What the strides do not allow is no view: PyTorch refuses it, too.
  if (!step || !result.view.apply(step->kind, step->numbers, std::numeric_limits<int64_t>::max()).empty())
    return;
  // A window that overlaps is written by nothing.
  if (step->kind == StepKind::Unfold && step->numbers[2] < step->numbers[1])
    result.strides = false;
  // An expanded view stays one, whatever is taken of it.
  for (auto [size, stride] : llvm::zip_equal(result.view.sizes, result.view.strides))
    if (size > 1 && stride == 0)
      result.strides = false;
  line("%" + result.name + " = tssa.view %" + base.name + "[" + step->mlir + "] : " + mutableType(base.shape()) +
           " -> " + mutableType(result.shape()),
       result.name + " = " + base.name + step->python);
  scope.mutables.push_back(result);
}

void Generator::makeNew(Scope &scope) {
  Value_ value = valueOf(scope, pickMutable(scope).shape());
  Mutable result{fresh(), StridedView::dense(value.shape), true};
  line("%" + result.name + " = tssa.new %" + value.name + " : " + valueType(value.shape),
       result.name + " = " + value.name + ".clone(memory_format=torch.contiguous_format)");
  scope.mutables.push_back(result);
}

void Generator::mutate(Scope &scope) {
  const Mutable *dest = pickWritable(scope);
  if (!dest)
    return;
  Mutable to = *dest;
  Value_ value = valueOf(scope, broadcastFrom(to.shape()));
  std::string type = valueType(value.shape);
  if (!plain && random.percent(20)) { // of another type
    std::string cast = fresh();
    if (random.percent(50)) {
      line("%" + cast + " = arith.extsi %" + value.name + " : " + type + " to " + valueType(value.shape, "i64"),
           cast + " = " + value.name + ".to(torch.int64)");
      type = valueType(value.shape, "i64");
    } else {
      line("%" + cast + " = arith.sitofp %" + value.name + " : " + type + " to " + valueType(value.shape, "f32"),
           cast + " = (" + value.name + " % 1000).to(torch.float32) * 0 + (" + value.name + ").to(torch.float32)");
      type = valueType(value.shape, "f32");
    }
    value.name = cast;
  }
  line("tssa.mutate %" + to.name + ", %" + value.name + " : " + mutableType(to.shape()) + ", " + type,
       to.name + ".copy_(" + value.name + ")");
}

void Generator::inPlace(Scope &scope) {
  const Mutable *dest = pickWritable(scope);
  if (!dest)
    return;
  Mutable to = *dest;
  Value_ other = valueOf(scope, to.shape());
  std::string old = fresh(), now = fresh(), type = valueType(to.shape());
  auto [op, python] = random.pick<std::pair<const char *, const char *>>(
      {{"addi", "add_"}, {"subi", "sub_"}, {"addi", "add_"}, {"muli", "mul_"}});
  line("%" + old + " = tssa.read %" + to.name + " : " + mutableType(to.shape()), "");
  line("%" + now + " = arith." + op + " %" + old + ", %" + other.name + " : " + type, "");
  line("tssa.mutate %" + to.name + ", %" + now + " : " + mutableType(to.shape()) + ", " + type,
       to.name + "." + python + "(" + other.name + ")");
}

void Generator::compute(Scope &scope) {
  Value_ x = readOf(pickMutable(scope)), y = valueOf(scope, x.shape);
  Value_ result{fresh(), x.shape};
  auto [op, python] = random.pick<std::pair<const char *, const char *>>(
      {{"addi", "torch.add"}, {"subi", "torch.sub"}, {"maxsi", "torch.maximum"}});
  line("%" + result.name + " = arith." + op + " %" + x.name + ", %" + y.name + " : " + valueType(x.shape),
       result.name + " = " + python + "(" + x.name + ", " + y.name + ")");
  scope.values.push_back(result);
}

void Generator::makeIndexPut(Scope &scope) {
  const Mutable *dest = pickWritable(scope);
  if (!dest || dest->view.sizes.empty() || dest->view.sizes[0] == 0)
    return;
  Mutable to = *dest;
  Shape shape = to.shape();
  int64_t count = random.between(1, 3);
  Shape indices;
  for (int64_t i = 0; i < count; ++i)
    indices.push_back(random.between(-shape[0], shape[0] - 1));
  bool accumulate = random.percent(50);
  // Without accumulating, an index twice means the last one here, and anything in PyTorch.
  if (!accumulate)
    indices.resize(1);
  Shape part = shape;
  part[0] = indices.size();
  Value_ value = valueOf(scope, part);
  std::string index = fresh(), old = fresh(), now = fresh();
  std::string indexType = "tensor<" + std::to_string(indices.size()) + "xi64>";
  line("%" + index + " = arith.constant dense<[" + listText(indices) + "]> : " + indexType,
       index + " = torch.tensor([" + listText(indices) + "])");
  line("%" + old + " = tssa.read %" + to.name + " : " + mutableType(shape), "");
  line("%" + now + " = tssa.index_put " + (accumulate ? "accumulate " : "") + "%" + value.name + " into %" +
           old + "[0] by %" + index + " : " + valueType(part) + " into " + valueType(shape) + ", " + indexType,
       "");
  line("tssa.mutate %" + to.name + ", %" + now + " : " + mutableType(shape) + ", " + valueType(shape),
       to.name + ".index_put_((" + index + ",), " + value.name + ", accumulate=" + (accumulate ? "True" : "False") + ")");
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

void Generator::makeFor(Scope &scope) {
  int64_t end = random.below(5), by = random.pick<int64_t>({1, 1, 1, 2});
  if (random.percent(90))
    end = std::max<int64_t>(end, 1);
  std::string zero = constantIndex(0), last = constantIndex(end), step = constantIndex(by), iv = fresh('i');
  std::string header = "scf.for %" + iv + " = %" + zero + " to %" + last + " step %" + step;
  std::string pythonHeader = "for " + iv + " in range(0, " + std::to_string(end) + ", " + std::to_string(by) + "):";
  // What it carries: mutable tensors, under a name of their own.
  std::vector<Mutable> inits;
  if (random.percent(plain ? 15 : 35))
    for (int64_t i = random.between(1, 2); i > 0; --i)
      inits.push_back(pickMutable(scope));
  std::vector<std::string> carried, names, types, results;
  Scope inner = scope;
  for (const Mutable &init : inits) {
    Mutable argument{fresh('a'), init.view, true};
    // Which strides it has later is not known: it is read, written and sliced.
    argument.strides = init.writable();
    carried.push_back("%" + argument.name + " = %" + init.name);
    names.push_back(argument.name);
    types.push_back(mutableType(argument.shape()));
    results.push_back(fresh('r'));
    line("", argument.name + " = " + init.name);
    inner.mutables.push_back(argument);
  }
  if (!inits.empty()) {
    std::vector<std::string> assigned;
    for (const std::string &result : results)
      assigned.push_back("%" + result);
    header = join(assigned) + " = " + header + " iter_args(" + join(carried) + ") -> (" + join(types) + ")";
  }
  line(header + " {", pythonHeader);
  ++depth, ++pythonDepth, ++nesting;
  if (end > 0)
    inner.indices.push_back({iv, end});
  line("", "pass");
  statements(inner, random.between(1, 4));
  std::vector<std::string> yields, pythonYields;
  for (size_t i = 0; i < inits.size(); ++i) {
    // Itself, or another one of its type and strides.
    std::vector<std::string> fits{names[i]};
    for (const Mutable &other : inner.mutables)
      if (other.shape() == inits[i].shape() && other.view.strides == inits[i].view.strides &&
          other.writable() == inits[i].writable())
        fits.push_back(other.name);
    std::string yielded = random.percent(30) ? fits.front() : fits[random.below(fits.size())];
    yields.push_back("%" + yielded);
    pythonYields.push_back(yielded);
  }
  if (!inits.empty()) {
    line("scf.yield " + join(yields) + " : " + join(types), join(names) + " = " + join(pythonYields));
  }
  --depth, --pythonDepth, --nesting;
  line("}", "");
  for (size_t i = 0; i < inits.size(); ++i) {
    line("", results[i] + " = " + names[i]);
    Mutable result{results[i], inits[i].view, inits[i].writable()};
    scope.mutables.push_back(result);
  }
}

void Generator::makeIf(Scope &scope) {
  std::string test = condition(scope);
  std::vector<Mutable> shapes;
  if (random.percent(plain ? 10 : 30))
    shapes.push_back(pickMutable(scope));
  std::vector<std::string> results, types, assigned;
  for (const Mutable &shape : shapes) {
    results.push_back(fresh('r'));
    assigned.push_back("%" + results.back());
    types.push_back(mutableType(shape.shape()));
  }
  std::string header = "scf.if %" + test;
  if (!shapes.empty())
    header = join(assigned) + " = " + header + " -> (" + join(types) + ")";
  bool writable = true;
  auto branch = [&] {
    ++depth, ++pythonDepth, ++nesting;
    Scope inner = scope;
    line("", "pass");
    statements(inner, random.between(1, 3));
    std::vector<std::string> yields, python;
    for (const Mutable &shape : shapes) {
      std::vector<const Mutable *> fits;
      for (const Mutable &other : inner.mutables)
        if (other.shape() == shape.shape() && other.view.strides == shape.view.strides)
          fits.push_back(&other);
      const Mutable &yielded = *fits[random.below(fits.size())];
      writable &= yielded.writable();
      yields.push_back("%" + yielded.name);
      python.push_back(yielded.name);
    }
    if (!shapes.empty())
      line("scf.yield " + join(yields) + " : " + join(types), join(results) + " = " + join(python));
    --depth, --pythonDepth, --nesting;
  };
  line(header + " {", "if " + test + ":");
  branch();
  if (!shapes.empty() || random.percent(60)) {
    line("} else {", "else:");
    branch();
  }
  line("}", "");
  for (size_t i = 0; i < shapes.size(); ++i)
    scope.mutables.push_back({results[i], shapes[i].view, writable});
}

/// A loop that counts in the values that it carries, and writes in its condition, too.
void Generator::makeWhile(Scope &scope) {
  int64_t end = random.below(4);
  std::string zero = constantIndex(0), last = constantIndex(end), one = constantIndex(1);
  std::string before = fresh('i'), after = fresh('i'), result = fresh('i'), test = fresh('k'), step = fresh('i');
  line("%" + result + " = scf.while (%" + before + " = %" + zero + ") : (index) -> index {", before + " = 0");
  line("", "while True:");
  ++depth, ++pythonDepth, ++nesting;
  Scope condition = scope;
  if (random.percent(60))
    statements(condition, random.between(1, 2));
  line("%" + test + " = arith.cmpi slt, %" + before + ", %" + last + " : index",
       test + " = " + before + " < " + std::to_string(end));
  line("scf.condition(%" + test + ") %" + before + " : index", "");
  line("", "if not " + test + ": break");
  --depth;
  line("} do {", "");
  ++depth;
  line("^bb0(%" + after + ": index):", after + " = " + before);
  Scope body = scope;
  if (end > 0)
    body.indices.push_back({after, end});
  statements(body, random.between(1, 3));
  line("%" + step + " = arith.addi %" + after + ", %" + one + " : index", before + " = " + after + " + 1");
  line("scf.yield %" + step + " : index", "");
  --depth, --pythonDepth, --nesting;
  line("}", "");
}

void Generator::makeCall(Scope &scope) {
  if (helpers.empty())
    return;
  const Helper &helper = helpers[random.below(helpers.size())];
  for (const Mutable &argument : scope.mutables) {
    if (argument.shape() != helper.shape || !argument.writable() || random.percent(40))
      continue;
    std::string type = mutableType(helper.shape);
    if (!helper.returns) {
      line("func.call @" + helper.name + "(%" + argument.name + ") : (" + type + ") -> ()",
           helper.name + "(" + argument.name + ")");
      return;
    }
    Mutable result{fresh('r'), argument.view, true};
    line("%" + result.name + " = func.call @" + helper.name + "(%" + argument.name + ") : (" + type +
             ") -> " + type,
         result.name + " = " + helper.name + "(" + argument.name + ")");
    scope.mutables.push_back(result);
    return;
  }
}

void Generator::statement(Scope &scope) {
  --left;
  int roll = random.below(100);
  bool deeper = nesting < 3 && left > 0;
  if (roll < 28)
    return makeView(scope);
  if (roll < 48)
    return mutate(scope);
  if (roll < 62)
    return inPlace(scope);
  if (roll < 68)
    return compute(scope);
  if (roll < 73)
    return makeNew(scope);
  if (roll < 84 && deeper)
    return makeFor(scope);
  if (roll < 92 && deeper)
    return makeIf(scope);
  if (plain)
    return mutate(scope);
  if (roll < 95 && deeper)
    return makeWhile(scope);
  if (roll < 98)
    return makeCall(scope);
  return makeIndexPut(scope);
}

void Generator::statements(Scope &scope, int budget) {
  for (; budget > 0 && left > 0; --budget)
    statement(scope);
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

/// A function that writes into its argument, and may return it.
void Generator::helper() {
  Helper made{name + "_h" + std::to_string(helpers.size()), {}, random.percent(50)};
  for (int64_t d = random.between(1, 2); d > 0; --d)
    made.shape.push_back(random.between(1, 4));
  std::string type = mutableType(made.shape), argument = fresh('a');
  depth = pythonDepth = 0;
  line("func.func private @" + made.name + "(%" + argument + ": " + type + ")" + (made.returns ? " -> " + type : "") + " {",
       "def " + made.name + "(" + argument + "):");
  depth = pythonDepth = 1;
  Scope scope;
  scope.mutables.push_back({argument, StridedView::dense(made.shape), true});
  // It is called with views: nothing about strides is known inside.
  bool wasPlain = plain;
  plain = true;
  left = 4;
  statements(scope, 4);
  plain = wasPlain;
  line(made.returns ? "return %" + argument + " : " + type : "return", made.returns ? "return " + argument : "return");
  depth = pythonDepth = 0;
  line("}", "");
  helpers.push_back(made);
}

ImperativeProgram Generator::generate() {
  program.name = name;
  if (!plain && random.percent(40))
    helper();
  std::vector<std::string> parameters, pythonParameters;
  Scope scope;
  for (int64_t i = random.between(1, 3); i > 0; --i) {
    Shape shape;
    for (int64_t d = random.between(1, 3); d > 0; --d)
      shape.push_back(random.between(1, 5));
    if (!helpers.empty() && random.percent(50))
      shape = helpers.front().shape;
    Mutable argument{fresh('a'), StridedView::dense(shape), true};
    parameters.push_back("%" + argument.name + ": " + mutableType(shape));
    pythonParameters.push_back(argument.name);
    scope.mutables.push_back(argument);
  }
  std::string body;
  std::swap(body, program.mlir);
  std::string pythonBody;
  std::swap(pythonBody, program.python);
  depth = pythonDepth = 1;
  left = random.between(8, 30);
  statements(scope, left);
  std::vector<std::string> results, pythonResults, types;
  for (int64_t i = random.between(1, 2); i > 0; --i) {
    const Mutable &result = pickMutable(scope);
    results.push_back("%" + result.name);
    pythonResults.push_back(result.name);
    types.push_back(mutableType(result.shape()));
  }
  program.mlir = body + "func.func @" + name + "(" + join(parameters) + ") -> (" + join(types) + ") {\n" +
                 program.mlir + "  return " + join(results) + " : " + join(types) + "\n}\n";
  program.python = pythonBody + "def " + name + "(" + join(pythonParameters) + "):\n" + program.python +
                   "    return [" + join(pythonResults) + "]\n";
  return std::move(program);
}

ImperativeProgram mlir::ft::fuzz::generateImperative(uint64_t seed, uint64_t number) {
  return Generator(seed, number).generate();
}
