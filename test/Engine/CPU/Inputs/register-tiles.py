# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Changes how cores compute products of matrices, in the loops that `to=tile` prints, and compares what they compute:

    register-tiles.py FT-OPT FT-RUN FILE FUNCTION LAYOUT...

Each LAYOUT, what stands in `#loops.product<...>`, takes the place of all that are printed. The values must be the
interpreter's, and the machine code another one (its size is what `--bench` says of instructions).
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
found = re.findall(r"#loops\.product<[^>]*>", printed)
print(f"as printed, {len(found)} products: {result}")
for layout in layouts:
    result, instructions = run(re.sub(r"#loops\.product<[^>]*>", f"#loops.product<{layout}>", printed))
    print(f"{layout}: {result}, {'another' if instructions != own else 'THE SAME'} code")
