# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What many functions have in common in their docstrings: shapes, units, errors, sources.

Each function says what it means where it is written; :func:`complete` adds the rest from one table, so that forty
functions of one kind say the same of their shapes. ``python/tests/test_stubs.py`` checks that none is without, and that
the errors named here are raised.
"""

from __future__ import annotations

from typing import Dict, Iterable, NamedTuple


class Facts(NamedTuple):
    """What a docstring says beside the meaning; empty where there is nothing to say."""

    shapes: str
    raises: str
    units: str = ""
    source: str = ""


_AXIS = "ShapeError: there is no such axis."
_FLOATS = "DTypeError: `x` holds integers or bool."
_EXTENTS = "ShapeError: an extent is negative, or a name that no argument's element binds."
_BROADCAST = "ShapeError: the shapes do not broadcast. DTypeError: the element types differ"

_EACH = Facts("the result has the shape and element type of `x`, any.", "TraceError: `x` is no tensor or number.")
_FLOAT = Facts(_EACH.shapes, _FLOATS)
_TWO = Facts(
    "`x1` and `x2` broadcast as in NumPy, the result has the common shape; a Python number takes the other's element type.",
    f"{_BROADCAST}, or have no such operation.",
)
_COMPARISON = Facts("`x1` and `x2` broadcast as in NumPy; the result is bool, of the common shape.", f"{_BROADCAST}.")
_OVER_AXES = Facts(
    "without `axis` (also called `dim`) all axes go; with one or several those go, or stay with extent 1 by `keepdims`.", _AXIS
)
_FLOATS_OVER_AXES = Facts(_OVER_AXES.shapes, f"{_AXIS} {_FLOATS}")
_ALONG = Facts("the result has the shape of `x`.", f"{_AXIS} {_FLOATS}")
_FROM_NOTHING = Facts("extents are integers, or names of elements' extents; the result has them.", _EXTENTS)
_LIKE = Facts(_EACH.shapes, "TraceError: `x` is no tensor or number.")
_PRODUCT = "ShapeError: the inner extents differ. DTypeError: the element types differ."
_TRIANGLE = Facts("`x` has rank 2 or more; the result has its shape.", "ShapeError: the rank is less than 2.")
_LISTS = "TraceError: the function takes other arguments or what traverses is no list. LengthError: the lists' lengths differ."
_ORDERED = Facts(
    "`f` gets the states, then one element of each list, and returns the states; lists have the same outermost length.",
    f"{_LISTS} ShapeError, DTypeError: a state changes its type.",
    source="FractalTensor, Table 1",
)
_FREE = Facts(
    _ORDERED.shapes,
    f"{_ORDERED.raises} TraceError: states and elements have different types, and there is no `combine`.",
    source="FractalTensor, Table 1",
)


def _group(facts: Facts, names: str) -> Dict[str, Facts]:
    return dict.fromkeys(names.split(), facts)


#: By the names under which the functions are written; aliases are the same functions.
FACTS: Dict[str, Facts] = {
    **_group(_FLOAT, "exp exp2 expm1 log log2 log10 log1p sqrt rsqrt tanh erf floor ceil trunc round reciprocal sigmoid softplus"),
    **_group(_FLOAT._replace(source="Elfwing, Uchibe and Doya, 2018"), "silu"),
    **_group(_FLOAT._replace(source="Hendrycks and Gimpel, 2016"), "gelu"),
    **_group(_FLOAT._replace(source="Maas, Hannun and Ng, 2013"), "leaky_relu"),
    **_group(_FLOAT._replace(units="`x` is an angle in radians."), "sin cos tan"),
    **_group(_FLOAT._replace(units="the result is an angle in radians."), "arcsin arccos arctan"),
    **_group(_FLOAT._replace(units="`x` is a hyperbolic angle, a plain number."), "sinh cosh"),
    **_group(_EACH, "absolute square"),
    **_group(_EACH._replace(raises="DTypeError: `x` is bool."), "negative sign relu"),
    "invert": _EACH._replace(raises="DTypeError: `x` holds floats."),
    "isnan": Facts("the result is bool, in the shape of `x`.", _FLOATS),
    **_group(_TWO, "add subtract multiply divide maximum minimum fmax fmin copysign floor_divide remainder fmod power"),
    **_group(_TWO, "bitwise_and bitwise_or bitwise_xor"),
    **_group(_TWO._replace(units="`x2` counts bits."), "left_shift right_shift"),
    **_group(_TWO._replace(units="the result is an angle in radians, from -pi to pi."), "arctan2"),
    **_group(_COMPARISON, "equal not_equal less less_equal greater greater_equal"),
    "where": Facts("all three broadcast as in NumPy; the result has the common shape.", f"{_BROADCAST}, or `condition` is not bool."),
    **_group(Facts("all operands broadcast; the result has the shape of `x`.", f"{_BROADCAST}."), "clip clamp"),
    "to": Facts("the result has the shape of `x`.", "DTypeError: there is no such element type."),
    **_group(_OVER_AXES, "sum prod max min any all"),
    **_group(_FLOATS_OVER_AXES, "mean var std logsumexp norm"),
    **_group(Facts("the axis goes; the result is i64.", _AXIS), "argmax argmin"),
    "cumsum": Facts("the result has the shape of `x`.", _AXIS),
    **_group(_ALONG, "softmax log_softmax"),
    "layer_norm": Facts("`weight` and `bias` have the extent of the axis; the result has the shape of `x`.", f"{_ALONG.raises} TraceError: `weight` is no tensor."),
    "rms_norm": Facts("`weight` has the extent of the axis; the result has the shape of `x`.", f"{_ALONG.raises} TraceError: `weight` is no tensor."),
    "trace": Facts("the last two axes go.", "ShapeError: they are no square."),
    "matmul": Facts("(..., m, k) and (..., k, n) give (..., m, n); a vector is a row on the left, a column on the right.", _PRODUCT),
    "dot": Facts("(k) and (k) give rank 0.", _PRODUCT),
    "outer": Facts("(m) and (n) give (m, n).", "ShapeError: one is no vector. DTypeError: the element types differ."),
    "linear": Facts("(..., k) and weights (n, k), a bias (n), give (..., n).", _PRODUCT),
    "einsum": Facts("as the letters say; each letter has one extent.", "ShapeError: letters and shapes disagree. DTypeError: the element types differ."),
    "reshape": Facts("as many numbers as `x` has; one extent may be -1.", "ShapeError: the numbers of numbers differ."),
    **_group(Facts("rank + 1, the new extent is 1.", _AXIS), "expand_dims"),
    "squeeze": Facts("the rank is less by the extents that go.", "ShapeError: there is no such axis, or its extent is not 1."),
    "ravel": Facts("rank 1, as long as `x` has numbers.", "TraceError: `x` is no tensor or number."),
    "transpose": Facts("extent i of the result is extent axes[i] of `x`.", "ShapeError: `axes` is no permutation."),
    "swapaxes": Facts("the two extents change places.", "ShapeError: there is no axis of a number."),
    "expand": Facts("the shape that is asked for.", "ShapeError: `x` does not broadcast to it."),
    "take": Facts("the axis goes.", f"{_AXIS} TraceError: the index is no integer of rank 0. At the call: an index out of range."),
    "chunk": Facts("each part has its share of the axis.", "ShapeError: the extent does not divide."),
    "concatenate": Facts("all extents but that of the axis are equal; that one is the sum.", "ShapeError: other extents differ. DTypeError: the element types differ."),
    "stack": Facts("all have one shape; the result has one axis more.", "ShapeError: the shapes differ. DTypeError: the element types differ."),
    "tile": Facts("each extent is multiplied by its number.", "ShapeError: a number is less than 1, or there are more than axes."),
    "roll": Facts("the result has the shape of `x`.", _AXIS, units="`shift` counts places."),
    **_group(_FROM_NOTHING, "zeros ones full eye"),
    **_group(_FROM_NOTHING._replace(shapes="the result has the shape that is given."), "indices"),
    "arange": Facts("rank 1, ceil((stop - start) / step) numbers.", _EXTENTS),
    **_group(_LIKE, "zeros_like ones_like full_like"),
    **_group(_TRIANGLE, "tril triu"),
    "const": Facts("that of the data.", "ArgumentError: these are no numbers, or rows of different lengths."),
    "map_": Facts("lists of n elements give a list of n results, or a tuple of such lists.", _LISTS, source="FractalTensor, Table 1"),
    **_group(_ORDERED, "foldl foldr scanl scanr"),
    **_group(_FREE, "fold reduce scan"),
    "emit": Facts("outputs may have any type; each becomes a list.", "TraceError: there is no output."),
    "zip_": Facts("the lists have the same outermost length.", "TraceError: one is no list. LengthError: the lengths differ."),
    "concat": Facts("the result is as long as all together.", "ShapeError: the elements' types differ."),
    "repeat": Facts("`count` values.", "LengthError: the count is no length of the program."),
    "iota": Facts("`length` elements of rank 0.", "LengthError: this is no length of the program."),
    "dim": Facts("a length, no tensor.", "LengthError: no argument binds the name."),
    "ragged": Facts("`values` has all elements; `offsets` (i64) one number more than there are lists.", "ArgumentError: there are no offsets; at the call, offsets that fall or go too far."),
}


def complete(functions: Iterable) -> None:
    """Adds to each function's docstring what the table knows of it."""
    done = set()
    for function in functions:
        facts = FACTS.get(getattr(function, "__name__", "").rstrip("_")) or FACTS.get(getattr(function, "__name__", ""))
        if facts is None or id(function) in done:
            continue
        done.add(id(function))
        lines = [function.__doc__.rstrip(), "", f"Shapes: {facts.shapes}"]
        lines += [f"Units: {facts.units}"] if facts.units else []
        lines += [f"Raises: {facts.raises}"]
        lines += [f"Source: {facts.source}."] if facts.source and facts.source.split(",")[0] not in function.__doc__ else []
        if "\n" in function.__doc__:
            lines = [lines[0], *(f"    {line}" if line else "" for line in lines[1:])]
        function.__doc__ = "\n".join(lines)
