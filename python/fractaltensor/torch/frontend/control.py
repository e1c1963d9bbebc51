# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Statements: straight ones, and control flow, which Python decides where it can and operations where data do.

`break`, `continue` and `return` are names like others (`$break`, ...), so that they meet where paths meet; what follows a
statement that may have set one stands under a condition.
"""

from __future__ import annotations

import ast
from typing import Any, Callable, Dict, List, Optional, Set

from ...errors import Error
from ..ir import varying
from .expressions import has_poison
from ..ir.linear import Linear, linear
from ..ir.operations import INDEX, Block, Op, Type, Value
from ..ops import complex_numbers, indexing
from .merge import Merger, Number, Spec, Static, describe, same_value, widens_sizes
from ..problems import PYTHONS, NeedsCopies, NeedsFirst, NeedsUnrolling, Problem, in_words, problem_of
from .grown import Rounds, Rows
from .rebound import is_attribute
from .rolled import runs_in
from .sharing import containers
from .values import POISON, SHARED, UNSET, Complex, Num, PyDict, PyList, Tensor, Unset, kind_of

#: Contexts that change nothing of a program that computes forward only.
_FORWARD = ("no_grad", "inference_mode")
_FLAGS = ("$break", "$continue", "$return")
_MAX_UNROLLED = 4096
#: Comparisons: whether the left side is the smaller one, and whether both differ.
_ORDERS = {ast.Lt: (True, True), ast.LtE: (True, False), ast.Gt: (False, True), ast.GtE: (False, False)}
#: A loop that could stay one is unrolled, all loops around that are unrolled counted, up to so many copies of its body.
MOST_COPIES = 32
#: Of a loop that is wrong as one, copies of its body are tried where there are no more than these.
_MOST_TRIED = 512
_MAX_ATTEMPTS = 24


def assigned_names(nodes) -> Set[str]:
    """Names that statements bind, without those of functions inside."""
    found: Set[str] = set()

    def visit(node):
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            if isinstance(node, ast.FunctionDef):
                found.add(node.name)
            return
        if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
            found.add(node.id)
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            found.update((a.asname or a.name).split(".")[0] for a in node.names)
        for child in ast.iter_child_nodes(node):
            visit(child)

    for node in nodes:
        visit(node)
    return found


class Control:
    """Part of the evaluator."""

    def exec_block(self, statements) -> None:
        past, runs = 0, runs_in(statements, MOST_COPIES + 1)
        for at, statement in enumerate(statements):
            if at < past:
                continue
            run = runs.get(at)
            if run is not None:
                past = at + run.period * run.times
                self.exec_run(statements, run)
                continue
            self.exec(statement)
            stop = self.stopped()
            if stop is True:
                return
            if stop is not False:
                rest = statements[at + 1 :]
                if rest:
                    self.guarded(stop, lambda: self.exec_block(rest))
                return

    def stopped(self, names=_FLAGS):
        """Whether the rest is skipped: True, False, or a number."""
        result = False
        for name in names:
            result = self.b.logical("or", result, self.frame.env.get(name, False))
        return result

    def guarded(self, stop, body: Callable[[], None]) -> None:
        """Runs `body` where `stop` is not set."""
        skips = self.frame.env.get("$continue", False) is False

        def go():
            for name in self.only_broken():
                self.frame.env[name] = Unset(": it is set where the loop is left only")
            for name in _FLAGS:
                if not isinstance(self.frame.env.get(name, False), bool):
                    self.frame.env[name] = False
            body()

        open_flags = [name for name in _FLAGS if self.frame.env.get(name, False) is not False]

        def skip():
            # Where one flag alone can have led here, it is set.
            if len(open_flags) == 1:
                self.frame.env[open_flags[0]] = True

        self.branch(self.b.invert(stop), go, skip, None, may_lack=skips)

    def exec(self, node) -> None:
        method = getattr(self, "exec_" + type(node).__name__, None)
        self.nodes.append((self.frame, node))
        try:
            if method is None:
                from .expressions import _construct

                raise Problem(f"{_construct(node)} cannot be compiled")
            method(node)
        except NeedsUnrolling as need:
            if not need.problem.frames:
                need.problem.frames = self.places()
            raise
        except Error:
            raise
        except (Problem, *PYTHONS) as error:
            problem = error if isinstance(error, Problem) else problem_of(error, self.places())
            if not problem.frames:
                problem.frames = self.places()
            self.report(problem)
            for name in assigned_names([node]):
                self.frame.env[name] = POISON
            if isinstance(node, ast.Return):
                self.frame.env.update({"$return": True, "$value": POISON})
        finally:
            self.nodes.pop()

    # -- straight statements ----------------------------------------------------------------------------------

    def exec_Assign(self, node):
        value = self.eval(node.value)
        for target in node.targets:
            self.assign(target, value)

    def exec_AnnAssign(self, node):
        if node.value is not None:
            self.assign(node.target, self.eval(node.value))

    def exec_AugAssign(self, node):
        target = node.target
        if isinstance(target, ast.Subscript):
            self._augment_item(node, self.eval(target.value), self.eval(target.slice))
            return
        load = ast.copy_location(_as_load(target), target)
        old = self.eval(load)
        result = self.augmented(type(node.op), self.eval(node.value), old)
        if not isinstance(old, Tensor) or isinstance(target, ast.Name):
            self.assign(target, result)

    def _augment_item(self, node, owner, key) -> None:
        """`owner[key] op= value`: read, changed, and written back, as Python does; a view has been written then."""
        if has_poison(owner) or has_poison(key):
            return
        key = self.as_index(owner, key)
        if isinstance(owner, Complex):
            old = complex_numbers.part_by_part(lambda part: indexing.read(self.b, part, key), owner)
            result = self.augmented(type(node.op), self.eval(node.value), old)
            for part, given in zip(owner.parts, result.parts):
                indexing.write(self.b, part, key, given)
            return
        if not isinstance(owner, Tensor):
            old = self.item_of(owner, key)
            result = self.augmented(type(node.op), self.eval(node.value), old)
            if result is not old or not isinstance(old, (PyList, PyDict, Rows)):
                self.set_item(owner, key, result)
            return
        old = indexing.read(self.b, owner, key)
        result = self.augmented(type(node.op), self.eval(node.value), old)
        if old.value.op is not None and old.value.op.attributes.get("role") == "new" and not has_poison(result):
            indexing.write(self.b, owner, key, result)

    def exec_Expr(self, node):
        if not isinstance(node.value, ast.Constant):
            self.eval(node.value)

    def exec_Pass(self, node):
        pass

    def exec_Nonlocal(self, node):
        if not self.frame.nonlocals.issuperset(node.names):
            raise Problem("nonlocal cannot be compiled in a function that is defined outside of the compiled one: return the value instead")

    def exec_Delete(self, node):
        for target in node.targets:
            if isinstance(target, ast.Subscript):
                self._delete_item(self.eval(target.value), self.eval(target.slice))
                continue
            if not isinstance(target, ast.Name):
                raise Problem("del of an attribute cannot be compiled")
            self.frame.env[target.id] = Unset(": it is deleted")

    def _delete_item(self, owner, key) -> None:
        if has_poison(owner) or has_poison(key):
            return
        if not isinstance(owner, (list, dict)):
            raise Problem(f"del of an item of {describe(owner)}: lists and dictionaries have items that can be deleted")
        self.check_owned(owner, "del of an item")
        try:
            del owner[self.static(key, "the place of what is deleted")]
        except (IndexError, KeyError, TypeError) as error:
            raise Problem(f"del: {error}") from None

    def exec_Assert(self, node):
        self._require(self.eval_truth(node.test), "an assertion does not hold", node.msg)

    def _require(self, truth, text: str, message) -> None:
        value = None if truth is True or message is None else self.looked_at(lambda: self.eval(message))
        self.require(truth, f"{text}: {value}" if isinstance(value, str) else text)

    def looked_at(self, function: Callable):
        """What a message says, where that is known when the program is compiled; else None. What else is done for it is done where the program
        fails, after which nothing is seen of it."""
        env = dict(self.frame.env)
        try:
            with self.b.inside(Block()):
                return function()
        except (Problem, NeedsUnrolling):
            return None
        finally:
            self.frame.env = env

    def require(self, truth, text: str) -> None:
        """That a truth holds: now, or when the program runs."""
        if truth is True:
            return
        if truth is False:
            raise Problem(text)
        self.b.step("require", [truth.value], [], message=text)

    def exec_Raise(self, node):
        name = self._raised(node)
        if self.b.block is self.b.top:
            raise Problem(f"the program raises {name}")
        self.b.step("require", [self.b.scalar(False)], [], message=f"the program raises {name}")
        # What follows is not reached; its names are those of the other path.
        self.frame.env["$return"] = True
        self.frame.env.setdefault("$value", UNSET)

    def _raised(self, node) -> str:
        """What a `raise` says, where that is known when the program is compiled; else its text."""
        if node.exc is None:
            return "an exception"
        text = ast.unparse(node.exc)
        if not isinstance(node.exc, ast.Call) or len(node.exc.args) != 1 or node.exc.keywords:
            return text
        said = self.looked_at(lambda: self.eval(node.exc.args[0]))
        return f"{ast.unparse(node.exc.func)}: {said}" if isinstance(said, str) else text

    def exec_Import(self, node):
        import importlib

        for alias in node.names:
            module = self._import(importlib, alias.name)
            self.frame.env[alias.asname or alias.name.split(".")[0]] = module if alias.asname else self._import(importlib, alias.name.split(".")[0])

    def _import(self, importlib, name: str):
        from . import objects

        try:
            return importlib.import_module(name)
        except ImportError as error:
            if objects.is_operator_module(name) or name.split(".")[0] == "torchvision":
                return objects.Namespace(name)
            raise Problem(f"import {name}: {error}") from None

    def exec_ImportFrom(self, node):
        import importlib

        module = self._import(importlib, node.module or "")
        for alias in node.names:
            self.frame.env[alias.asname or alias.name] = self.attribute(module, alias.name)

    def exec_With(self, node):
        for item in node.items:
            text = ast.unparse(item.context_expr)
            if not text.rstrip("()").endswith(_FORWARD) and not text.endswith(("set_grad_enabled(False)", "enabled=False)")):
                raise Problem(f"with {text}: only torch.no_grad() and torch.inference_mode() can be compiled")
        self.exec_block(node.body)

    def exec_FunctionDef(self, node):
        if any(not ast.unparse(d).rstrip("()").endswith(_FORWARD) for d in node.decorator_list):
            raise Problem("a decorated function inside of a compiled function cannot be compiled")
        self.frame.env[node.name] = self.local_function(node, node.name)

    def exec_Return(self, node):
        value = None if node.value is None else self.eval(node.value)
        if len(self.frames) == 1:
            self.check_result(value)
        self.frame.env.update({"$return": True, "$value": value})

    def exec_Break(self, node):
        self.frame.env["$break"] = True

    def exec_Continue(self, node):
        self.frame.env["$continue"] = True

    # -- conditions ---------------------------------------------------------------------------------------------

    def exec_If(self, node):
        truth = self.eval_truth(node.test)
        if isinstance(truth, bool):
            self.exec_block(node.body if truth else node.orelse)
            return
        self.branch(truth, lambda: self.exec_block(node.body), lambda: self.exec_block(node.orelse), node)

    def choose(self, truth, on_true: Callable, on_false: Callable, what: str):
        """The value of one of two expressions."""
        def store(function):
            def run():
                self.frame.env["$chosen"] = function()

            return run

        self.branch(truth, store(on_true), store(on_false), None)
        value = self.frame.env.pop("$chosen")
        if isinstance(value, Unset):
            raise Problem(f"the two sides of '{what}' do not agree{in_words(value.reason)}")
        return value

    def branch(self, truth: Num, on_true: Callable, on_false: Callable, node, may_lack: bool = False) -> None:
        """Runs both sides into blocks of their own; names that differ become results."""
        b, before = self.b, self.frame.env
        blocks, found = [Block(), Block()], []
        for block, side in zip(blocks, (on_true, on_false)):
            self.frame.env = dict(before)
            with b.inside(block):
                side()
            found.append(self.frame.env)
        merger = Merger(b, b.is_known_outside)
        specs: Dict[str, Spec] = {}
        after, differ = dict(before), set()
        for name in sorted(found[0].keys() | found[1].keys()):
            left, right = (self.rebound.value(env, name) for env in found)
            if left is not right:
                differ.add(name)
            spec = self._join(merger, name, left, right, node, may_lack or self._is_read_after_break(name, found))
            if isinstance(spec, Static):
                after[name] = spec.value
            else:
                specs[name] = spec
        self.frame.env = after
        # (What has no value afterwards is no name of anything.)
        stays = lambda name: name in specs or not isinstance(after.get(name, UNSET), Unset)  # noqa: E731
        shared = self.shared(found, set(filter(stays, differ)), stays)
        types = [t for spec in specs.values() for t in spec.flat()]
        for block, env in zip(blocks, found):
            with b.inside(block):
                block.yields = [v for name, spec in specs.items() for v in merger.flatten(spec, self.rebound.value(env, name))]
        op = b.append(Op("if", [truth.value], types, blocks=blocks))
        results = iter(op.results)
        for name, spec in specs.items():
            is_shared = any(id(c) in shared for env in found for c in containers(env.get(name)))
            after[name] = merger.rebuild(spec, results, SHARED if is_shared else b.block)
        self.freeze(after, shared)

    def only_broken(self) -> Set[str]:
        """Names that have a value where the innermost loop, which has no other end, is left by `break`, and nowhere else."""
        return self.endless.get((id(self.frame), self.frame.loops)) or set()

    def _is_read_after_break(self, name: str, found) -> bool:
        """Whether of two sides one sets a name and leaves an endless loop: anyone who comes to the other side cannot read it there."""
        here = self.endless.get((id(self.frame), self.frame.loops))
        if here is None or name[0] == "$":
            return False
        ends = [env.get("$break", False) is True for env in found]
        has = [not isinstance(env.get(name, UNSET), Unset) for env in found]
        if ends == has and sum(has) == 1:
            here.add(name)
            return True
        return False

    def _join(self, merger: Merger, name: str, left, right, node, may_lack: bool) -> Spec:
        lacks = isinstance(left, Unset) != isinstance(right, Unset)
        # In a loop, what is read inside only may be read by the next iteration.
        if name[0] != "$" and node is not None and not self.frame.loops and not self.is_used_outside(name, node):
            return Static(left) if same_value(left, right) and not isinstance(left, (Tensor, Num)) else self._unless_outside(merger, left, right)
        if lacks and not may_lack and name not in ("$value", "$chosen"):
            return Static(Unset(": it is set on one of them only, so set it before they part"))
        try:
            # (What is returned keeps its kind.)
            return (merger.join if name == "$value" else merger.join_branches)(left, right, name)
        except Problem as problem:
            if name in _FLAGS:
                raise
            return Static(Unset(f": {problem.message}"))

    def _unless_outside(self, merger: Merger, left, right) -> Spec:
        if same_value(left, right) and (not isinstance(left, (Tensor, Num)) or merger.outside(left.value)):
            return Static(left)
        return Static(Unset())

    # -- loops ------------------------------------------------------------------------------------------------------

    def exec_For(self, node):
        items = self.eval(node.iter)
        if has_poison(items):
            for name in assigned_names([node.target]):
                self.frame.env[name] = POISON
            self.exec_block(node.body)
            return
        part = self.iteration(items)
        outer = self._enter_loop()
        known = len(self.problems)
        try:
            self._all_of(node, part, outer, isinstance(part.length, int) or self.b.is_least(1, part.length))
        except NeedsFirst:
            del self.problems[known:]
            self._first_apart(node, part, outer)
        except NeedsCopies:
            self._tried(node, lambda: self._unrolled(node, part), known)
        self._say_how_many(part, known)
        self._leave_loop(node, outer)

    def _say_how_many(self, part, known: int) -> None:
        """Of what is wrong in a loop of which no copies were tried, that there are too many."""
        if isinstance(part.length, int) and part.length * self.copies > _MOST_TRIED and len(self.problems) > known:
            problem = self.problems[known]
            problem.message += f"; this loop of {part.length} iterations is compiled as one: up to {_MOST_TRIED} are compiled one by one"

    def _tried(self, node, copies: Callable, known: int) -> None:
        """Copies of a body that is wrong in a loop; what was wrong stays where they are wrong as well."""
        found, saved, depth, outer = self.problems[known:], dict(self.frame.env), self.frame.loops, self.trying
        del self.problems[known:]
        self.trying = known
        try:
            copies()
        except (Problem, NeedsUnrolling, NeedsCopies, NeedsFirst):
            self.problems[known:] = found
        finally:
            self.trying = outer
        if len(self.problems) > known:
            self.problems[known:] = found
            self.frame.loops = depth
            self.frame.env = {**saved, **{name: POISON for name in assigned_names([node])}}

    def _give_up_trying(self) -> None:
        """One wrong copy is enough."""
        if self.trying is not None and len(self.problems) > self.trying:
            raise self.problems[-1]

    def _all_of(self, node, part, outer, may_part: bool) -> None:
        """A loop that stays one, or copies of its body. `may_part`: it may ask that its first iteration be compiled apart."""
        length = part.length
        if not part.loops or isinstance(length, int) and length <= 1:
            self._unrolled(node, part)
            return
        counters: Set = set()
        try:
            self._counted(node, part, counters, may_part)
        except NeedsUnrolling as need:
            if need.counter is not None and need.counter not in counters:
                self._leave_for(need, outer)
            if need.grows is not None and self.may_become_rows(node):
                if need.grows.block is not self.b.block:
                    self._leave_for(need, outer)
                self.grow(need.grows, need.fills, length, node, lambda: self._all_of(node, part, outer, may_part))
                return
            is_long = not isinstance(length, int) or length * self.copies > MOST_COPIES
            if need.counter is not None and is_long and self.b.goes_by_parts and id(node) not in self.of_open_sizes:
                self._with_open_sizes(node, lambda: self._all_of(node, part, outer, may_part))
                return
            if not isinstance(length, int):
                raise need.problem from None
            self._unrolled(node, part, need.problem)

    def _with_open_sizes(self, node, again: Callable) -> None:
        """Compiles a loop again, in which sizes that change with its counter are data like others."""
        self.of_open_sizes.add(id(node))
        try:
            again()
        finally:
            self.of_open_sizes.discard(id(node))

    def _first_apart(self, node, part, outer) -> None:
        """The first iteration, then a loop of the others."""
        self.assign(node.target, part.at(0))
        self.exec_block(node.body)
        self.frame.env["$continue"] = False
        if self.stopped(("$break", "$return")) is True:
            return
        later = lambda i: part.at(i + 1 if isinstance(i, int) else self.b.add(i, 1))  # noqa: E731
        rest, known = type(part)(self.b.sub(part.length, 1), later, part.loops), len(self.problems)
        try:
            self._all_of(node, rest, outer, False)
        except NeedsCopies:
            self._tried(node, lambda: self._unrolled(node, rest), known)

    def _enter_loop(self, is_endless: bool = False):
        env = self.frame.env
        outer = {name: env.get(name, False) for name in ("$break", "$continue")}
        self.frame.loops += 1
        self.endless[id(self.frame), self.frame.loops] = set() if is_endless else None
        env.update({"$break": False, "$continue": False})
        return outer

    def _leave_for(self, need: NeedsUnrolling, outer) -> None:
        """A loop further out is to be unrolled: this one is compiled again in each of its iterations."""
        self.frame.env.update(outer)
        self.frame.loops -= 1
        raise need

    def _leave_loop(self, node, outer) -> None:
        broken = self.frame.env["$break"]
        self.frame.env.update(outer)
        self.frame.loops -= 1
        returned = self.stopped(("$return",))
        if not node.orelse or broken is True or returned is True:
            return
        if returned is False:
            self._finish_loop(node, broken)
        else:
            self.guarded(returned, lambda: self._finish_loop(node, broken))

    def _finish_loop(self, node, broken) -> None:
        """`else` of a loop, which only one that ends by itself comes to."""
        if broken is False:
            self.exec_block(node.orelse)
        else:
            self.branch(self.b.invert(broken), lambda: self.exec_block(node.orelse), lambda: None, node)

    def _unrolled(self, node, part, problem: Optional[Problem] = None) -> None:
        """One copy of the body for each item."""
        if not isinstance(part.length, int):
            raise problem or Problem("the number of items is data: it must be known here")
        if part.length > _MAX_UNROLLED:
            raise problem or Problem(f"a loop over {part.length} items would be unrolled: {_MAX_UNROLLED} are the most")
        outer, self.copies = self.copies, self.copies * max(part.length, 1)
        try:
            self._iterations(node, part)
        finally:
            self.copies = outer
        self.frame.env["$continue"] = False

    def _iterations(self, node, part) -> None:
        for i in range(part.length):
            self._give_up_trying()
            self.frame.env["$continue"] = False
            stop = self.stopped(("$break", "$return"))

            def once(i=i):
                self.assign(node.target, part.at(i))
                self.exec_block(node.body)

            if stop is True:
                break
            if stop is False:
                once()
            else:
                self.guarded(stop, once)

    def exec_While(self, node):
        outer = self._enter_loop(isinstance(node.test, ast.Constant) and bool(node.test.value))
        self._all_of_while(node, set(), outer)
        self._leave_loop(node, outer)

    def _all_of_while(self, node, counters: Set, outer) -> None:
        saved = dict(self.frame.env)
        try:
            self._one_while(node, counters)
        except NeedsUnrolling as need:
            self.frame.env = dict(saved)
            if need.grows is not None and self.may_become_rows(node):
                if need.grows.block is not self.b.block:
                    self._leave_for(need, outer)
                if not self._short_while(node):
                    self.frame.env = dict(saved)
                    self.grow(need.grows, need.fills, None, node, lambda: self._all_of_while(node, counters, outer))
            elif need.counter is None:
                self._unrolled_while(node, need.problem, _MAX_UNROLLED)
            elif need.counter not in counters:
                self._leave_for(need, outer)
            elif not self._short_while(node):
                self.frame.env = dict(saved)
                self._one_while(node, None)

    def _one_while(self, node, counters: Optional[Set]) -> None:
        """A loop that stays one, or copies of its body where that alone is right."""
        saved, known = dict(self.frame.env), len(self.problems)
        try:
            self._structured_while(node, True, counters)
        except NeedsFirst:
            del self.problems[known:]
            self.frame.env = dict(saved)
            self._while_first_apart(node, counters)
        except NeedsCopies:
            self.frame.env = dict(saved)
            self._tried(node, lambda: self._unrolled_while(node, Problem("the loop's end is data"), _MOST_TRIED), known)

    def _short_while(self, node) -> bool:
        """Copies of the body where these are few; whether they are. Else all is as before."""
        b, block, problems, depth = self.b, self.b.block, list(self.problems), self.frame.loops
        held = [(made, type(made)(made)) for env in (self.frame.env, *self.outer_names()) for value in env.values() for made in containers(value)]
        there, known = set(map(id, block.ops)), [dict(table) for table in b.known]
        try:
            self._unrolled_while(node, Problem("the loop's end is data"), MOST_COPIES // self.copies)
            return True
        except (Problem, NeedsUnrolling):
            self.problems[:] = problems
            self.frame.loops = depth
            b.known[:] = known
            there.update(map(id, b.site_ops))
            block.ops[:] = [op for op in block.ops if id(op) in there]
            for made, items in held:
                made.clear()
                (made.extend if isinstance(made, list) else made.update)(items)
            return False

    def _while_first_apart(self, node, counters: Optional[Set]) -> None:
        """The first iteration, where there is one for certain, then a loop of the others."""
        if self.stopped(("$break", "$return")) is False and self._known_condition(node) is True:
            self._condition(node)
            self.exec_block(node.body)
            self.frame.env["$continue"] = False
        if self.stopped(("$break", "$return")) is not True:
            self._structured_while(node, False, counters)

    def _condition(self, node):
        """The truth of a `while`'s condition; sizes in it are what the loop ranges over."""
        outer, self.in_condition = self.in_condition, True
        try:
            return self.eval_truth(node.test)
        finally:
            self.in_condition = outer

    def _known_condition(self, node):
        """The truth of a condition that is only looked at: what it does is done where it is evaluated."""
        env = dict(self.frame.env)
        try:
            with self.b.inside(Block()):
                return self._condition(node)
        finally:
            self.frame.env = env

    def _unrolled_while(self, node, problem: Problem, most: int) -> None:
        for _ in range(most + 1):
            self._give_up_trying()
            self.frame.env["$continue"] = False
            stop = self.stopped(("$break", "$return"))
            if stop is True:
                return
            truth = self._condition(node)
            if truth is False:
                return
            if truth is not True or stop is not False:
                raise problem
            self.exec_block(node.body)
        raise problem

    # -- loops that stay loops ----------------------------------------------------------------------------------------

    def _counted(self, node, part, counters: Set, may_part: bool) -> None:
        """`scf.for` over the positions of the items. `counters` gets those of its attempts."""
        length = part.length
        loop = _Loop(self, node, isinstance(length, int), may_part=may_part)
        loop.may_copy = isinstance(length, int) and length * self.copies <= _MOST_TRIED
        anew = self.counted_sites()

        def body(env, block):
            anew()
            counter = Num("int", block.args[0])
            if isinstance(length, int):
                self.b.ranges[counter.value] = (0, length - 1)
                self.b.counters[counter.value] = self.copies * length <= MOST_COPIES
                counters.add(counter.value)
            elif varying.varies(self.b, length):
                self.b.ranges[counter.value] = (0, max(0, varying.most(self.b, length) - 1))
                counters.add(counter.value)
            if counter.value in counters and self.b.goes_by_parts and id(node) not in self.of_open_sizes:
                self.b.varying.add(counter.value)
            self.b.limits[counter.value] = length
            self.b.naturals.add(counter.value)
            for name, (init, step) in loop.derived.items():
                env[name] = self.b.add(init, self.b.mul(counter, step))
            loop.note_carried(env)
            loop.entry = dict(env)

            def once():
                self.assign(node.target, part.at(counter))
                self.exec_block(node.body)

            with self.around(length):
                self._maybe_guarded(once)

        block = loop.settle(body)
        inits = loop.inits()
        operands = [self.b.scalar(n) for n in (0, length, 1)]
        op = self.b.append(Op("for", [*operands, *inits], loop.types(), blocks=[block]))
        loop.leave(op.results, once=isinstance(length, int) and length >= 1)
        for name, (init, step) in loop.derived.items():
            self.frame.env[name] = self.b.add(init, self.b.mul(length, step))

    def _maybe_guarded(self, once: Callable) -> None:
        """The body, under a condition where an iteration before may have ended the loop."""
        self.frame.env["$continue"] = False
        stop = self.stopped(("$break", "$return"))
        if stop is False:
            once()
        elif stop is not True:
            self.guarded(stop, once)
        self.frame.env["$continue"] = False

    def _structured_while(self, node, may_part: bool, counters: Optional[Set]) -> None:
        """`scf.while`. `counters` gets the numbers in it that are known before: those by which it may have to be unrolled."""
        loop = _Loop(self, node, False, counter=False, may_part=may_part)
        loop.may_copy = may_part
        first: List = []
        truths: List = []
        before, anew = Block(), self.counted_sites()
        rounds, steps = Rounds(), []

        def body(env, block):
            nonlocal before
            anew()
            before = Block()
            for value in block.args:
                before.add_argument(value.type)
            values = iter(before.args)
            outer_env = self.frame.env
            self.frame.env = dict(outer_env)
            for name, spec in loop.specs.items():
                self.frame.env[name] = loop.rebuilt(name, values, before)
            loop.note_ranges(self.frame.env, is_body=False)
            with self.b.inside(before):
                truth = self._loops_on(node, truths)
                if not first:
                    first.append(truth)
                tested, self.frame.env = self.frame.env, outer_env
                if any(is_attribute(name) and tested[name] is not outer_env.get(name) and name not in loop.specs for name in tested):
                    raise Problem("an attribute is assigned in the condition of a loop: assign it in the body")
                if first[0] is False or loop.widen_by_the_condition(tested):
                    return
                before.condition = self.b.scalar(truth)
                before.yields = loop.flatten(tested)
            env.update({name: tested[name] for name in loop.tested if name in tested and name not in loop.specs})
            loop.note_carried(env)
            loop.note_ranges(env, is_body=True)
            loop.entry = dict(env)
            if counters is not None:
                self._note_counters(loop, env, counters)
            self.frame.env["$continue"] = False
            for name in ("$break", "$return"):
                self.frame.env[name] = False
            with self.around(rounds):
                here = self._ends(node.test)
                self.exec_block(node.body)
            self.frame.env["$continue"] = False
            steps[:] = [_apart(now, then) for now, then in zip(here, self._ends(node.test))]

        block = loop.settle(body, lambda: bool(first) and first[0] is False)
        if first[0] is False:
            # What the condition does is done, once.
            if self.stopped(("$break", "$return")) is False:
                self._condition(node)
            return
        rounds.most = self._most_rounds(node.test, steps)
        inits = loop.inits()
        op = self.b.append(Op("while", inits, loop.types(), blocks=[before, block]))
        loop.leave(op.results, once=first[0] is True)
        if truths[-1] is True and self.frame.env["$break"] is False:
            # Nothing else ends it.
            self.frame.env["$return"] = True

    def _ends(self, test: ast.expr) -> List:
        """Of each comparison that a `while` needs to go on, how far its smaller side is from the greater one; None where that is no integer."""
        found: List = []
        for part in test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]:
            kind = type(part.ops[0]) if isinstance(part, ast.Compare) and len(part.ops) == 1 else None
            if kind not in (ast.Lt, ast.LtE, ast.Gt, ast.GtE):
                continue
            sides = self.looked_at(lambda part=part: (self.eval(part.left), self.eval(part.comparators[0])))
            if sides is None or not all(isinstance(x, (int, Num)) and kind_of(x) == "int" for x in sides):
                found.append(None)
                continue
            low, high = sides if kind in (ast.Lt, ast.LtE) else sides[::-1]
            found.append(linear(high).plus(linear(low), -1).plus(Linear({}, kind in (ast.LtE, ast.GtE))))
        return found

    def _most_rounds(self, test: ast.expr, steps: List):
        """How often a loop runs at most, before which names are as they are now. Each round changes each distance by so much."""
        for distance, step in zip(self._ends(test), steps):
            if distance is not None and step is not None and step > 0 and all(map(self.b.is_known_outside, distance.terms)):
                most: Any = distance.constant
                for value, factor in distance.terms.items():
                    most = self.b.add(most, self.b.mul(Num("int", value), factor))
                return self.b.maximum(0, self.b.ceildiv(most, step))
        return None

    def _loops_on(self, node, truths: List):
        """Whether a `while` goes on; `truths` gets what its condition says."""
        def test():
            truths.append(self._condition(node))
            return truths[-1]

        stop = self.stopped(("$break", "$return"))
        return test() if stop is False else False if stop is True else self.choose(stop, lambda: False, test, "while")

    def _note_counters(self, loop: "_Loop", env, counters: Set) -> None:
        for name, spec in loop.specs.items():
            if isinstance(spec, Number) and spec.kind == "int" and name[0] != "$" and isinstance(loop.before.get(name), int):
                counters.add(env[name].value)
                self.b.counters[env[name].value] = True


