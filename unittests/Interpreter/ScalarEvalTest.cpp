//===- ScalarEvalTest.cpp - arith, math and scf by hand -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every scalar operation against a value computed by hand.
//
//===----------------------------------------------------------------------===//
#include "EvalFixture.h"

using namespace mlir;
using namespace mlir::ft::interp;

namespace {

class ScalarEval : public EvalTest {
protected:
  /// `op %a[, %b[, %c]]` on scalars of one type.
  std::string apply(StringRef op, StringRef type, ArrayRef<StringRef> values,
                    StringRef resultType = "", StringRef name = "") {
    std::string text, operands;
    for (auto [i, value] : llvm::enumerate(values)) {
      std::string id = "%v" + std::to_string(i);
      text += id + " = arith.constant " + value.str() + " : " + type.str() + "\n";
      operands += (i ? ", " : "") + id;
    }
    std::string suffix = type.str();
    if (!resultType.empty())
      suffix += " to " + resultType.str();
    StringRef result = resultType.empty() ? type : resultType;
    text += "%r = " + op.str() + " " + operands + " : " + suffix + "\n";
    text += "\"test.show\"(%r) : (" + result.str() + ") -> ()";
    return show(text);
  }
  std::string compare(StringRef predicate, StringRef op, StringRef type, StringRef a, StringRef b) {
    return show(("%a = arith.constant " + a + " : " + type + "\n%b = arith.constant " + b + " : " +
                 type + "\n%r = " + op + " " + predicate + ", %a, %b : " + type +
                 "\n\"test.show\"(%r) : (i1) -> ()")
                    .str());
  }
};

TEST_F(ScalarEval, FloatArithmetic) {
  EXPECT_EQ(apply("arith.addf", "f32", {"1.5", "2.25"}), "3.75");
  EXPECT_EQ(apply("arith.subf", "f32", {"1.5", "2.25"}), "-0.75");
  EXPECT_EQ(apply("arith.mulf", "f64", {"1.5", "-2.0"}), "-3");
  EXPECT_EQ(apply("arith.divf", "f32", {"7.0", "2.0"}), "3.5");
  EXPECT_EQ(apply("arith.divf", "f32", {"7.0", "0.0"}), "inf");
  EXPECT_EQ(apply("arith.remf", "f32", {"-7.5", "2.0"}), "-1.5");
  EXPECT_EQ(apply("arith.negf", "bf16", {"2.5"}), "-2.5");
  EXPECT_EQ(apply("arith.maximumf", "f32", {"-0.0", "0.0"}), "0");
  EXPECT_EQ(apply("arith.maximumf", "f32", {"0x7FC00000", "1.0"}), "nan");
  EXPECT_EQ(apply("arith.minimumf", "f32", {"2.0", "-1.0"}), "-1");
  EXPECT_EQ(apply("arith.maxnumf", "f32", {"0x7FC00000", "1.0"}), "1");
  EXPECT_EQ(apply("arith.minnumf", "f32", {"3.0", "0x7FC00000"}), "3");
}

TEST_F(ScalarEval, FloatsRoundToTheirType) {
  // 1 + 2^-11 is a tie in f16 and goes to even; 2^-9 is lost in bf16.
  EXPECT_EQ(apply("arith.addf", "f16", {"1.0", "0.00048828125"}), "1");
  EXPECT_EQ(apply("arith.addf", "bf16", {"1.0", "0.001953125"}), "1");
  EXPECT_EQ(apply("arith.addf", "f32", {"16777216.0", "1.0"}), "1.677722e+07");
  EXPECT_EQ(apply("arith.mulf", "f16", {"60000.0", "2.0"}), "inf");
  EXPECT_EQ(show("%a = arith.constant 1.0 : f16\n%b = arith.constant 0.00048828125 : f16\n"
                 "%s = arith.addf %a, %b : f16\n%r = arith.subf %s, %a : f16\n"
                 "\"test.show\"(%r) : (f16) -> ()",
                 /*truth=*/true),
            "0.0004882812");
}

TEST_F(ScalarEval, IntegerArithmetic) {
  EXPECT_EQ(apply("arith.addi", "i8", {"100", "100"}), "-56");
  EXPECT_EQ(apply("arith.subi", "i8", {"-100", "100"}), "56");
  EXPECT_EQ(apply("arith.muli", "i16", {"300", "300"}), "24464");
  EXPECT_EQ(apply("arith.muli", "i64", {"-3", "5"}), "-15");
  EXPECT_EQ(apply("arith.divsi", "i32", {"-7", "2"}), "-3");
  EXPECT_EQ(apply("arith.divsi", "i8", {"-128", "-1"}), "-128");
  EXPECT_EQ(apply("arith.divsi", "i64", {"-9223372036854775808", "-1"}), "-9223372036854775808");
  EXPECT_EQ(apply("arith.divui", "i8", {"-1", "2"}), "127");
  EXPECT_EQ(apply("arith.remsi", "i32", {"-7", "2"}), "-1");
  EXPECT_EQ(apply("arith.remui", "i8", {"-1", "16"}), "15");
  EXPECT_EQ(apply("arith.ceildivsi", "i32", {"7", "2"}), "4");
  EXPECT_EQ(apply("arith.ceildivsi", "i32", {"-7", "2"}), "-3");
  EXPECT_EQ(apply("arith.ceildivui", "i8", {"-1", "2"}), "-128");
  EXPECT_EQ(apply("arith.floordivsi", "i32", {"-7", "2"}), "-4");
  EXPECT_EQ(apply("arith.floordivsi", "i32", {"6", "-2"}), "-3");
  EXPECT_EQ(apply("arith.andi", "i8", {"12", "10"}), "8");
  EXPECT_EQ(apply("arith.ori", "i8", {"12", "10"}), "14");
  EXPECT_EQ(apply("arith.xori", "i8", {"12", "10"}), "6");
  EXPECT_EQ(apply("arith.shli", "i8", {"3", "6"}), "-64");
  EXPECT_EQ(apply("arith.shrsi", "i8", {"-64", "6"}), "-1");
  EXPECT_EQ(apply("arith.shrui", "i8", {"-64", "6"}), "3");
  EXPECT_EQ(apply("arith.maxsi", "i8", {"-1", "1"}), "1");
  EXPECT_EQ(apply("arith.maxui", "i8", {"-1", "1"}), "-1");
  EXPECT_EQ(apply("arith.minsi", "i8", {"-1", "1"}), "-1");
  EXPECT_EQ(apply("arith.minui", "i8", {"-1", "1"}), "1");
  EXPECT_EQ(apply("arith.addi", "index", {"40", "2"}), "42");
  EXPECT_EQ(apply("arith.addi", "i1", {"1", "1"}), "0");
}

TEST_F(ScalarEval, IntegersHaveAllResults) {
  EXPECT_EQ(apply("arith.divsi", "i32", {"1", "0"}), "0");
  EXPECT_EQ(apply("arith.remui", "i32", {"1", "0"}), "0");
  EXPECT_EQ(apply("arith.ceildivui", "index", {"1", "0"}), "0");
  EXPECT_EQ(apply("arith.floordivsi", "i8", {"-128", "-1"}), "-128");
  EXPECT_EQ(apply("arith.remsi", "i64", {"-9223372036854775808", "-1"}), "0");
  EXPECT_EQ(apply("arith.shli", "i8", {"1", "8"}), "0");
  EXPECT_EQ(apply("arith.shrsi", "i8", {"-64", "-1"}), "-1");
  EXPECT_EQ(apply("arith.shrui", "i8", {"-64", "9"}), "0");
}

TEST_F(ScalarEval, Comparisons) {
  EXPECT_EQ(compare("eq", "arith.cmpi", "i8", "3", "3"), "1");
  EXPECT_EQ(compare("ne", "arith.cmpi", "i8", "3", "3"), "0");
  EXPECT_EQ(compare("slt", "arith.cmpi", "i8", "-1", "3"), "1");
  EXPECT_EQ(compare("sle", "arith.cmpi", "i8", "3", "3"), "1");
  EXPECT_EQ(compare("sgt", "arith.cmpi", "i8", "-1", "3"), "0");
  EXPECT_EQ(compare("sge", "arith.cmpi", "i8", "4", "3"), "1");
  EXPECT_EQ(compare("ult", "arith.cmpi", "i8", "-1", "3"), "0");
  EXPECT_EQ(compare("ule", "arith.cmpi", "i8", "3", "-1"), "1");
  EXPECT_EQ(compare("ugt", "arith.cmpi", "i8", "-1", "3"), "1");
  EXPECT_EQ(compare("uge", "arith.cmpi", "i8", "3", "-1"), "0");
  // true is -1 when read as signed.
  EXPECT_EQ(compare("slt", "arith.cmpi", "i1", "1", "0"), "1");

  StringRef nan = "0x7FC00000";
  struct {
    StringRef predicate, less, equal, unordered;
  } cases[] = {
      {"false", "0", "0", "0"}, {"oeq", "0", "1", "0"}, {"ogt", "0", "0", "0"},
      {"oge", "0", "1", "0"},   {"olt", "1", "0", "0"}, {"ole", "1", "1", "0"},
      {"one", "1", "0", "0"},   {"ord", "1", "1", "0"}, {"ueq", "0", "1", "1"},
      {"ugt", "0", "0", "1"},   {"uge", "0", "1", "1"}, {"ult", "1", "0", "1"},
      {"ule", "1", "1", "1"},   {"une", "1", "0", "1"}, {"uno", "0", "0", "1"},
      {"true", "1", "1", "1"},
  };
  for (auto &c : cases) {
    EXPECT_EQ(compare(c.predicate, "arith.cmpf", "f32", "1.0", "2.0"), c.less) << c.predicate.str();
    EXPECT_EQ(compare(c.predicate, "arith.cmpf", "f32", "2.0", "2.0"), c.equal)
        << c.predicate.str();
    EXPECT_EQ(compare(c.predicate, "arith.cmpf", "f32", nan, "2.0"), c.unordered)
        << c.predicate.str();
  }
}

TEST_F(ScalarEval, Casts) {
  EXPECT_EQ(apply("arith.extf", "f16", {"1.5"}, "f32"), "1.5");
  EXPECT_EQ(apply("arith.truncf", "f32", {"65519.0"}, "f16"), "65504");
  EXPECT_EQ(apply("arith.extsi", "i8", {"-5"}, "i32"), "-5");
  EXPECT_EQ(apply("arith.extui", "i8", {"-5"}, "i32"), "251");
  EXPECT_EQ(apply("arith.trunci", "i32", {"300"}, "i8"), "44");
  EXPECT_EQ(apply("arith.sitofp", "i8", {"-5"}, "f32"), "-5");
  EXPECT_EQ(apply("arith.uitofp", "i8", {"-5"}, "f32"), "251");
  // 2^56 + 2^32 + 1 lies just above a tie of f32; through a double it would lie on it, and round to
  // the even 2^56.
  EXPECT_EQ(show("%a = arith.constant 72057598332895233 : i64\n%f = arith.sitofp %a : i64 to f32\n"
                 "%r = arith.fptosi %f : f32 to i64\n\"test.show\"(%r) : (i64) -> ()"),
            "72057602627862528");
  EXPECT_EQ(apply("arith.fptosi", "f32", {"-3.9"}, "i32"), "-3");
  EXPECT_EQ(apply("arith.fptosi", "f32", {"300.0"}, "i8"), "127");
  EXPECT_EQ(apply("arith.fptoui", "f32", {"300.0"}, "i8"), "-1");
  EXPECT_EQ(apply("arith.fptoui", "f32", {"200.5"}, "i8"), "-56");
  EXPECT_EQ(apply("arith.index_cast", "i32", {"-2"}, "index"), "-2");
  EXPECT_EQ(apply("arith.index_castui", "i32", {"-2"}, "index"), "4294967294");
  EXPECT_EQ(apply("arith.bitcast", "f32", {"1.0"}, "i32"), "1065353216");
  EXPECT_EQ(apply("arith.bitcast", "i16", {"16256"}, "bf16"), "1");
  EXPECT_EQ(show("%a = arith.constant true\n%s = arith.extsi %a : i1 to i32\n"
                 "%u = arith.extui %a : i1 to i32\n%f = arith.sitofp %a : i1 to f32\n"
                 "\"test.show\"(%s, %u, %f) : (i32, i32, f32) -> ()"),
            "-1; 1; -1");
}

TEST_F(ScalarEval, Select) {
  EXPECT_EQ(show("%t = arith.constant true\n%a = arith.constant 1 : i32\n"
                 "%b = arith.constant 2 : i32\n%r = arith.select %t, %a, %b : i32\n"
                 "\"test.show\"(%r) : (i32) -> ()"),
            "1");
  EXPECT_EQ(show("%t = arith.constant dense<[true, false]> : tensor<2xi1>\n"
                 "%a = arith.constant dense<1.5> : tensor<2xf32>\n"
                 "%b = arith.constant dense<[2.5, 3.5]> : tensor<2xf32>\n"
                 "%r = arith.select %t, %a, %b : tensor<2xi1>, tensor<2xf32>\n"
                 "%f = arith.constant false\n%s = arith.select %f, %a, %b : tensor<2xf32>\n"
                 "\"test.show\"(%r, %s) : (tensor<2xf32>, tensor<2xf32>) -> ()"),
            "[1.5, 3.5]; [2.5, 3.5]");
}

TEST_F(ScalarEval, MathOnFloats) {
  struct {
    StringRef op, argument, expected;
  } cases[] = {
      {"absf", "-2.5", "2.5"},    {"acos", "1.0", "0"},         {"acosh", "1.0", "0"},
      {"asin", "0.0", "0"},       {"asinh", "0.0", "0"},        {"atan", "0.0", "0"},
      {"atanh", "0.0", "0"},      {"cbrt", "27.0", "3"},        {"ceil", "1.25", "2"},
      {"cos", "0.0", "1"},        {"cosh", "0.0", "1"},         {"erf", "0.0", "0"},
      {"erfc", "0.0", "1"},       {"exp", "0.0", "1"},          {"exp2", "5.0", "32"},
      {"expm1", "0.0", "0"},      {"floor", "-1.25", "-2"},     {"log", "1.0", "0"},
      {"log10", "1000.0", "3"},   {"log1p", "0.0", "0"},        {"log2", "8.0", "3"},
      {"round", "2.5", "3"},      {"roundeven", "2.5", "2"},    {"rsqrt", "4.0", "5.000000e-01"},
      {"sin", "0.0", "0"},        {"sinh", "0.0", "0"},         {"sqrt", "9.0", "3"},
      {"tan", "0.0", "0"},        {"tanh", "0.0", "0"},         {"trunc", "-1.75", "-1"},
      {"exp", "1.0", "2.718282"}, {"tanh", "0.5", "0.4621172"},
  };
  for (auto &c : cases) {
    std::string got = apply(("math." + c.op).str(), "f32", {c.argument});
    EXPECT_NEAR(std::stod(got), std::stod(c.expected.str()), 1e-6) << c.op.str();
  }
  EXPECT_NEAR(std::stod(apply("math.atan2", "f64", {"1.0", "1.0"})), 0.785398, 1e-6);
  EXPECT_EQ(apply("math.copysign", "f32", {"3.0", "-0.0"}), "-3");
  EXPECT_EQ(apply("math.powf", "f32", {"2.0", "10.0"}), "1024");
  EXPECT_EQ(apply("math.fma", "f32", {"2.0", "3.0", "4.0"}), "10");
  EXPECT_EQ(show("%a = arith.constant 5.0 : f32\n%lo = arith.constant 0.0 : f32\n"
                 "%hi = arith.constant 2.0 : f32\n"
                 "%r = math.clampf %a to [%lo, %hi] : f32\n\"test.show\"(%r) : (f32) -> ()"),
            "2");
  EXPECT_EQ(show("%a = arith.constant 3.0 : f32\n%n = arith.constant -2 : i32\n"
                 "%r = math.fpowi %a, %n : f32, i32\n%s = arith.constant 9.0 : f32\n"
                 "%p = arith.mulf %r, %s : f32\n\"test.show\"(%p) : (f32) -> ()"),
            "1");
}

TEST_F(ScalarEval, MathTests) {
  auto test = [&](StringRef op, StringRef type, StringRef value) {
    return show(("%a = arith.constant " + value + " : " + type + "\n%r = math." + op +
                 " %a : " + type + "\n\"test.show\"(%r) : (i1) -> ()")
                    .str());
  };
  EXPECT_EQ(test("isfinite", "f32", "1.0"), "1");
  EXPECT_EQ(test("isinf", "f32", "0x7F800000"), "1");
  EXPECT_EQ(test("isnan", "f32", "0x7FC00000"), "1");
  EXPECT_EQ(test("isnormal", "f16", "0x0001"), "0");
  EXPECT_EQ(test("isnormal", "f32", "1.0"), "1");
}

TEST_F(ScalarEval, MathOnIntegers) {
  EXPECT_EQ(apply("math.absi", "i8", {"-5"}), "5");
  EXPECT_EQ(apply("math.ctlz", "i8", {"1"}), "7");
  EXPECT_EQ(apply("math.cttz", "i8", {"0"}), "8");
  EXPECT_EQ(apply("math.cttz", "i8", {"-128"}), "7");
  EXPECT_EQ(apply("math.ctpop", "i8", {"-1"}), "8");
  EXPECT_EQ(apply("math.ipowi", "i32", {"-3", "3"}), "-27");
  EXPECT_EQ(apply("math.ipowi", "i32", {"2", "-1"}), "0");
}

TEST_F(ScalarEval, TensorsAreElementwise) {
  EXPECT_EQ(show("%a = arith.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>\n"
                 "%b = arith.constant dense<10> : tensor<2x2xi32>\n"
                 "%r = arith.muli %a, %b : tensor<2x2xi32>\n"
                 "\"test.show\"(%r) : (tensor<2x2xi32>) -> ()"),
            "[[10, 20], [30, 40]]");
}

TEST_F(ScalarEval, IfAndFor) {
  EXPECT_EQ(show("%c = arith.constant false\n%a = arith.constant 1 : i32\n"
                 "%r = scf.if %c -> i32 {\n scf.yield %a : i32\n} else {\n"
                 "%b = arith.addi %a, %a : i32\nscf.yield %b : i32\n}\n"
                 "\"test.show\"(%r) : (i32) -> ()"),
            "2");
  EXPECT_EQ(show("%c0 = arith.constant 0 : index\n%c5 = arith.constant 5 : index\n"
                 "%c2 = arith.constant 2 : index\n%z = arith.constant 0 : index\n"
                 "%r = scf.for %i = %c0 to %c5 step %c2 iter_args(%s = %z) -> index {\n"
                 "%t = arith.addi %s, %i : index\nscf.yield %t : index\n}\n"
                 "\"test.show\"(%r) : (index) -> ()"),
            "6");
}

TEST_F(ScalarEval, UnsupportedOpsAreNamed) {
  EXPECT_EQ(show("%a = arith.constant 1 : i32\n%r = \"foo.bar\"(%a) : (i32) -> i32"),
            "error: 2: the interpreter does not support 'foo.bar' here");
}

} // namespace
