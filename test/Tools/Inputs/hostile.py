#!/usr/bin/env python3
# Writes one hostile input (see the table below) to standard output.
import sys

N = 20000


def braces():
    return "builtin.module {\n" * N + "}\n" * N


def chain():
    """No bracket is deep, but the aliases stand for one another."""
    lines = ["!a0 = tuple<i32>"]
    lines += [f"!a{i} = tuple<!a{i - 1}>" for i in range(1, N)]
    return "\n".join(lines) + f"\nfunc.func private @f(!a{N - 1})\n"


def chain_over_lines():
    lines = ["!a0 = tuple\n<i32>"]
    lines += [f"!a{i} =\ntuple\n<!a{i - 1}\n>" for i in range(1, N)]
    return "\n".join(lines) + f"\nfunc.func private @f(!a{N - 1})\n"


def reduce_with(dimensions):
    return ("func.func @f(%x: tensor<4x4xf32>, %e: tensor<4xf32>) -> tensor<4xf32> {\n"
            "  %t = linalg.reduce { arith.addf } ins(%x : tensor<4x4xf32>) outs(%e : tensor<4xf32>) "
            f"dimensions {dimensions}\n  return %t : tensor<4xf32>\n}}\n")


CASES = {
    # MLIR 22's parser goes on with a null attribute, and crashes.
    "list-of-names": lambda: reduce_with("= [x]"),
    "list-of-huge": lambda: reduce_with("= [99999999999999999999]"),
    "list-open": lambda: reduce_with("= [1 "),
    "list-commas": lambda: reduce_with("= [1,,2]"),
    "no-list": lambda: reduce_with("= x"),
    "list-fine": lambda: reduce_with("= // one\n [ 1 ]"),
    "braces": braces,
    "tuples": lambda: "func.func private @f(" + "tuple<" * N + "i32" + ">" * N + ")\n",
    "spaced-tuples": lambda: "func.func private @f(" + "tuple < " * N + "i32" + " > " * N + ")\n",
    "attributes": lambda: "module attributes {t.a = " + "[" * N + "]" * N + "} {}\n",
    "affine-parens": lambda: "#m = affine_map<(d0) -> (" + "(" * N + "d0" + ")" * N + ")>\n",
    "affine-minus": lambda: "#m = affine_map<(d0) -> (" + "- " * N + "d0)>\n",
    "alias-chain": chain,
    "alias-chain-lines": chain_over_lines,
    "unclosed": lambda: "module {\n" + "func.func @f() { \"a.b\"() ({" * 30,
    "nul": lambda: "module {\n  \0\n}\n",
    "nul-in-comment": lambda: "module {\n  // a\0b\n}\n",
    "nul-in-string": lambda: 'module attributes {t.a = "x\0y"} {}\n',
    "empty": lambda: "",
    "blank": lambda: "  \n// nothing but a comment\n",
    "huge-shape": lambda: "func.func private @f(tensor<9223372036854775807x9223372036854775807xf32>)\n",
    "huge-vector": lambda: "func.func private @f(vector<" + "x".join(["10000000"] * 3) + "xf32>)\n",
    "huge-extent": lambda: "func.func private @f(tensor<99999999999999999999999x1xf32>)\n",
    "huge-behind-zero": lambda: "func.func private @f(tensor<0x4611686018427387904x4xf32>)\n",
    "negative-extent": lambda: "func.func private @f(tensor<-4xf32>)\n",
    "bad-utf8": lambda: "module { \udcff\udcfe }\n",
    "truncated-string": lambda: 'module attributes {t.a = "unterminated\n',
    "long-line": lambda: "module {} //" + "x" * 1000000 + "\n",
    # What has many brackets but is harmless.
    "wide": lambda: "module {" + "module {}\n" * N + "}\n",
    "comparisons": lambda: "// 1 < 2\nmodule {\n"
    + "".join(f"  // {i} < {i + 1}\n" for i in range(N))
    + "}\n",
    "brackets-in-strings": lambda: 'module attributes {t.a = "' + "(" * N + '"} {}\n',
    "just-nested": lambda: "builtin.module {\n" * 200 + "}\n" * 200,
    "extents": lambda: "func.func private @f(tensor<65536x65536x?x64xf32>, vector<[4]x8xf32>, tensor<0xf32>)\n",
}

sys.stdout.buffer.write(CASES[sys.argv[1]]().encode("utf-8", "surrogateescape"))
