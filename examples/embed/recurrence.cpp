//===- recurrence.cpp - a compiler that embeds FractalTensor ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   recurrence 's * 0.5 + x' 1 2 3 4
//
// A language of one expression over the state s and the element x: it is parsed
// into a region of `ft.scanl`, and FractalTensor does the rest. Prints the states,
// which start from 0. With --print it prints the program instead.
//
//===----------------------------------------------------------------------===//

#include "ft/Engine/Program/CompiledProgram.h"
#include "ft/Dialect/FT/IR/FT.h"
#include "ft/InitAll.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::ft;

namespace {

/// Recursive descent over `sum := product (('+' | '-') product)*`, `product := atom (('*' | '/') atom)*`,
/// `atom := NUMBER | 's' | 'x' | 'tanh' atom | '-' atom | '(' sum ')'`.
class Parser {
public:
  Parser(OpBuilder &builder, StringRef text, Value state, Value element)
      : builder(builder), text(text), rest(text), state(state), element(element) {}

  FailureOr<Value> parse() {
    FailureOr<Value> value = sum();
    if (succeeded(value) && !next().empty())
      return error("an operator or the end");
    return value;
  }

private:
  /// An error says where in the expression it is: its column.
  FailureOr<Value> error(const Twine &expected) {
    StringRef found = next();
    return emitError(here()) << "expected " << expected << ", found "
                             << (found.empty() ? "the end" : "'" + found.take_front(1).str() + "'");
  }
  Location here() {
    return FileLineColLoc::get(builder.getContext(), "expression", 1, text.size() - next().size() + 1);
  }
  StringRef next() { return rest = rest.ltrim(); }
  bool take(StringRef token) {
    next();
    return rest.consume_front(token);
  }

  template <typename Left, typename Right>
  FailureOr<Value> chain(StringRef left, StringRef right, FailureOr<Value> (Parser::*part)()) {
    FailureOr<Value> value = (this->*part)();
    while (succeeded(value)) {
      Location loc = here();
      bool isLeft = take(left);
      if (!isLeft && !take(right))
        break;
      FailureOr<Value> other = (this->*part)();
      if (failed(other))
        return failure();
      value = isLeft ? Value(Left::create(builder, loc, *value, *other)) : Value(Right::create(builder, loc, *value, *other));
    }
    return value;
  }
  FailureOr<Value> sum() { return chain<arith::AddFOp, arith::SubFOp>("+", "-", &Parser::product); }
  FailureOr<Value> product() { return chain<arith::MulFOp, arith::DivFOp>("*", "/", &Parser::atom); }

  FailureOr<Value> atom() {
    Location loc = here();
    if (take("(")) {
      FailureOr<Value> value = sum();
      if (succeeded(value) && !take(")"))
        return error("')'");
      return value;
    }
    if (take("-") || take("tanh")) {
      bool negates = rest.data()[-1] == '-';
      FailureOr<Value> value = atom();
      if (failed(value))
        return failure();
      return negates ? Value(arith::NegFOp::create(builder, loc, *value)) : Value(math::TanhOp::create(builder, loc, *value));
    }
    if (take("s"))
      return state;
    if (take("x"))
      return element;
    StringRef number = next().take_while([](char c) { return llvm::isDigit(c) || c == '.'; });
    double value;
    if (number.empty() || number.getAsDouble(value))
      return error("a number, s, x, tanh, '-' or '('");
    take(number);
    auto type = cast<RankedTensorType>(state.getType());
    return Value(arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, float(value))));
  }

  OpBuilder &builder;
  StringRef text, rest;
  Value state, element;
};

/// func @states(%xs : list<[L], f32>) { scanl over %xs from 0 by the expression }
FailureOr<OwningOpRef<ModuleOp>> build(MLIRContext &context, StringRef expression) {
  OpBuilder builder(&context);
  Location loc = FileLineColLoc::get(&context, "expression", 1, 1);
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  auto element = RankedTensorType::get({}, builder.getF32Type());
  auto list = ListType::wrap(LengthAttr::get(builder.getStringAttr("L")), element);

  builder.setInsertionPointToEnd(module->getBody());
  auto function = func::FuncOp::create(builder, loc, "states", builder.getFunctionType({list}, {list}));
  Block *entry = function.addEntryBlock();
  builder.setInsertionPointToEnd(entry);
  Value zero = arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(element, 0.0f));
  auto scan = ScanLOp::create(builder, loc, TypeRange{list}, ValueRange{entry->getArgument(0)}, ValueRange{zero},
                              /*identities=*/ValueRange{}, /*lag=*/{}, /*layer=*/{}, /*layers=*/{});
  func::ReturnOp::create(builder, loc, scan->getResults());

  Block *body = builder.createBlock(&scan->getRegion(0), {}, {element, element}, {loc, loc});
  FailureOr<Value> value = Parser(builder, expression, body->getArgument(0), body->getArgument(1)).parse();
  if (failed(value))
    return failure();
  YieldOp::create(builder, loc, ValueRange{*value}, ValueRange{});
  if (failed(verify(*module)))
    return failure();
  return module;
}

} // namespace

int main(int argc, char **argv) {
  SmallVector<StringRef> args(argv + 1, argv + argc);
  bool print = !args.empty() && args.front() == "--print";
  if (print)
    args.erase(args.begin());
  if (args.empty() || (args.size() < 2 && !print)) {
    llvm::errs() << "usage: recurrence [--print] 's * 0.5 + x' NUMBER...\n";
    return 2;
  }

  DialectRegistry registry;
  mlir::ft::registerAllDialects(registry);
  MLIRContext context(registry);
  llvm::SourceMgr source;
  source.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(args.front(), "expression"), llvm::SMLoc());
  SourceMgrDiagnosticHandler diagnostics(source, &context);
  context.loadDialect<FTDialect, arith::ArithDialect, math::MathDialect, func::FuncDialect>();

  FailureOr<OwningOpRef<ModuleOp>> module = build(context, args.front());
  if (failed(module))
    return 1;
  if (print) {
    (*module)->print(llvm::outs());
    return 0;
  }

  ::ft::rt::HostArray xs;
  int64_t length = args.size() - 1;
  if (!::ft::rt::HostArray::create(::ft::rt::DType::f32, {length}, xs)) {
    llvm::errs() << "error: no memory for " << length << " numbers\n";
    return 1;
  }
  for (int64_t i = 0; i < length; ++i) {
    double value;
    if (args[i + 1].getAsDouble(value)) {
      llvm::errs() << "error: expected a number, found '" << args[i + 1] << "'\n";
      return 1;
    }
    xs.setFloat(i, value);
  }

  // One compilation serves every length.
  FailureOr<std::unique_ptr<CompiledProgram>> program = CompiledProgram::compile(**module);
  if (failed(program))
    return 1;
  FailureOr<std::unique_ptr<CompiledProgram::Call>> call = (*program)->prepare("states", {&xs});
  if (failed(call) || failed((*call)->run()))
    return 1;
  FailureOr<std::vector<::ft::rt::HostArray>> results = (*call)->results();
  if (failed(results))
    return 1;
  ::ft::rt::HostArray &states = results->front();
  for (int64_t i = 0; i < length; ++i)
    llvm::outs() << (i ? " " : "") << states.getFloat(i);
  llvm::outs() << "\n";
  return 0;
}
