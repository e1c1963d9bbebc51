# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is known of a program: its graph, its text after each phase, plan, remarks, waves, times, PyTorch's times."""

import difflib
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

PHASES = ("input", "ft", "etdg", "coarsen", "reorder", "partition", "schedule", "storage", "tile", "threads", "target")
#: Lines of one phase that a page holds; machine code of large programs has more.
MAX_LINES = 4000


class Tools:
    """The tools of a build, run one process at a time."""

    def __init__(self, root, build, timeout=300):
        self.root, self.bin, self.timeout = root, os.path.join(build, "bin"), timeout

    def run(self, tool, *arguments, text=None):
        """(standard output, standard error); output is None where the tool failed."""
        try:
            done = subprocess.run(
                [os.path.join(self.bin, tool), *arguments], input=text, capture_output=True, text=True, timeout=self.timeout, cwd=self.root,
            )
        except subprocess.TimeoutExpired:
            return None, f"no result after {self.timeout} s"
        except OSError as error:
            return None, str(error)
        return (done.stdout if done.returncode == 0 else None), done.stderr


def last_json(text):
    """The last JSON object of an output that may have other lines."""
    for line in reversed((text or "").splitlines()):
        if line.startswith("{"):
            try:
                return json.loads(line)
            except ValueError:
                return {}
    return {}


def graphs(tools, file, text=None):
    """The graphs of a program, or of text after a phase, as the compiler's JSON."""
    output, error = tools.run("ft-translate", "--etdg-to-json", "-" if text else file, text=text)
    try:
        return json.loads(output)["graphs"], ""
    except (TypeError, ValueError, KeyError):
        return [], error


_PLACE = re.compile(r'"[^"]*":(\d+):\d+')
_LOCATION = re.compile(r" loc\((?:[^()\"]|\"[^\"]*\"|\([^()]*\))*\)")


def without_places(text):
    """(text as it prints without locations, the source line of each of its lines or 0)."""
    aliases = dict(re.findall(r"^(#loc\d*) = (loc\(.*\))$", text, re.M))

    def line_of(location, depth=0):
        place = _PLACE.search(location)
        if place:
            return int(place.group(1))
        names = re.findall(r"#loc\d*", location) if depth < 8 else []
        return next(filter(None, (line_of(aliases.get(name, ""), depth + 1) for name in names)), 0)

    lines, sources = [], []
    for line in text.splitlines():
        if re.match(r"#loc\d* = loc\(", line):
            continue
        found = _LOCATION.findall(line)
        lines.append(_LOCATION.sub("", line))
        sources.append(line_of(found[-1]) if found else 0)
    while lines and not lines[-1]:
        lines.pop()
        sources.pop()
    return "\n".join(lines) + "\n", sources


def named(text, names):
    """A program's text with its arguments' names of the source; text of several functions as it is, whose `%arg0` are several."""
    heads = re.findall(r"^ *(?:func\.func|etdg\.graph)\b.*@", text, re.M)
    if len(heads) != 1:
        return text
    free = {f"arg{number}": name for number, name in names.items() if not re.search(rf"%{re.escape(name)}\b", text)}
    return re.sub(r"%(arg\d+)\b", lambda match: "%" + free.get(match[1], match[1]), text)


def phases(tools, file):
    """[(name, text with locations or None, error)] after each phase."""
    found = []
    for name in PHASES:
        output, error = tools.run("ft-opt", file, f"--ft-compile=to={name} target=cpu", "--mlir-print-debuginfo")
        found.append((name, output, error))
        if output is None:
            break
    return found


_AT = re.compile(r"\s*\.loc\s+\d+ (\d+)")
_LABEL = re.compile(r"(?!\.Ltmp|\.Lfunc)[\w.$@]+:")
_INSTRUCTION = re.compile(r"\t[a-z]")


def instructions(text):
    """(labels and instructions of an assembly, the source line of each or 0); directives and what debuggers read are left out."""
    lines, sources, at = [], [], 0
    for line in text.partition("\t.section\t.debug_")[0].splitlines():
        line, place = line.rstrip(), _AT.match(line)
        if place:
            at = int(place[1])
        elif _LABEL.match(line):
            at = at if line.startswith(".") else 0
            lines.append(line.split()[0])
            sources.append(0)
        elif _INSTRUCTION.match(line):
            lines.append("  " + line.strip().replace("\t", " "))
            sources.append(at)
    return "\n".join(lines) + "\n", sources


def assembly(tools, file):
    """("assembly", text, source lines, error): the code for this processor, a phase more."""
    output, error = tools.run("ft-translate", "--mlir-to-assembly", file)
    return ("assembly", *(instructions(output) if output else (None, [])), error)


_LAUNCH = re.compile(r'loops\.launch @([\w.$-]+)\(.*?\{.*?plan = "((?:[^"\\]|\\.)*)", seconds = ([-+.\deE]+)')


