# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Drawings as SVG: waves' widths, loop nests with what stays in the buffer. lib/Target/Page/graph.js draws graphs."""

from html import escape


def number(value):
    return f"{value:.1f}".rstrip("0").rstrip(".")


def bars(widths, width=360, height=64):
    """How many points each wave has."""
    most, step = max([1, *widths]), width / max(1, len(widths))
    rects = "".join(
        f'<rect x="{number(i * step)}" y="{number(height - height * w / most)}" width="{number(max(0.8, step - 1))}" height="{number(height * w / most)}">'
        f"<title>step {i}: {w} points</title></rect>"
        for i, w in enumerate(widths)
    )
    return f'<svg class="bars" width="{width}" height="{height}" viewBox="0 0 {width} {height}">{rects}</svg>'


# -- loop nests (DAT, Fig. 1 and 6) -------------------------------------------------------------------------------------


def _resident(operators):
    """{tensor: (first, last operator, elements, what)}: how long each tensor's tile lies in the buffer."""
    spans = {}
    for index, operator in enumerate(operators):
        for tensor in operator["tensors"]:
            name = tensor["name"]
            what = "stays through the nest" if tensor["held"] else "made and used here" if tensor["fused"] else "moves"
            known = spans.get(name)
            spans[name] = (known[0] if known else index, index, max(tensor["buffer"], known[2] if known else 0), known[3] if known else what)
    for index, operator in enumerate(operators):
        for name in operator["reads"]:
            if name in spans:
                first, _, elements, what = spans[name]
                spans[name] = (first, max(index, spans[name][1]), elements, what)
    last = len(operators) - 1
    return {name: ((0, last) if what.startswith("stays") else (a, b), elements, what) for name, (a, b, elements, what) in spans.items()}


def _loops(operators, dims, out, x, y, width):
    """Loops that all operators share, nested, then each operator's own; gives where they end."""
    shared = min(o["shared_loops"] for o in operators[1:]) if len(operators) > 1 else 0
    order = operators[0]["order"]
    level = 0
    for level, name in enumerate(order[:shared]):
        tile = operators[0]["tiles"][name]
        out.append(("loop", x + 14 * level, y + 22 * level, f"for {name} in {-(-dims[name] // tile)} tiles of {tile}"))
    top = y + 22 * shared
    for operator in operators:
        for extra, name in enumerate(operator["order"][shared:]):
            tile = operator["tiles"][name]
            out.append(("own", x + 14 * (shared + extra), top, f"for {name} in {-(-dims[name] // tile)} tiles of {tile}"))
            top += 20
        out.append(("body", x + 14 * (shared + max(0, len(operator["order"]) - shared)), top, operator["text"]))
        top += 26
    return shared, top


def nest(found):
    """A group's loops at the left; at the right, over the operators in turn, what lies in the buffer."""
    texts = {o["name"]: o for o in found["graph"]["operators"]}
    operators = []
    for operator in found["schedule"]["operators"]:
        text = texts[operator["name"]]
        inputs = text["inputs"] if isinstance(text["inputs"], dict) else dict(text["inputs"])
        result = next(iter(text["output"]))
        operators.append({**operator, "reads": list(inputs), "text": f"{result} = {text['kind']}({', '.join(inputs)})" + ("  online" if operator.get("online") else "")})
    out = []
    shared, bottom = _loops(operators, found["graph"]["dims"], out, 14, 26, 420)
    parts = []
    for i in range(shared):
        parts.append(f'<rect class="frame" x="{8 + 14 * i}" y="{10 + 22 * i}" width="{452 - 14 * i}" height="{number(bottom - 10 - 22 * i - 3 * i)}" rx="4"/>')
    for kind, x, y, text in out:
        parts.append(f'<text class="{kind}" x="{number(x)}" y="{number(y)}">{escape(text)}</text>')
    spans = _resident(operators)
    left, step = 600, max(90, 330 / len(operators))
    parts.append(f'<text class="head" x="{left - 110}" y="18">resident in the buffer, one round of the shared loops →</text>')
    for i, operator in enumerate(operators):
        parts.append(f'<text class="axis" x="{number(left + step * (i + 0.5))}" y="40" text-anchor="middle">{escape(operator["name"])}</text>')
        parts.append(f'<line class="tick" x1="{number(left + step * i)}" x2="{number(left + step * i)}" y1="46" y2="{54 + 26 * len(spans)}"/>')
    for row, (name, ((a, b), elements, what)) in enumerate(sorted(spans.items(), key=lambda s: (s[1][0], s[0]))):
        y = 52 + 26 * row
        kind = "held" if what.startswith("stays") else "fused" if what.startswith("made") else "moved"
        parts.append(f'<text class="name" x="{left - 10}" y="{y + 14}" text-anchor="end">{escape(name)}</text>')
        parts.append(
            f'<g class="span {kind}"><rect x="{number(left + step * a + 2)}" y="{y}" width="{number(step * (b - a + 1) - 4)}" height="19" rx="4"/>'
            f'<text x="{number(left + step * a + 10)}" y="{y + 14}">{elements:,}</text><title>{escape(name)}: {elements:,} elements, {what}</title></g>'
        )
    height, width = max(bottom + 8, 70 + 26 * len(spans)), left + step * len(operators) + 20
    return f'<svg class="nest-picture" width="{number(width)}" height="{number(height)}" viewBox="0 0 {number(width)} {number(height)}">{"".join(parts)}</svg>'
