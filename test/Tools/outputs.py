# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %ft_bin/ft-run %examples/gru.mlir %t | FileCheck %s
# CHECK: 5 cases, 0 failures{{$}}
"""What a run writes appears together or not at all: outputs.py FT-RUN PROGRAM FOLDER"""

import os
import pathlib
import signal
import subprocess
import sys
import time

ft_run, program, folder = sys.argv[1:]
folder = pathlib.Path(folder)
bad = cases = 0
two = folder / "two.mlir"
two.write_text("""func.func @f(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %y = arith.addf %x, %x : tensor<2xf32>
  return %y, %x : tensor<2xf32>, tensor<2xf32>
}
""")


def expect(what, condition, text=""):
    global bad, cases
    cases += 1
    if not condition:
        bad += 1
        print(f"{what}: {text}; in the folder: {sorted(os.listdir(folder))}")


def files():
    return sorted(set(os.listdir(folder)) - {"two.mlir"})


def run(*options):
    return subprocess.run([ft_run, *options], cwd=folder, capture_output=True, text=True)


done = run(two, "--out=a.npy", "--out=none/b.npy")
expect("one of two places is none", done.returncode == 1 and files() == [] and "b.npy" in done.stderr, done.stderr)
done = run(two, "--out=a.npy", "--out=/dev/full")
expect("a disk that is full", done.returncode == 1 and files() == [], done.stderr)
done = run(two, "--out=a.npy", "--compare=interpret", "--out=.")
expect("a folder", done.returncode == 1 and files() == [], done.stderr)
done = run(two, "--out=a.npy", "--out=b.npy")
expect("two files", done.returncode == 0 and files() == ["a.npy", "b.npy"], done.stderr)
for name in files():
    (folder / name).unlink()

# Told to end while it runs, with its output open.
process = subprocess.Popen([ft_run, program, "--bench", "--out=a.npy"], cwd=folder, stdout=subprocess.DEVNULL)
while process.poll() is None:
    try:
        links = [os.readlink(f"/proc/{process.pid}/fd/{fd}") for fd in os.listdir(f"/proc/{process.pid}/fd")]
    except OSError:
        continue
    if any(str(folder) in link for link in links):
        break
    time.sleep(0.001)
process.send_signal(signal.SIGTERM)
status = process.wait()
expect("SIGTERM", status == -signal.SIGTERM and files() == [] or status == 0 and files() == ["a.npy"], f"status {status}")
print(f"{cases} cases, {bad} failures")
sys.exit(1 if bad else 0)
