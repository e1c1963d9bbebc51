# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The report as one file of HTML that needs no other."""

import json
import os
import platform
import re
from html import escape

from . import collect, draw

HERE = os.path.dirname(os.path.abspath(__file__))
#: What draws graphs; the compiler's own pages have it, too.
GRAPHS = os.path.join(HERE, "../../lib/Target/Page")


def _asset(name, folder=HERE):
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return file.read()


def duration(seconds):
    """Seconds as a person reads them."""
    if not isinstance(seconds, (int, float)) or seconds <= 0:
        return "–"
    for unit, scale in (("s", 1), ("ms", 1e3), ("µs", 1e6)):
        if seconds * scale >= 1 or unit == "µs":
            return f"{seconds * scale:.3g} {unit}"
    return "–"


def ratio(a, b):
    return f"{a / b:.3g}×" if isinstance(a, (int, float)) and isinstance(b, (int, float)) and a > 0 and b > 0 else "–"


def _times(program):
    measured, plain = program["measured"], program["plain"]
    return measured.get("run_seconds"), measured.get("predicted_seconds"), plain.get("run_seconds"), program.get("torch")


def _two(a, b):
    """A ratio with two digits."""
    return f"{a / b:.2g}×" if isinstance(a, (int, float)) and isinstance(b, (int, float)) and a > 0 and b > 0 else "–"


def _fact(value, label, title):
    return f"<div class='fact' title='{escape(title, quote=True)}'><b>{escape(str(value))}</b><span>{escape(label)}</span></div>"


def _lengths(program):
    return ", ".join(f"{k} {v}" for k, v in (program["measured"].get("lengths") or {}).items())


def _facts(program):
    run, predicted, plain, torch = _times(program)
    graph = program["graphs"]["converted"][0] if program["graphs"]["converted"] else {}
    why = "" if predicted else ": the model has no time for a kernel of it, such as one whose loops end on data"
    facts = [
        _fact(duration(run), "measured, a call", "The fastest of many calls of the compiled program on this processor."),
        _fact(duration(predicted), "predicted", "What the cost model expected before the program ran" + why),
        _fact(_two(plain, run), "of the plain order's speed", "The time of the same engine without coarsening and reordering, over ours: above 1 the chosen order is faster."),
    ]
    if torch:
        facts.append(_fact(_two(torch, run), "of eager PyTorch's speed", "PyTorch's time of the plain form at the same lengths, over ours."))
    facts.append(_fact(duration(program["measured"].get("compile_seconds")), "compiled in", "From the parsed program to machine code."))
    if graph:
        facts.append(_fact(graph["blocks"], "blocks", f"Blocks of statements; {graph['topLevelBlocks']} of them inside no other."))
        facts.append(_fact(f"{graph['depth']} / {graph['dimension']}", "depth / dimension", "How deep blocks nest; loops of the deepest, with those of its tensor operations."))
    lengths = _lengths(program)
    return f"<div class='facts'>{''.join(facts)}</div>" + (f"<p class='sub'>measured at {escape(lengths)}</p>" if lengths else "")


#: What a plan says of its loops, and of what they cost (CostModel::describe).
_LOOPS = re.compile(r"\b(team|shared|rows|inner) ([\w ]+)")
_COSTS = {"steps": r"([\d.e+]+) steps? of", "points": r"steps? of ([\d.e+]+) points?", "call": r"([\d.e+]+) rows a call", "barriers": r"([\d.e+]+) barriers?",
          "streamed": r"([\d.e+]+ [kMG]?B) streamed"}
_HEADS = {"kernel": "Kernels run one after the other.", "waves over": "The loop whose iterations are waves: all cores run one, then wait.",
          "cores share": "Loops whose iterations are dealt to the cores.", "rows": "The loop whose iterations one product computes together.",
          "inner loops": "Loops of one task, outer first.", "steps": "Waves: points of one step do not depend on each other.",
          "points a step": "Iterations that may run at once, on average.", "rows a call": "Rows that one product takes together.",
          "barriers": "How often all cores wait for each other.", "streamed": "Bytes that move between memory and caches.",
          "predicted": "By the cost model, at typical lengths; none for a kernel that it has no model of.", "share": "Of the predicted time of all kernels."}


