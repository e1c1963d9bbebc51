#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every operator by every element type, on special numbers and sizes, beside eager PyTorch: values, types and sizes.

    python3 python/tests/operator_sweep.py [--engine=cpu] [--seed=N] [--share=0.05] [PART …] [WORD …]

The calls are those of script_operators.txt with other arguments (`lines`), and each operator of one or two tensors at ranks 0, 1 and 2 and on
no elements (`ranks`). `--share`: a random part of them. WORD: those whose text has one of the words, such as an operator's name. What eager mode refuses is left out; what we refuse is counted by its message.
The last line is "N compared, N refused, N wrong"; the status is 1 where something is wrong, or nothing was compared.
"""

import argparse
import ast
import collections
import itertools
import math
import os
import pathlib
import random
import sys
import tempfile
import warnings

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent.parent), str(pathlib.Path(__file__).resolve().parent)]

import torch  # noqa: E402
import operator_cases as cases  # noqa: E402
from fractaltensor import errors, torch as ftt  # noqa: E402
from fractaltensor.torch.ops import TABLE  # noqa: E402
from test_script import load  # noqa: E402

FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
INTEGERS = (torch.int8, torch.int16, torch.int32, torch.int64)
#: Relative errors that results of many roundings may have.
_NEAR = {torch.float16: 4e-3, torch.bfloat16: 3.2e-2, torch.float32: 4e-5, torch.float64: 1e-10}


#: Casts of floats that no integer holds are undefined.
_TO_INTEGERS = (".int", ".long", ".short", ".type_as")


def specials(dtype):
    """Numbers of a type at which operators go wrong: zeros, subnormal ones, ones, ties, extremes, infinities, NaN."""
    if dtype is torch.bool:
        return [False, True]
    if not dtype.is_floating_point:
        least, most = torch.iinfo(dtype).min, torch.iinfo(dtype).max
        return [0, 1, -1, 2, -2, 3, 7, least, most, least + 1, most - 1]
    info = torch.finfo(dtype)
    return [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, info.smallest_normal / 4, -info.smallest_normal, info.max, -info.max, math.sqrt(info.max) * 2, math.inf, -math.inf, math.nan]


def filled(dtype, sizes, g, special):
    """Random numbers, of which some are special."""
    count = math.prod(sizes)
    if dtype is torch.bool:
        return torch.rand(sizes, generator=g) > 0.5
    made = torch.randn(count, generator=g, dtype=torch.float64) if dtype.is_floating_point else torch.randint(0, 4, (count,), generator=g)
    made = made.to(dtype)
    if special and count:
        numbers = specials(dtype)
        places = torch.randperm(count, generator=g)[: max(1, count // 3)]
        made[places] = torch.tensor([numbers[int(k)] for k in torch.randint(0, len(numbers), (len(places),), generator=g)], dtype=dtype)
    return made.reshape(sizes)


def line_arguments(dtype, integer, special, seed):
    g = torch.Generator().manual_seed(seed)
    x, y = filled(dtype, (4, 6), g, special), filled(dtype, (4, 6), g, False)
    z = filled(dtype, (3, 4, 6), g, False)
    i, m = torch.randint(0, 4, (4, 6), generator=g).to(integer), torch.rand(4, 6, generator=g) > 0.5
    return {"x": x, "y": y, "i": i, "m": m, "z": z}


def lines(seed):
    """(text, arguments) of all lines' expressions."""
    for line in cases.lines():
        for element in ast.parse(line).body[0].value.elts:
            text = ast.unparse(element)
            if any(word in text for word in ("empty", "fastpath", "stride", "nbytes", "element_size")):
                continue
            for at, dtype in enumerate(FLOATS):
                for special in (False, True):
                    yield text, lambda d=dtype, k=INTEGERS[at], s=special: line_arguments(d, k, s, seed)


def _arity(operator):
    """How many tensors an operator of one or two takes alone; 0 for all others."""
    own = list(operator.signature.parameters.values())[1:]
    if any(p.kind == p.VAR_POSITIONAL for p in own):
        return 0
    needed = [p.name for p in own if p.default is p.empty and p.kind == p.POSITIONAL_OR_KEYWORD]
    return len(needed) if needed and needed[0] in ("input", "self") and needed[1:] in ([], ["other"], ["exponent"], ["values"], ["target"]) else 0


def _operands(dtype, other, sizes, arity, seed):
    g = torch.Generator().manual_seed(seed)
    x = filled(dtype, sizes, g, True)
    y = filled(other, sizes, g, True)
    return {"x": x, "y": y} if arity == 2 else {"x": x}


def ranks(seed):
    """(text, arguments) of all operators of one or two tensors."""
    types = (torch.bool, *INTEGERS, *FLOATS)
    for path, operator in TABLE.items():
        arity = _arity(operator)
        if not arity or path.endswith(("bincount", "one_hot")) or path.startswith(("aten.", "torchvision", "Tensor.new_", "torch.empty", "torch.jit", "torch.backends")):
            continue
        names = ["x", "y"][:arity]
        text = f"x.{path[7:]}({', '.join(names[1:])})" if path.startswith("Tensor.") else f"{path}({', '.join(names)})"
        for dtype, sizes in itertools.product(types, ((), (5,), (3, 4), (0,), (2, 0))):
            if dtype.is_floating_point and path.endswith(_TO_INTEGERS):
                continue
            if not dtype.is_floating_point and path.endswith(".cov"):
                continue  # (sums of integers that wrap around)
            if not dtype.is_floating_point and path.endswith(("softmax", "softmin", "cross_entropy")):
                continue  # (eager mode takes those without elements alone)
            for other in (dtype, random.Random(f"{seed}{text}{dtype}{sizes}").choice(types)) if arity == 2 else (dtype,):
                yield text, lambda d=dtype, o=other, n=sizes, a=arity: _operands(d, o, n, a, seed)


