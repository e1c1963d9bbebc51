#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles the bundles and computes the references that scripts/gpu.sh packs:

    gpu.py BIN FOLDER

A line of FOLDER/cases.txt is name|case|bundle|options|results, one of
FOLDER/bench.txt name|bundle|options, one of FOLDER/lengths.txt an example and the
names of its lengths. Cases whose references are large are left to
benchmarks/peers/check.py, which computes its own.

FT_GPU_PASSES names passes for the graphs before kernels are made of them; without
it the phases of ft-compile decide. FT_GPU_ONLY names examples.
"""

import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(root / "test/Programs/Inputs"))
import sizes  # noqa: E402
tools, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
# Small lengths that no tile divides; 7 and 127 one after the other come from `each`.
ODD = {"N": 3, "L": 7, "D": 2, "B": 1, "H": 3, "M": 3, "K": 3, "Q": 3, "R": 1, "S": 5, "T": 3, "F": 3}


def run(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}\n{done.stderr[:1000]}")


# Files of several programs that recurrences of other shapes need: nests in kernels
# with common loops, wavefronts, triangles. Each entry is run in each form that a
# kernel may take.
SEVERAL = ["test/Dialect/ETDG/Transforms/Order/nests.mlir", "test/Engine/CPU/team.mlir",
           "test/Conversion/LoopsToGPU/steps-kernel.mlir", "integration/shared_steps.mlir"]
# What coarsening rewrites, in the form that the host chooses.
COARSENED = ["integration/coarsened.mlir", "test/Dialect/ETDG/Transforms/online-variants.mlir"]

# Hand-written schedules, which say the form.
SCHEDULED = ["integration/staged.mlir"]

# Whatever a user may write, at the lengths of the tests on the CPU.
PROGRAMS = sorted(str(path.relative_to(root)) for path in (root / "test/Programs").glob("*.mlir")) + [
    "test/Dialect/ETDG/Transforms/Order/beside-a-nest.mlir"]
# Small products, which take tiles only on a machine whose operands come slowly to threads that don't share them.
TILED = ["test/Engine/Emulator/products.mlir", "test/Engine/Emulator/fragments.mlir"]

# Programs that keep rows in registers, at row lengths that share a warp, fill a thread
# block, divide evenly or not.
ROWS = [(f"benchmarks/programs/{name}.mlir", width, element)
        for name in ("copy", "softmax", "log_softmax", "rms_norm")
        for width, element in ((16, "f32"), (31, "f32"), (64, "f32"), (127, "f32"), (700, "f32"),
                               (1030, "f32"), (4099, "f32"), (40, "f16"), (1001, "f16"), (1024, "bf16"),
                               (129, "f64"), (2050, "f64"))]

failures = []


def tried(function, *arguments):
    """What can't be compiled is said at the end; the rest is packed."""
    try:
        return function(*arguments)
    except RuntimeError as error:
        failures.append(str(error))
        return None


def with_type(text, element):
    aliases = re.findall(r"^!(\w+) = tensor<([0-9x]*)f32>", text, re.M)
    return [f"--type={name}=tensor<{extents}{element}>" for name, extents in aliases]


def bundle(path, name, types, targets=("sm_80", "sm_90a"), flags=()):
    """One for each target: a device would take the best plan of a common one."""
    if passes := os.environ.get("FT_GPU_PASSES"):
        graphs, scheduled = out / f"{name}.graphs.mlir", out / f"{name}.mlir"
        run(tools / "ft-opt", path, *types, "--ft-compile=to=etdg", "-o", graphs)
        run(tools / "ft-opt", graphs, *passes.split(), "-o", scheduled)
        path, types = scheduled, []
    for target in targets:
        file = out / "bundles" / f"{name}.{target}.ftb"
        run(tools / "ft-translate", "--mlir-to-bundle", f"--target={target}", path, *types, *flags,
            "-o", file)
    outputs = len(re.findall(rb'"output": *true', file.read_bytes()))
    if outputs == 0:  # nothing would be compared
        raise RuntimeError(f"{file}: no argument is an output")
    return outputs


