# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measuring the schedules that a program may have, and keeping the fastest.

On the CPU these are the orders of loops that reordering found, cheapest by its model first; on a GPU the
forms of each kernel. The choice is kept on disk with the compiled programs, so that later processes take it.
"""

from __future__ import annotations

import json
import sys
import time
from typing import List, NamedTuple, Optional, Tuple

from . import cache, compiled
from .arrays import CPU
from .binding import Binder, check_bounds
from .compiled import Request
from .errors import ArgumentError, CompileError
from .plan import Plan
from .program import Program

_MAX_CANDIDATES = 16


class Tried(NamedTuple):
    """One schedule that :func:`tune` measured: a name, and seconds for a call (the least of several)."""

    name: str
    seconds: float


class Tuned:
    """What :func:`tune` found.

    Attributes:
      tried: the schedules, fastest first.
      best: the name of the fastest, which calls take from now on.
    """

    def __init__(self, tried: List[Tried]):
        self.tried = sorted(tried, key=lambda t: t.seconds)
        self.best = self.tried[0].name

    def __repr__(self):
        lines = [f"{'*' if t.name == self.best else ' '} {t.seconds * 1e6:12.1f} us  {t.name}" for t in self.tried]
        return "\n".join(lines)


def _key(program: Program, target: str) -> bytes:
    return b"tuned\0" + compiled.key_of(program, Request(target))


def stored_choice(program: Program, target: str) -> Request:
    """The schedule that an earlier :func:`tune` chose, else the compiler's own choice."""
    if target == "interpret" or not cache.enabled():
        return Request(target)
    raw = cache.get(_key(program, target))
    if raw is None:
        return Request(target)
    try:
        choice = json.loads(raw)
        return Request(
            target, candidate=int(choice.get("candidate", 0)), skip=str(choice.get("skip", "")),
            variants=bool(choice.get("variants", False)), variant=str(choice.get("variant", "")),
        )
    except (ValueError, AttributeError, TypeError):
        return Request(target)


def _candidates(target: str):
    """Names and requests to try. Later candidates may not exist; the compiler says so."""
    # On a GPU one compile has every form of its kernels.
    variants = target.startswith("sm_")
    yield "the compiler's choice", Request(target, variants=variants)
    yield "loops as written", Request(target, skip="coarsen,reorder", variants=variants)
    if target == "cpu":
        for rank in range(1, _MAX_CANDIDATES + 1):
            yield f"order {rank}", Request(target, candidate=rank)


def _measure(plan: Plan, values, stream, seconds: float = 0.2) -> float:
    """The least time of a call, over calls that take about `seconds` together."""
    def once() -> float:
        begin = time.perf_counter()
        plan.run(values, stream)
        if plan.device[0] != CPU:
            plan.module.synchronize(stream or 0)
        return time.perf_counter() - begin

    best, spent, calls = once(), 0.0, 0
    while calls < 3 or (spent < seconds and calls < 1000):
        took = once()
        best, spent, calls = min(best, took), spent + took, calls + 1
    return best


def _bar(done: int, name: str, seconds: Optional[float], progress: bool) -> None:
    if progress:
        took = "refused" if seconds is None else f"{seconds * 1e6:.1f} us"
        print(f"\r[{'#' * done:<{_MAX_CANDIDATES + 2}}] {name}: {took:<20}", end="", file=sys.stderr, flush=True)


def tune(jit, args, kwargs, progress: bool) -> Tuned:
    """Measures each schedule on the given arguments; calls of these element types take the fastest from now on."""
    from .jit import current_stream, target_of

    engine = kwargs.pop("engine", None) or jit._engine
    values, statics = jit._arrange(args, kwargs)
    bound = Binder(jit.signature, jit.__name__).bind(values)
    check_bounds(jit.signature, jit._options.bounds, jit.__name__, {**bound.lengths, **bound.extents})
    program = jit._program(bound.extents, bound.dtypes, statics)
    target = target_of(engine, bound.device, jit.__name__)
    if target == "interpret":
        raise ArgumentError(f"{jit.__name__}: the interpreter has no schedules to measure: tune with engine='cpu' or 'cuda'")
    stream = current_stream(bound.infos[0].kind, bound.device, None)
    tried: List[Tuple[Tried, Request]] = []
    first: Optional[BaseException] = None
    seen = set()
    for index, (name, request) in enumerate(_candidates(target)):
        try:
            module = compiled.module(program, request, bound.device)
        except CompileError as error:
            first = first or error
            _bar(index + 1, name, None, progress)
            if request.candidate:
                break
            continue
        if module.digest in seen:
            continue
        seen.add(module.digest)
        plan = Plan(program, module, bound.infos, bound.lengths, bound.infos[0].kind)
        for variant in module.variants if request.variants else [""]:
            if variant:
                module.select(variant)
            seconds = _measure(plan, values, stream)
            own = Request(target, skip=request.skip, candidate=request.candidate, variants=request.variants, variant=variant)
            tried.append((Tried(f"{name}, {variant}" if variant else name, seconds), own))
        _bar(index + 1, name, seconds, progress)
    if progress:
        print(file=sys.stderr)
    if not tried:
        raise first
    best = min(tried, key=lambda t: t[0].seconds)[1]
    if best.variant:
        compiled.module(program, best, bound.device).select(best.variant)
    jit._requests[(id(program), target)] = best
    jit._forget_plans()
    if cache.enabled():
        cache.put(_key(program, target), json.dumps(
            {"candidate": best.candidate, "skip": best.skip, "variants": best.variants, "variant": best.variant}).encode())
    return Tuned([t for t, _ in tried])
