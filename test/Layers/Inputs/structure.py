# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a small tree that breaks each rule of scripts/structure.py once."""

import pathlib
import sys

root = pathlib.Path(sys.argv[1])
FILES = {
    "lib/Schedule/Long.cpp": "int tooLong(int x) {\n" + "  x += 1;\n" * 78 + "  return x;\n}\n"
                             "int longEnough(int x) {\n  auto f = [&](int y) {\n    return y;\n  };\n" + "  x = f(x);\n" * 74
                             + "  return x;\n}\n",
    "lib/Analysis/LeafGraph/Named.cpp": "// Bits of a byte and of a word.\nconstexpr int word = 16;\nconstexpr int line = 64;\n\nconstexpr int share = 12;\n",
    "lib/Conversion/SCFToETDG/Casts.cpp": "Value f(Operation *op) { // not tensor::InsertSliceOp\n"
                                          "  Value made = tensor::ExtractSliceOp::create(b);\n"
                                          "  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))\n    return made;\n}\n",
    # 42 methods; a class inside has its own, and constructors, members and what is deleted are none.
    "include/ft/Wide.h": "struct Wide : Base {\n  Wide();\n  Wide(const Wide &) = delete;\n  std::function<void(int)> run;\n  int x = f(3);\n"
                         "  struct Inner {\n    int a();\n  };\n" + "".join(f"  int method{i}(int) const {{ return g({i}); }}\n" for i in range(41))
                         + "  template <typename T> T last();\n};\n",
    "include/ft/Grown.h": "\nclass Grown {\n" + "".join(f"  void method{i}();\n" for i in range(42)) + "};\n",
    "include/ft/Known.h": "class Known final {\n" + "".join(f"  void method{i}();\n" for i in range(41)) + "};\nclass Few {\n"
                          + "".join(f"  void method{i}();\n" for i in range(40)) + "};\n",
    "lib/Schedule/Number.cpp": "static constexpr int named = 128; // 256\nbool f(int bytes) {\n  return bytes > 64;\n}\n"
                               "bool g(int bytes) { return bytes > 32; }\n",
    "lib/Conversion/ETDGToLoops/Left.cpp": "void Left::emitThing() {}\nvoid Left::emitOther() {}\n",
    "lib/Conversion/LoopsToGPU/Right.cpp": "void Right::emitThing() {}\nint Right::asked() { return 1; }\n",
    "lib/Conversion/LoopsToGPU/Right.h": "class Right : Interface {\n  int asked() override;\n  int alone() override { return 2; }\n};\n"
                                         "inline bool isSmall(int x) {\n  return x < 3;\n}\n",
    "lib/Conversion/LoopsToCPU/Left.h": "struct Left : Interface {\n  int asked() override { return 3; }\n  int alone() override;\n};\n",
    "lib/Conversion/LoopsToCPU/Small.cpp": "int Left::alone() { return 4; }\nstatic bool isSmall(int x) {\n  return x < 5;\n}\n",
    "include/ft/Dialect.td": 'def Loops_Dialect : Dialect {\n  let name = "loops";\n'
                             '  let discardableAttrs = (ins "::mlir::UnitAttr":$known, "::mlir::UnitAttr":$not_derived);\n}\n',
    "include/ft/Dialect/Loops/IR/AttributeNames.h": "inline constexpr llvm::StringLiteral known = LoopsDialect::KnownAttrHelper::getNameStr();\n",
    "include/ft/Support/RenamedWords.h": 'RenamedWord word{"loops.before", "now"};\n',
    "lib/Attributes.cpp": 'bool f(Operation *op) {\n  return op->hasAttr("loops.known") || op->hasAttr(loops::names::known);\n}\n',
    "include/ft/Passes.td": 'def A : Pass<"etdg-unseen"> {\n}\ndef B : Pass<"etdg-seen"> {\n}\ndef ETDGSeen : Pass<"etdg-seen"> {\n}\n',
    "include/ft/Through.td": 'class Decides<string name> : Pass<name, "::mlir::ModuleOp"> {\n}\n'
                             'def C : Decides<"loops-unseen"> {\n}\ndef D : Decides<"loops-seen"> {\n}\n',
    "lib/Wrapper.cpp": "struct E : PassWrapper<E, OperationPass<>> {\n"
                       '  StringRef getArgument() const final { return "ft-unseen"; }\n};\n',
    "lib/Engine/Adaptor.cpp": "void f(OpPassManager &pm) { pm.addPass(createSeen(options)); }\n",
    "lib/Engine/Own.cpp": "// createA() is a comment\nvoid g(OpPassManager &pm) { pm.addPass(createB()); }\n",
    "lib/Pipelines/List.cpp": "void h(OpPassManager &pm) { pm.addPass(createB()); }\n",
    # (Put together, so that this file has none of the phrases itself.)
    "lib/Support/Words.cpp": "// What no" + "body reads.\nf(\"Be" + "hind the loop stands another one\");\n// " + "one two three " * 10 + "four.\n",
    # A docstring; a usage, which is indented; a class's attributes; a string that is data.
    "python/words.py": '"""' + "one two three " * 10 + 'four.\n\n    run ' + "one two three " * 10 + 'four.\n"""\nclass A:\n  """A.\n\n  Attributes:\n'
                       + "".join(f"    {name}: {'one two three ' * 4}four.\n" for name in "abc") + '  """\n\n\ndata = """' + "one two three " * 10 + 'four."""\n',
    # Methods in C++ are no text.
    "include/ft/Words.td": "def A {\n  let description = [{\n    " + "one two three " * 10 + "four.\n  }];\n  let extraClassDeclaration = [{\n"
                           + "    int one(int two, int three);\n" * 10 + "  }];\n}\n",
    "docs/performance.md": "It takes 3 ms.\n",
    "docs/passes.md": "A pass of 2 parts.\nIt takes 5 ms.\n",
    "test/seen.mlir": "// RUN: ft-opt %s --etdg-seen --loops-seen | FileCheck %s\n",
    "scripts/structure.txt": "# exceptions\nliterals | lib/Schedule/Number.cpp | 32 | bits of a word\n"
                             "literals | lib/Schedule/Number.cpp | 48 | is gone\n"
                             "classes | include/ft/Grown.h | Grown 41 | was smaller\nclasses | include/ft/Known.h | Known 42 | is one thing\n",
}
FILES.update({f"lib/Many/File{number}.cpp": "int x;\n" for number in range(21)})
FILES.update({f"lib/Few/File{number}.cpp": "int x;\n" for number in range(20)})
for name, text in FILES.items():
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