def plan(text):
    """[{kernel, plan, seconds}] of each kernel, from the program's text after the phase `threads`."""
    return [{"kernel": kernel, "plan": said, "seconds": float(seconds)} for kernel, said, seconds in _LAUNCH.findall(text or "")]


_REMARK = re.compile(r"^(.*?):(\d+):(\d+): remark: \[(\w+)\] (\S+) \| Category:(\S+)( \| .*)$")
_FACT = re.compile(r' \| Function=(?P<function>\S+)|(?:\| |, )(?P<key>[\w-]+)=(?:"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<plain>[^,|]*))')


def sentence(text):
    """(what a remark says, its other facts) of `Reason="…", block=r1, leaves=2`."""
    said, facts = [], []
    for match in _FACT.finditer(text):
        key, value = match["key"], match["quoted"] if match["quoted"] is not None else match["plain"]
        if match["function"]:
            facts.append(f"kernel {match['function']}")
        elif key in ("Reason", "Remark"):
            said.append(value)
        else:
            facts.append(f"{key} {value}")
    return "; ".join(said) or text.strip(" |"), ", ".join(facts)


def remarks(tools, file):
    """[{kind, name, category, text, facts, line}] in the order of the compile."""
    _, error = tools.run("ft-opt", file, "--ft-compile=to=target target=cpu", "--remarks-filter=.*", "-o", os.devnull)
    found = []
    for line in (error or "").splitlines():
        match = _REMARK.match(line)
        if match:
            _, at, _, kind, name, category, text = match.groups()
            said, facts = sentence(text)
            found.append({"kind": kind, "name": name, "category": category, "text": said, "facts": facts, "line": int(at)})
    return found


_NEST = re.compile(r'<div class="nest" id="(g\d+[ab]n\d+)" data-steps="(\d+)">.*?</div></div></div>', re.S)


_LENGTHS = re.compile(r"<p>Points are drawn at ([^.]*)\.")


def _drawings(page, kind, prefix):
    """Iteration spaces of a page of the compiler, with steps, widths and the lengths that are drawn."""
    found = []
    lengths = _LENGTHS.search(page or "")
    for match in _NEST.finditer(page or ""):
        if kind not in match.group(1):
            continue
        widths = {}
        for step in re.findall(r'class="pt"[^>]*data-step="(\d+)"', match.group(0)):
            widths[int(step)] = widths.get(int(step), 0) + 1
        steps, name = int(match.group(2)), match.group(1)
        found.append({"html": match.group(0).replace(name, prefix + name), "steps": steps, "widths": [widths.get(s, 0) for s in range(steps)],
                      "lengths": lengths.group(1) if lengths else ""})
    return found


def waves(tools, file, scheduled):
    """{"ran", "before"}: iteration spaces in the order that the engine chose and in the program's own, drawn by the compiler at small lengths."""
    name = re.sub(r"\W", "_", os.path.splitext(os.path.basename(file))[0])
    own, _ = tools.run("ft-translate", "--etdg-to-html", file)
    ran = tools.run("ft-translate", "--etdg-to-html", "-", text=scheduled)[0] if scheduled else None
    return {"ran": _drawings(ran, "b", f"{name}-r-"), "before": _drawings(own, "b", f"{name}-o-")}


def bench(tools, file, *options):
    """What ft-run measures; with an error where it fails or, with --compare=interpret, computes something else."""
    output, error = tools.run("ft-run", file, "--engine=cpu", "--bench", "--json", *options)
    measured = last_json(output)
    return {**measured, "ok": output is not None, "error": "" if output is not None else error}


def dataflow(tools, file, buffer, names):
    """DAT's loop nest for a program without recurrences, its arguments by their names, or None."""
    graph, _ = tools.run("ft-translate", "--etdg-to-dataflow", file)
    if graph is None:
        return None
    graph = re.sub(r'"arg(\d+)"', lambda match: json.dumps(names.get(int(match[1]), match[0].strip('"'))), graph)
    found, _ = tools.run("ft-dataflow", "-", f"--buffer={buffer}", "--json", "--budget=5", text=graph)
    try:
        return {"graph": json.loads(graph), "schedule": json.loads(found)}
    except (TypeError, ValueError):
        return None


TORCH = """
import json, statistics, sys, time
sys.path.insert(0, sys.argv[1])
import torch, programs
programs.DEVICE = "cpu"
torch.manual_seed(0)
every = torch.get_num_threads()
for name, lengths in json.loads(sys.argv[2]).items():
    try:
        case = programs.sized(name, lengths)
        inputs = [x.float() if x.is_floating_point() else x for x in case.inputs]
        best, count = 1e9, 0
        with torch.no_grad():
            case.plain(*inputs)
            for threads in (torch.get_num_threads(), 1):
                torch.set_num_threads(threads)
                end = time.perf_counter() + 0.3
                while time.perf_counter() < end or count < 1:
                    begin = time.perf_counter()
                    case.plain(*inputs)
                    best, count = min(best, time.perf_counter() - begin), count + 1
            torch.set_num_threads(every)
        print(json.dumps([name, best]), flush=True)
    except Exception as error:
        print(json.dumps([name, str(error)[:200]]), flush=True)
"""


