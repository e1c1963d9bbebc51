//===- LeafTester.cpp - Compile a leaf, run it on random rows -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LeafTester.h"

#include "ft/Runtime/Arrays/Float16.h"

#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/Verifier.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <ctime>
#include <random>

using namespace leaftest;
using namespace mlir;

std::string leaftest::withType(std::string text, const std::string &type) {
  for (size_t at; (at = text.find("$T")) != std::string::npos;)
    text.replace(at, 2, type);
  return text;
}

size_t leaftest::elementSize(const std::string &type) {
  if (type == "f64" || type == "i64" || type == "index")
    return 8;
  if (type == "f32" || type == "i32")
    return 4;
  return type == "f16" || type == "bf16" || type == "i16" ? 2 : 1;
}

template <typename T>
static double readAs(const void *at) {
  T value;
  memcpy(&value, at, sizeof(T));
  return double(value);
}

template <typename T>
static void writeAs(void *at, double value) {
  T typed = T(value);
  memcpy(at, &typed, sizeof(T));
}

double leaftest::readElement(const std::string &type, const void *at) {
  if (type == "f64")
    return readAs<double>(at);
  if (type == "f32")
    return readAs<float>(at);
  if (type == "f16")
    return ::ft::rt::halfToFloat(uint16_t(readAs<int16_t>(at)));
  if (type == "bf16")
    return ::ft::rt::bfloatToFloat(uint16_t(readAs<int16_t>(at)));
  if (type == "i64" || type == "index")
    return readAs<int64_t>(at);
  if (type == "i32")
    return readAs<int32_t>(at);
  if (type == "i16")
    return readAs<int16_t>(at);
  return readAs<int8_t>(at);
}

void leaftest::writeElement(const std::string &type, void *at, double value) {
  if (type == "f64")
    return writeAs<double>(at, value);
  if (type == "f32")
    return writeAs<float>(at, value);
  if (type == "f16")
    return writeAs<uint16_t>(at, ::ft::rt::doubleToHalf(value));
  if (type == "bf16")
    return writeAs<uint16_t>(at, ::ft::rt::doubleToBfloat(value));
  if (type == "i64" || type == "index")
    return writeAs<int64_t>(at, value);
  if (type == "i32")
    return writeAs<int32_t>(at, value);
  if (type == "i16")
    return writeAs<int16_t>(at, value);
  writeAs<int8_t>(at, value);
}

