# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The report as one file of HTML that needs no other."""

import json
import os
import platform
from html import escape

from . import collect, draw

HERE = os.path.dirname(os.path.abspath(__file__))


def _asset(name):
    with open(os.path.join(HERE, name)) as file:
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


def _fact(value, label):
    return f"<div class='fact'><b>{escape(str(value))}</b><span>{escape(label)}</span></div>"


def _facts(program):
    run, predicted, plain, torch = _times(program)
    graph = program["graphs"]["converted"][0] if program["graphs"]["converted"] else {}
    facts = [
        _fact(duration(run), "measured, a call"), _fact(duration(predicted), "predicted"), _fact(ratio(plain, run), "of the plain order's speed"),
    ]
    if torch:
        facts.append(_fact(ratio(torch, run), "of eager PyTorch's speed"))
    facts.append(_fact(duration(program["measured"].get("compile_seconds")), "compiled in"))
    if graph:
        facts.append(_fact(f"{graph['blocks']} in {graph['topLevelBlocks']}", "blocks; at the top"))
        facts.append(_fact(f"{graph['depth']} / {graph['dimension']}", "depth / dimension"))
    lengths = ", ".join(f"{k} = {v}" for k, v in program["measured"].get("lengths", {}).items())
    return f"<div class='facts'>{''.join(facts)}</div>" + (f"<p class='sub'>at {escape(lengths)}</p>" if lengths else "")


def _graphs(program):
    views, buttons = [], []
    for stage, label in (("converted", "as converted"), ("scheduled", "as scheduled")):
        for index, graph in enumerate(program["graphs"][stage]):
            hidden = " hidden" if views else ""
            buttons.append(f"<button class='{'' if views else 'on'}'>{label}</button>")
            views.append(f"<div class='view' data-program='{escape(program['name'])}' data-stage='{stage}' data-graph='{index}'{hidden}>{draw.graph(graph)}</div>")
    if not views:
        return f"<pre>{escape(program['error'] or 'no graph')}</pre>"
    return (
        f"<div class='views'><div class='choice stages'>{''.join(buttons)}</div><div class='choice sizes'><button class='on'>full size</button><button>fit</button></div>"
        "<div class='legend'><span>one line for all readers of a buffer; a thick one for its writers</span></div>"
        f"<div class='graphbox'><div class='canvas'>{''.join(views)}</div><aside class='detail'></aside></div></div>"
    )


def _phases(program):
    buttons, last = [], ""
    for name, text, _ in program["phases"]:
        if text is None:
            buttons.append(f"<button title='failed'>{name} ✗</button>")
            continue
        ops = collect.difference(last, text)
        changed = sum(len(v) if tag == "+" else v for tag, v in ops if tag != "=") if last else 0
        buttons.append(f"<button>{name}<span class='count'>{f'±{changed}' if changed else ''}</span></button>")
        last = text
    return (
        f"<div class='choice phases'>{''.join(buttons)}</div><div class='choice forms'><button class='on'>what changed</button><button>whole text</button></div>"
        "<pre class='diff'></pre>"
    )


def _waves(program):
    parts = []
    for which, label in (("before", "In the program's own order"), ("after", "After reordering")):
        drawings = [d for d in program["waves"][which] if d["steps"] > 1] or program["waves"][which][:1]
        if not drawings:
            continue
        parts.append(f"<h3>{label}</h3>")
        for drawing in sorted(drawings, key=lambda d: -sum(d["widths"]))[:6]:
            most, points = max([1, *drawing["widths"]]), sum(drawing["widths"])
            parts.append(
                f"<div class='wave'>{drawing['html']}<p class='sub'>points in each step: {points} in {drawing['steps']} steps, {most} at most</p>{draw.bars(drawing['widths']) if drawing['steps'] > 1 else ''}</div>"
            )
    return "".join(parts) or "<p class='sub'>no iteration space is drawn for this program</p>"


def _remarks(program):
    rows = "".join(
        f"<div class='remark'><span class='k {escape(r['kind'])}'>{escape(r['kind'])}</span><span>{escape(r['category'])}<br><b>{escape(r['name'])}</b></span>"
        f"<code>{escape(r['text'])}</code><span>line {r['line']}</span></div>"
        for r in program["remarks"]
    )
    return rows or "<p class='sub'>the compiler made no remarks</p>"


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


