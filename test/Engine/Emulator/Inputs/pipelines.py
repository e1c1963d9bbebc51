#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs kernels with roles in the emulator, right and with a fault each.

    pipelines.py FT_OPT FT_RUN PROGRAM MACHINE

Every function of PROGRAM is compared with the interpreter, thread by thread and by the definitions of operations on tiles. Faults are written into
what the phase `pipeline` prints of the first one.
"""
import re
import subprocess
import sys
import tempfile

FAULTS = {
    "mbarriers without a fence": (r"^ *nvvm\.fence\.(mbarrier\.init|proxy).*$", ""),
    "no wait for a full slot": None,
    "no arrival of readers": (r"^.*nvvm\.mbarrier\.arrive %.*$", ""),
    "no arrival of bytes": (r"^.*nvvm\.mbarrier\.arrive\.expect_tx.*$", ""),
    "too few bytes": (r"(nvvm\.mbarrier\.arrive\.expect_tx %\w+, )%\w+", r"\1%c1_fault"),
    "too many bytes": (r"(nvvm\.mbarrier\.arrive\.expect_tx %\w+, )%\w+", r"\1%c1048_fault"),
    "products that are not awaited": (r"(tile\.await %\w+)( :)", r"\1 {behind = 1 : i32}\2"),
    "one reader too few": None,
    "another parity": None,
}


def compiled(ft_opt, program, machine, phase):
    return subprocess.run([ft_opt, program, f"--ft-compile=to={phase} target=sm_90a machine={machine}"], capture_output=True, text=True,
                          check=True).stdout


def planted(text, name):
    """The kernel with the fault; it begins with constants that faults use."""
    text = re.sub(r"(llvm\.func @plain_k0\(.*\{\n)", r"\1      %c1_fault = arith.constant 16 : i32\n      %c1048_fault = arith.constant 1048000 : i32\n", text)
    if name == "no wait for a full slot":
        last = list(re.finditer(r"nvvm\.mbarrier\.try_wait .*", text))[-1]
        return text[:last.start()] + "arith.constant true" + text[last.end():]
    if name == "one reader too few":
        inits = re.findall(r"nvvm\.mbarrier\.init %\w+, (%\w+)", text)
        readers = inits[1]
        return re.sub(rf"(nvvm\.mbarrier\.init %\w+, ){re.escape(readers)}\b", r"\1%c9_fault", text).replace(
            "%c1_fault =", "%c9_fault = arith.constant 9 : i32\n      %c1_fault =", 1)
    if name == "another parity":
        waits = list(re.finditer(r"(try_wait %\w+, )(%\w+)( : )", text))
        last = waits[-1]
        return (text[:last.start()] + last[1] + "%one_fault" + last[3] + text[last.end():]).replace(
            "%c1_fault =", "%one_fault = arith.constant 1 : i32\n      %c1_fault =", 1)
    old, new = FAULTS[name]
    assert re.search(old, text, re.M), name
    return re.sub(old, new, text, flags=re.M)


def main():
    ft_opt, ft_run, program, machine = sys.argv[1:]
    names = re.findall(r"(?m)^func\.func @(\w+)", open(program).read())
    common = ["--target=sm_90a", "--compare=interpret", "--multiprocessors=1", f"--machine={machine}"]

    def run(*options):
        done = subprocess.run([ft_run, program, *common, *options], capture_output=True, text=True, check=False, timeout=300)
        return done.returncode, done.stdout + done.stderr

    wrong = 0
    for name in names:
        for engine in ("emulate", "interpret-tile"):
            code, text = run(f"--entry={name}", f"--engine={engine}", *(["--dim", "N=130"] if name == "rows" else []))
            if code:
                wrong += 1
                print(f"{name}, {engine}: {text[:1500]}")
    print(f"{len(names)} programs, {wrong} wrong")
    printed = compiled(ft_opt, program, machine, "pipeline")
    first = re.search(r"(?s)  gpu\.module @plain .*?\n  }\n", printed)[0]
    aliases = "".join(re.findall(r"(?m)^#.*\n", printed))
    missed = 0
    for fault in [None, *FAULTS]:
        with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
            file.write(aliases + (planted(first, fault) if fault else first))
            file.flush()
            code, text = run(f"--entry={names[0]}", "--engine=emulate", f"--kernels={file.name}")
        if (code == 0) != (fault is None):
            missed += 1
            print(f"{fault}: status {code}, {text[:800]}")
    print(f"{len(FAULTS)} faults, {missed} not found")


if __name__ == "__main__":
    main()