def torch_times(root, lengths, python=None):
    """{name: seconds} of PyTorch's plain forms of the examples, on this processor; empty without PyTorch."""
    for candidate in [python] if python else [os.environ.get("FT_TORCH_PYTHON"), sys.executable]:
        if not candidate:
            continue
        try:
            done = subprocess.run(
                [candidate, "-c", TORCH, os.path.join(root, "benchmarks/peers"), json.dumps(lengths)], capture_output=True, text=True, timeout=300,
            )
        except (OSError, subprocess.TimeoutExpired):
            continue
        rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]
        if rows:
            return {name: value for name, value in rows if isinstance(value, float)}
    return {}


def difference(before, after):
    """Lines of `after` as [["=", count], ["-", count], ["+", [lines]]] over those of `before`."""
    a, b = before.splitlines()[:MAX_LINES], after.splitlines()[:MAX_LINES]
    if a == b:
        return [["=", len(a)]]
    found = []
    for tag, i, j, k, l in difflib.SequenceMatcher(None, a, b, autojunk=len(a) > 500).get_opcodes():
        if tag == "equal":
            found.append(["=", j - i])
            continue
        if j > i:
            found.append(["-", j - i])
        if l > k:
            found.append(["+", b[k:l]])
    return found


def program(tools, file):
    """Everything about one program but what is measured."""
    name = os.path.splitext(os.path.basename(file))[0]
    with open(os.path.join(tools.root, file)) as source:
        text = source.read()
    placed = phases(tools, file)
    texts = {phase: output for phase, output, _ in placed if output}
    first, error = graphs(tools, file)
    names = {b["argument"]: b["name"] for graph in first[:1] for b in graph["buffers"] if "argument" in b and "name" in b}
    after = [(phase, *((named(shown, names), lines) if output else (None, [])), error)
             for phase, output, error in placed for shown, lines in [without_places(output or "")]]
    if texts.get("target"):
        after.append(assembly(tools, file))
    last = graphs(tools, file, texts["schedule"])[0] if texts.get("schedule") else []
    return {
        "name": name, "file": file, "source": text, "phases": after, "graphs": {"converted": first, "scheduled": last}, "plan": plan(texts.get("threads")),
        "error": error if not first else "", "remarks": remarks(tools, file), "waves": waves(tools, file, texts.get("schedule")),
        "dataflow": dataflow(tools, file, 8192, names),
    }


def _fastest(runs):
    """The run with the shortest call; one that failed, where any did."""
    failed = [run for run in runs if not run["ok"]]
    return failed[0] if failed else min(runs, key=lambda run: run.get("run_seconds", 1e9))


#: A call shorter than this says little of an order: waking threads takes most of it.
LONG_CALL = 2e-3


def longer(tools, file, checked):
    """Options with the lengths at which a call takes about LONG_CALL; none where the program takes no longer ones."""
    lengths, seconds = checked.get("lengths") or {}, checked.get("run_seconds") or LONG_CALL
    if not checked["ok"] or not lengths or seconds >= LONG_CALL:
        return []
    factor = min(8, max(2, round((LONG_CALL / seconds) ** (1 / len(lengths)))))
    options = [f"--dim={name}={value * factor}" for name, value in lengths.items()]
    tried = bench(tools, file, *options)
    return options if tried["ok"] and tried.get("run_seconds", 1) < 50 * LONG_CALL else []


def stored(root):
    """{program: [row with its machine]}: peers measured before, of benchmarks/results."""
    sys.path.insert(0, os.path.join(root, "benchmarks"))
    import results

    found = {}
    for data in results.newest():
        for row in data["rows"]:
            found.setdefault(row["program"], []).append({**row, "card": data["card"], "date": data["date"]})
    return found


def programs(tools, files, jobs, torch_python=None):
    """All programs; what is measured is measured with nothing beside it."""
    with ThreadPoolExecutor(jobs) as pool:
        found = list(pool.map(lambda file: program(tools, file), files))
    peers = stored(tools.root)
    for one in found:
        one["checked"], one["stored"] = bench(tools, one["file"], "--compare=interpret"), peers.get(one["name"], [])
        options = longer(tools, one["file"], one["checked"])
        # In turn, twice: what else runs on the machine should not fall on one of them alone.
        ours, plain = zip(*[(bench(tools, one["file"], *options), bench(tools, one["file"], "--skip=coarsen,reorder", *options)) for _ in range(2)])
        one["measured"], one["plain"] = _fastest(ours), _fastest(plain)
        if not one["checked"]["ok"]:
            one["measured"] = {**one["measured"], "ok": False, "error": one["checked"]["error"]}
    lengths = {one["name"]: one["measured"]["lengths"] for one in found if one["measured"].get("lengths")}
    times = torch_times(tools.root, lengths, torch_python)
    for one in found:
        one["torch"] = times.get(one["name"])
    return found