def _section(program):
    ok = program["measured"].get("ok")
    tabs = [("Graph", _graphs(program)), ("Phases", _phases(program)), ("Waves", _waves(program)), (f"Remarks ({len(program['remarks'])})", _remarks(program))]
    dataflow = _dataflow(program)
    if dataflow:
        tabs.append(("Loop nest", dataflow))
    tabs.append(("Source", f"<pre>{escape(program['source'])}</pre>"))
    buttons = "".join(f"<button class='{'on' if i == 0 else ''}' data-tab='{escape(name.split(' ')[0].lower())}'>{escape(name)}</button>" for i, (name, _) in enumerate(tabs))
    panels = "".join(f"<div class='tab {'on' if i == 0 else ''}'>{body}</div>" for i, (_, body) in enumerate(tabs))
    error = "" if ok else f"<pre class='bad'>{escape(program['measured'].get('error', ''))[:4000]}</pre>"
    state = "<span class='good'>equal to the interpreter</span>" if ok else "<span class='bad'>FAILED</span>"
    return (
        f"<section id='p-{escape(program['name'])}' data-program='{escape(program['name'])}'><h2>{escape(program['name'].replace('_', ' '))}</h2>"
        f"<p class='sub'>{escape(program['file'])} · {state}</p>{error}{_facts(program)}<div class='tabs'>{buttons}</div>{panels}</section>"
    )


def _overview(programs, machine):
    has_torch = any(p.get("torch") for p in programs)
    head = ["program", "measured", "predicted", "predicted / measured", "plain order", "gain"] + (["PyTorch, eager", "PyTorch / ours"] if has_torch else [])
    rows = []
    for program in programs:
        run, predicted, plain, torch = _times(program)
        cells = [duration(run), duration(predicted), ratio(predicted, run), duration(plain), ratio(plain, run)]
        cells += [duration(torch), ratio(torch, run)] if has_torch else []
        state = "" if program["measured"].get("ok") else " <span class='bad'>FAILED</span>"
        rows.append(f"<tr><td><a data-name='{escape(program['name'])}'>{escape(program['name'])}</a>{state}</td>" + "".join(f"<td>{c}</td>" for c in cells) + "</tr>")
    good = sum(bool(p["measured"].get("ok")) for p in programs)
    return (
        f"<section id='p-overview'><h2>{good} of {len(programs)} programs agree with the interpreter</h2><p class='sub'>{escape(machine)}</p>"
        f"<table><tr>{''.join(f'<th>{h}</th>' for h in head)}</tr>{''.join(rows)}</table>"
        "<p class='sub' style='margin-top:12px'>Times are of one call on the CPU at the examples' default lengths, the best of many. The plain order is the same engine "
        "without coarsening and reordering." + (" PyTorch's are those of the plain form in benchmarks/peers, with all threads or one, whichever is faster." if has_torch else " PyTorch is not installed here.") + "</p></section>"
    )


def _data(programs):
    """What the page's script reads."""
    found = {}
    for program in programs:
        phases, last = [], ""
        for name, text, error in program["phases"]:
            shown = text if text is not None else f"{name} failed:\n{error}"
            phases.append({"name": name, "ops": collect.difference(last, shown)})
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
    links = "<a data-name='overview'>Overview</a>" + "".join(
        f"<a data-name='{escape(p['name'])}'>{escape(p['name'].replace('_', ' '))}<small>{duration(p['measured'].get('run_seconds'))}</small></a>" for p in programs
    )
    text = (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'><meta name='viewport' content='width=device-width'><title>FractalTensor report</title>"
        f"<link rel='icon' href='data:,'><style>{_asset('page.css')}</style></head><body><nav><h1>FractalTensor</h1>{links}</nav><main>"
        f"{_overview(programs, machine_text())}{''.join(map(_section, programs))}</main>"
        f"<script type='application/json' id='data'>{_data(programs)}</script><script>{_asset('page.js')}</script></body></html>\n"
    )
    temporary = f"{path}.{os.getpid()}"
    with open(temporary, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(temporary, path)