def plan_of(text):
    """What a kernel's plan says, in the order of _HEADS; a kernel of several nests has the loops of each."""
    loops = {}
    for name, over in _LOOPS.findall(text.partition(":")[0]):
        loops.setdefault(name, []).append(over.strip())
    costs = [re.search(pattern, text) for pattern in _COSTS.values()]
    return [" / ".join(loops.get(name, [])) for name in ("team", "shared", "rows", "inner")] + [cost.group(1) if cost else "" for cost in costs]


def _plan(program):
    """Of each kernel what was decided, its predicted time and its share of the whole."""
    kernels = program["plan"]
    if not kernels:
        return ""
    whole, rows = sum(k["seconds"] for k in kernels), []
    for kernel in kernels:
        share = kernel["seconds"] / whole if whole else 0
        bar = f"<span class='bar' style='--part:{share * 100:.1f}%'>{share:.0%}</span>" if kernel["seconds"] else "–"
        rows.append(
            f"<tr title='{escape(kernel['plan'], quote=True)}'><td>{escape(kernel['kernel'])}</td>" + "".join(f"<td>{escape(p) or '–'}</td>" for p in plan_of(kernel["plan"]))
            + f"<td>{duration(kernel['seconds'])}</td><td>{bar}</td></tr>"
        )
    kept = sum(1 for g in program["graphs"]["scheduled"] for b in g["buffers"] if any(planes != "all" for planes in b.get("live", [])))
    heads = "".join(f"<th title='{escape(words, quote=True)}'>{head}</th>" for head, words in _HEADS.items())
    return (
        f"<h3>Plan</h3><div class='wide' tabindex='0' role='region' aria-label='Plan'><table><tr>{heads}</tr>{''.join(rows)}</table></div>"
        + (f"<p class='sub'>{kept} {'buffer keeps' if kept == 1 else 'buffers keep'} some planes alone, as the cards say.</p>" if kept else "")
    )


def _graphs(program):
    stages = [(stage, label, index) for stage, label in (("converted", "as converted"), ("scheduled", "as scheduled")) for index in range(len(program["graphs"][stage]))]
    if not stages:
        return f"<pre>{escape(program['error'] or 'no graph')}</pre>"
    buttons = "".join(f"<button type='button' aria-pressed='{'false' if i else 'true'}' data-view='{i}'>{label}</button>" for i, (_, label, _) in enumerate(stages))
    views = "".join(
        f"<div class='view' data-stage='{stage}' data-graph='{index}'{' hidden' if i else ''}><div class='drawing'></div>{_plan(program) if stage == 'scheduled' else ''}</div>"
        for i, (stage, _, index) in enumerate(stages)
    )
    return f"<div class='choice stages' role='group' aria-label='Stage'>{buttons}</div>{views}"


def _changes(name, before, after):
    """What a phase changed in the text; assembly is another language."""
    if name != "assembly":
        return collect.difference(before, after)
    return [["-", len(before.splitlines()[: collect.MAX_LINES])], ["+", after.splitlines()[: collect.MAX_LINES]]]


def _phases(program):
    buttons, last = [], ""
    for name, text, _, _ in program["phases"]:
        if text is None:
            buttons.append(f"<button type='button' title='failed'>{name} ✗</button>")
            continue
        ops = _changes(name, last, text)
        changed = sum(len(v) if tag == "+" else v for tag, v in ops if tag != "=") if last and name != "assembly" else 0
        count = f"<span class='count' title='lines that this phase takes away or adds'>±{changed}</span>" if changed else ""
        buttons.append(f"<button type='button'>{name}{count}</button>")
        last = text
    return (
        f"<div class='choice phases' role='group' aria-label='Phase'>{''.join(buttons)}</div>"
        "<div class='choice forms' role='group' aria-label='Form'><button type='button'>what changed</button><button type='button'>whole text</button></div>"
        "<p class='sub'>Click a line for its source line.</p><pre class='diff' tabindex='0'></pre>"
    )


