# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws ratios of measured times as SVG: a bar for each row on a logarithmic scale, to the right of 1 where ours is faster."""

import math
from html import escape

WIDTH, LABELS, VALUES, ROW = 800, 300, 60, 20
FASTER, SLOWER = "#4f81bd", "#c0504d"
# Legible on white and on a dark page alike.
INK, LINE = "#808080", "#80808060"
TICKS = (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)


def bars(rows, title):
    """An SVG of `rows`, (label, ratio, what a pointer shows), in their order."""
    low, high = min(0.5, *(ratio for _, ratio, _ in rows)), max(2, *(ratio for _, ratio, _ in rows))
    scale = (WIDTH - LABELS - 2 * VALUES) / math.log(high / low)
    bottom = 26 + ROW * len(rows)

    def x(ratio):
        return round(LABELS + VALUES + math.log(ratio / low) * scale, 1)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {bottom + 36}" width="{WIDTH}" font-family="sans-serif" font-size="12" role="img">',
           f"<title>{escape(title)}</title>", f'<text x="{(LABELS + WIDTH) / 2}" y="14" text-anchor="middle" fill="{INK}">{escape(title)}</text>']
    for tick in (t for t in TICKS if low <= t <= high):
        out.append(f'<path d="M{x(tick)} 22V{bottom}" stroke="{INK if tick == 1 else LINE}"/>')
        out.append(f'<text x="{x(tick)}" y="{bottom + 14}" text-anchor="middle" fill="{INK}">{tick:g}</text>')
    for number, (label, ratio, words) in enumerate(rows):
        y, left, right = 26 + ROW * number, min(x(1), x(ratio)), max(x(1), x(ratio))
        # The number stands at the bar's end, away from 1.
        end, anchor = (right + 4, "start") if ratio >= 1 else (left - 4, "end")
        out.append(f'<g><title>{escape(words)}</title><text x="{LABELS}" y="{y + 13}" text-anchor="end" fill="{INK}">{escape(label)}</text>'
                   f'<rect x="{left}" y="{y + 2}" width="{round(max(right - left, 1), 1)}" height="{ROW - 6}" rx="2" fill="{FASTER if ratio >= 1 else SLOWER}"/>'
                   f'<text x="{round(end, 1)}" y="{y + 13}" text-anchor="{anchor}" fill="{INK}">{ratio:.2f}</text></g>')
    out.append(f'<text x="{(LABELS + WIDTH) / 2}" y="{bottom + 30}" text-anchor="middle" fill="{INK}">peer\'s time / ours: right of 1 ours is faster</text></svg>')
    return "\n".join(out) + "\n"
