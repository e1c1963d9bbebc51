# A message about a line of any length is short: of the line it shows what stands around the place.
#
# RUN: %python %s %t %ft_bin
import pathlib
import subprocess
import sys

folder, bin = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
folder.mkdir(parents=True, exist_ok=True)
LENGTH = 2_000_000
program = folder / "program.mlir"
program.write_text("!x = tensor<4xf32>\nfunc.func @f(%v: !ft.list<[N], !x>) -> !ft.list<[N], !x> attributes {ft.lengths = {N = 3 : i64}} {\n"
                   "  %r = ft.reverse %v : !ft.list<[N], !x>\n  return %r : !ft.list<[N], !x>\n}\n")
blank, word, late = folder / "blank.mlir", folder / "word.mlir", folder / "late.mlir"
blank.write_text(" " * LENGTH + "foo")
word.write_text("func.func @" + "a" * LENGTH + "() { foo }")
# Refused by a pass, not by the parser.
late.write_text("func.func @f(%v: tensor<4xf32>) -> tensor<4xf32> {" + " " * LENGTH
                + "%0 = \"test.unknown\"(%v) : (tensor<4xf32>) -> tensor<4xf32> return %0 : tensor<4xf32> }")
machine = folder / "machine.json"
machine.write_text(" " * LENGTH + "{}")

failures = []
for command, expected in [
    (["ft-opt", blank], f"blank.mlir:1:{LENGTH + 1}: error: "),
    (["ft-opt", word], "word.mlir:1:"),
    (["ft-run", blank], f"blank.mlir:1:{LENGTH + 1}: error: "),
    (["ft-translate", "--mlir-to-ptx", blank], f"blank.mlir:1:{LENGTH + 1}: error: "),
    (["ft-opt", "--allow-unregistered-dialect", "--ft-compile=to=etdg", late], f"late.mlir:1:{LENGTH + 56}: error: "),
    (["ft-opt", program, f"--ft-compile=to=schedule machine={machine}", "-o", folder / "out.mlir"], f"machine.json:1:{LENGTH + 1}: error: "),
]:
    done = subprocess.run([str(bin / command[0]), *map(str, command[1:])], capture_output=True, text=True, timeout=300)
    lines = done.stderr.splitlines()
    if done.returncode == 0 or expected not in done.stderr or not 10 < len(done.stderr) < 20_000:
        failures.append(f"{command}: {done.returncode}, {len(done.stderr)} characters: {done.stderr[:300]}")
    carets = [i for i, line in enumerate(lines) if line.strip() == "^"]
    if not carets or any(lines[i].index("^") > len(lines[i - 1]) for i in carets):
        failures.append(f"{command}: no caret below what is shown: {done.stderr[:300]}")
print("\n".join(failures))
sys.exit(1 if failures else 0)
