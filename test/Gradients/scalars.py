# Each float operation of arith and math has a row in MathDerivatives.def, which central differences in f64 agree with.
# RUN: %python %s %ft_src %ft_build %t.mlir | FileCheck %s
# CHECK: rows without a program: none
# CHECK: programs that differ: none
import pathlib
import re
import subprocess
import sys

source, build, out = map(pathlib.Path, sys.argv[1:4])
table = (source / "include/ft/Dialect/Math/Transforms/MathDerivatives.def").read_text()
rows = {row: int(count) for count, row in re.findall(r"^FT_DERIVATIVE_(\d)\((\w+::\w+)Op,", table, re.MULTILINE)}
names = {"AddF": "addf", "SubF": "subf", "MulF": "mulf", "DivF": "divf", "RemF": "remf", "NegF": "negf", "MaximumF": "maximumf",
         "MinimumF": "minimumf", "MaxNumF": "maxnumf", "MinNumF": "minnumf"}
for name, mnemonic in re.findall(r"^FT_MATH_(?:OP|UNARY|BINARY)\((\w+), (\w+)", (source / "include/ft/Dialect/Math/Transforms/MathFunctions.def").read_text(), re.MULTILINE):
    names[name] = mnemonic
# Where an operation is defined: x becomes this.
domain = {"Acos": "tanh", "Asin": "tanh", "Atanh": "tanh", "Acosh": "above", "Log": "positive", "Log10": "positive", "Log2": "positive",
          "Log1p": "positive", "Sqrt": "positive", "Rsqrt": "positive", "Cbrt": "positive", "PowF": "positive", "DivF": "positive", "RemF": "positive"}


def how(name, i):
    kind = domain.get(name, "")
    if kind == "tanh":
        return f"math.tanh %a{i}"
    if kind == "positive":
        return f"math.exp %a{i}"
    if kind == "above":
        return f"math.exp %b{i}"
    return f"arith.negf %a{i}"


program, missing = ["!x = tensor<5xf64>"], []
for row, count in rows.items():
    dialect, name = row.split("::")
    if name in ("Select", "FPowI"):
        continue  # in programs of their own, below
    if name not in names:
        missing.append(row)
        continue
    arguments = ", ".join(f"%a{i}: !x" for i in range(count))
    values = ", ".join(f"%v{i}" for i in range(count))
    program.append(f"func.func @{dialect}_{names[name]}({arguments}) -> !x {{")
    for i in range(count):
        program.append(f"  %b{i} = math.absf %a{i} : !x")
        program.append(f"  %v{i} = {how(name, i)} : !x")
    if name == "Acosh":
        program.append("  %one = arith.constant dense<1.1> : !x\n  %u0 = arith.addf %v0, %one : !x")
        values = "%u0"
    if name == "ClampF":
        values = "%v0 to [%v1, %v2]"
    program.append(f"  %r = {dialect}.{names[name]} {values} : !x\n  return %r : !x\n}}")
program.append("""func.func @select(%a: !x, %b: !x) -> !x {
  %c = arith.cmpf ogt, %a, %b : !x
  %r = arith.select %c, %a, %b : tensor<5xi1>, !x
  return %r : !x
}
func.func @fpowi(%a: !x) -> (!x, !x, !x) {
  %n = arith.constant dense<[0, 1, 2, 3, -2]> : tensor<5xi32>
  %r = math.fpowi %a, %n : !x, tensor<5xi32>
  %s, %c = math.sincos %a : !x
  return %r, %s, %c : !x, !x, !x
}
""")
out.write_text("\n".join(program) + "\n")
done = subprocess.run([sys.executable, source / "scripts/gradients.py", "--build", build, out], capture_output=True, text=True)
print("rows without a program:", ", ".join(missing) or "none")
print(done.stdout.strip())
print("programs that differ:", done.stderr.strip() or "none")