def _waves(program):
    parts = []
    for which, label in (("ran", "The order that ran"), ("before", "The program's own order")):
        drawings = [d for d in program["waves"][which] if d["steps"] > 1] or program["waves"][which][:1]
        if not drawings:
            continue
        parts.append(f"<h3>{label}</h3><p class='sub'>drawn at {escape(drawings[0]['lengths'])}; points of one colour run at the same step</p>")
        for drawing in sorted(drawings, key=lambda d: -sum(d["widths"]))[:6]:
            most, points = max([1, *drawing["widths"]]), sum(drawing["widths"])
            bars = draw.bars(drawing["widths"]) if drawing["steps"] > 1 else ""
            parts.append(f"<div class='wave'>{drawing['html']}<p class='sub'>points in each step: {points} in {drawing['steps']} steps, {most} at most</p>{bars}</div>")
    return "".join(parts) or "<p class='sub'>no iteration space is drawn for this program</p>"


def _rank(remark):
    """Choices first, then what was refused or left, then what was done, then what was found."""
    if remark["name"].startswith(("choose", "plan")) and remark["name"] != "plans-priced":
        return 0
    return {"Failed": 1, "Missed": 1, "Passed": 2}.get(remark["kind"], 3)


_RANKS = ("choices", "refused or left", "done", "found")


def _alike(remark):
    """Remarks that differ in names of blocks alone are one group."""
    return (_rank(remark), remark["kind"], remark["category"], remark["name"], re.sub(r"(block|buffer|nest) ('\w+'|@[\w.]+|\d+)", r"\1 …", remark["text"]))


def _remark(group, kind, category, name, text):
    """One line for remarks that are alike; what each says of its own is under it."""
    lines = sorted(set(r["line"] for r in group if r["line"]))
    links = "".join(f"<button type='button' class='line' data-line='{line}'>line {line}</button>" for line in lines)
    own = dict.fromkeys(": ".join(filter(None, (r["text"] if r["text"] != text else "", r["facts"]))) for r in group)
    own.pop("", None)
    items = "".join(f"<li>{escape(fact)}</li>" for fact in own)
    more = "" if not own else f"<small>{escape(next(iter(own)))}</small>" if len(own) == 1 else f"<details><summary>{len(own)} of them</summary><ul>{items}</ul></details>"
    count = f" <span class='count'>{len(group)} times</span>" if len(group) > 1 else ""
    return (f"<div class='remark'><span class='k {escape(kind)}'>{escape(kind)}</span><span>{escape(category)}<br><b>{escape(name)}</b>{count}</span>"
            f"<div>{escape(text)}{more}</div><span>{links}</span></div>")


def _remarks(program):
    groups = {}
    for remark in program["remarks"]:
        groups.setdefault(_alike(remark), []).append(remark)
    if not groups:
        return "<p class='sub'>the compiler made no remarks</p>"
    rows, last = [], None
    for (rank, kind, category, name, text), group in sorted(groups.items(), key=lambda g: g[0][0]):
        if rank != last:
            rows.append(f"<h3>{_RANKS[rank]}</h3>")
            last = rank
        rows.append(_remark(group, kind, category, name, group[0]["text"] if len(group) == 1 else text))
    return f"<label class='filter'>filter <input type='search' placeholder='words of a remark'></label>{''.join(rows)}"


def _peers(program):
    if not program["stored"]:
        return ""
    rows = "".join(
        f"<tr><td>{escape(r['card'])}, {r['date']}</td><td>{escape(r['sizes'])}</td><td>{escape(r['type'])}</td><td>{duration(r['ours_us'] / 1e6)}</td>"
        f"<td>{escape(r['peer'])}</td><td>{duration(r['peer_us'] / 1e6)}</td><td>{_two(r['peer_us'], r['ours_us'])}</td></tr>"
        for r in program["stored"]
    )
    heads = "".join(f"<th>{h}</th>" for h in ("machine", "sizes", "type", "ours", "peer", "its time", "peer / ours"))
    return f"<h3>Peers, measured before</h3><div class='wide' tabindex='0' role='region' aria-label='Peers'><table><tr>{heads}</tr>{rows}</table></div>"