def differ(found, wanted, is_remainder=False):
    """What is wrong with a result, or ''."""
    if isinstance(wanted, (tuple, list)):
        return "numbers of results" if len(found) != len(wanted) else next((text for a, b in zip(found, wanted) for text in [differ(a, b)] if text), "")
    if not isinstance(wanted, torch.Tensor):
        same = found == wanted or found != found and wanted != wanted or isinstance(wanted, float) and math.isclose(found, wanted, rel_tol=1e-5)
        return "" if same or isinstance(wanted, torch.dtype) else f"{found} for {wanted}"
    if not isinstance(found, torch.Tensor):
        return f"no tensor: {found}"
    if (found.shape, found.dtype) != (wanted.shape, wanted.dtype):
        return f"{found.dtype}{list(found.shape)} for {wanted.dtype}{list(wanted.shape)}"
    if wanted.dtype.is_complex:
        a, b = (torch.view_as_real(x.resolve_conj()) for x in (found, wanted))
        # (What infinities become depends on the order in which a library takes its terms.)
        known = a.isfinite() & b.isfinite()
        return "" if torch.equal(a.isfinite().all(-1), b.isfinite().all(-1)) and not differ(a[known], b[known]) else f"{found.flatten().tolist()} for {wanted.flatten().tolist()}"
    if not wanted.dtype.is_floating_point:
        return "" if torch.equal(found, wanted) else f"{found.flatten().tolist()} for {wanted.flatten().tolist()}"
    near = _NEAR[wanted.dtype]
    a, b = found.double(), wanted.double()
    if is_remainder:
        # Eager mode's vectors give NaN where a quotient is huge; its single numbers do not.
        a = torch.where(b.isnan() & a.isfinite(), math.nan, a)
    wrong = ~torch.isclose(a, b, rtol=near, atol=near / 10 if wanted.dtype.itemsize > 2 else near, equal_nan=True)
    # One rounding apart from infinity is no difference that counts.
    limit = torch.finfo(wanted.dtype).max * (1 - near)
    wrong &= ~((a.sign() == b.sign()) & (a.abs() > limit) & (b.abs() > limit))
    if not wrong.any():
        return ""
    return f"{found[wrong].flatten()[:4].tolist()} for {wanted[wrong].flatten()[:4].tolist()}"


PARTS = {"lines": lines, "ranks": ranks}


class Sweep:
    def __init__(self, engine):
        self.engine, self.compared, self.wrong = engine, 0, []
        self.refused = collections.Counter()
        self.scripts = {}

    def script(self, text, names, folder):
        if text not in self.scripts:
            body = f"import math\nimport torch\nimport torch.nn.functional as F\n\n\ndef f({', '.join(names)}):\n    return {text}\n"
            self.scripts = {text: ftt.script(load(f"sweep{random.random()}".replace(".", ""), body, folder).f, engine=self.engine)}
        return self.scripts[text]

    def compare(self, text, arguments, folder):
        try:
            wanted = cases.value(text, arguments())
        except Exception:  # noqa: BLE001 - whatever eager mode does not take
            return
        given = arguments()
        what = f"{text} {' '.join(str(v.dtype).split('.')[1] + str(list(v.shape)) for v in given.values())}"
        try:
            found = self.script(text, list(given), folder)(*given.values())
        except errors.Error as error:
            self.refused[str(error).split("error: ")[-1].split("\n")[0]] += 1
            return
        except Exception as error:  # noqa: BLE001 - a crash is a wrong result
            self.wrong.append((what, f"{type(error).__name__}: {error}", given))
            return
        self.compared += 1
        said = differ(found, wanted, any(word in text for word in ("fmod", "remainder", "%")))
        if said:
            self.wrong.append((what, said, given))


def sweep(engine="interpret", seed=0, share=1.0, names=()):
    """Compares what the names choose: parts, else all of them; words of calls, else all calls."""
    parts = [name for name in names if name in PARTS] or PARTS
    words = [name for name in names if name not in PARTS]
    done, choice = Sweep(engine), random.Random(seed)
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")
        for part in parts:
            for text, arguments in PARTS[part](seed):
                if choice.random() < share and (not words or any(word in text for word in words)):
                    done.compare(text, arguments, folder)
    return done


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", default="interpret")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("names", nargs="*", metavar="PART or WORD")
    options = parser.parse_args()
    done = sweep(options.engine, options.seed, options.share, options.names)
    for what, said, _ in done.wrong:
        print(f"{what}: {said}")
    for message, count in sorted(done.refused.items(), key=lambda pair: -pair[1]):
        print(f"refused {count}: {message}")
    print(f"{done.compared} compared, {sum(done.refused.values())} refused, {len(done.wrong)} wrong")
    return bool(done.wrong) or not done.compared


if __name__ == "__main__":
    os.environ.setdefault("FT_CACHE", "off")
    sys.exit(main())
