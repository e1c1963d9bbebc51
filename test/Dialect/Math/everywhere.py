# Every operation of the math dialect, in each type that it takes: on the CPU as in the interpreter,
# of lists of tensors (named and in a linalg body), and a GPU's code is emitted. The operations are
# read from the compiler's table, which a unit test compares with the dialect.
#
# RUN: %python %s %ft_src/include/ft/Dialect/Math/Transforms/MathFunctions.def %t %ft_bin
import pathlib
import re
import subprocess
import sys

table, folder, bin = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
folder.mkdir(parents=True, exist_ok=True)
operations = [m.groups() for m in re.finditer(r"^FT_MATH_(OP|UNARY|BINARY)\((\w+), (\w+), (\w+)", table.read_text(), re.M)]
assert len(operations) >= 46, f"the table has {len(operations)} operations"

TESTS = ("isfinite", "isinf", "isnan", "isnormal")
# Where a function is smooth and defined, so that rounding an argument changes little.
DOMAIN = {"acos": (-0.9, 0.9), "asin": (-0.9, 0.9), "atanh": (-0.9, 0.9), "acosh": (1.25, 4.0), "tan": (-1.0, 1.0),
          "log": (0.5, 4.0), "log2": (0.5, 4.0), "log10": (0.5, 4.0), "log1p": (-0.5, 4.0), "sqrt": (0.0, 4.0),
          "rsqrt": (0.5, 4.0), "powf": (0.5, 2.0), "fpowi": (0.5, 2.0)}
SIZE = 37


def signature(mnemonic):
    """Operands and results as (kind, …): f, i or b (i1)."""
    if mnemonic in TESTS:
        return "f", "b"
    if mnemonic == "sincos":
        return "f", "ff"
    if mnemonic == "fpowi":
        return "fi", "f"
    if mnemonic in ("absi", "ctlz", "cttz", "ctpop"):
        return "i", "i"
    if mnemonic == "ipowi":
        return "ii", "i"
    if mnemonic in ("fma", "clampf"):
        return "fff", "f"
    return ("ff" if mnemonic in ("atan2", "copysign", "powf") else "f"), "f"


def call(mnemonic, operands, types):
    names = ", ".join(operands)
    if mnemonic == "clampf":
        return f"math.clampf {operands[0]} to [{operands[1]}, {operands[2]}] : {types[0]}"
    if mnemonic == "fpowi":
        return f"math.fpowi {names} : {types[0]}, {types[1]}"
    return f"math.{mnemonic} {names} : {types[0]}"


