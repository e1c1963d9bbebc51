# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The loop nests of chains C1[m,1] = A[m,0] B1[0,1], C2[m,2] = C1[m,1] B2[1,2], and so on."""
import itertools
import json
import subprocess


def dims_of(product):
    """Rows, what is summed over, columns."""
    return ("m", product - 1, product)


def operands_of(product, first, last):
    """What moves: by name, its dimensions; not what neighbours in the group hold between them."""
    result = {}
    if product == first:
        result["in"] = ("m", product - 1)
    result["weights"] = (product - 1, product)
    if product == last:
        result["out"] = ("m", product)
    return result


def places(order, dims):
    """Where a block may be held: the position of the last loop that changes it, or -1."""
    return [-1] + [p for p, dim in enumerate(order) if dim in dims]


def nests(first, last):
    """Orders of all products of a group, and how many loops each shares with the one before."""

    def extend(product, orders, shared):
        if product > last:
            yield tuple(orders), tuple(shared)
            return
        for order in itertools.permutations(dims_of(product)):
            if not orders:
                yield from extend(product + 1, [order], [0])
                continue
            before, most = orders[-1], 0
            # The product before must not sum over a loop that both share.
            while most < 3 and before[most] == order[most] and before[most] != product - 2:
                most += 1
            for count in range(most + 1):
                yield from extend(product + 1, orders + [order], shared + [count])

    return extend(first, [], [])


def common(shared, i, k):
    i, k = min(i, k), max(i, k)
    return 3 if i == k else min(shared[i + 1 : k + 1])


def searched(sizes, products, buffer):
    name = lambda i: "A" if i == 0 else "C%d" % i
    graph = {
        "dims": {"d%s" % dim: size for dim, size in sizes.items()},
        "operators": [
            {
                "name": "P%d" % i,
                "kind": "product",
                "inputs": {name(i - 1): ["dm", "d%d" % (i - 1)], "B%d" % i: ["d%d" % (i - 1), "d%d" % i]},
                "output": {name(i): ["dm", "d%d" % i]},
            }
            for i in range(1, products + 1)
        ],
    }
    run = subprocess.run(
        ["ft-dataflow", "-", "--buffer=%d" % buffer, "--json"], input=json.dumps(graph), capture_output=True, text=True
    )
    if run.returncode:
        assert "fit" in run.stderr, run.stderr
        return None
    outcome = json.loads(run.stdout)
    assert outcome["proved"], outcome
    return outcome["traffic"]