class _Loop:
    """Finds what a loop carries: the body is compiled until what comes out of an iteration fits what goes in."""

    def __init__(self, owner, node, may_unroll: bool, counter: bool = True, may_part: bool = False):
        self.owner, self.node, self.may_unroll, self.counter, self.may_part = owner, node, may_unroll, counter, may_part
        self.may_copy = False
        self.before = dict(owner.frame.env)
        self.outside = list(owner.b.stack)
        self.merger = Merger(owner.b, self._is_outside)
        self.specs: Dict[str, Spec] = {}
        self.lost: Dict[str, Unset] = {}
        #: By which constants the body of a `while` changes numbers, and how many indices nothing was known of before the body was looked at.
        self.growths: Dict[str, int] = {}
        self.unproven = 0
        #: Numbers that the body of a `while` changes otherwise than by a constant.
        self.irregular: Set[str] = set()
        #: Names whose lists or dictionaries the body changes.
        self.changed_items: Set[str] = set()
        #: Names whose kind before the loop is not the one inside of it.
        self.changed: Set[str] = set()
        self.derived: Dict[str, tuple] = {}
        self.plain: Set[str] = set()
        self.constants: Dict = {}
        self.entry: Dict = {}
        #: Names whose lists before the loop, or after an iteration, have other names.
        self.shared: Set[str] = set()
        #: Names that have other objects after an iteration.
        self.differ: Set[str] = set()
        self.names = assigned_names([node]) | owner.frame.source.assigned_by_functions | {"$break", "$return", "$value"}
        #: Names that the condition of a `while` binds: they have values in the body, and after the loop.
        self.tested = owner.frame.bound_by(node.test) if isinstance(node, ast.While) else set()
        self._is_wider = False

    def _is_outside(self, value: Value) -> bool:
        home = value.op.block if value.op is not None else value.block
        return any(home is b for b in self.outside)

    def types(self) -> List[Type]:
        return [t for spec in self.specs.values() for t in spec.flat()]

    def flatten(self, env) -> List[Value]:
        return [v for name, spec in self.specs.items() for v in self.merger.flatten(spec, env.get(name, UNSET))]

    def inits(self) -> List[Value]:
        return self.flatten(self.before)

    def settle(self, body: Callable, stops: Callable = lambda: False) -> Block:
        owner = self.owner
        known = len(owner.problems)
        for _ in range(_MAX_ATTEMPTS):
            del owner.problems[known:]
            block, self.unproven = Block(), owner.b.unproven
            if self.counter:
                block.add_argument(INDEX, "i")
            values = iter([block.add_argument(t) for t in self.types()])
            env = dict(self.before)
            env.update(self.lost)
            try:
                with owner.b.inside(block):
                    for name, spec in self.specs.items():
                        env[name] = self.rebuilt(name, values, block)
                    owner.frame.env = env
                    self.entry = dict(env)
                    body(env, block)
                    found = owner.frame.env
                    if stops():
                        owner.frame.env = dict(self.before)
                        return block
                    if self._fits(found) and not self._shares(found):
                        if self.may_part and self._would_part(known):
                            raise NeedsFirst
                        if self.may_copy and len(owner.problems) > known:
                            raise NeedsCopies
                        block.yields = self.flatten(found)
                        owner.frame.env = dict(self.before)
                        return block
            except BaseException as error:
                owner.frame.env = dict(self.before)
                if isinstance(error, Problem) and self.may_part and self.changed:
                    raise NeedsFirst from None
                raise
            owner.frame.env = dict(self.before)
        raise Problem("what this loop carries does not settle: sizes or kinds change in every iteration")

    def rebuilt(self, name: str, values, block: Block):
        return self.merger.rebuild(self.specs[name], values, SHARED if name in self.shared else block)

    def _shares(self, found) -> bool:
        """Whether more names than before have lists that are shared."""
        # (Another list with the same items is not carried.)
        carried = {*self.specs, *(name for name in found if name in self.before and found[name] is not self.before[name])}
        self.differ |= carried
        objects = {**self.owner.shared([self.before], carried, lambda name: True), **self.owner.shared([found], carried, self.before.__contains__)}
        more = {name for name in carried if any(id(c) in objects for env in (self.before, found) for c in containers(env.get(name)))}
        grows = not more <= self.shared
        self.shared |= more
        return grows

    def _would_part(self, known: int) -> bool:
        """Whether a user misses a name that has lost its value for its change of kind."""
        if not self.changed:
            return False
        return len(self.owner.problems) > known or any(self.owner.is_used_after(name, self.node) for name in self.changed)

    def widen_by_the_condition(self, found) -> bool:
        """Has the loop carry what the condition binds; whether that is more than before."""
        for name in sorted(self.tested - self.lost.keys()):
            new, old, spec = found.get(name, UNSET), self.before.get(name, UNSET), self.specs.get(name)
            if isinstance(new, Unset):
                self.lost[name] = new
                self.specs.pop(name, None)
            elif spec is not None:
                self.specs[name] = self.merger.widen(spec, new, name, self.entry[name])
            else:
                wider = self._of_the_condition(name, old, new)
                if isinstance(wider, Static):
                    self.constants[name] = new
                    continue
                self.specs[name] = wider
            self._is_wider |= self.specs.get(name) != spec
        return self._is_wider

    def _of_the_condition(self, name: str, old, new) -> Spec:
        """What has to be carried of a name that the condition binds; of another kind than before, where nothing reads what was before."""
        try:
            return self.merger.spec_of(new) if isinstance(old, Unset) else self.merger.join(old, new, name)
        except Problem:
            here = any(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load) for n in ast.walk(self.node.test))
            if here or name in self.owner.frame.source.read_by_functions | self.owner.frame.source.assigned_by_functions:
                raise
            self.before[name] = UNSET
            return self.merger.spec_of(new)

    def _fits(self, found) -> bool:
        """Whether all that comes out of an iteration fits; else widens what the loop carries."""
        if self._is_wider:
            self._is_wider = False
            return False
        fits = True
        self._note_attributes(found)
        self._note_items(found)
        for name in sorted(self.names & (found.keys() | self.before.keys())):
            if name in self.lost:
                continue
            new = found.get(name, UNSET)
            if name in self.derived:
                if not self._steps(name, new):
                    del self.derived[name]
                    self.plain.add(name)
                    self.specs[name] = Number("int")
                    fits = False
                continue
            fits &= self._fit(name, new)
        return fits

    def note_ranges(self, env, is_body: bool) -> None:
        """Notes between which numbers the counters of a `while` are, in its body or where its condition is looked at. They go from the first number
        on by constant steps, until the condition ends it."""
        ends, b = self.bounds_of_condition(), self.owner.b
        for name, step in self.growths.items():
            init = self.before.get(name)
            first, last = b._ends(init)[step < 0] if isinstance(init, (int, Num)) else None, ends[step > 0].get(name)
            # (What the condition binds is another number after it.)
            if first is None or last is None or not isinstance(env.get(name), Num) or name in self.tested:
                continue
            last = last if is_body else max(first, last + step) if step > 0 else min(first, last + step)
            b.ranges[env[name].value] = (min(first, last), max(first, last))

    def bounds_of_condition(self) -> List[Dict[str, int]]:
        """The least and the greatest number that a name can have where the condition holds, as far as it compares names with numbers."""
        found: List[Dict[str, int]] = [{}, {}]
        test = self.node.test
        for part in test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]:
            if not isinstance(part, ast.Compare) or len(part.ops) > 1 or type(part.ops[0]) not in _ORDERS:
                continue
            is_below, is_strict = _ORDERS[type(part.ops[0])]
            for name, other, is_upper in ((part.left, part.comparators[0], is_below), (part.comparators[0], part.left, not is_below)):
                number = self.owner.looked_at(lambda other=other: self.owner.eval(other)) if isinstance(name, ast.Name) and name.id in self.growths else None
                if not isinstance(number, (int, Num)) or kind_of(number) != "int":
                    continue
                end = self.owner.b._ends(number)[is_upper]
                if end is not None:
                    found[is_upper].setdefault(name.id, end - is_strict if is_upper else end + is_strict)
        return found

    def note_carried(self, env) -> None:
        """Marks the numbers that the loop carries and that are no functions of its counter."""
        for name, spec in self.specs.items():
            if isinstance(spec, Number) and spec.kind == "int" and (self.counter or name in self.irregular):
                env[name].value.carried = True

    def _note_attributes(self, found) -> None:
        """Attributes that the body binds are carried like names; before the loop they are what the object has."""
        for name in filter(is_attribute, found):
            if name not in self.owner.rebound.found and name not in self.before:
                continue  # made in the body
            self.names.add(name)
            if isinstance(self.before.setdefault(name, self.owner.rebound.value(self.before, name)), Unset):
                raise Problem(f"attribute '{self.owner.rebound.found[name].attribute}' has no value before the loop that assigns it")

    def _note_items(self, found) -> None:
        """Names whose lists and dictionaries the body changes are carried like those that it binds."""
        for name, value in found.items():
            if name not in self.names and name in self.before and isinstance(value, (PyList, PyDict, tuple)) and value is not self.entry.get(name):
                self.names.add(name)
                self.changed_items.add(name)

    def _fit(self, name: str, new) -> bool:
        old = self.before.get(name, UNSET)
        spec = self.specs.get(name)
        if has_poison(new) or has_poison(old):
            self.constants[name] = POISON
            return True
        if isinstance(new, Unset) and not isinstance(old, Unset) and name[0] != "$":
            # Some path through the body leaves the name without a value.
            self.lost[name] = new
            self.specs.pop(name, None)
            return False
        if spec is None and self._first_step(name, old, new):
            return False
        try:
            if spec is None:
                wider = self._first(name, old, new)
            else:
                wider = self.merger.widen(spec, new, name, self.entry[name])
                if wider == spec:
                    if not self.counter and self._grows_otherwise(name, spec, new) or self._turns_irregular(name, spec, new):
                        return False
                    counts = isinstance(spec, Number) and spec.kind == "int" and self.counter and name not in self.plain
                    return not (counts and self._note_step(name, new))
        except Problem as problem:
            if name[0] == "$":
                raise
            if name in self.changed_items and not self.may_part:
                raise NeedsUnrolling(problem) from None
            if not isinstance(old, Unset):
                self.changed.add(name)
            self.lost[name] = Unset(f": {problem.message}")
            self.specs.pop(name, None)
            return False
        if wider is None:
            return True
        if self.may_unroll and widens_sizes(spec, wider, old):
            raise NeedsUnrolling(Problem(f"the sizes of '{name}' change in a loop"))
        self.specs[name] = wider
        return False

    def _grows_otherwise(self, name: str, spec: Spec, new) -> bool:
        """Notes by which constant the body of a `while` changes a number. Whether the body has to be looked at again: what was noted is wrong, or it is new
        and there are indices of which nothing is known."""
        step = _growth(self.entry.get(name), new) if isinstance(spec, Number) and spec.kind == "int" and name[0] != "$" else None
        known = self.growths.get(name)
        if not step:
            self.growths.pop(name, None)
            return known is not None
        self.growths[name] = step
        return step != known and (known is not None or self.owner.b.unproven > self.unproven)

    def _turns_irregular(self, name: str, spec: Spec, new) -> bool:
        """Whether the body of a `while` is now seen to change a number otherwise than by a constant: it is looked at again with that known."""
        if self.counter or name in self.irregular or not isinstance(spec, Number) or spec.kind != "int" or not self.owner.b.notes_indices:
            return False
        if _growth(self.entry.get(name), new) is not None:
            return False
        self.irregular.add(name)
        return True

    def _first(self, name: str, old, new) -> Optional[Spec]:
        """What a name that is not carried yet has to carry; None where nothing."""
        if same_value(old, new) and (not isinstance(old, (Tensor, Num)) or self._is_outside(old.value)):
            return None
        if isinstance(old, Unset):
            if name[0] != "$" and not self.owner.is_used_outside(name, self.node):
                return None
            spec = self.merger.spec_of(new)
            if isinstance(spec, Static):
                self.constants[name] = new
                return None
            return spec
        # (Where the first iteration may stand apart, what it leaves is of the loop's kind.)
        spec = (self.merger.join if self.may_part or name[0] == "$" else self.merger.join_branches)(old, new, name)
        return None if isinstance(spec, Static) else spec

    def _first_step(self, name: str, old, new) -> bool:
        """Whether the first look at an iteration shows a number to grow by a constant: as the next look assumes."""
        if not self.counter or name in self.plain or not all(isinstance(x, (int, Num)) and kind_of(x) == "int" for x in (old, new)):
            return False
        apart = linear(new).plus(linear(old), -1)
        if apart.terms or not apart.constant:
            return False
        self.derived[name] = (old, apart.constant)
        return True

    def _note_step(self, name: str, new) -> bool:
        """Whether a number grows by a constant in each iteration; then it is a function of the position."""
        entry, init = self.entry.get(name), self.before.get(name)
        step = _growth(entry, new)
        if step is None or isinstance(init, bool) or not (isinstance(init, int) or isinstance(init, Num) and init.kind == "int"):
            return False
        self.derived[name] = (init, step)
        del self.specs[name]
        return True

    def _steps(self, name: str, new) -> bool:
        return _growth(self.entry[name], new) == self.derived[name][1]

    def leave(self, results, once: bool) -> None:
        """Names after the loop."""
        env = dict(self.before)
        values = iter(results)
        for name in self.specs:
            value = self.rebuilt(name, values, self.owner.b.block)
            lacked = isinstance(self.before.get(name, UNSET), Unset) and name not in self.tested
            env[name] = Unset(": the loop may have no iteration, so set it before the loop") if lacked and not once and name[0] != "$" else value
        for name, value in self.constants.items():
            if name not in self.specs:
                env[name] = value if once or value is POISON or name in self.tested else Unset(": the loop may have no iteration, so set it before the loop")
        env.update(self.lost)
        self.owner.frame.env = env
        self.owner.freeze(env, self.owner.shared([self.before], self.differ, lambda name: True))


def _apart(a: Optional[Linear], c: Optional[Linear]) -> Optional[int]:
    """`a - c` where that is a number."""
    apart = a.plus(c, -1) if a is not None and c is not None else None
    return apart.constant if apart is not None and not apart.terms else None


def _growth(entry, new) -> Optional[int]:
    """c where `new` is `entry + c`."""
    if not isinstance(entry, Num) or not isinstance(new, Num) or entry.kind != "int" or new.kind != "int":
        return None
    apart = linear(new).plus(linear(entry), -1)
    return None if apart.terms else apart.constant


def _as_load(target):
    """The expression that reads what an augmented assignment writes."""
    fields = {name: value for name, value in ast.iter_fields(target)}
    fields["ctx"] = ast.Load()
    return type(target)(**fields)