def cases(text):
    lengths = re.findall(r"(\w+) = \d+", re.search(r"ft\.lengths = \{([^}]*)\}", text)[1])
    odd = [f"--dim={name}={ODD.get(name, 3)}" for name in lengths]
    yield "default", [], []
    yield "odd", [], odd
    for element, dims in (("f16", []), ("bf16", odd), ("f64", odd)):
        yield element, with_type(text, element), dims
    for name in lengths:
        for value in (7, 127):
            others = [f"--dim={o}={ODD.get(o, 3)}" for o in lengths if o != name]
            if value == 7 or len(others) < 3:
                yield f"{name}{value}", [], [*others, f"--dim={name}={value}"]


for folder in ("bundles", "cases"):
    (out / folder).mkdir(parents=True, exist_ok=True)
def chosen(name):
    only = os.environ.get("FT_GPU_ONLY", "").split()
    return not only or name in only


def has_halves(text):
    """Whether a program has halves anywhere: on the way to results of f32, too."""
    return re.search(r"\bb?f16\b|xb?f16>", text)


def truths_of(path, files, arguments):
    """The same results computed in f64, by which halves are judged."""
    truths = [file.with_suffix(".truth.npy") for file in files]
    run(tools / "ft-run", path, "--engine=interpret", "--truth", "--seed=1", *arguments,
        *(f"--out={file}" for file in truths))
    return truths


def pack(path):
    """Bundles and references of one program: its lines of cases.txt, its line of lengths.txt."""
    made, lines, left, lengths = {}, [], 0, None
    text = path.read_text()
    isExample = path.parent.name == "examples"
    if isExample:
        names = re.findall(r"(\w+) = \d+", re.search(r"ft\.lengths = \{([^}]*)\}", text)[1])
        lengths = " ".join([path.stem, *names])
    for case, types, dims in cases(text):
        name = path.stem + (f"_{case}" if types else "")
        if name not in made:
            made[name] = tried(bundle, path, name, types)
        if made[name] is None:
            continue
        files = [out / "cases" / f"{path.stem}.{case}.{i}.npy" for i in range(made[name])]
        run(tools / "ft-run", path, "--engine=interpret", "--seed=1", *types, *dims,
            *(f"--out={file}" for file in files))
        if case in ("f16", "bf16"):
            files = files + truths_of(path, files, [*types, *dims])
        # The folder travels: references stay small.
        if sum(file.stat().st_size for file in files) > 2 << 20:
            for file in files:
                file.unlink()
            left += 1
            continue
        lines.append(f"{path.stem}|{case}|{name}|{' '.join(dims)}|{made[name]}")
    return lines, lengths, left


def pack_several(path):
    """The same for a file of several programs, whose element types stay as they are."""
    text, lines = path.read_text(), []
    entries = re.findall(r"^(?:func\.func|etdg\.graph) @(\w+)\(.*?ft\.lengths = \{([^}]*)\}", text,
                         re.M | re.S)
    forms = [("", []), ("_always", ["--gpu-steps=always"]), ("_never", ["--gpu-steps=never"])]
    for form, flags in forms[:1] if str(path.relative_to(root)) in COARSENED + SCHEDULED else forms:
        if tried(bundle, path, path.stem + form, [], ("sm_80", "sm_90a"), flags) is None:
            continue
        for entry, lengths in entries:
            names = re.findall(r"(\w+) = \d+", lengths)
            odd = [f"--dim={name}={ODD.get(name, 3)}" for name in names]
            each = [(f"{name}{value}", [f"--dim={o}={value if o == name else ODD.get(o, 3)}" for o in names])
                    for name in names for value in (1, 33)]
            for case, dims in [("default", []), ("odd", odd), *each]:
                name = f"{path.stem}.{entry}.{case}"
                files = [out / "cases" / f"{name}.{i}.npy" for i in range(8)]
                if not form:
                    count = len(re.findall(r"etdg\.buffer<|ft\.list<", re.search(
                        rf"@{entry}\(.*?->(.*?)attributes", text, re.S)[1]))
                    run(tools / "ft-run", path, "--engine=interpret", f"--entry={entry}", "--seed=1", *dims,
                        *(f"--out={file}" for file in files[:count]))
                    if has_halves(text):
                        truths_of(path, files[:count], [f"--entry={entry}", *dims])
                count = sum(file.exists() for file in files)
                lines.append(f"{path.stem}.{entry}|{case}|{path.stem}{form}|"
                             f"{' '.join([f'--entry={entry}', *dims])}|{count}")
    return lines


