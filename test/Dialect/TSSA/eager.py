# Random imperative programs against PyTorch itself: what the heap interpreter says they
# mean is what eager mode computes, results and mutated arguments, bit for bit.
#
# RUN: %python %s %ft_bin 330
import glob
import os
import subprocess
import sys
import tempfile

SCRIPT = r'''
import sys, numpy, torch
source, folder, first, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
names = {}
exec(open(source).read(), {"torch": torch, **names}, names)
names["torch"] = torch
for helper in names.values():
    if hasattr(helper, "__globals__"):
        helper.__globals__.update(names)
for number in range(first, first + count):
    program = names["p%d" % number]
    arguments = []
    while True:
        try:
            arguments.append(torch.from_numpy(numpy.load("%s/p%d.arg%d.npy" % (folder, number, len(arguments)))))
        except FileNotFoundError:
            break
    results = program(*arguments) + arguments
    for i, result in enumerate(results):
        numpy.save("%s/p%d.eager%d.npy" % (folder, number, i), result.numpy())
print("ran", count)
'''


def find_torch():
    for candidate in ("python3", sys.executable):
        probe = subprocess.run([candidate, "-c", "import torch, numpy"], capture_output=True)
        if probe.returncode == 0:
            return candidate
    return None


def main():
    bin_dir, count = sys.argv[1], int(sys.argv[2])
    python = find_torch()
    if python is None:
        if "torch" in os.environ.get("FT_REQUIRE", ""):
            sys.exit("torch is required and not there")
        print("skipped: no torch")
        return
    import numpy

    with tempfile.TemporaryDirectory() as folder:
        # The same programs twice, with the arguments that ft-fuzz runs them on.
        dump = subprocess.run([f"{bin_dir}/ft-fuzz", "--imperative", f"--programs={count}", "--no-cpu",
                               f"--dump-arrays={folder}"], capture_output=True, text=True)
        if dump.returncode != 0:
            sys.exit(dump.stdout + dump.stderr)
        text = subprocess.run([f"{bin_dir}/ft-fuzz", "--imperative", f"--programs={count}", "--print", "--python"],
                              capture_output=True, text=True, check=True).stdout
        source = f"{folder}/programs.py"
        with open(source, "w") as file:
            file.write(text)
        with open(f"{folder}/run.py", "w") as file:
            file.write(SCRIPT)
        ran = subprocess.run([python, f"{folder}/run.py", source, folder, "0", str(count)],
                             capture_output=True, text=True)
        if ran.returncode != 0:
            sys.exit(ran.stderr)
        compared = 0
        for number in range(count):
            # The heap gives results, then the arguments that may have been written.
            with open(f"{folder}/p{number}.written.txt") as file:
                written = [int(line) for line in file]
            arguments = len(glob.glob(f"{folder}/p{number}.arg*.npy"))
            eager = len(glob.glob(f"{folder}/p{number}.eager*.npy"))
            results = eager - arguments
            order = list(range(results)) + [results + argument for argument in written]
            for i, j in enumerate(order):
                heap = numpy.load(f"{folder}/p{number}.heap{i}.npy")
                other = numpy.load(f"{folder}/p{number}.eager{j}.npy")
                if heap.shape != other.shape or not (heap == other).all():
                    sys.exit(f"p{number}: result {i} differs:\n{heap}\neager:\n{other}")
                compared += 1
            # What the heap does not list must be as it was.
            for argument in set(range(arguments)) - set(written):
                before = numpy.load(f"{folder}/p{number}.arg{argument}.npy")
                after = numpy.load(f"{folder}/p{number}.eager{results + argument}.npy")
                if not (before == after).all():
                    sys.exit(f"p{number}: eager writes argument {argument}, the heap does not say so")
        print(f"{count} programs, {compared} arrays equal to eager PyTorch")


main()