def _dataflow(program):
    found = program["dataflow"]
    if not found or len(found["schedule"].get("groups", [])) != 1 or len(found["schedule"]["operators"]) < 2:
        return ""
    schedule = found["schedule"]
    return (
        "<h3>Loop nest, and what is resident over time (DAT)</h3>"
        f"<p class='sub'>Of all orders, tiles and fusions: {schedule['traffic']:,} elements move between memory and a buffer of {schedule['buffer']:,}; "
        f"at least {schedule['lower_bound']:,} must{' (proved)' if schedule.get('proved') else ''}. The buffer holds at most {schedule['footprint']:,}.</p>"
        "<div class='legend'><span><i style='background:#6f9bd1'></i>tile that moves</span><span><i style='background:#6fb37d'></i>made and used in the buffer</span>"
        f"<span><i style='background:#e0954a'></i>stays through the nest</span></div><div class='canvas'>{draw.nest(found)}</div>"
    )


def _source(program):
    lines = "".join(
        f"<button type='button' class='src' data-line='{i}'><i>{i}</i>{escape(line) or ' '}</button>" for i, line in enumerate(program["source"].splitlines(), 1)
    )
    return f"<p class='sub'>A click on a line shows its blocks and its lines after each phase.</p><pre class='source'>{lines}</pre>"


def _section(program):
    ok, name = program["measured"].get("ok"), escape(program["name"])
    tabs = [("Graph", _graphs(program)), ("Phases", _phases(program)), ("Waves", _waves(program)), (f"Remarks ({len(program['remarks'])})", _remarks(program))]
    dataflow = _dataflow(program)
    if dataflow:
        tabs.append(("Loop nest", dataflow))
    if program["stored"]:
        tabs.append(("Peers", _peers(program)))
    tabs.append(("Source", _source(program)))
    buttons = panels = ""
    for i, (label, body) in enumerate(tabs):
        key, on = label.split(" ")[0].lower(), "true" if i == 0 else "false"
        buttons += f"<button type='button' role='tab' id='t-{name}-{key}' aria-controls='b-{name}-{key}' aria-selected='{on}' tabindex='{-1 if i else 0}' data-tab='{key}'>{escape(label)}</button>"
        panels += f"<div class='tab' role='tabpanel' id='b-{name}-{key}' aria-labelledby='t-{name}-{key}'{' hidden' if i else ''}>{body}</div>"
    error = "" if ok else f"<pre class='bad'>{escape(program['measured'].get('error', ''))[:4000]}</pre>"
    state = "<span class='good'>equal to the interpreter</span>" if ok else "<span class='bad'>FAILED</span>"
    return (
        f"<section id='p-{name}' data-program='{name}'><h2>{escape(program['name'].replace('_', ' '))}</h2><p class='sub'>{escape(program['file'])} · {state}</p>{error}"
        f"{_facts(program)}<div class='follow' hidden aria-live='polite'></div><div class='tabs' role='tablist' aria-label='{name}'>{buttons}</div>{panels}</section>"
    )


def _best_stored(program):
    """The stored ratio of a CPU, else of any machine: (ratio, what it is)."""
    rows = [r for r in program["stored"] if "cores" in r["card"]] or program["stored"]
    if not rows:
        return "<td>–</td>"
    row = max(rows, key=lambda r: r["date"])
    return f"<td title='{escape(row['card'] + ', ' + row['sizes'] + ', ' + row['type'] + ', beside ' + row['peer'], quote=True)}'>{_colour(row['peer_us'], row['ours_us'])}</td>"


def _colour(theirs, ours):
    """A ratio, green where ours is faster, with a bar to four times."""
    if not (isinstance(theirs, (int, float)) and isinstance(ours, (int, float)) and ours > 0 and theirs > 0):
        return "–"
    value = theirs / ours
    kind = "good" if value > 1.05 else "bad" if value < 0.95 else "even"
    return f"<span class='bar {kind}' style='--part:{min(100, 25 * value):.0f}%'>{_two(theirs, ours)}</span>"


