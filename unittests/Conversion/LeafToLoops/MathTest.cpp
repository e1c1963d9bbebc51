//===- MathTest.cpp - Elementary functions against libm -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LeafTester.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "gtest/gtest.h"

#include <cmath>
#include <limits>
#include <set>

using namespace leaftest;

namespace {

constexpr int count = 4099; // with a remainder

struct Function {
  const char *op;
  long double (*exact)(long double);
  double low, high;         // of the argument, in steps
  double ulpF32, ulpF64;    // allowed
  bool logarithmic = false; // steps of the exponent, both signs if low < 0
  double slack = 0;         // absolute error allowed, in units of the last place of 1
};

double ulpOf(const std::string &type, double value) {
  int bits = type == "f32" ? 24 : 53, smallest = type == "f32" ? -149 : -1074;
  int exponent;
  std::frexp(value, &exponent);
  return std::ldexp(1.0, std::max(exponent - bits, smallest));
}

std::unique_ptr<CompiledLeaf> compile(const std::string &op, const std::string &type,
                                      unsigned arity = 1) {
  std::string list = arity == 1 ? "%a" : "%a, %b";
  std::string arguments = "%a: tensor<4099x$T>";
  if (arity == 2)
    arguments += ", %b: tensor<4099x$T>";
  return CompiledLeaf::make(withType("func.func private @leaf(" + arguments +
                                         ") -> tensor<4099x$T> {\n  %0 = " + op + " " + list +
                                         " : tensor<4099x$T>\n  return %0 : tensor<4099x$T>\n}",
                                     type),
                            {});
}

void checkFunction(const Function &f) {
  for (std::string type : {"f32", "f64"}) {
    auto leaf = compile(f.op, type);
    ASSERT_TRUE(leaf);
    Rows in = leaf->allocate(0, 1), out = leaf->allocate(1, 1);
    double worst = 0, worstAt = 0;
    for (int round = 0; round < 50; ++round) {
      for (int i = 0; i < count; ++i) {
        double t = (i + round / 50.0) / count;
        double x = f.low + (f.high - f.low) * t;
        if (f.logarithmic) {
          double least = type == "f32" ? -149 : -1070;
          double most = std::log2(f.high);
          x = std::exp2(least + (most - least) * t);
          if (f.low < 0 && i % 2)
            x = -x;
        }
        in.set(0, i, x);
      }
      leaf->run(1, {&in, &out});
      for (int i = 0; i < count; ++i) {
        double x = in.get(0, i), y = out.get(0, i);
        long double exact = f.exact(x);
        double rounded = type == "f32" ? double(float(exact)) : double(exact);
        if (y == rounded || (std::isnan(y) && std::isnan(rounded)))
          continue;
        ASSERT_TRUE(std::isfinite(y)) << f.op << " " << type << " of " << x << " is " << y;
        double error =
            std::max<double>(std::fabs((long double)y - exact) - f.slack * ulpOf(type, 1), 0) /
            ulpOf(type, rounded);
        if (error > worst) {
          worst = error;
          worstAt = x;
        }
      }
    }
    double allowed = type == "f32" ? f.ulpF32 : f.ulpF64;
    EXPECT_LE(worst, allowed) << f.op << " " << type << " at " << worstAt;
    if (getenv("FT_SHOW_ERRORS"))
      printf("%-12s %s max error %.2f ulp at %g\n", f.op, type.c_str(), worst, worstAt);
  }
}

TEST(Math, Exponentials) {
  checkFunction({"math.exp", expl, -110, 92, 1.5, 1.5});
  checkFunction({"math.exp", expl, -750, 712, 1.5, 1.5});
  checkFunction({"math.exp", expl, -1, 1, 1.5, 1.5, true});
  checkFunction({"math.exp2", exp2l, -160, 130, 1.5, 1.5});
  checkFunction({"math.exp2", exp2l, -1080, 1026, 1.5, 1.5});
  checkFunction({"math.expm1", expm1l, -30, 92, 2.5, 2.5});
  checkFunction({"math.expm1", expm1l, -1, 1, 2.5, 2.5, true});
  checkFunction({"math.tanh", tanhl, -12, 12, 3, 3});
  checkFunction({"math.tanh", tanhl, -1, 30, 3, 3, true});
}

TEST(Math, Logarithms) {
  using Log = std::pair<const char *, long double (*)(long double)>;
  for (auto [op, exact] :
       {Log{"math.log", logl}, Log{"math.log2", log2l}, Log{"math.log10", log10l}}) {
    checkFunction({op, exact, 0, 1e30, 2, 2, true});
    checkFunction({op, exact, 0.5, 2.5, 2, 2});
    checkFunction({op, exact, -2, 0, 2, 2});
  }
  checkFunction({"math.log1p", log1pl, 0, 1e30, 3, 3, true});
  checkFunction({"math.log1p", log1pl, -1, 2, 3, 3});
}

TEST(Math, Trigonometric) {
  checkFunction({"math.sin", sinl, -10, 10, 2, 2, false, 1});
  checkFunction({"math.sin", sinl, -1e6, 1e6, 2, 2, false, 1});
  checkFunction({"math.sin", sinl, -1, 1, 2, 2, true});
  checkFunction({"math.cos", cosl, -10, 10, 2, 2, false, 1});
  checkFunction({"math.cos", cosl, -1e6, 1e6, 2, 2, false, 1});
  checkFunction({"math.tan", tanl, -1.5, 1.5, 4, 6});
  checkFunction({"math.atan", atanl, -10, 10, 3, 3});
  checkFunction({"math.atan", atanl, -1, 1e30, 3, 3, true});
}

TEST(Math, ErrorFunction) {
  checkFunction({"math.erf", erfl, -7, 7, 3, 3});
  checkFunction({"math.erf", erfl, -1, 1, 3, 3, true});
}

TEST(Math, Roots) {
  checkFunction({"math.rsqrt", [](long double x) { return 1 / sqrtl(x); }, 0, 1e30, 2, 2, true});
  checkFunction({"math.sqrt", sqrtl, 0, 1e30, 0.51, 0.51, true});
}

TEST(Math, Power) {
  for (std::string type : {"f32", "f64"}) {
    auto leaf = compile("math.powf", type, 2);
    ASSERT_TRUE(leaf);
    Rows x = leaf->allocate(0, 1), y = leaf->allocate(1, 1), out = leaf->allocate(2, 1);
    double inf = INFINITY;
    std::vector<double> special{0,    -0.0, 1,    -1,  2,     -2, 3,   0.5,
                                -0.5, inf,  -inf, NAN, 1e-30, 7,  -3.5};
    double worst = 0;
    for (int i = 0; i < count; ++i) {
      bool isSpecial = i < int(special.size() * special.size());
      x.set(0, i,
            isSpecial ? special[i % special.size()] : std::exp2((i * 37 % 2000 - 1000) / 17.0));
      y.set(0, i, isSpecial ? special[i / special.size()] : (i * 91 % 3000 - 1500) / 111.0);
    }
    leaf->run(1, {&x, &y, &out});
    for (int i = 0; i < count; ++i) {
      long double exact = powl(x.get(0, i), y.get(0, i));
      double got = out.get(0, i), rounded = type == "f32" ? double(float(exact)) : double(exact);
      if (got == rounded || (std::isnan(got) && std::isnan(rounded)))
        continue;
      ASSERT_TRUE(std::isfinite(got) && std::isfinite(rounded))
          << type << " " << x.get(0, i) << " ^ " << y.get(0, i) << " is " << got << ", not "
          << rounded;
      worst = std::max<double>(worst, std::fabs((long double)got - exact) / ulpOf(type, rounded));
    }
    EXPECT_LE(worst, type == "f32" ? 1 : 16) << type;
    if (getenv("FT_SHOW_ERRORS"))
      printf("powf %s max error %.2f ulp\n", type.c_str(), worst);
  }
}

TEST(Math, SpecialValues) {
  double inf = INFINITY;
  struct Case {
    const char *op;
    double x, y;
  } cases[] = {
      {"math.exp", -1e30, 0},     {"math.exp", 0, 1},           {"math.exp", -inf, 0},
      {"math.exp", inf, inf},     {"math.exp", NAN, NAN},       {"math.exp", 1e30, inf},
      {"math.exp2", -inf, 0},     {"math.exp2", 10, 1024},      {"math.exp2", inf, inf},
      {"math.exp2", NAN, NAN},    {"math.expm1", 0, 0},         {"math.expm1", -inf, -1},
      {"math.expm1", inf, inf},   {"math.expm1", NAN, NAN},     {"math.tanh", inf, 1},
      {"math.tanh", -inf, -1},    {"math.tanh", NAN, NAN},      {"math.tanh", 0, 0},
      {"math.log", 0, -inf},      {"math.log", -0.0, -inf},     {"math.log", 1, 0},
      {"math.log", inf, inf},     {"math.log", -1, NAN},        {"math.log", NAN, NAN},
      {"math.log", -inf, NAN},    {"math.log2", 8, 3},          {"math.log2", 0x1p-140, -140},
      {"math.log2", 0, -inf},     {"math.log2", inf, inf},      {"math.log1p", -1, -inf},
      {"math.log1p", inf, inf},   {"math.log1p", -2, NAN},      {"math.log1p", NAN, NAN},
      {"math.log1p", 0, 0},       {"math.sin", 0, 0},           {"math.cos", 0, 1},
      {"math.sin", inf, NAN},     {"math.cos", -inf, NAN},      {"math.sin", NAN, NAN},
      {"math.atan", inf, M_PI_2}, {"math.atan", -inf, -M_PI_2}, {"math.atan", NAN, NAN},
      {"math.erf", inf, 1},       {"math.erf", -inf, -1},       {"math.erf", NAN, NAN},
      {"math.erf", 0, 0},         {"math.rsqrt", 4, 0.5},       {"math.rsqrt", 0, inf},
      {"math.rsqrt", inf, 0},     {"math.sqrt", -1, NAN},
  };
  for (std::string type : {"f64", "f32", "f16", "bf16"})
    for (size_t i = 0; i < std::size(cases);) {
      std::string op = cases[i].op;
      auto leaf = compile(op, type);
      ASSERT_TRUE(leaf);
      for (; i < std::size(cases) && op == cases[i].op; ++i) {
        Rows in = leaf->allocate(0, 1), out = leaf->allocate(1, 1);
        // Half types do not reach 1e30.
        bool isF16 = type == "f16";
        double x =
            isF16 && std::fabs(cases[i].x) == 1e30 ? std::copysign(6e4, cases[i].x) : cases[i].x;
        if (x == 0x1p-140 && type.ends_with("f16"))
          continue;
        for (int j : {0, 17, count - 1})
          in.set(0, j, x);
        leaf->run(1, {&in, &out});
        for (int j : {0, 17, count - 1}) { // in vectors and in the remainder
          writeElement(type, out.bytes->data(), out.get(0, j));
          double got = out.get(0, 0), expected = cases[i].y;
          std::vector<char> rounded(8);
          writeElement(type, rounded.data(), expected);
          expected = readElement(type, rounded.data());
          EXPECT_TRUE(got == expected || (std::isnan(got) && std::isnan(expected)))
              << op << " " << type << " of " << x << " is " << got << ", not " << expected;
        }
      }
    }
}

TEST(Math, InverseTrigonometric) {
  checkFunction({"math.asin", asinl, -1, 1, 2.5, 2.5});
  checkFunction({"math.asin", asinl, -1, 1, 2.5, 2.5, true});
  checkFunction({"math.acos", acosl, -1, 1, 2.5, 2.5});
  checkFunction({"math.acos", acosl, -1, 1, 2.5, 2.5, true});
}

TEST(Math, Hyperbolic) {
  checkFunction({"math.sinh", sinhl, -90, 90, 3, 3});
  checkFunction({"math.sinh", sinhl, -711, 711, 3, 3});
  checkFunction({"math.sinh", sinhl, -1, 30, 3, 3, true});
  checkFunction({"math.cosh", coshl, -90, 90, 3, 3});
  checkFunction({"math.cosh", coshl, -711, 711, 3, 3});
  checkFunction({"math.asinh", asinhl, -10, 10, 4, 4});
  checkFunction({"math.asinh", asinhl, -1, 1e30, 4, 4, true});
  checkFunction({"math.acosh", acoshl, 1, 10, 4, 4});
  checkFunction({"math.acosh", acoshl, 1, 1e30, 4, 4});
  checkFunction({"math.atanh", atanhl, -1, 1, 4, 4});
  checkFunction({"math.atanh", atanhl, -1, 1, 4, 4, true});
}

TEST(Math, ComplementOfTheErrorFunction) {
  checkFunction({"math.erfc", erfcl, -7, 11, 5, 5});
  checkFunction({"math.erfc", erfcl, -7, 28, 5, 5});
  checkFunction({"math.erfc", erfcl, -1, 1, 5, 5, true});
}

TEST(Math, CubicRoots) {
  checkFunction({"math.cbrt", cbrtl, -1, 1e30, 1, 1, true});
  checkFunction({"math.cbrt", cbrtl, -1000, 1000, 1, 1});
}

TEST(Math, Rounding) {
  checkFunction({"math.round", roundl, -5, 5, 0, 0});
  checkFunction({"math.round", roundl, -1, 1e30, 0, 0, true});
}

TEST(Math, AngleOfAPoint) {
  double inf = INFINITY;
  std::vector<double> special{0, -0.0, 1, -1, inf, -inf, NAN, 0x1p-140, 1e30, -2.5};
  for (std::string type : {"f32", "f64"}) {
    auto leaf = compile("math.atan2", type, 2);
    ASSERT_TRUE(leaf);
    Rows y = leaf->allocate(0, 1), x = leaf->allocate(1, 1), out = leaf->allocate(2, 1);
    for (int i = 0; i < count; ++i) {
      bool isSpecial = i < int(special.size() * special.size());
      double size = std::exp2((i * 37 % 200 - 100) / 17.0), angle = i * 0.0153;
      y.set(0, i, isSpecial ? special[i % special.size()] : size * std::sin(angle));
      x.set(0, i, isSpecial ? special[i / special.size()] : size * std::cos(angle));
    }
    leaf->run(1, {&y, &x, &out});
    for (int i = 0; i < count; ++i) {
      long double exact = atan2l(y.get(0, i), x.get(0, i));
      double got = out.get(0, i), rounded = type == "f32" ? double(float(exact)) : double(exact);
      if (std::isnan(rounded)) {
        EXPECT_TRUE(std::isnan(got)) << type << " " << y.get(0, i) << ", " << x.get(0, i);
        continue;
      }
      EXPECT_EQ(std::signbit(got), std::signbit(rounded)) << type << " " << y.get(0, i) << ", " << x.get(0, i);
      EXPECT_LE(std::fabs((long double)got - exact), 3 * ulpOf(type, rounded))
          << type << " " << y.get(0, i) << ", " << x.get(0, i);
    }
  }
}

TEST(Math, PowersOfIntegers) {
  auto power = [](int64_t base, int64_t exponent) -> int64_t {
    if (exponent < 0)
      return base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0;
    uint64_t result = 1;
    for (int64_t i = 0; i < exponent; ++i)
      result *= base;
    return static_cast<int64_t>(result);
  };
  for (std::string type : {"i32", "i64"}) {
    auto leaf = compile("math.ipowi", type, 2);
    ASSERT_TRUE(leaf);
    Rows x = leaf->allocate(0, 1), y = leaf->allocate(1, 1), out = leaf->allocate(2, 1);
    for (int i = 0; i < count; ++i) {
      x.set(0, i, i % 23 - 11);
      y.set(0, i, i / 23 % 40 - 6);
    }
    leaf->run(1, {&x, &y, &out});
    for (int i = 0; i < count; ++i) {
      int64_t exact = power(i % 23 - 11, i / 23 % 40 - 6);
      if (type == "i32")
        exact = static_cast<int32_t>(exact);
      EXPECT_EQ(out.get(0, i), static_cast<double>(exact)) << type << " " << i % 23 - 11 << " ^ " << i / 23 % 40 - 6;
    }
  }
}

TEST(Math, SpecialValuesOfInverses) {
  double inf = INFINITY;
  struct Case {
    const char *op;
    double x, y;
  } cases[] = {
      {"math.asin", 1, M_PI_2},     {"math.asin", -1, -M_PI_2}, {"math.asin", 1.25, NAN},   {"math.asin", NAN, NAN},
      {"math.acos", 1, 0},          {"math.acos", -1, M_PI},    {"math.acos", -1.25, NAN},  {"math.acos", NAN, NAN},
      {"math.acosh", 1, 0},         {"math.acosh", 0.5, NAN},   {"math.acosh", -3, NAN},    {"math.acosh", inf, inf},
      {"math.acosh", NAN, NAN},     {"math.asinh", inf, inf},   {"math.asinh", -inf, -inf}, {"math.asinh", 0, 0},
      {"math.asinh", NAN, NAN},     {"math.atanh", 1, inf},     {"math.atanh", -1, -inf},   {"math.atanh", 1.5, NAN},
      {"math.atanh", inf, NAN},     {"math.atanh", NAN, NAN},   {"math.sinh", inf, inf},    {"math.sinh", -inf, -inf},
      {"math.sinh", 0, 0},          {"math.sinh", NAN, NAN},    {"math.cosh", inf, inf},    {"math.cosh", -inf, inf},
      {"math.cosh", 0, 1},          {"math.cosh", NAN, NAN},    {"math.cbrt", 27, 3},       {"math.cbrt", -8, -2},
      {"math.cbrt", 0, 0},          {"math.cbrt", inf, inf},    {"math.cbrt", -inf, -inf},  {"math.cbrt", NAN, NAN},
      {"math.erfc", 0, 1},          {"math.erfc", inf, 0},      {"math.erfc", -inf, 2},     {"math.erfc", NAN, NAN},
      {"math.round", 0.5, 1},       {"math.round", -0.5, -1},   {"math.round", 2.5, 3},     {"math.round", inf, inf},
      {"math.round", -1.375, -1},   {"math.round", NAN, NAN},   {"math.round", -inf, -inf},
  };
  for (std::string type : {"f64", "f32", "f16", "bf16"})
    for (const Case &test : cases) {
      auto leaf = compile(test.op, type);
      ASSERT_TRUE(leaf);
      Rows in = leaf->allocate(0, 1), out = leaf->allocate(1, 1);
      for (int j : {0, 17, count - 1})
        in.set(0, j, test.x);
      leaf->run(1, {&in, &out});
      std::vector<char> rounded(8);
      writeElement(type, rounded.data(), test.y);
      double expected = readElement(type, rounded.data());
      for (int j : {0, 17, count - 1}) { // in vectors and in the remainder
        double got = out.get(0, j);
        EXPECT_TRUE(got == expected || (std::isnan(got) && std::isnan(expected)))
            << test.op << " " << type << " of " << test.x << " is " << got << ", not " << expected;
      }
    }
}

/// What the table says is what the installed dialect has.
TEST(Math, TheTableIsTheDialect) {
  std::set<std::string> table, dialect;
#define FT_MATH_OP(Name, mnemonic, how) table.insert("math." #mnemonic);
#include "ft/Dialect/Math/Transforms/MathFunctions.def"
  mlir::MLIRContext context;
  context.loadDialect<mlir::math::MathDialect>();
  for (mlir::RegisteredOperationName name : context.getRegisteredOperations())
    if (llvm::isa<mlir::math::MathDialect>(name.getDialect()))
      dialect.insert(name.getStringRef().str());
  EXPECT_EQ(table, dialect);
}

} // namespace
