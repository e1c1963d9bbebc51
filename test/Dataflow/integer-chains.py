# REQUIRES: integer-programs
# RUN: %python %s | FileCheck %s
# CHECK: 10 optima of chains agree
"""A second opinion on the search: chains of two products posed as integer programs.

For each pair of orders, and each prefix of loops that both products may share, the solver (CBC, or SciPy's HiGHS) chooses the tile of each loop - a
dimension that the products don't share has one in each - and the loop that each block is held in. Beside these fused nests stand the two
products by themselves. It knows nothing of bounds, boxes or dominance. The least of all must be what ft-dataflow proves.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs"))
from chain_nests import common, nests, operands_of, places, searched  # noqa: E402
from integer_programs import Program  # noqa: E402

INFINITY = float("inf")


class Nest:
    """The integer program of one nest."""

    def __init__(self, sizes, orders, shared, first, last):
        self.sizes, self.orders, self.shared = sizes, orders, shared
        self.first, self.last = first, last
        self.program = Program()
        self.tiles = []  # by product, by dimension: (variable, tile)
        self.pairs = {}  # of two such lists: (variable, product of the tiles)
        self.use = [[] for _ in orders]  # by product: terms of what is held while it runs
        self.fixed = [0] * len(orders)
        for i, order in enumerate(orders):
            self.tiles.append({})
            for place, dim in enumerate(order):
                self.tiles[i][dim] = self.tiles[i - 1][dim] if place < shared[i] else self.choices(sizes[dim])

    def choices(self, size):
        result = [(self.program.variable(True), tile) for tile in sorted({-(-size // n) for n in range(1, size + 1)})]
        self.program.row([(variable, 1) for variable, _ in result], 1, 1)
        return result

    def both(self, a, b):
        """Terms of the product of two tiles."""
        key = (a[0][0], b[0][0])
        if key not in self.pairs:
            grid = {(v, w): self.program.variable(True) for v, _ in a for w, _ in b}
            for v, _ in a:
                self.program.row([(grid[v, w], 1) for w, _ in b] + [(v, -1)], 0, 0)
            for w, _ in b:
                self.program.row([(grid[v, w], 1) for v, _ in a] + [(w, -1)], 0, 0)
            self.pairs[key] = [(grid[v, w], s * t) for v, s in a for w, t in b]
        return self.pairs[key]

    def block(self, i, dims, place):
        """Terms and the constant of the elements of a block that the loops up to `place` cut."""
        tiled = [dim for dim in dims if dim in self.orders[i][: place + 1]]
        whole = 1
        for dim in dims:
            whole *= self.sizes[dim] if dim not in tiled else 1
        if not tiled:
            return [], whole
        terms = self.tiles[i][tiled[0]] if len(tiled) == 1 else self.both(*[self.tiles[i][dim] for dim in tiled])
        return [(variable, whole * count) for variable, count in terms], 0

    def hold_between(self, i):
        """What is between product i and the next one."""
        depth = self.shared[i + 1]
        terms, constant = self.block(i, ("m", self.first + i), depth - 1)
        for k in range(len(self.orders)):
            near = i if k <= i else i + 1
            if k in (i, i + 1) or common(self.shared, k, near) > depth:
                self.use[k] += terms
                self.fixed[k] += constant

    def hold_operand(self, i, name, dims):
        """One of the places is chosen; it says what moves, and who holds the block."""
        program, order = self.program, self.orders[i]
        whole = self.sizes[dims[0]] * self.sizes[dims[1]]
        (foreign,) = set(order) - set(dims)
        moved = program.variable(False, cost=1)
        program.row([(moved, 1)], whole, INFINITY)
        held = {k: program.variable(False) for k in range(len(self.orders))}
        chosen = [(place, program.variable(True)) for place in places(order, dims)]
        program.row([(variable, 1) for _, variable in chosen], 1, 1)
        for place, variable in chosen:
            if place >= 0 and foreign in order[:place]:
                # moved >= whole (factor trips - offset), if chosen
                factor, offset = (2, 1) if name == "out" else (1, 0)
                most = whole * (factor * self.sizes[foreign] - offset)
                trips = [(v, -whole * factor * -(-self.sizes[foreign] // tile)) for v, tile in self.tiles[i][foreign]]
                program.row([(moved, 1)] + trips + [(variable, -most)], -whole * offset - most, INFINITY)
            terms, constant = self.block(i, dims, place)
            for k in held:
                if k == i or common(self.shared, i, k) > place + 1:
                    row = [(held[k], 1), (variable, -whole)] + [(v, -count) for v, count in terms]
                    program.row(row, constant - whole, INFINITY)
        for k, variable in held.items():
            self.use[k].append((variable, 1))

    def solve(self, buffer):
        for i in range(len(self.orders) - 1):
            self.hold_between(i)
        for i in range(len(self.orders)):
            for name, dims in operands_of(self.first + i, self.first, self.last).items():
                self.hold_operand(i, name, dims)
        for terms, constant in zip(self.use, self.fixed):
            if constant > buffer:
                return None
            joined = {}
            for variable, factor in terms:
                joined[variable] = joined.get(variable, 0) + factor
            self.program.row(list(joined.items()), -INFINITY, buffer - constant)
        return self.program.solve()


def least(sizes, first, last, buffer):
    found = (Nest(sizes, orders, shared, first, last).solve(buffer) for orders, shared in nests(first, last))
    return min((value for value in found if value is not None), default=None)


agreed = 0
for extents, buffers in (
    ((4, 3, 5, 2), (4, 9, 16)),
    ((7, 2, 6, 3), (12, 33)),
    ((1, 5, 7, 4), (14,)),
    ((5, 4, 2, 5), (10, 22)),
    ((11, 3, 7, 2), (13, 40)),
):
    sizes = dict(zip(["m", 0, 1, 2], extents))
    for buffer in buffers:
        alone = [least(sizes, product, product, buffer) for product in (1, 2)]
        fused = least(sizes, 1, 2, buffer)
        expected = None if None in alone else sum(alone)
        if fused is not None:
            expected = fused if expected is None else min(expected, fused)
        found = searched(sizes, 2, buffer)
        assert expected == found, f"{sizes} in {buffer}: the solver says {expected}, the search {found}"
        assert expected is not None, f"{sizes} in {buffer}: nothing fits"
        agreed += 1
print(agreed, "optima of chains agree")
