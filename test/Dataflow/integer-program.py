# REQUIRES: integer-programs
# RUN: %python %s | FileCheck %s
# CHECK: 18 optima agree
"""A second opinion on the search: products posed as integer programs.

C[m,n] += A[m,k] B[k,n] in a buffer of S elements. Binaries choose the order of the three loops, the tile of
each dimension (all that differ in their number of trips), and for each operand the loop that its block is held
in. A product of two tiles is a binary for each pair. The solver (CBC, or SciPy's HiGHS) knows nothing of
bounds, boxes or dominance; its optimum must be what ft-dataflow proves.
"""
import itertools
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs"))
from integer_programs import Program  # noqa: E402

OPERANDS = {"A": "mk", "B": "kn", "C": "mn"}


def signatures(order, dims):
    """How an operand may be held in this order: whether it moves again, and the dimensions of its tile."""
    result = {(False, "")}
    for at, loop in enumerate(order):
        if loop in dims:
            inside = order[: at + 1]
            result.add((any(d not in dims for d in inside), "".join(d for d in dims if d in inside)))
    return result


def optimum(sizes, buffer):
    program = Program()
    infinity = float("inf")
    tiles, trips = {}, {}
    for d, size in sizes.items():
        choices = sorted({-(-size // t) for t in range(1, size + 1)})
        tiles[d] = [(program.variable(True), tile) for tile in choices]
        program.row([(v, 1) for v, _ in tiles[d]], 1, 1)
        trips[d] = [(v, -(-size // tile)) for v, tile in tiles[d]]
    pairs = {}
    for dims in OPERANDS.values():
        a, b = dims
        grid = {(s, t): program.variable(True) for _, s in tiles[a] for _, t in tiles[b]}
        for v, s in tiles[a]:
            program.row([(grid[s, t], 1) for _, t in tiles[b]] + [(v, -1)], 0, 0)
        for v, t in tiles[b]:
            program.row([(grid[s, t], 1) for _, s in tiles[a]] + [(v, -1)], 0, 0)
        pairs[dims] = [(v, s * t) for (s, t), v in grid.items()]
    orders = {"".join(o): program.variable(True) for o in itertools.permutations("mkn")}
    program.row([(v, 1) for v in orders.values()], 1, 1)
    blocks = []
    for dims in OPERANDS.values():
        size = sizes[dims[0]] * sizes[dims[1]]
        (foreign,) = set("mkn") - set(dims)
        # A result leaves each time, and comes back each time but the first.
        factor, offset = (2, 1) if dims == "mn" else (1, 0)
        traffic, block = program.variable(False, cost=1), program.variable(False)
        blocks.append((block, 1))
        allowed = {}
        for order, v in orders.items():
            for signature in signatures(order, dims):
                allowed.setdefault(signature, []).append(v)
        chosen = {signature: program.variable(True) for signature in sorted(allowed)}
        program.row([(v, 1) for v in chosen.values()], 1, 1)
        program.row([(traffic, 1)], size, infinity)
        for (repeats, tiled), v in chosen.items():
            program.row([(v, 1)] + [(o, -1) for o in allowed[repeats, tiled]], -infinity, 0)
            if repeats:
                # traffic >= size (factor trips - offset), if chosen
                most = size * (factor * sizes[foreign] - offset)
                terms = [(t, -size * factor * count) for t, count in trips[foreign]]
                program.row([(traffic, 1)] + terms + [(v, -most)], -size * offset - most, infinity)
            if len(tiled) == 2:
                terms = [(p, -count) for p, count in pairs[dims]]
            elif tiled:
                other = sizes[dims.replace(tiled, "")]
                terms = [(t, -tile * other) for t, tile in tiles[tiled]]
            else:
                terms = []
            base = 0 if tiled else size
            program.row([(block, 1)] + terms + [(v, -size)], base - size, infinity)
    program.row(blocks, -infinity, buffer)
    return program.solve()


def searched(sizes, buffer):
    graph = {
        "dims": sizes,
        "operators": [
            {
                "name": "C",
                "kind": "product",
                "inputs": {"A": ["m", "k"], "B": ["k", "n"]},
                "output": {"C": ["m", "n"]},
            }
        ],
    }
    run = subprocess.run(
        ["ft-dataflow", "-", f"--buffer={buffer}", "--json"],
        input=json.dumps(graph),
        capture_output=True,
        text=True,
    )
    if run.returncode:
        return None
    outcome = json.loads(run.stdout)
    assert outcome["proved"], outcome
    return outcome["traffic"]


agreed = 0
for m, k, n in ((7, 5, 6), (12, 1, 9), (13, 11, 7), (16, 8, 16), (23, 5, 17), (31, 13, 2)):
    for part in (40, 8, 2):
        sizes = {"m": m, "k": k, "n": n}
        buffer = max(3, (m * k + k * n + m * n) // part)
        expected, found = optimum(sizes, buffer), searched(sizes, buffer)
        assert expected == found, f"{sizes} in {buffer}: the solver says {expected}, the search {found}"
        agreed += expected is not None
print(agreed, "optima agree")
