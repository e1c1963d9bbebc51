//===- RandomTest.cpp - Random leaves against a direct evaluation ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Draws straight-line programs over small shapes, evaluates them op by op on
// doubles, and compares. What it is after are the decisions between ops: views,
// fusion, parts computed in place, shared scratch, rows.
//
//===----------------------------------------------------------------------===//
#include "LeafTester.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstdlib>
#include <random>

using namespace leaftest;

namespace {

using Shape = std::vector<int64_t>;

struct Tensor {
  Shape shape;
  int64_t size() const {
    int64_t count = 1;
    for (int64_t extent : shape)
      count *= extent;
    return count;
  }
  std::string type() const {
    std::string text = "tensor<";
    for (int64_t extent : shape)
      text += std::to_string(extent) + "x";
    return text + "f64>";
  }
};

/// Calls `body` with each index of a shape.
void forAll(const Shape &shape, const std::function<void(const Shape &)> &body) {
  Shape index(shape.size());
  while (true) {
    body(index);
    int64_t d = int64_t(shape.size()) - 1;
    for (; d >= 0 && ++index[d] == shape[d]; --d)
      index[d] = 0;
    if (d < 0)
      return;
  }
}

int64_t flat(const Shape &shape, const Shape &index) {
  int64_t at = 0;
  for (size_t d = 0; d < shape.size(); ++d)
    at = at * shape[d] + index[d];
  return at;
}

std::string listOf(const Shape &numbers) {
  std::string text = "[";
  for (size_t i = 0; i < numbers.size(); ++i)
    text += (i ? ", " : "") + std::to_string(numbers[i]);
  return text + "]";
}

class Program {
public:
  explicit Program(unsigned seed) : random(seed) {}

  Check draw() {
    int numInputs = 1 + pick(3);
    std::string arguments;
    for (int i = 0; i < numInputs; ++i) {
      Shape shape;
      for (int d = 0, rank = pick(4); d < rank; ++d)
        shape.push_back(extent());
      values.push_back({shape});
      arguments += (i ? ", %v" : "%v") + std::to_string(i) + ": " + values.back().type();
    }
    Check check;
    for (int i = 0; i < numInputs; ++i)
      check.batched.push_back(pick(3) != 0);
    for (int i = 0, count = 3 + pick(12); i < count; ++i)
      addOp();
    std::vector<int> results;
    for (int i = 0, count = 1 + pick(3); i < count; ++i)
      results.push_back(pick(3) ? int(values.size()) - 1 - pick(std::min<int>(values.size(), 4))
                                : pick(values.size()));
    std::string names, types;
    for (size_t i = 0; i < results.size(); ++i) {
      names += (i ? ", %v" : "%v") + std::to_string(results[i]);
      types += (i ? ", " : "") + values[results[i]].type();
      check.aliases.push_back(pick(4) == 0);
    }
    check.text = "func.func private @leaf(" + arguments + ") -> (" + types + ") {\n" + text +
                 "  return " + names + " : " + types + "\n}\n";
    check.tolerance = 1e-10;
    if (pick(3) == 0)
      check.vectorBytes = 32;
    check.reference = [steps = steps, results](const std::vector<Values> &inputs) {
      std::vector<Values> all = inputs;
      for (const auto &step : steps)
        all.push_back(step(all));
      std::vector<Values> out;
      for (int result : results)
        out.push_back(all[result]);
      return out;
    };
    return check;
  }

private:
  std::mt19937 random;
  std::string text;
  std::vector<Tensor> values;
  std::vector<std::function<Values(const std::vector<Values> &)>> steps;
  int temporaries = 0;

  int pick(int below) { return int(random() % unsigned(below)); }
  int64_t extent() {
    static const int64_t extents[] = {1, 1, 2, 3, 4, 5, 8, 9, 16, 17};
    return extents[pick(10)];
  }

  std::string name(int value) { return "%v" + std::to_string(value); }
  void finish(Shape shape, const std::string &line,
              std::function<Values(const std::vector<Values> &)> step) {
    text += "  %v" + std::to_string(values.size()) + " = " + line + "\n";
    values.push_back({std::move(shape)});
    steps.push_back(std::move(step));
  }
  std::string empty(const Tensor &of) {
    std::string temporary = "%t" + std::to_string(temporaries++);
    text += "  " + temporary + " = tensor.empty() : " + of.type() + "\n";
    return temporary;
  }