int64_t Rows::numElements() const {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

void Rows::set(int64_t row, int64_t element, double value) {
  writeElement(type, bytes->data() + (offset + row * rowStride + element) * elementSize(type),
               value);
}

double Rows::get(int64_t row, int64_t element) const {
  return readElement(type,
                     bytes->data() + (offset + row * rowStride + element) * elementSize(type));
}

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

static const DialectRegistry &dialects() {
  static const DialectRegistry registry = [] {
    DialectRegistry all;
    registerAllDialects(all);
    registerAllExtensions(all);
    registerAllToLLVMIRTranslations(all);
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    return all;
  }();
  return registry;
}

CompiledLeaf::CompiledLeaf(const DialectRegistry &registry)
    : context(registry, MLIRContext::Threading::DISABLED) {}

std::unique_ptr<CompiledLeaf> CompiledLeaf::make(const std::string &text,
                                                 mlir::ft::LeafOptions options, const mlir::ft::CpuTarget &target,
                                                 bool roundsSums) {
  std::unique_ptr<CompiledLeaf> leaf(new CompiledLeaf(dialects()));
  if (!roundsSums)
    options.sums = Float32Type::get(&leaf->context);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &leaf->context);
  auto fail = [&](const char *what) {
    ADD_FAILURE() << what << " fails for\n" << text << "\n" << leaf->loops;
    return nullptr;
  };
  if (!module)
    return fail("parsing");
  auto func = module->lookupSymbol<func::FuncOp>("leaf");
  leaf->numInputs = func.getNumArguments();
  leaf->numOutputs = func.getNumResults();
  auto note = [&](Type type) {
    auto tensor = cast<RankedTensorType>(type);
    std::string element;
    llvm::raw_string_ostream(element) << tensor.getElementType();
    leaf->types.push_back({element, tensor.getShape().vec()});
  };
  llvm::for_each(func.getArgumentTypes(), note);
  llvm::for_each(func.getResultTypes(), note);

  for (unsigned i = 0; i < leaf->numInputs + leaf->numOutputs; ++i)
    leaf->listed.push_back(options.listed && (i >= leaf->numInputs || options.batched.empty() ||
                                              options.batched[i]));
  std::clock_t start = std::clock(); // of this process: the machine may be busy
  FailureOr<func::FuncOp> generated = mlir::ft::planAndGenerateLeaf(func, options, target);
  if (failed(generated))
    return fail("generation");
  llvm::raw_string_ostream(leaf->loops) << *generated;
  if (failed(verify(*module)))
    return fail("verification");
  leaf->scratch = mlir::ft::getLeafScratch(*generated);
  PassManager pm(&leaf->context);
  mlir::ft::buildLeafToLLVMPipeline(pm);
  double generation = double(std::clock() - start) / CLOCKS_PER_SEC;
  if (failed(pm.run(*module)))
    return fail("lowering");
  if (getenv("FT_SHOW_STAGES"))
    printf("generation %.0f ms, with lowering %.0f ms\n", generation * 1e3,
           double(std::clock() - start) / CLOCKS_PER_SEC * 1e3);
  auto builder = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!builder)
    return fail("host detection");
  builder->setCodeGenOptLevel(llvm::CodeGenOptLevel::Aggressive);
  if (target.vectorBytes < 64)
    builder->addFeatures({"-avx512f"});
  else
    builder->addFeatures({"-prefer-256-bit"});
  auto machine = builder->createTargetMachine();
  if (!machine)
    return fail("target machine");
  ExecutionEngineOptions engineOptions;
  auto transformer = makeOptimizingTransformer(3, 0, machine->get());
  engineOptions.transformer = transformer;
  engineOptions.jitCodeGenOptLevel = llvm::CodeGenOptLevel::Aggressive;
  engineOptions.enableObjectDump = getenv("FT_DUMP_OBJECT") != nullptr;
  auto engine = ExecutionEngine::create(*module, engineOptions, std::move(*machine));
  if (!engine)
    return fail(toString(engine.takeError()).c_str());
  leaf->engine = std::move(*engine);
  auto packed = leaf->engine->lookupPacked("leaf");
  if (!packed)
    return fail(toString(packed.takeError()).c_str());
  leaf->packed = *packed;
  leaf->seconds = double(std::clock() - start) / CLOCKS_PER_SEC;
  if (const char *path = getenv("FT_DUMP_OBJECT"))
    leaf->engine->dumpToObjectFile(path);
  return leaf;
}

Rows CompiledLeaf::allocate(unsigned number, int64_t rows, int64_t padding) const {
  Rows result;
  std::tie(result.type, result.shape) = types[number];
  result.rows = rows;
  result.rowStride = result.numElements() + padding;
  result.bytes = std::make_shared<std::vector<char>>(
      (std::max<int64_t>(rows, 1) * result.rowStride + 8) * elementSize(result.type));
  return result;
}

