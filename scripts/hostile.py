#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hostile input by the thousand: no signal, no hang, nothing left after.

scripts/hostile.py [--build=build] [--inputs=10000] [--first=0] [--seed=0] [--only=text,phase,schedule,machine,...] [--jobs=N]

  text      programs of examples/ and test/ with bytes, words and lines changed, deleted and repeated
  phase     what phases of the compiler print, with numbers, words, fields and lines changed: refused, or compiled
  schedule  schedules with numbers, words and loops changed: refused, or obeyed with equal results
  machine   machine files with fields changed: refused, or planned for with equal results
  bundle    bundles whose manifests were changed and signed again: with their kernels, which run no other plan than their
            own, and with steps of the host alone (code in a bundle is trusted: see docs/rationale/runtime.md)
  command   command lines of the tools with odd values
  lsp       messages for the language server, cut and garbled

A tool may succeed or fail with status 1 and a message; where results are compared, a message is an error. The last line is "N passed, N failed"; what failed is
kept in BUILD/hostile-failures/.
"""

import copy
import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parent.parent
SECONDS = 10
# What a processor is given when several inputs and others' work share it.
PATIENCE = 60


def limited():
    import resource

    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def call(command, folder, data=b""):
    """Runs a tool; why that is a failure, or nothing. CPU time is what is bounded."""
    before = set(os.listdir(folder))
    try:
        done = subprocess.run(command, cwd=folder, input=data, capture_output=True, preexec_fn=limited,
                              timeout=SECONDS * PATIENCE, env={**os.environ, "TMPDIR": str(folder), "FT_NUM_THREADS": "1"})
    except subprocess.TimeoutExpired:
        return "hangs"
    if done.returncode < 0:
        return f"signal {-done.returncode}: {done.stderr[-500:].decode(errors='replace')}"
    if done.returncode not in (0, 1):
        return f"status {done.returncode}: {done.stderr[-500:].decode(errors='replace')}"
    if done.returncode == 1 and not done.stderr.strip() and not done.stdout.strip():
        return "fails without a word"
    if b"internal error" in done.stderr or b"PLEASE submit a bug report" in done.stderr:
        return f"internal error: {done.stderr[-500:].decode(errors='replace')}"
    left = set(os.listdir(folder)) - before
    if left and (done.returncode or not left <= {"out.npy", *asked_for(command)}):
        return f"leaves {sorted(left)}"
    return None


def asked_for(command):
    """The files that a command line names as outputs, whatever they are called."""
    words = [str(word) for word in command]
    return [word for flag, word in zip(words, words[1:]) if flag in ("--out", "-o")] + [
        word.partition("=")[2] for word in words if word.startswith("--out=")]


# ---------------------------------------------------------------------------------------------- text

WORDS = ["ft.map", "ft.scanl", "etdg.block", "linalg.matmul", "!ft.list<[N], tensor<1xf32>>", "tensor<0xf32>", "-1", "9223372036854775807",
         "99999999999999999999", "N * M", "ceildiv(N, 0)", "ragged(r)", "{", "}", "(", ")", "[", "]", "<", ">", "%x", "@f", "0.0", "nan",
         "affine_map<(i) -> (i floordiv 0)>", "dense<>", "init", "lag 0", "lag -1", "emit", "combine", "identity", "\0", "é", "\"", "//"]


def garble(rng, text):
    for _ in range(rng.randint(1, 4)):
        lines = text.split("\n")
        kind = rng.randrange(8)
        at = rng.randrange(len(lines))
        if kind == 0 and len(lines) > 1:
            del lines[at]
        elif kind == 1:
            lines.insert(at, rng.choice(lines))
        elif kind == 2:
            lines[at] = lines[at][:rng.randint(0, len(lines[at]))]
        elif kind == 3:
            other = rng.randrange(len(lines))
            lines[at], lines[other] = lines[other], lines[at]
        elif kind in (4, 5):
            words = re.split(r"(\W)", lines[at])
            words[rng.randrange(len(words))] = rng.choice(WORDS)
            lines[at] = "".join(words)
        elif kind == 6:
            numbers = list(re.finditer(r"\d+", lines[at]))
            if numbers:
                m = rng.choice(numbers)
                lines[at] = lines[at][:m.start()] + rng.choice(["0", "1", "7", "127", "-3", "65536", "4294967296", "9223372036854775807"]) + lines[at][m.end():]
        else:
            lines[at] = "".join(chr(ord(c) ^ (1 << rng.randrange(7))) if rng.random() < 0.03 else c for c in lines[at])
        text = "\n".join(lines)
    return text


class Text:
    def __init__(self, tools):
        self.tools = tools
        files = sorted((ROOT / "examples").glob("*.mlir")) + sorted((ROOT / "test/Programs").glob("*.mlir")) + sorted((ROOT / "test/Dialect").rglob("*.mlir"))
        self.sources = [f.read_text() for f in files]
        self.sources = [s for s in self.sources if len(s) < 12000]

    def run(self, rng, folder):
        path = folder / "in.mlir"
        path.write_bytes(garble(rng, rng.choice(self.sources)).encode(errors="replace"))
        how = rng.choice([["ft-opt", path], ["ft-opt", path, "--canonicalize", "--cse"], ["ft-opt", path, "--ft-compile=to=tile"],
                          ["ft-opt", path, "--split-input-file", "--ft-verify"], ["ft-run", path, "--engine=cpu", "--out=out.npy"],
                          ["ft-run", path, "--engine=interpret", "--compare=truth"], ["ft-translate", "--etdg-to-json", path],
                          ["ft-translate", "--mlir-to-ptx", "--target=sm_90a", path]])
        return call([self.tools / how[0], *how[1:]], folder)


# ----------------------------------------------------------------- phases, schedules and machine files

TARGETS = ["cpu", "sm_90a"]
NEXT = {"etdg": "coarsen", "coarsen": "reorder", "reorder": "partition", "partition": "schedule", "schedule": "storage", "storage": "tile",
        "tile": "threads", "threads": "target"}
PROGRAMS = ["stacked_rnn", "flash_attention", "conv1d", "mlp", "gru", "layer_norm"]
NUMBERS = ["0", "-1", "1", "3", "7", "64", "4096", "1048577", str(1 << 62), str((1 << 63) - 1), str(-(1 << 63))]
FIELDS = {"kind": ["sequential", "parallel", "associative", "unroll", "vector"], "level": ["grid", "core", "rows", "listed_rows", "lifted", "none"],
          "mapping": ["dynamic", "cyclic", "block", "static"], "sync": ["cores", "grid", "none"], "before": ["cores", "grid"]}
FIELD = re.compile(r",? [a-z_.]+ = (?:[^,<>\[\](){} ]+|<[^<>]*>|\[[^\[\]]*\])")


def replaced(rng, text, pattern, values):
    """One match of the pattern becomes one of the values; the text itself where there is none."""
    found = list(re.finditer(pattern, text))
    if not found:
        return text
    match = rng.choice(found)
    return text[:match.start()] + rng.choice(values) + text[match.end():]


def change_fields(rng, text, numbers):
    """Another number or word, a field that is gone or stands twice, two loops the other way round."""
    kind = rng.randrange(6)
    if kind <= 1:
        return replaced(rng, text, r"(?<== )-?\d+(?![\w.])|(?<=\[)-?\d+(?=[,\]])", numbers)
    if kind == 2:
        name = rng.choice(list(FIELDS))
        return replaced(rng, text, rf"(?<={name} = )\w+", FIELDS[name])
    found = list(re.finditer(r"<dimension[^<>]*>", text) if kind == 5 else FIELD.finditer(text))
    if len(found) < 2:
        return text
    first, second = sorted(rng.sample(found, 2), key=lambda match: match.start())
    if kind == 5:
        return text[:first.start()] + second.group() + text[first.end():second.start()] + first.group() + text[second.end():]
    return text[:first.start()] + (first.group() * 2 if kind == 3 else "") + text[first.end():]


class Phases:
    """Each program as each phase leaves it, made when it is first asked for."""

    def __init__(self, tools):
        self.tools, self.made, self.lock = tools, {}, threading.Lock()

    def text(self, program, target, phase):
        key = program, target, phase
        with self.lock:
            if key not in self.made:
                done = subprocess.run([self.tools / "ft-opt", ROOT / f"examples/{program}.mlir", f"--ft-compile=to={phase} target={target}"],
                                      capture_output=True, text=True)
                if done.returncode:
                    sys.exit(f"no {phase} of {program} for {target} to begin with: {done.stderr}")
                self.made[key] = done.stdout
            return self.made[key]

    def run(self, rng, folder):
        target = rng.choice(TARGETS)
        phase = rng.choice([name for name in NEXT if target != "cpu" or name != "threads"])
        text = self.text(rng.choice(PROGRAMS), target, phase)
        for _ in range(rng.randint(1, 2)):
            text = change_fields(rng, text, NUMBERS)
        if rng.random() < 0.2:
            lines = text.split("\n")
            del lines[rng.randrange(len(lines))]
            text = "\n".join(lines)
        (folder / "in.mlir").write_text(text)
        return call([self.tools / "ft-opt", "in.mlir", f"--ft-compile=from={NEXT[phase]} to=target target={target}", "-o", "out.mlir"], folder)


def compared(command, folder):
    """Runs a program beside its interpreter: equal, or an error with its place."""
    why = call(command, folder)
    if why:
        return why
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace")
    is_equal = done.returncode == 0 and re.search("^equal$", done.stdout, re.M)
    return None if is_equal or re.search(r":\d+:\d+: error: ", done.stderr) else "neither equal nor refused: " + (done.stdout + done.stderr)[-500:]


def engine(target):
    return ["--engine=cpu", "--threads=3"] if target == "cpu" else ["--engine=emulate", "--target=" + target]


class Schedules(Phases):
    def run(self, rng, folder):
        target = rng.choice(TARGETS)
        text = self.text(rng.choice(PROGRAMS), target, "schedule")
        places = [match.start() for match in re.finditer(r"schedule ?<map", text)]
        begin = rng.choice(places)
        end = text.find("\n", begin)
        schedule = text[begin:end]
        for _ in range(rng.randint(1, 2)):
            schedule = change_fields(rng, schedule, ["1", "2", "3", "4", "5", "8", "16", "32"])
        (folder / "in.mlir").write_text(text[:begin] + schedule + text[end:])
        return compared([self.tools / "ft-run", "in.mlir", *engine(target), "--compare=interpret"], folder)


class Machines:
    def __init__(self, tools):
        self.tools = tools
        self.files = {target: (ROOT / f"test/machines/{name}.json").read_text() for target, name in (("cpu", "cpu"), ("sm_90a", "h200"))}

    def run(self, rng, folder):
        target = rng.choice(TARGETS)
        machine = json.loads(self.files[target])
        for _ in range(rng.randint(1, 2)):
            path = rng.choice([p for p in places(machine) if p and "source" not in p])
            holder = machine
            for key in path[:-1]:
                holder = holder[key]
            number = holder[path[-1]]
            odd = [number * rng.choice([2, 3, 0.5])] if isinstance(number, float) else [1, 2, 3, 7, 31, 4096, 1 << 29, 0, -1, 1 << 62, "x", None]
            if rng.random() < 0.1 and isinstance(holder, dict):
                del holder[path[-1]]
            else:
                holder[path[-1]] = rng.choice(odd)
        (folder / "machine.json").write_text(json.dumps(machine, indent=1))
        program = ROOT / f"examples/{rng.choice(PROGRAMS)}.mlir"
        return compared([self.tools / "ft-run", program, *engine(target), "--machine=./machine.json", "--compare=interpret"], folder)


# -------------------------------------------------------------------------------------------- bundles


def sign(bundle, manifest):
    """The bundle with another manifest, its checksum right."""
    total, length = struct.unpack_from("<QQ", bundle, 16)

    # Sections are aligned after the manifest: put them there again.
    old_end = -(-(64 + length) // 64) * 64
    body = b"\0" * (-(64 + len(manifest)) % 64) + bundle[old_end:]
    head = bundle[:16] + struct.pack("<QQ", 64 + len(manifest) + len(body), len(manifest))
    return head + hashlib.sha256(head + manifest).digest() + manifest + body


def unseal(bundle, sections):
    """The bundle and its table of sections without the lines beside the code that name its plans."""
    at = -(-(64 + struct.unpack_from("<Q", bundle, 24)[0]) // 64) * 64
    head, body, table = bundle[:at], b"", []
    for section in sections:
        data = bundle[at:at + section["bytes"]]
        at = -(-(at + section["bytes"]) // 64) * 64
        line = data.rfind(b"\n// plans ")
        if line >= 0:
            data = data[:line]
        body += b"\0" * (-len(body) % 64) + data
        table.append({**section, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()})
    return head + body, table


VALUES = [0, 1, -1, 2, 7, 64, 1 << 20, 1 << 31, (1 << 32) - 1, 1 << 32, 1 << 40, 1 << 62, (1 << 63) - 1, -(1 << 63), "", "N", "%0", "x", "a\0b", "\n",
          True, None, [], {}, ["mul", "N", "N"], ["add", "N", 1 << 40], ["sub", 0, "N"], ["floordiv", "N", 0], ["mod", "N", -1], {"dim": [0, 0]},
          {"stride": [1, 0]}, 1.5]
STEPS = [{"step": "fill", "to": 1, "to_offset": 0, "bytes": 16, "value": 0}, {"step": "copy", "to": 1, "to_offset": 0, "from": 0, "from_offset": 0, "bytes": 8},
         {"step": "loop", "lower": 0, "upper": 3, "by": 1, "body": []}, {"step": "branch", "condition": 0, "body": [], "otherwise": []},
         {"step": "repeat", "from": 0, "from_offset": 0, "upper": 3, "body": []}]


def places(value, path=()):
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from places(item, path + (key,))


def change(rng, manifest):
    for _ in range(rng.randint(1, 3)):
        path = rng.choice([p for p in places(manifest) if p])
        holder = manifest
        for key in path[:-1]:
            holder = holder[key]
        kind = rng.randrange(6)
        if kind <= 2:
            holder[path[-1]] = copy.deepcopy(rng.choice(VALUES))
        elif kind == 3 and isinstance(holder, list):
            holder.insert(rng.randint(0, len(holder)), json.loads(json.dumps(rng.choice(holder)))) if holder else None
        elif kind == 4 and isinstance(holder, (dict, list)):
            del holder[path[-1]]
        elif kind == 5:
            entries = manifest.get("entries")
            for entry in entries if isinstance(entries, list) else []:
                if isinstance(entry, dict):
                    for plan in entry.get("plans") if isinstance(entry.get("plans"), list) else []:
                        if isinstance(plan, dict) and isinstance(plan.get("steps"), list):
                            step = json.loads(json.dumps(rng.choice(STEPS)))
                            inner = json.loads(json.dumps(rng.choice(STEPS)))
                            for field in ("body", "otherwise"):
                                if field in step:
                                    step[field].append(inner)
                            for one in (step, inner):
                                for field in list(one):
                                    if field not in ("step", "body", "otherwise") and rng.random() < 0.3:
                                        one[field] = copy.deepcopy(rng.choice(VALUES))
                            plan["steps"].append(step)
    return manifest


class Bundles:
    def __init__(self, tools):
        self.tools, self.bundles = tools, []
        source = ("func.func @f(%xs: !ft.list<[N, M], tensor<2xf32>>) -> !ft.list<[N, M], tensor<2xf32>> attributes {ft.lengths = {N = 3 : i64, M = 2 : i64}} {\n"
                  "  %ys = ft.map (%r = %xs : !ft.list<[N, M], tensor<2xf32>>) {\n    %t = ft.scanl (%x = %r : !ft.list<[M], tensor<2xf32>>) {\n"
                  "      ft.yield %x : tensor<2xf32>\n    }\n    ft.yield %r : !ft.list<[M], tensor<2xf32>>\n  }\n  return %ys : !ft.list<[N, M], tensor<2xf32>>\n}\n")
        source = source.replace("    %t = ft.scanl (%x = %r : !ft.list<[M], tensor<2xf32>>) {\n      ft.yield %x : tensor<2xf32>\n    }\n", "")
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "f.mlir"
            program.write_text(source)
            done = subprocess.run([tools / "ft-translate", "--mlir-to-bundle", "--target=cpu", program], capture_output=True)
            if done.returncode:
                sys.exit("no bundle to begin with: " + done.stderr.decode())
            bundle = done.stdout
        manifest = json.loads(bundle[64:64 + struct.unpack_from("<Q", bundle, 24)[0]])
        # The code says which plans it runs.
        self.whole = json.dumps(manifest)
        # Without kernels: code that names no plans is taken with any, so that what changed must not reach it.
        for plan in manifest["entries"][0]["plans"]:
            plan["steps"] = [dict(STEPS[0]), {**STEPS[1], "bytes": ["mul", "N", 16]}, {**STEPS[2], "body": [dict(STEPS[0])]}]
        self.bundle = bundle
        self.unsealed, manifest["sections"] = unseal(bundle, manifest["sections"])
        self.manifest = json.dumps(manifest)

    def run(self, rng, folder):
        whole = rng.random() < 0.5
        text = json.dumps(change(rng, json.loads(self.whole if whole else self.manifest))).encode()
        if rng.random() < 0.1:
            at = rng.randrange(len(text))
            text = text[:at] + bytes([rng.randrange(256)]) * rng.choice([1, 1, 3, 100000]) + text[at + 1:]
        (folder / "in.ftb").write_bytes(sign(self.bundle if whole else self.unsealed, text))
        return call([self.tools / "ft-run-bundle", "in.ftb", *rng.choice([[], ["--out=out.npy"], ["--dim", "N=5"], ["--dim", "N=0"], ["--json"]])], folder)


# ------------------------------------------------------------------------------------ command lines

FLAGS = ["--engine", "--order", "--to", "--skip", "--dim", "--type", "--arg", "--out", "--seed", "--compare", "--rtol", "--atol", "--entry", "--target",
         "--json", "--ft-compile", "--canonicalize", "--remarks-filter", "--ft-validate", "--help", "--variant"]
ODD = ["", "0", "-1", "cpu", "interpret", "nan", "inf", "1e999", "N=1", "N=-1", "N=99999999999999999999", "x=tensor<1xf16>", "x=", "=", "/dev/full", "/dev/null",
       "/no/such/file", ".", "out.npy", "to=etdg", "to=", "from=tile", "(", "[", "\\", "a" * 5000, "off", "truth", "random", "é"]


class Commands:
    def __init__(self, tools):
        self.tools = tools

    def run(self, rng, folder):
        tool = rng.choice(["ft-run", "ft-opt", "ft-translate", "ft-run-bundle"])
        example = ROOT / "examples" / rng.choice(["gru.mlir", "layer_norm.mlir", "mlp.mlir"])
        words = [str(example)] if rng.random() < 0.9 else []
        for _ in range(rng.randint(1, 3)):
            flag, value = rng.choice(FLAGS), rng.choice(ODD)
            words += rng.choice([[f"{flag}={value}"], [flag, value], [flag], [value]])
        rng.shuffle(words)
        return call([self.tools / tool, *words], folder)


# ------------------------------------------------------------------------------- the language server


class Server:
    def __init__(self, tools):
        self.tools, self.text = tools, Text(tools)

    @staticmethod
    def message(method, params, number=None):
        body = {"jsonrpc": "2.0", "method": method, "params": params}
        if number is not None:
            body["id"] = number
        text = json.dumps(body).encode()
        return b"Content-Length: %d\r\n\r\n" % len(text) + text

    def run(self, rng, folder):
        source = garble(rng, rng.choice(self.text.sources))
        uri = "file:///in.mlir"
        data = self.message("initialize", {"processId": 1, "rootUri": None, "capabilities": {}}, 0)
        data += self.message("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "mlir", "version": 1, "text": source}})
        for number in range(1, rng.randint(2, 5)):
            position = {"line": rng.randint(0, 60), "character": rng.randint(0, 80)}
            data += self.message("textDocument/" + rng.choice(["hover", "definition", "references", "completion", "documentSymbol"]),
                                 {"textDocument": {"uri": uri}, "position": position, "context": {"includeDeclaration": True}}, number)
        if rng.random() < 0.2:
            data = data[:rng.randrange(len(data))]
        data += self.message("shutdown", None, 99) + self.message("exit", None)
        return call([self.tools / "ft-lsp-server"], folder, data)


KINDS = {"text": (Text, 5), "phase": (Phases, 2), "schedule": (Schedules, 1), "machine": (Machines, 1), "bundle": (Bundles, 3), "command": (Commands, 1), "lsp": (Server, 1)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=str(ROOT / "build"))
    parser.add_argument("--inputs", type=int, default=10000)
    parser.add_argument("--first", type=int, default=0, help="number of the first input: a run may be cut into pieces")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    parser.add_argument("--only", default=",".join(KINDS))
    options = parser.parse_args()
    tools = pathlib.Path(options.build).resolve() / "bin"
    chosen = {name: KINDS[name] for name in options.only.split(",")}
    makers = {name: make(tools) for name, (make, _) in chosen.items()}
    names = [name for name, (_, share) in chosen.items() for _ in range(share)]
    kept = tools.parent / "hostile-failures"

    def one(number):
        name = names[number % len(names)]
        rng = random.Random(f"{options.seed} {number}")
        folder = pathlib.Path(tempfile.mkdtemp(prefix="ft-hostile"))
        try:
            # What the input itself put there is not what a tool left.
            why = makers[name].run(rng, folder)
            if why:
                kept.mkdir(exist_ok=True)
                shutil.copytree(folder, kept / f"{name}-{number}", dirs_exist_ok=True)
                (kept / f"{name}-{number}" / "why.txt").write_text(why)
            return name, number, why
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    failed = 0
    counts = dict.fromkeys(chosen, 0)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for name, number, why in pool.map(one, range(options.first, options.first + options.inputs)):
            counts[name] += 1
            if why:
                failed += 1
                print(f"{name} {number}: {why}", flush=True)
    print(", ".join(f"{count} {name}" for name, count in counts.items()))
    print(f"{options.inputs - failed} passed, {failed} failed, 0 skipped")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