def results_of(head):
    """How many results a function's head names: `(...) -> type` or `(...) -> (type, type)`."""
    text = head.split("->", 1)[1].strip()
    if not text.startswith("("):
        return 1
    depth = commas = 0
    for place, letter in enumerate(text):
        before = text[place - 1]
        depth += (letter in "([<{") - (letter in ")]}" or (letter == ">" and before != "-"))
        commas += letter == "," and depth == 1
        if depth == 0:
            return commas + 1
    raise ValueError(f"no end of the results: {text}")


def wants_tiles(target):
    """The file of such a machine."""
    name = {"sm_80": "a100", "sm_90a": "h200"}[target]
    file = out / f"tiles.{name}.json"
    file.write_text((root / f"machine/{name}.json").read_text().replace('"operand_read_cost": 4', '"operand_read_cost": 4000')
                    .replace('"launch": 3.875e-6', '"launch": 1.0').replace('"boundary": 6.5e-7', '"boundary": 1.0'))  # no product is cut into shares
    return f"--machine={file}"


def pack_programs(path):
    """The functions of a file, at the lengths that its test takes."""
    lines, made = [], f"programs-{path.stem}"
    for target in ("sm_80", "sm_90a"):
        flags = [wants_tiles(target)] if str(path.relative_to(root)) in TILED else []
        if tried(bundle, path, made, [], [target], flags) is None:
            return lines
    text = (out / "bundles" / f"{made}.sm_80.ftb").read_bytes().decode(errors="replace")
    known = {entry: set(re.findall(r'"name":"(\w+)","value"', symbols))
             for entry, symbols in re.findall(r'{"name":"(\w+)","symbols":\[(.*?)\],"arguments"', text)}
    for entry, head, names, lengths in sizes.programs(path.read_text()):
        name = f"{made}.{entry}"
        if not known[entry].issuperset(names):
            continue  # flattened or cut: the runtime binds a length of its own in their place
        for case, dims in enumerate(lengths):
            options = [f"--dim={n}={value}" for n, value in dims.items()]
            count = results_of(head)
            files = [out / "cases" / f"{name}.{case}.{i}.npy" for i in range(count)]
            done = subprocess.run([str(c) for c in (tools / "ft-run", path, "--engine=interpret", f"--entry={entry}", "--seed=1",
                                                    *options, *(f"--out={file}" for file in files))], capture_output=True, text=True)
            if sizes.refused(done.returncode, done.stderr):
                continue
            if done.returncode:
                failures.append(f"{name} {dims}: {done.stderr[:1000]}")
                continue
            if has_halves(path.read_text()):
                truths_of(path, files, [f"--entry={entry}", *options])
            lines.append(f"{name}|{case}|{made}|{' '.join([f'--entry={entry}', *options])}|{count}")
    return lines


def pack_math():
    """Every operation of the math dialect: the programs that a test on the CPU writes."""
    folder = out / "math"
    run(sys.executable, root / "test/Dialect/Math/everywhere.py", root / "include/ft/Dialect/Math/Transforms/MathFunctions.def",
        folder, tools)
    lines = []
    for path in sorted(folder.glob("*.mlir")):
        name, text = f"math-{path.stem}", path.read_text()
        if tried(bundle, path, name, []) is None:
            continue
        count = results_of(re.search(r"func @f\((.*?)attributes", text, re.S)[1])
        files = [out / "cases" / f"{name}.7.{i}.npy" for i in range(count)]
        run(tools / "ft-run", path, "--engine=interpret", "--seed=1", "--dim=N=7", *(f"--out={file}" for file in files))
        lines.append(f"{name}|7|{name}|--dim=N=7|{count}")
    shutil.rmtree(folder)
    return lines