def _overview(programs, machine):
    has_torch = any(p.get("torch") for p in programs)
    head = [("program", ""), ("lengths", "Lengths at which it was measured."), ("measured", "The fastest of many calls."), ("plain order", "The same engine without coarsening and reordering."),
            ("gain", "The plain order's time over ours."), ("predicted / measured", "The cost model's time over the measured one.")]
    head += [("PyTorch", "Eager, with all threads or one, whichever is faster."), ("PyTorch / ours", "Above 1 ours is faster.")] if has_torch else []
    head += [("stored peer / ours", "Of benchmarks/results, at other sizes; point at a number to see which.")]
    rows = []
    for program in programs:
        run, predicted, plain, torch = _times(program)
        cells = f"<td class='at'>{escape(_lengths(program))}</td><td>{duration(run)}</td><td>{duration(plain)}</td><td>{_colour(plain, run)}</td><td>{_two(predicted, run)}</td>"
        cells += f"<td>{duration(torch)}</td><td>{_colour(torch, run)}</td>" if has_torch else ""
        state = "" if program["measured"].get("ok") else " <span class='bad'>FAILED</span>"
        rows.append(f"<tr><td><a href='#{escape(program['name'])}'>{escape(program['name'])}</a>{state}</td>{cells}{_best_stored(program)}</tr>")
    good = sum(bool(p["measured"].get("ok")) for p in programs)
    heads = "".join(f"<th title='{escape(t, quote=True)}'>{h}</th>" for h, t in head)
    return (
        f"<section id='p-overview'><h2>{good} of {len(programs)} programs agree with the interpreter</h2><p class='sub'>{escape(machine)}</p>"
        f"<div class='wide' tabindex='0' role='region' aria-label='Programs'><table>"
        f"<tr>{heads}</tr>{''.join(rows)}</table></div><p class='sub' style='margin-top:12px'>Results are checked at the programs' own lengths. Times are of one call on the CPU "
        f"at lengths where a call takes about {duration(collect.LONG_CALL)}, where the program takes them."
        + (" PyTorch runs the plain form of benchmarks/peers." if has_torch else " PyTorch is not installed here.") + "</p></section>"
    )


def _runs(numbers):
    """[3, 3, 0] as [[3, 2], [0, 1]]."""
    found = []
    for number in numbers:
        if found and found[-1][0] == number:
            found[-1][1] += 1
        else:
            found.append([number, 1])
    return found


def _data(programs):
    """What the page's script reads."""
    found = {}
    for program in programs:
        phases, last = [], ""
        for name, text, sources, error in program["phases"]:
            shown = text if text is not None else f"{name} failed:\n{error}"
            phases.append({"name": name, "ops": _changes(name, last, shown), "sources": _runs(sources[: collect.MAX_LINES])})
            last = shown
        found[program["name"]] = {"graphs": program["graphs"], "phases": phases}
    return json.dumps(found, separators=(",", ":")).replace("</", "<\\/")


def machine_text():
    model = platform.machine()
    try:
        with open("/proc/cpuinfo") as file:
            model = next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), model)
    except OSError:
        pass
    load = os.getloadavg()[0]
    busy = f"; {load:.1f} processes wanted them while times were taken" if load > 1.5 * (os.cpu_count() or 1) else ""
    return f"{model}, {os.cpu_count()} processors{busy}"


def write(programs, path):
    """Writes the page, which appears whole or not at all."""
    links = "<a href='#overview'>Overview</a>" + "".join(
        f"<a href='#{escape(p['name'])}'>{escape(p['name'].replace('_', ' '))}<small>{duration(p['measured'].get('run_seconds'))}</small></a>" for p in programs
    )
    text = (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'><meta name='viewport' content='width=device-width'><title>FractalTensor report</title>"
        f"<link rel='icon' href='data:,'><style>{_asset('page.css')}{_asset('graph.css', GRAPHS)}</style></head><body><nav aria-label='Programs'><h1>FractalTensor</h1>"
        f"<input type='search' aria-label='find a program' placeholder='find a program'><div class='links'>{links}</div></nav><main>"
        f"{_overview(programs, machine_text())}{''.join(map(_section, programs))}</main>"
        f"<script type='application/json' id='data'>{_data(programs)}</script><script>{_asset('graph.js', GRAPHS)}{_asset('page.js')}</script></body></html>\n"
    )
    temporary = f"{path}.{os.getpid()}"
    try:
        with open(temporary, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(temporary, path)
    except OSError as error:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise SystemExit(f"report.py: error: cannot write {path}: {error.strerror}") from None
