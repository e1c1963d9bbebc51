# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Changes how cores compute loop nests, in the loops that `to=tile` prints, and compares what they compute:

    register-tiles.py FT-OPT FT-RUN FILE FUNCTION LAYOUT...

Each LAYOUT, what stands in `#loops.product<...>` or (it begins with `loop`) in `#loops.lanes<...>`, takes the place of all of its kind that are printed. (Where values lie follows from
that: what is printed of it is left out.) The values must be the interpreter's, and the machine code another one (its size is what `--bench` says of instructions).
"""

import re
import subprocess
import sys
import tempfile

ft_opt, ft_run, source, function, *layouts = sys.argv[1:]


def run(loops):
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write(loops)
        file.flush()
        done = subprocess.run([ft_run, source, f"--entry={function}", f"--loops={file.name}", "--compare=interpret", "--json"],
                              capture_output=True, text=True)
    if done.returncode:
        return f"status {done.returncode}: {done.stderr or done.stdout}", 0
    return "equal" if '"equal":true' in done.stdout else done.stdout, int(re.search(r'"instructions":\s*(\d+)', done.stdout)[1])


printed = subprocess.run([ft_opt, source, "--ft-compile=to=tile machine=cpu"], capture_output=True, text=True, check=True).stdout
result, own = run(printed)
count = [len(re.findall(rf"#loops\.{kind}<[^>]*>", printed)) for kind in ("product", "lanes")]
print(f"as printed, {count[0]} products and {count[1]} other nests: {result}")
for layout in layouts:
    kind = "lanes" if layout.startswith("loop") else "product"
    copies = len(re.findall("pack_(?:left|right)", layout))  # each packed operand is copied by a nest with a layout of its own
    whole = f"#loops.{kind}<{layout}>" + ", #loops.lanes<loop = 0, vector = 8, beside = 1>" * copies
    changed = re.sub(rf"#loops\.{kind}<[^>]*>", whole, printed)
    # Copies are nests after the others, computed before what reads them.
    rows = "[" + "".join(f"array<i64: {copy + 1}>, " for copy in range(copies)) + "array<i64: 0>]"
    changed = re.sub(r"(loops\.row_loops = )\[.*?\](?=\})", lambda match: match[1] + rows if copies else match[0], changed)
    result, instructions = run(re.sub(r" scratch \[[^]]*\]", "", changed))
    print(f"{layout}: {result}, {'another' if instructions != own else 'THE SAME'} code")