def pack_rows(program):
    path, width, element = root / program[0], *program[1:]
    name = f"{path.stem}_{width}_{element}"
    types = [t.replace("4096", str(width)) for t in with_type(path.read_text(), element)]
    lines = []
    if tried(bundle, path, name, types) is None:
        return lines
    for rows in (1, 5, 67):
        file = out / "cases" / f"{name}.{rows}.0.npy"
        run(tools / "ft-run", path, "--engine=interpret", "--seed=1", *types, f"--dim=N={rows}", f"--out={file}")
        lines.append(f"{name}|{rows}|{name}|--dim=N={rows}|1")
    return lines


def pack_bench(line):
    """A program that is timed, planned for the lengths at which integration/bench.txt times it."""
    name, file, options = line.split("|")
    types = [o for o in options.split() if o.startswith("--type")]
    flags = ["--variants"] + [o.replace("--dim=", "--typical=") for o in options.split() if o.startswith("--dim=")]
    bundle(root / file, f"bench_{name}", types, ["sm_90a"], flags)
    # The same in halves, for peers.py --type: what the line does not say has the file's extents.
    for element in os.environ.get("FT_GPU_HALVES", "f16 bf16").split():
        said = [o.replace("f32>", element + ">") for o in types]
        names = {o.split("=")[1] for o in said}
        others = [o for o in with_type((root / file).read_text(), element)
                  if o.split("=")[1] not in names]
        tried(bundle, root / file, f"bench_{name}_{element}", said + others, ["sm_90a"], flags)
    return f"{name}|bench_{name}|{' '.join(o for o in options.split() if o not in types)}\n"


programs = sorted((root / "examples").glob("*.mlir")) + [root / "integration/integers.mlir"]
benches = [line for line in (root / "integration/bench.txt").read_text().splitlines()
           if line and not line.startswith("#") and chosen(line.split("|")[0])]
with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS", "2"))) as pool:
    packed = list(pool.map(pack, [path for path in programs if chosen(path.stem)]))
    several = list(pool.map(lambda path: tried(pack_several, path) or [],
                            [root / path for path in SEVERAL + COARSENED + SCHEDULED if chosen(pathlib.Path(path).stem)]))
    every = list(pool.map(lambda path: tried(pack_programs, path) or [],
                          [root / path for path in PROGRAMS + TILED if chosen(pathlib.Path(path).stem)]))
    every += [tried(pack_math) or []] if chosen("math") else []
    rows = list(pool.map(pack_rows, [program for program in ROWS if chosen(pathlib.Path(program[0]).stem)]))
    benched = list(pool.map(lambda line: tried(pack_bench, line) or "", benches))
listed = [line for lines, _, _ in packed for line in lines] + [line for lines in several + every + rows for line in lines]
(out / "cases.txt").write_text("".join(line + "\n" for line in listed))
# A kernel that gives up when a barrier does not open, for unittests/Runtime/GpuTest.cpp, which breaks one.
if chosen("shared_steps"):
    os.environ["FT_NO_PTXAS"] = "1"
    tried(run, tools / "ft-translate", "--mlir-to-bundle", "--target=sm_80,sm_90a", "--gpu-barrier-limit=1000000",
          root / "integration/shared_steps.mlir", "-o", out / "bundles/watchdog.ftb")
(out / "lengths.txt").write_text("".join(lengths + "\n" for _, lengths, _ in packed if lengths))
(out / "bench.txt").write_text("".join(benched))
left = sum(number for _, _, number in packed)
for file in [*(root / "benchmarks/peers").glob("*.py"), root / "machine/h200.json"]:
    shutil.copy(file, out)
print(f"packed {out}: {left} cases left to check.py, {len(failures)} programs that failed to compile")
for failure in failures:
    print(failure, file=sys.stderr)
sys.exit(1 if failures else 0)