def nest(mnemonic, scalar):
    """A map with the operation on whole tensors and in the body of a linalg.generic: arguments, code, results, types."""
    ins, outs = signature(mnemonic)
    pick = lambda kind: {"f": scalar, "i": scalar if scalar.startswith("i") else "i32", "b": "i1"}[kind]
    low, high = DOMAIN.get(mnemonic, (-3.0, 3.0))
    types, results = [pick(kind) for kind in ins], [pick(kind) for kind in outs]
    tensors, rtensors = ([f"tensor<{SIZE}x{t}>" for t in ts] for ts in (types, results))
    lists, rlists = ([f"!ft.list<[N], {t}>" for t in ts] for ts in (tensors, rtensors * 2))
    names = [f"%{mnemonic}{k}" for k in range(len(types))]
    gens = [f"#ft.uniform<{low}, {high}>" if kind == "f" else "#ft.uniform<-5, 6>" for kind in ins]
    arguments = [f"{n}: {l} {{ft.gen = {g}}}" for n, l, g in zip(names, lists, gens)]
    numbered = lambda letter, count: ", ".join(f"%{letter}{k}" for k in range(count))
    x, p = ([f"%{letter}{k}" for k in range(len(types))] for letter in "xp")
    taken, prelude = x, ""
    if mnemonic in TESTS:  # of quotients of -1, 0, 1, and of the smallest denormal
        names = [f"%{mnemonic}{k}" for k in "abc"]
        numbers = f"tensor<{SIZE}xi32>"
        lists = [f"!ft.list<[N], {numbers}>"] * 3
        arguments = [f"{n}: {l} {{ft.gen = #ft.uniform<-1, 1>}}" for n, l in zip(names, lists)]
        tensor = tensors[0]
        digits = {"f16": 4, "bf16": 4, "f32": 8, "f64": 16}[scalar]
        prelude = f"""    %fa = arith.sitofp %xa : {numbers} to {tensor}
    %fb = arith.sitofp %xb : {numbers} to {tensor}
    %quotient = arith.divf %fa, %fb : {tensor}
    %tiny = arith.constant dense<0x{1:0{digits}X}> : {tensor}
    %none = arith.constant dense<0> : {numbers}
    %isNone = arith.cmpi eq, %xc, %none : {numbers}
    %x0 = arith.select %isNone, %tiny, %quotient : tensor<{SIZE}xi1>, {tensor}
"""
        taken = ["%xa", "%xb", "%xc"]
    maps = ", ".join(["affine_map<(d0) -> (d0)>"] * (len(types) + len(results)))
    body = ", ".join([f"%p{k}: {t}" for k, t in enumerate(types)] + [f"%q{k}: {t}" for k, t in enumerate(results)])
    empties = "\n".join(f"    %e{k} = tensor.empty() : {t}" for k, t in enumerate(rtensors))
    generic = ", ".join(f"%g#{k}" for k in range(len(results)))
    code = f"""  %r_{mnemonic}:{2 * len(results)} = ft.map ({", ".join(taken)} = {", ".join(names)} : {", ".join(lists)}) {{
{prelude}    {numbered("y", len(results))} = {call(mnemonic, x, tensors)}
{empties}
    %g:{len(results)} = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel"]}}
        ins({", ".join(x)} : {", ".join(tensors)}) outs({numbered("e", len(results))} : {", ".join(rtensors)}) {{
    ^bb0({body}):
      {numbered("z", len(results))} = {call(mnemonic, p, types)}
      linalg.yield {numbered("z", len(results))} : {", ".join(results)}
    }} -> ({", ".join(rtensors)})
    ft.yield {numbered("y", len(results))}, {generic} : {", ".join(rtensors * 2)}
  }}
"""
    return arguments, code, [f"%r_{mnemonic}#{k}" for k in range(2 * len(results))], rlists


def program(mnemonics, scalar):
    parts = [nest(mnemonic, scalar) for mnemonic in mnemonics]
    flat = lambda index: ", ".join(item for part in parts for item in part[index])
    return (f"func.func @f({flat(0)}) -> ({flat(3)}) attributes {{ft.lengths = {{N = 3 : i64}}}} {{\n"
            + "".join(part[1] for part in parts) + f"  return {flat(2)} : {flat(3)}\n}}\n")


def run(*command):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=1200)


failures = []
for isInteger, scalars in ((True, ("i8", "i32", "i64")), (False, ("f16", "bf16", "f32", "f64"))):
    mnemonics = [m for _, _, m, _ in operations if (signature(m)[0][0] == "i") == isInteger]
    assert len(mnemonics) >= 5
    for scalar in scalars:
        for first in range(0, len(mnemonics), 14):
            some = mnemonics[first : first + 14]
            path = folder / f"{scalar}-{first}.mlir"
            path.write_text(program(some, scalar))
            done = run(bin / "ft-run", path, "--engine=cpu", "--compare=interpret")
            if done.returncode != 0 or not done.stdout.endswith("\nequal\n"):
                failures.append(f"{scalar} {some} on the CPU: {done.returncode} {done.stdout}{done.stderr[:900]}")
            done = run(bin / "ft-translate", "--mlir-to-ptx", "--target=sm_80", path)
            if done.returncode != 0 or ".visible .entry" not in done.stdout:
                failures.append(f"{scalar} {some} for a GPU: {done.returncode} {done.stderr[:900]}")
            elif re.search(r"^\.extern \.func", done.stdout, re.M):  # a function of some library
                failures.append(f"{scalar} {some} for a GPU calls a library")
print("\n".join(failures))
sys.exit(1 if failures else 0)
