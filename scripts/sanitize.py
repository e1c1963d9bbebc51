#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds what stands between a caller and the compiler once more, with a sanitizer, and runs its tests.

    scripts/sanitize.py address|thread [--python MODULE ...] [--no-unit]

It compiles the objects of the C interface, the runtime, the engines, launch plans and their unit tests again. The rest of the
library is linked as it is in build/, which must be finished. Needs clang's runtimes, which `scripts/setup.sh asan` installs. The preset
`asan` builds everything so, which takes as long as a build does. Results are in build/sanitized/KIND. The last line is
"N passed, N failed": test binaries, and runs of the Python package's tests, with a report of a sanitizer as a failure.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
PARTS = ("lib/CAPI/", "lib/Runtime/", "lib/Engine/", "lib/MLIRC/", "lib/Conversion/LaunchPlan/", "unittests/CAPI/", "unittests/Runtime/")
FLAGS = {
    "address": ["-fsanitize=address,undefined", "-fno-sanitize=vptr,function", "-fno-sanitize-recover=undefined", "-shared-libsan"],
    "thread": ["-fsanitize=thread", "-shared-libsan"],
}
RUNTIME = {"address": "asan", "thread": "tsan"}
LIBRARIES = ("lib/libFractalTensorRuntime.so.1.0.1.0", "lib/libFractalTensor.so.0.1.0", "lib/libFractalTensorMLIRC.so.0.1.0")
TESTS = ("unittests/FTCAPITests", "unittests/FTCApiTests", "unittests/FTRuntimeTests")


def without_header(command):
    """The command with the header itself in the place of the precompiled one, which is of other flags."""
    kept, words = [], shlex.split(command)
    while words:
        word = words.pop(0)
        if word == "-Xclang" and words and words[0] == "-include-pch":
            del words[:3]
        elif word not in ("-Winvalid-pch", "-fpch-preprocess"):
            kept.append(word)
    return kept


def compile_object(entry, kind, out):
    words = without_header(entry["command"])
    name = words[words.index("-o") + 1]
    target = out / name
    words[words.index("-o") + 1] = str(target)
    # What build/ made again since is made again.
    if target.exists() and target.stat().st_mtime > (BUILD / name).stat().st_mtime:
        return None
    target.parent.mkdir(parents=True, exist_ok=True)
    words = [w for w in words if w != "-O3"] + ["-O1", "-g1", "-fno-omit-frame-pointer", *FLAGS[kind]]
    done = subprocess.run(words, cwd=BUILD, capture_output=True, text=True)
    return done.stderr if done.returncode else None


def link(name, kind, out):
    """What build/ links, with our objects and libraries in the place of its own."""
    text = subprocess.run(["ninja", "-C", str(BUILD), "-t", "commands", name], capture_output=True, text=True, check=True).stdout
    line = next(l for l in reversed(text.splitlines()) if f"-o {name} " in l)
    words = [w for w in shlex.split(line) if w not in (":", "&&", "-Wl,-z,defs")]
    (out / name).parent.mkdir(parents=True, exist_ok=True)
    words = [str(out / w) if (out / w).is_file() or w == name else w for w in words]
    words = [w.replace(str(BUILD / "lib"), str(out / "lib")) if w.startswith("-Wl,-rpath") else w for w in words]
    subprocess.run([*words, *FLAGS[kind]], cwd=BUILD, check=True)
    if ".so." in name:
        stem, numbers = name.split(".so.")
        for i in range(len(numbers.split("."))):
            link_name = out / (stem + ".so" + "".join("." + n for n in numbers.split(".")[:i]))
            if not link_name.exists():
                link_name.symlink_to(pathlib.Path(name).name)


def check(command, environment):
    # Into files: tests look at what is written to the standard error.
    logs = pathlib.Path(environment["FT_SANITIZER_LOGS"])
    for old in logs.iterdir():
        old.unlink()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, errors="replace")
    reports = "".join(log.read_text(errors="replace") for log in sorted(logs.iterdir()))
    output = done.stdout + done.stderr + reports
    reported = any(s in output for s in ("ERROR: AddressSanitizer", "WARNING: ThreadSanitizer", "runtime error:"))
    last = (output.strip().splitlines() or [""])[-1]
    print(f"{' '.join(map(str, command[-2:]))}: status {done.returncode}{', reports' if reported else ''}: {last}", flush=True)
    if done.returncode or reported:
        print(output[-8000:])
    return done.returncode == 0 and not reported


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=FLAGS)
    parser.add_argument("--python", nargs="*", default=["test_calls", "test_direct", "test_strides", "test_ragged"])
    parser.add_argument("--no-unit", action="store_true")
    options = parser.parse_args()
    kind, out = options.kind, BUILD / "sanitized" / options.kind
    resource = subprocess.run(["clang-22", "-print-resource-dir"], capture_output=True, text=True, check=True).stdout.strip()
    runtime = next(pathlib.Path(resource).rglob(f"libclang_rt.{RUNTIME[kind]}*x86_64.so"), None)
    if runtime is None:
        sys.exit(f"no runtime of {kind} in {resource}: scripts/setup.sh asan installs it")
    entries = [e for e in json.loads((BUILD / "compile_commands.json").read_text()) if any(f"{ROOT}/{p}" in e["file"] for p in PARTS)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        errors = [e for e in pool.map(lambda e: compile_object(e, kind, out), entries) if e]
    if errors:
        sys.exit("\n".join(errors)[-4000:])
    for name in (*LIBRARIES, *(() if options.no_unit else TESTS)):
        link(name, kind, out)
    logs = out / "logs"
    logs.mkdir(exist_ok=True)
    environment = {
        **os.environ, "LD_LIBRARY_PATH": str(runtime.parent),
        # Containers that other objects fill have no marks, and a Python that ends frees little.
        "ASAN_OPTIONS": f"detect_container_overflow=0:detect_leaks=0:alloc_dealloc_mismatch=0:detect_odr_violation=0:allocator_may_return_null=1:log_path={logs}/asan",
        "UBSAN_OPTIONS": f"print_stacktrace=1:log_path={logs}/ubsan",
        "TSAN_OPTIONS": f"ignore_noninstrumented_modules=1:second_deadlock_stack=1:log_path={logs}/tsan", "FT_SANITIZER_LOGS": str(logs),
    }
    results = [] if options.no_unit else [check([str(out / name)], environment) for name in TESTS]
    python = {**environment, "LD_PRELOAD": str(runtime), "FT_LIBRARY": str(out / "lib/libFractalTensor.so"), "PYTHONMALLOC": "malloc"}
    for module in options.python:
        results.append(check([sys.executable, str(ROOT / "python/tests/run.py"), module], python))
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
