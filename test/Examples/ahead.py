"""Every example, compiled ahead for a class of processors, gives what the interpreter gives.

REQUIRES: numpy
RUN: %python %s %ft_bin %examples %t
"""

import pathlib
import subprocess
import sys

tools, examples, folder = (pathlib.Path(p) for p in sys.argv[1:])
folder.mkdir(parents=True, exist_ok=True)


def run(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


for example in sorted(examples.glob("*.mlir")):
    bundle = folder / f"{example.stem}.ftb"
    run(tools / "ft-translate", "--mlir-to-bundle", "--target=x86-64-v3", example, "-o", bundle)
    # As many results as it prints.
    count = run(tools / "ft-run", bundle, "--seed=5").count("\n  result")
    results = [folder / f"{example.stem}.{i}.npy" for i in range(count)]
    assert results
    run(tools / "ft-run", example, "--engine=interpret", "--seed=5", *(f"--out={r}" for r in results))
    said = run(tools / "ft-run", bundle, "--seed=5", *(f"--expect={r}" for r in results))
    assert said.count("equal") >= count, said
    print(example.stem, said.splitlines()[0])
