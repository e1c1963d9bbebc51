# REQUIRES: numpy
# RUN: %python %s | FileCheck %s
# CHECK: 24 optima of chains agree
"""A second opinion on the search: chains of two and three products, every loop nest and tile.

C1[m,1] = A[m,0] B1[0,1], C2[m,2] = C1[m,1] B2[1,2], and so on, in a buffer of S elements. All divisions of the chain into fused groups, all
orders of each product's loops, all prefixes that neighbours may share, all places where a block may be held are enumerated; NumPy
counts what moves and what is held for all tiles at once. It shares no code with the search, and knows nothing of bounds or
dominance: the rules are those of docs/dataflow.md, written down again. The least traffic must be what ft-dataflow proves.
"""
import os
import sys

import numpy

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs"))
from chain_nests import common, nests, operands_of, places, searched  # noqa: E402


class Grid:
    """All tiles of all dimensions, an axis for each."""

    def __init__(self, sizes):
        self.sizes = sizes
        self.tile, self.trips = {}, {}
        for axis, (dim, size) in enumerate(sizes.items()):
            tiles = sorted({-(-size // n) for n in range(1, size + 1)})
            shape = [1] * len(sizes)
            shape[axis] = len(tiles)
            self.tile[dim] = numpy.array(tiles).reshape(shape)
            self.trips[dim] = -(-size // self.tile[dim])


def block(grid, dims, order, last):
    size = 1
    for dim in dims:
        size = size * (grid.tile[dim] if dim in order[: last + 1] else grid.sizes[dim])
    return size


def traffic(grid, name, dims, order, last):
    whole = 1
    for dim in dims:
        whole *= grid.sizes[dim]
    again = 1
    for dim in order[: max(last, 0)]:
        if dim not in dims:
            again = again * grid.trips[dim]
    return whole * (2 * again - 1) if name == "out" else whole * again


def least_of_nest(grid, first, last, orders, shared, buffer):
    count = last - first + 1
    use = [0] * count
    legal = True
    for i in range(count):
        for dim in orders[i][: shared[i]]:
            legal = legal & (grid.trips[dim] > 1)  # else it is the same nest with fewer shared loops
    for i in range(count - 1):  # what is between i and i + 1
        depth = shared[i + 1]
        held = block(grid, ("m", first + i), orders[i], depth - 1)
        for k in range(count):
            near = i if k <= i else i + 1
            if k in (i, i + 1) or common(shared, k, near) > depth:
                use[k] = use[k] + held
    choices = []
    for i in range(count):
        for name, dims in operands_of(first + i, first, last).items():
            choices.append([])
            for place in places(orders[i], dims):
                holders = [k for k in range(count) if k == i or common(shared, i, k) > place + 1]
                # A loop of one iteration changes nothing: the same as another place.
                changes = grid.trips[orders[i][place]] > 1 if place >= 0 else True
                moved = traffic(grid, name, dims, orders[i], place)
                choices[-1].append((changes, moved, block(grid, dims, orders[i], place), holders))
    return least_of_choices(choices, legal, 0, use, buffer)


def least_of_choices(choices, fits, moved, use, buffer):
    """The least over all tiles and all places of the operands that are left."""
    for held in use:
        fits = fits & (held <= buffer)
    if not numpy.any(fits):
        return None
    if not choices:
        return int(numpy.min(numpy.where(fits, moved, numpy.iinfo(numpy.int64).max)))
    found = []
    for changes, more, size, holders in choices[0]:
        held = [total + size if k in holders else total for k, total in enumerate(use)]
        found.append(least_of_choices(choices[1:], fits & changes, moved + more, held, buffer))
    return min((value for value in found if value is not None), default=None)


def least_of_group(sizes, first, last, buffer):
    names = ["m"] + list(range(first - 1, last + 1))
    grid = Grid({name: sizes[name] for name in names})
    found = (least_of_nest(grid, first, last, *nest, buffer) for nest in nests(first, last))
    return min((value for value in found if value is not None), default=None)


def optimum(sizes, products, buffer):
    """The best division into groups, each of neighbours."""
    best = [0] + [None] * products
    for end in range(1, products + 1):
        for begin in range(1, end + 1):
            if best[begin - 1] is None:
                continue
            group = least_of_group(sizes, begin, end, buffer)
            if group is not None and (best[end] is None or best[begin - 1] + group < best[end]):
                best[end] = best[begin - 1] + group
    return best[products]


agreed = 0
for extents, buffers in (
    ((4, 3, 5, 2), (4, 9, 16, 25, 40)),
    ((7, 2, 6, 3), (5, 12, 20, 33, 60)),
    ((1, 5, 7, 4), (6, 14, 30)),
    ((5, 4, 2, 5), (3, 10, 22)),
    ((3, 2, 3, 2, 3), (5, 9, 14, 22)),
    ((4, 1, 3, 2, 2), (4, 8, 12)),
    ((2, 3, 1, 3, 2), (7,)),
):
    sizes = dict(zip(["m"] + list(range(len(extents) - 1)), extents))
    for buffer in buffers:
        products = len(extents) - 2
        expected, found = optimum(sizes, products, buffer), searched(sizes, products, buffer)
        assert expected == found, f"{sizes} in {buffer}: every nest gives {expected}, the search {found}"
        assert expected is not None, f"{sizes} in {buffer}: nothing fits"
        agreed += 1
print(agreed, "optima of chains agree")