void CompiledLeaf::run(int64_t rows, std::vector<Rows *> arguments) {
  // An expanded descriptor: pointers, offset, sizes, strides.
  std::vector<void *> pointers;
  std::vector<std::vector<int64_t>> numbers;
  std::vector<void *> packedArgs{&rows};
  std::vector<std::vector<char *>> lists(arguments.size());
  pointers.reserve(arguments.size() + 1);
  numbers.reserve(arguments.size() + 1);
  auto push = [&](char *data, std::vector<int64_t> values) {
    pointers.push_back(data);
    numbers.push_back(std::move(values));
    packedArgs.push_back(&pointers.back());
    packedArgs.push_back(&pointers.back());
    for (int64_t &value : numbers.back())
      packedArgs.push_back(&value);
  };
  for (auto [a, argument] : llvm::enumerate(arguments)) {
    if (listed[a]) {
      for (int64_t row = rows; row-- > 0;)
        lists[a].push_back(argument->bytes->data() + (argument->offset + row * argument->rowStride) *
                                                         int64_t(elementSize(argument->type)));
      pointers.push_back(lists[a].data());
      packedArgs.push_back(&pointers.back());
      continue;
    }
    std::vector<int64_t> values{argument->offset, argument->rows};
    values.insert(values.end(), argument->shape.begin(), argument->shape.end());
    values.push_back(argument->rowStride);
    int64_t stride = argument->numElements();
    for (int64_t size : argument->shape)
      values.push_back(size ? stride /= size : 1);
    push(argument->bytes->data(), values);
  }
  int64_t bytes = scratch.forRows(rows);
  scratchBytes.resize(bytes + 128);
  char *aligned =
      scratchBytes.data() + (64 - reinterpret_cast<uintptr_t>(scratchBytes.data()) % 64);
  memset(aligned + bytes, 0x5a, 16);
  push(aligned, {0, bytes, 1});
  packed(packedArgs.data());
  for (int i = 0; i < 16; ++i)
    ASSERT_EQ(aligned[bytes + i], 0x5a) << "scratch overrun";
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

static double toleranceOf(const std::string &type) {
  if (type == "f64")
    return 1e-12;
  if (type == "f32")
    return 1e-5;
  if (type == "f16")
    return 2e-3;
  return type == "bf16" ? 2e-2 : 0;
}

static Values rowOf(const Rows &rows, int64_t row) {
  Values values;
  for (int64_t i = 0; i < rows.numElements(); ++i)
    values.push_back(rows.get(row, i));
  return values;
}

static void fillRandom(Rows &rows, const Check &test, std::mt19937 &random) {
  std::uniform_real_distribution<double> real(test.low, test.high);
  for (int64_t row = 0; row < rows.rows; ++row)
    for (int64_t i = 0; i < rows.numElements(); ++i) {
      double value = real(random);
      if (rows.type == "i1")
        value = value > (test.low + test.high) / 2;
      else if (rows.type[0] == 'i')
        value = std::floor(test.low >= 0 ? value : value * 5);
      rows.set(row, i, value);
    }
}

void leaftest::check(const Check &test) {
  mlir::ft::LeafOptions options;
  options.listed = test.listed;
  options.batched.assign(test.batched.begin(), test.batched.end());
  options.aliasesOutput.assign(test.aliases.begin(), test.aliases.end());
  mlir::ft::CpuTarget target = mlir::ft::CpuTarget::host();
  if (test.vectorBytes) {
    target.vectorBytes = test.vectorBytes;
    target.vectorRegisters = 16;
  }
  std::unique_ptr<CompiledLeaf> leaf = CompiledLeaf::make(test.text, options, target, test.roundsSums);
  if (!leaf)
    return;
  std::mt19937 random(7);
  for (int64_t numRows : {1, 2, 7, 16}) {
    std::vector<Rows> all;
    for (unsigned i = 0; i < leaf->numInputs + leaf->numOutputs; ++i) {
      bool batched = i >= leaf->numInputs || options.batched.empty() || options.batched[i];
      all.push_back(leaf->allocate(i, batched ? numRows : 1, numRows == 7 ? 3 : 0));
      if (i < leaf->numInputs)
        fillRandom(all.back(), test, random);
      if (!batched)
        all.back().rowStride = 1 << 20; // never to be used
    }
    std::vector<Rows *> pointers;
    for (Rows &rows : all)
      pointers.push_back(&rows);
    leaf->run(numRows, pointers);
    for (int64_t row = 0; row < numRows; ++row) {
      std::vector<Values> inputs;
      for (unsigned i = 0; i < leaf->numInputs; ++i)
        inputs.push_back(rowOf(all[i], all[i].rows == 1 ? 0 : row));
      std::vector<Values> expected = test.reference(inputs);
      for (unsigned o = 0; o < leaf->numOutputs; ++o) {
        const Rows &got = all[leaf->numInputs + o];
        double tolerance = test.tolerance ? test.tolerance : toleranceOf(got.type);
        double sum = 0;
        for (double value : expected[o])
          sum += std::isfinite(value) ? value * value : 0;
        double rms = std::sqrt(sum / std::max<size_t>(expected[o].size(), 1));
        ASSERT_EQ(int64_t(expected[o].size()), got.numElements());
        for (int64_t i = 0; i < got.numElements(); ++i) {
          double a = got.get(row, i), b = expected[o][i];
          if (got.type == "i1")
            a = a != 0;
          bool equal = a == b || (std::isnan(a) && std::isnan(b)) ||
                       std::fabs(a - b) <= tolerance * (1 + std::fabs(b) + rms);
          if (!equal) {
            ADD_FAILURE() << "rows " << numRows << ", row " << row << ", output " << o
                          << ", element " << i << ": got " << a << ", expected " << b << "\n"
                          << test.text << "\n"
                          << leaf->loops;
            return;
          }
        }
      }
    }
  }
}
