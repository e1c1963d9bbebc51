#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The one driver of the benchmarks: runs a suite, with the options of that suite after its name.

    benchmarks/run.py                              lists the suites
    benchmarks/run.py SUITE --help                 what a suite measures, and its options
    benchmarks/run.py SUITE [--device=cpu|cuda] [OPTION...]

A suite that only packs programs writes a folder, which goes to a machine with a GPU and without LLVM: `device` names
what runs there. `--device` picks the device of a suite that runs on both. `benchmarks/results.py` makes
docs/performance.md from what is recorded in benchmarks/results.
"""

import ast
import dataclasses
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


@dataclasses.dataclass(frozen=True)
class Suite:
    """A script, what it measures, and how it is told its device: the option's name, and the devices that it knows."""

    script: str
    summary: str
    devices: tuple = ("cpu",)
    option: str = ""


SUITES = {
    "busy": Suite("suites/busy.py", "programs on one thread and on several, beside busy processes"),
    "calls": Suite("suites/calls.py", "what a call from Python costs, beside PyTorch, NumPy and Triton", ("cpu", "cuda"), "--device"),
    "cpu": Suite("suites/cpu.py", "the CPU engine beside PyTorch and OpenBLAS; --plans: each candidate of a schedule"),
    "dataflow": Suite("suites/dataflow.py", "the schedule of the dataflow search beside 30 others, on the CPU engine"),
    "dataflow-gpu": Suite("suites/dataflow_gpu.py", "the same for a GPU, packed; there: variants", ("pack",)),
    "souffle": Suite("papers/souffle.py", "figures 2 to 6 and tables 1 and 3 to 5 of the Souffle paper: analysis, pack, run, text, svg", ("pack", "cuda")),
    "fractaltensor": Suite("papers/fractaltensor.py", "figures 7 and 8 and table 7 of the FractalTensor paper: pack, run, text", ("pack", "cuda")),
    "forms": Suite("suites/forms.py", "the programs of integration/bench.txt beside eager PyTorch and torch.compile"),
    "imperative": Suite("suites/imperative.py", "imperative programs beside eager PyTorch, TorchScript and Inductor", ("cpu", "cuda"), "--engine"),
    "installed": Suite("suites/installed.py", "the installed package beside PyTorch, each in a process of its own"),
    "joined": Suite("peers/joined.py", "products computed together, packed by `make`, timed by `time`", ("pack", "cuda")),
    "kept": Suite("peers/kept.py", "sums kept in registers, packed by `make`, timed by `time`", ("pack", "cuda")),
    "models": Suite("peers/models.py", "modules of PyTorch beside PyTorch, from the folder of scripts/models.py", ("cuda",)),
    "overhead": Suite("suites/overhead.py", "what calls of imperative programs cost beside the computation"),
    "peers": Suite("peers/peers.py", "bundles beside PyTorch, from the folder of scripts/gpu.sh", ("cuda",)),
    "prices": Suite("suites/prices.py", "each form of a GPU's kernels with its price: pack, price, table", ("pack",)),
    "recurrent": Suite("suites/recurrent.py", "recurrent networks beside nn.LSTM and nn.GRU"),
    "reductions": Suite("peers/reductions.py", "long reductions, packed by `make`, timed by `time`", ("pack", "cuda")),
    "trees": Suite("peers/trees.py", "bundles of several trees beside each other", ("cuda",)),
    "variants": Suite("peers/variants.py", "schedules of one program beside each other, from the folder of dataflow-gpu", ("cuda",)),
    "whole": Suite("suites/whole.py", "products and layers on whole tensors beside PyTorch's"),
}


def listed():
    width = max(map(len, SUITES))
    return "\n".join(f"{name:{width}}  {'/'.join(suite.devices):9} {suite.summary}" for name, suite in SUITES.items())


def command(name, arguments):
    """The command of a suite, with `--device` as the suite spells it; exits where it does not run on that device."""
    suite = SUITES[name]
    wanted = next((a.split("=", 1)[1] for a in arguments if a.startswith("--device=")), None)
    rest = [a for a in arguments if not a.startswith("--device=")]
    if wanted and wanted not in suite.devices:
        sys.exit(f"benchmarks/run.py: {name}: expected --device={' or '.join(suite.devices)}, found '{wanted}'")
    if wanted and suite.option:
        rest = [suite.option, wanted, *rest]
    return [sys.executable, str(ROOT / "benchmarks" / suite.script), *rest]


def explained(name):
    """What a script that reads its arguments itself says of them; nothing of one that prints its help."""
    text = (ROOT / "benchmarks" / SUITES[name].script).read_text()
    return None if "argparse" in text else ast.get_docstring(ast.parse(text))


def main():
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        print(__doc__.strip() + "\n\nSuites, the devices that they run on, and what they measure:\n\n" + listed())
        return 0
    name, arguments = sys.argv[1], sys.argv[2:]
    if name not in SUITES:
        sys.exit(f"benchmarks/run.py: expected a suite, found '{name}'; there are {', '.join(SUITES)}")
    if "--help" in arguments and (text := explained(name)):
        print(text)
        return 0
    return subprocess.run(command(name, arguments), check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
