# RUN: %python %s ft-run %t %S/Inputs
#
# Random imperative programs: the graph that raising makes, in declared order, equals
# the program as the interpreter of functions runs it, bit for bit on integers. The
# generator and this comparison share nothing with raising.

import pathlib
import subprocess
import sys

FIRST, COUNT = 2000, 60


def main(run, scratch, inputs):
    sys.path.insert(0, inputs)
    import imperative

    folder = pathlib.Path(scratch)
    folder.mkdir(parents=True, exist_ok=True)
    refused, wrong = [], []
    for seed in range(FIRST, FIRST + COUNT):
        path = folder / f"{seed}.mlir"
        path.write_text(imperative.gen(seed))
        done = subprocess.run([run, str(path), "--engine=interpret", "--order=declared", "--compare=interpret"],
                              capture_output=True, text=True)
        if done.returncode == 0 and done.stdout.endswith("\nequal\n"):
            path.unlink()
        elif "is not raised to a graph" in done.stderr and "more than 64" in done.stderr:
            refused.append(seed)
        else:
            wrong.append(seed)
            print(f"seed {seed}: {path}\n{done.stdout[-400:]}{done.stderr[-1200:]}")
    print(f"{COUNT - len(refused) - len(wrong)} equal, {len(refused)} refused, {len(wrong)} wrong")
    # Too many pieces is the only reason to refuse such a program, and it is rare.
    return 1 if wrong or len(refused) > COUNT // 10 else 0


sys.exit(main(*sys.argv[1:]))
