# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measuring the schedules that a program may have, and keeping the fastest.

On the CPU these are the orders of loops that reordering found, cheapest by its model first; on a GPU the
forms of each kernel. The choice is kept on disk with the compiled programs, so that later processes take it.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from typing import Callable, List, NamedTuple, Optional

from . import cache, compiled
from .arrays import CPU
from .binding import Binder, check_bounds
from .compiled import Request
from .errors import ArgumentError, CompileError
from .looking import plan_of
from .plan import Plan
from .program import Program

_MAX_CANDIDATES = 16
_LEAST_ROUNDS, _MOST_ROUNDS = 5, 1000
#: So many times the best median is too slow to be measured further.
_FAR = 3
#: A gain of less than this part is no gain.
_NOISE = 0.03


class Tried(NamedTuple):
    """One schedule that :func:`tune` measured: a name, and seconds for a call (the median of several)."""

    name: str
    seconds: float


class Tuned:
    """What :func:`tune` found.

    Attributes:
      tried: the schedules, fastest first.
      best: the name of the one that calls take from now on. It is the fastest, or the compiler's choice where no other
        is faster by more than its own times differ.
    """

    def __init__(self, tried: List[Tried], best: str):
        self.tried = sorted(tried, key=lambda t: t.seconds)
        self.best = best

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


class _Schedule:
    """A schedule that is measured: how it is called, and the times of its calls."""

    def __init__(self, name: str, request: Request, plan: Plan):
        self.name, self.request, self.plan = name, request, plan
        self.times: List[float] = []

    def call(self, values, stream) -> float:
        """Seconds of one call; on a device until it has ended."""
        if self.request.variant:
            self.plan.module.select(self.request.variant)
        begin = time.perf_counter()
        self.plan.run(values, stream)
        if self.plan.device[0] != CPU:
            self.plan.module.synchronize(stream or 0)
        return time.perf_counter() - begin

    @property
    def median(self) -> float:
        return statistics.median(self.times)

    @property
    def spread(self) -> float:
        """The median distance of a time from the median."""
        middle = self.median
        return statistics.median(abs(t - middle) for t in self.times)


def _measure(schedules: List[_Schedule], values, stream, seconds: float = 0.2, clock: Callable = time.perf_counter) -> None:
    """Times calls in rounds, one call of each schedule in each: what else the machine does meets all of them alike."""
    for schedule in schedules:
        schedule.times = []
        schedule.call(values, stream)  # what only the first call does
    racing, end, rounds = list(schedules), clock() + seconds * len(schedules), 0
    while rounds < _LEAST_ROUNDS or (clock() < end and rounds < _MOST_ROUNDS):
        for schedule in racing:
            schedule.times.append(schedule.call(values, stream))
        rounds += 1
        if rounds == _LEAST_ROUNDS:
            # Later rounds are for those that may yet win.
            limit = _FAR * min(s.median for s in racing)
            racing = [s for s in racing if s.median <= limit]


def choose(schedules: List[_Schedule], values, stream) -> _Schedule:
    """The schedule that calls take: the first, which is the compiler's choice, or one that is faster twice."""
    _measure(schedules, values, stream)
    default, best = schedules[0], min(schedules, key=lambda s: s.median)
    if best is default:
        return default
    first = best.times, default.times
    _measure([default, best], values, stream)
    gain = default.median - best.median
    is_faster = gain > _NOISE * default.median and gain > default.spread + best.spread
    best.times, default.times = (a + b for a, b in zip(first, (best.times, default.times)))
    return best if is_faster else default


def _bar(done: int, text: str, progress: bool) -> None:
    """A bar on a terminal; elsewhere its lines would be one long one."""
    if progress and sys.stderr.isatty():
        print(f"\r[{'#' * done:<{_MAX_CANDIDATES + 2}}] {text:<40}", end="", file=sys.stderr, flush=True)


def _compile(program: Program, bound, target: str, progress: bool) -> List[_Schedule]:
    """The schedules that differ in their code, the compiler's choice first.

    Raises:
      CompileError: the compiler refuses the program.
    """
    found: List[_Schedule] = []
    first: Optional[BaseException] = None
    seen = set()
    for index, (name, request) in enumerate(_candidates(target)):
        try:
            module = compiled.module(program, request, bound.device)
        except CompileError as error:
            first = first or error
            _bar(index + 1, f"{name}: refused", progress)
            if request.candidate:
                break
            continue
        _bar(index + 1, name, progress)
        if module.digest in seen:
            continue
        seen.add(module.digest)
        plan = Plan(program, module, bound.infos, bound.lengths, bound.infos[0].kind)
        for variant in module.variants if request.variants else [""]:
            own = Request(target, skip=request.skip, candidate=request.candidate, variants=request.variants, variant=variant)
            found.append(_Schedule(f"{name}, {variant}" if variant else name, own, plan))
    _bar(_MAX_CANDIDATES + 2, f"{len(found)} schedules", progress)
    if progress and sys.stderr.isatty():
        print(file=sys.stderr)
    if not found:
        raise first
    return found


def _reason(schedules: List[_Schedule], chosen: _Schedule) -> str:
    """Why it was chosen, with times."""
    default, fastest = schedules[0], min(schedules, key=lambda s: s.median)
    if chosen is not default:
        return f"{chosen.median * 1e6:.1f} us a call, the compiler's choice takes {default.median * 1e6:.1f} us"
    if fastest is default:
        return f"{default.median * 1e6:.1f} us a call, the fastest of {len(schedules)}"
    return (f"{default.median * 1e6:.1f} us a call: no other is faster by more than its times differ "
            f"({fastest.name}: {fastest.median * 1e6:.1f} us)")


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
    schedules = _compile(program, bound, target, progress)
    chosen = choose(schedules, values, stream)
    best = chosen.request
    why = _reason(schedules, chosen)
    plan = plan_of(program, best)
    compiled.log("tuned %s for %s: %s, %s%s", program.name, target, chosen.name, why, f"; {plan}" if plan else "")
    if progress:
        print(f"chosen: {chosen.name}, {why}" + (f"\n  {plan}" if plan else ""), file=sys.stderr)
    if best.variant:
        compiled.module(program, best, bound.device).select(best.variant)
    jit._requests[(id(program), target)] = best
    jit._forget_plans()
    if cache.enabled():
        cache.put(_key(program, target), json.dumps(
            {"candidate": best.candidate, "skip": best.skip, "variants": best.variants, "variant": best.variant}).encode())
    jit._latest = (program, best)
    return Tuned([Tried(s.name, s.median) for s in schedules], chosen.name)
