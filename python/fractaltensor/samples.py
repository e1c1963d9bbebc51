# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Test data for a program by its ``gen=``, and a run of it that is checked against the interpreter."""

from __future__ import annotations

import re
import statistics
import time
from typing import Any, Dict, List, Tuple

from .errors import ArgumentError
from .jit import Jit
from .lengths import Length
from .types import ListType

#: Lengths of the run that the interpreter, which is slow, checks.
_SMALL = 6
_ROUNDS = 20
_NUMPY = {"f16": "float16", "f32": "float32", "f64": "float64", "i1": "bool"}


def _dims(type_) -> List[Any]:
    return [*type_.lengths, *type_.element.shape] if isinstance(type_, ListType) else list(type_.shape)


def sample(program: Jit, lengths: Dict[str, int], seed: int = 1) -> List[Any]:
    """Arrays of NumPy for a program's parameters, in order.

    Args:
      program: has ``gen=`` for each parameter and ``lengths=`` for the names of elements' extents.
      lengths: of the names of list lengths.
      seed: of the numbers that are drawn.

    Raises:
      ArgumentError: a parameter has no ``gen=``, or a length has no value.
    """
    import numpy

    random = numpy.random.default_rng(seed)
    values = []
    for parameter, type_ in zip(program.signature.traced, program.specialize().program.types):
        shape = [d if isinstance(d, int) else d.substitute(lengths).constant for d in _dims(type_)]
        made = program._options.gen.get(parameter.name)
        if made is None or None in shape:
            what = "has no gen=" if made is None else f"is {type_}, and a length has no value"
            raise ArgumentError(f"{program.__name__}: parameter '{parameter.name}' {what}")
        element = type_.element if isinstance(type_, ListType) else type_
        name = element.dtype.name
        values.append(_draw(made.text, shape, lengths, random).astype(_NUMPY.get(name, name.replace("i", "int"))))
    return values


def _draw(text: str, shape, lengths: Dict[str, int], random):
    kind, numbers = re.fullmatch(r"#ft\.(\w+)<(.*)>", text).groups()
    if kind == "normal":
        return random.standard_normal(shape) * float(numbers)
    low, high = (part.strip() for part in numbers.split(","))
    if kind == "uniform":
        return random.uniform(float(low), float(high), shape)
    ends = [Length.of(end).substitute(lengths).constant for end in (low, high)]
    return random.integers(ends[0], ends[1], shape)


def _results(found) -> List[Any]:
    return list(found) if isinstance(found, tuple) else [found]


def _run_small(program: Jit, lengths: Dict[str, int]) -> Tuple[Dict[str, int], float]:
    """The lengths of a small run, and the largest difference between the interpreter's results and the CPU engine's."""
    import numpy

    small = {name: min(value, _SMALL) for name, value in lengths.items()}
    values = sample(program, small)
    pairs = zip(_results(program(*values)), _results(program(*values, engine="interpret")))
    return small, max(float(numpy.abs(a.astype("float64") - b).max(initial=0)) / max(1.0, float(numpy.abs(b).max(initial=0))) for a, b in pairs)


def demonstrate(program: Jit, tolerance: float = 1e-4) -> None:
    """Makes data, runs a program, checks it against the interpreter at small lengths, and prints one line.

    Args:
      program: has ``gen=`` and ``lengths=``.
      tolerance: of results, relative to the largest number.

    Raises:
      SystemExit: the results differ; the message has by how much.
    """
    lengths = {name: program._options.lengths[name] for name in program.signature.length_names}
    small, difference = _run_small(program, lengths)
    at = ", ".join(f"{name} {value}" for name, value in small.items())
    if not difference <= tolerance:
        raise SystemExit(f"{program.__name__}: differs from the interpreter by {difference:.2g} at {at}")
    values, times = sample(program, lengths), []
    shapes = " and ".join("x".join(map(str, r.shape)) for r in _results(program(*values)))
    for _ in range(_ROUNDS):
        begin = time.perf_counter()
        program(*values)
        times.append((time.perf_counter() - begin) * 1e6)
    print(f"{program.__name__}: equals the interpreter at {at}; result {shapes}, median {statistics.median(times):.0f} us")