  void addOp() {
    int a = pick(values.size());
    const Tensor source = values[a];
    size_t rank = source.shape.size();
    switch (pick(12)) {
    case 0: { // unary
      static const char *ops[] = {"math.tanh", "math.sin", "arith.negf"};
      int which = pick(3);
      return finish(source.shape, std::string(ops[which]) + " " + name(a) + " : " + source.type(),
                    [=](const std::vector<Values> &all) {
                      Values out = all[a];
                      for (double &x : out)
                        x = which == 0 ? std::tanh(x) : which == 1 ? std::sin(x) : -x;
                      return out;
                    });
    }
    case 1:
    case 2:
    case 3: { // binary
      std::vector<int> same;
      for (size_t i = 0; i < values.size(); ++i)
        if (values[i].shape == source.shape)
          same.push_back(i);
      int b = same[pick(same.size())];
      static const char *ops[] = {"arith.addf", "arith.mulf", "arith.subf", "arith.maximumf"};
      int which = pick(4);
      return finish(source.shape,
                    std::string(ops[which]) + " " + name(a) + ", " + name(b) + " : " +
                        source.type(),
                    [=](const std::vector<Values> &all) {
                      Values out = all[a];
                      for (size_t i = 0; i < out.size(); ++i) {
                        double y = all[b][i];
                        out[i] = which == 0   ? out[i] + y
                                 : which == 1 ? out[i] * y
                                 : which == 2 ? out[i] - y
                                              : std::max(out[i], y);
                      }
                      return out;
                    });
    }
    case 4: { // transpose (upstream's verifier crashes on scalars)
      if (rank == 0)
        return;
      Shape permutation(rank), shape(rank);
      for (size_t i = 0; i < rank; ++i)
        permutation[i] = i;
      std::shuffle(permutation.begin(), permutation.end(), random);
      for (size_t i = 0; i < rank; ++i)
        shape[i] = source.shape[permutation[i]];
      Tensor result{shape};
      std::string init = empty(result);
      return finish(shape,
                    "linalg.transpose ins(" + name(a) + " : " + source.type() + ") outs(" + init +
                        " : " + result.type() + ") permutation = " + listOf(permutation),
                    [=](const std::vector<Values> &all) {
                      Values out;
                      forAll(shape, [&](const Shape &index) {
                        Shape from(rank);
                        for (size_t i = 0; i < rank; ++i)
                          from[permutation[i]] = index[i];
                        out.push_back(all[a][flat(source.shape, from)]);
                      });
                      return out;
                    });
    }
    case 5: { // broadcast
      if (rank > 2)
        return;
      int64_t at = pick(rank + 1);
      Shape shape = source.shape;
      shape.insert(shape.begin() + at, extent());
      Tensor result{shape};
      std::string init = empty(result);
      return finish(shape,
                    "linalg.broadcast ins(" + name(a) + " : " + source.type() + ") outs(" + init +
                        " : " + result.type() + ") dimensions = " + listOf({at}),
                    [=](const std::vector<Values> &all) {
                      Values out;
                      forAll(shape, [&](const Shape &index) {
                        Shape from = index;
                        from.erase(from.begin() + at);
                        out.push_back(all[a][flat(source.shape, from)]);
                      });
                      return out;
                    });
    }
    case 6:
    case 7: { // reduce
      if (rank == 0)
        return;
      int64_t at = pick(rank);
      bool isMax = pick(2);
      Shape shape = source.shape;
      shape.erase(shape.begin() + at);
      Tensor result{shape};
      // Start from a value of the shape, if there is one.
      int init = -1;
      for (size_t i = 0; i < values.size(); ++i)
        if (values[i].shape == shape)
          init = i;
      std::string start;
      if (init < 0) {
        start = "%t" + std::to_string(temporaries++);
        text += "  " + start + " = arith.constant dense<0.5> : " + result.type() + "\n";
      } else {
        start = name(init);
      }
      return finish(shape,
                    std::string("linalg.reduce { ") + (isMax ? "arith.maximumf" : "arith.addf") +
                        " } ins(" + name(a) + " : " + source.type() + ") outs(" + start + " : " +
                        result.type() + ") dimensions = " + listOf({at}),
                    [=](const std::vector<Values> &all) {
                      Values out = init < 0 ? Values(result.size(), 0.5) : all[init];
                      forAll(source.shape, [&](const Shape &index) {
                        Shape to = index;
                        to.erase(to.begin() + at);
                        double &y = out[flat(shape, to)], x = all[a][flat(source.shape, index)];
                        y = isMax ? std::max(x, y) : x + y;
                      });
                      return out;
                    });
    }
    case 8: { // slice
      Shape offsets, sizes, steps, ones(rank, 1);
      for (int64_t extent : source.shape) {
        steps.push_back(1 + (pick(4) == 0 && extent > 2));
        offsets.push_back(pick(extent));
        sizes.push_back(1 + pick((extent - 1 - offsets.back()) / steps.back() + 1));
      }
      return finish(sizes,
                    "tensor.extract_slice " + name(a) + listOf(offsets) + " " + listOf(sizes) +
                        " " + listOf(steps) + " : " + source.type() + " to " + Tensor{sizes}.type(),
                    [=](const std::vector<Values> &all) {
                      Values out;
                      forAll(sizes, [&](const Shape &index) {
                        Shape from = index;
                        for (size_t i = 0; i < rank; ++i)
                          from[i] = offsets[i] + index[i] * steps[i];
                        out.push_back(all[a][flat(source.shape, from)]);
                      });
                      return out;
                    });
    }
    case 9: { // collapse all, or insert into the value itself
      if (rank < 2)
        return;
      if (pick(2)) {
        Shape all(rank);
        for (size_t i = 0; i < rank; ++i)
          all[i] = i;
        Shape shape{source.size()};
        return finish(shape,
                      "tensor.collapse_shape " + name(a) + " [" + listOf(all) +
                          "] : " + source.type() + " into " + Tensor{shape}.type(),
                      [=](const std::vector<Values> &all) { return all[a]; });
      }
      // A row of the value over another of its rows.
      int64_t from = pick(source.shape[0]), to = pick(source.shape[0]);
      Shape offsets(rank), sizes = source.shape, ones(rank, 1);
      sizes[0] = 1;
      std::string row = "%t" + std::to_string(temporaries++);
      offsets[0] = from;
      text += "  " + row + " = tensor.extract_slice " + name(a) + listOf(offsets) + " " +
              listOf(sizes) + " " + listOf(ones) + " : " + source.type() + " to " +
              Tensor{sizes}.type() + "\n";
      offsets[0] = to;
      int64_t length = source.size() / source.shape[0];
      return finish(source.shape,
                    "tensor.insert_slice " + row + " into " + name(a) + listOf(offsets) + " " +
                        listOf(sizes) + " " + listOf(ones) + " : " + Tensor{sizes}.type() +
                        " into " + source.type(),
                    [=](const std::vector<Values> &all) {
                      Values out = all[a];
                      for (int64_t i = 0; i < length; ++i)
                        out[to * length + i] = all[a][from * length + i];
                      return out;
                    });
    }
    case 10: { // concat with something that fits
      if (rank == 0)
        return;
      int64_t at = pick(rank);
      std::vector<int> fits;
      for (size_t i = 0; i < values.size(); ++i) {
        Shape x = values[i].shape, y = source.shape;
        if (x.size() != y.size())
          continue;
        x[at] = y[at] = 0;
        if (x == y)
          fits.push_back(i);
      }
      int b = fits[pick(fits.size())];
      Shape shape = source.shape, other = values[b].shape;
      shape[at] += other[at];
      return finish(
          shape,
          "tensor.concat dim(" + std::to_string(at) + ") " + name(a) + ", " + name(b) + " : (" +
              source.type() + ", " + values[b].type() + ") -> " + Tensor{shape}.type(),
          [=](const std::vector<Values> &all) {
            Values out;
            forAll(shape, [&](const Shape &index) {
              Shape from = index;
              bool first = index[at] < source.shape[at];
              if (!first)
                from[at] -= source.shape[at];
              out.push_back(first ? all[a][flat(source.shape, from)] : all[b][flat(other, from)]);
            });
            return out;
          });
    }
    default: { // product, perhaps with a transposed operand
      if (rank != 2)
        return;
      for (int attempt = 0; attempt < 8; ++attempt) {
        int b = pick(values.size());
        Shape other = values[b].shape;
        bool left = pick(2), right = pick(2);
        if (other.size() != 2 || source.shape[left ? 0 : 1] != other[right ? 1 : 0])
          continue;
        int64_t m = source.shape[left ? 1 : 0], k = source.shape[left ? 0 : 1];
        int64_t n = other[right ? 0 : 1];
        Tensor result{{m, n}};
        int init = -1;
        for (size_t i = 0; i < values.size(); ++i)
          if (values[i].shape == result.shape)
            init = i;
        std::string start = init < 0 ? "%t" + std::to_string(temporaries++) : name(init);
        if (init < 0)
          text += "  " + start + " = arith.constant dense<0.0> : " + result.type() + "\n";
        return finish(result.shape,
                      std::string("linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (") +
                          (left ? "k, m" : "m, k") + ")>, affine_map<(m, n, k) -> (" +
                          (right ? "n, k" : "k, n") + ")>, affine_map<(m, n, k) -> (m, n)>] ins(" +
                          name(a) + ", " + name(b) + " : " + source.type() + ", " +
                          values[b].type() + ") outs(" + start + " : " + result.type() + ") -> " +
                          result.type(),
                      [=](const std::vector<Values> &all) {
                        Values out = init < 0 ? Values(m * n) : all[init];
                        for (int64_t i = 0; i < m; ++i)
                          for (int64_t j = 0; j < n; ++j)
                            for (int64_t l = 0; l < k; ++l)
                              out[i * n + j] += all[a][left ? l * m + i : i * k + l] *
                                                all[b][right ? j * k + l : l * n + j];
                        return out;
                      });
      }
    }
    }
  }
};

TEST(Random, ProgramsAgreeWithTheirDefinition) {
  // FT_RANDOM_LEAVES=count[,first] for a longer search.
  unsigned count = 120, first = 0;
  if (const char *text = getenv("FT_RANDOM_LEAVES"))
    sscanf(text, "%u,%u", &count, &first);
  for (unsigned seed = first; seed < first + count && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    if (getenv("FT_SHOW_LEAVES"))
      puts(Program(seed).draw().text.c_str());
    Check test = Program(seed).draw();
    test.listed = seed % 3 == 2;
    check(test);
  }
}

} // namespace
