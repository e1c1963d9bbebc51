# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lengths of lists: quasi-affine expressions over integers and names, in normal form.

A *length* is how many elements a list has: ``512``, ``L``, ``L - 2``, ``ceildiv(L, 2)``. A name stands
for a number that the arguments of a call bind. Two lengths are equal when their normal forms are; the
compiler uses the same normal form (``#ft.len`` in the ft dialect), so what is equal here is equal there.

The normal form is a sum of multiples of *monomials*, which are products of *atoms*. An atom is a
name, a floor division or a remainder that does not simplify further. A remainder by a number is
``E - d * floordiv(E, d)``, which prints as ``mod(E, d)``.
"""

from __future__ import annotations

import math
import re
from typing import Dict, Mapping, Optional, Tuple, Union

from .errors import LengthError
from .source import here

#: What a person may write where a length is expected.
LengthLike = Union[int, str, "Length"]

_LIMIT = 1 << 62


class Length:
    """A length in normal form. Supports ``+ - * // %`` with lengths, integers and names."""

    __slots__ = ("terms", "ragged", "strict")

    def __init__(self, terms: Mapping[tuple, int], ragged: Optional[str] = None, strict: bool = False):
        self.terms = tuple(sorted(((m, c) for m, c in terms.items() if c), key=_term_key))
        self.ragged = ragged
        #: In a program's hands: a comparison that is not decided for all values is an error there.
        self.strict = strict

    # -- construction ---------------------------------------------------------

    @staticmethod
    def of(value: LengthLike) -> "Length":
        """The length that an integer, a string or a length says."""
        if isinstance(value, Length):
            return Length(dict(value.terms), value.ragged) if value.strict else value
        if isinstance(value, bool):
            raise LengthError(f"a length is an integer or an expression over names, found {value!r}")
        if isinstance(value, str):
            return _parse(value)
        try:
            number = value.__index__()
        except AttributeError:
            hint = f": ft.symbols makes a tuple, also of one name: {value[0]}, = ft.symbols('{value[0]}')" if _is_symbol(value) else ""
            raise LengthError(
                f"a length is an integer or an expression such as 'L - 2', found {type(value).__name__}{hint}"
            ) from None
        if not -_LIMIT < number < _LIMIT:
            raise LengthError(f"the length {number} does not fit 63 bits")
        return Length({(): number})

    @staticmethod
    def name(text: str) -> "Length":
        return Length({((text,),): 1})

    @staticmethod
    def of_ragged(name: str) -> "Length":
        """The level ``ragged(name)``: every list there has a length of its own."""
        return Length({}, ragged=name)

    def for_user(self) -> "Length":
        """The same length for the hands of a program that is traced."""
        return Length(dict(self.terms), self.ragged, strict=True)

    def _like(self, result: "Length", other: "Length") -> "Length":
        result.strict = self.strict or other.strict
        return result

    # -- questions --------------------------------------------------------------

    @property
    def constant(self) -> Optional[int]:
        """The number, or None where a name occurs."""
        if self.ragged is not None:
            return None
        if not self.terms:
            return 0
        if len(self.terms) == 1 and self.terms[0][0] == ():
            return self.terms[0][1]
        return None

    @property
    def single_name(self) -> Optional[str]:
        """The name where the length is one name and nothing else: what an argument binds."""
        if self.ragged is None and len(self.terms) == 1:
            monomial, coefficient = self.terms[0]
            if coefficient == 1 and len(monomial) == 1 and len(monomial[0]) == 1:
                return monomial[0][0]
        return None

    def names(self) -> Tuple[str, ...]:
        """All names, in the order in which they appear."""
        found: Dict[str, None] = {}
        self._collect(found)
        return tuple(found)

    def _collect(self, found: Dict[str, None]) -> None:
        if self.ragged is not None:
            found[self.ragged] = None
        for monomial, _ in self.terms:
            for atom in monomial:
                if len(atom) == 1:
                    found[atom[0]] = None
                else:
                    atom[1]._collect(found)
                    atom[2]._collect(found)

    def substitute(self, values: Mapping[str, int]) -> "Length":
        """The length with numbers put in for some names."""
        if self.ragged is not None or not self.terms:
            return self
        result = Length({})
        for monomial, coefficient in self.terms:
            product = Length({(): coefficient})
            for atom in monomial:
                if len(atom) == 1:
                    factor = Length.of(values[atom[0]]) if atom[0] in values else Length({(atom,): 1})
                elif atom[0] == "div":
                    factor = atom[1].substitute(values) // atom[2].substitute(values)
                else:
                    factor = atom[1].substitute(values) % atom[2].substitute(values)
                product = product * factor
            result = result + product
        return result

    def evaluate(self, values: Mapping[str, object]):
        """The value where names stand for integers, or for what computes like integers (a framework's symbols)."""
        total = 0
        for monomial, coefficient in self.terms:
            product = coefficient
            for atom in monomial:
                if len(atom) == 1:
                    factor = values[atom[0]]
                elif atom[0] == "div":
                    factor = atom[1].evaluate(values) // atom[2].evaluate(values)
                else:
                    factor = atom[1].evaluate(values) % atom[2].evaluate(values)
                product = product * factor
            total = total + product
        return total

    # -- arithmetic --------------------------------------------------------------

    def _other(self, other) -> Optional["Length"]:
        if isinstance(other, (int, str)) and not isinstance(other, bool):
            other = Length.of(other)
        elif not isinstance(other, Length):
            return None
        for side in (self, other):
            if side.ragged is not None:
                raise LengthError(f"'{side}' has no single length: each list there has its own")
        return other

    def __add__(self, other):
        other = self._other(other)
        if other is None:
            return NotImplemented
        terms = dict(self.terms)
        for monomial, coefficient in other.terms:
            terms[monomial] = terms.get(monomial, 0) + coefficient
        return self._like(Length(terms), other)

    __radd__ = __add__

    def __neg__(self):
        return self * -1

    def __sub__(self, other):
        other = self._other(other)
        return NotImplemented if other is None else self + other * -1

    def __rsub__(self, other):
        other = self._other(other)
        return NotImplemented if other is None else other + self * -1

    def __mul__(self, other):
        other = self._other(other)
        if other is None:
            return NotImplemented
        terms: Dict[tuple, int] = {}
        for a, c in self.terms:
            for b, d in other.terms:
                monomial = tuple(sorted(a + b, key=_atom_key))
                terms[monomial] = terms.get(monomial, 0) + c * d
        return self._like(Length(terms), other)

    __rmul__ = __mul__

    def __floordiv__(self, other):
        other = self._other(other)
        return NotImplemented if other is None else self._like(_divide(self, other), other)

    def __rfloordiv__(self, other):
        other = self._other(other)
        return NotImplemented if other is None else self._like(_divide(other, self), other)

    def __mod__(self, other):
        other = self._other(other)
        return NotImplemented if other is None else self._like(_remainder(self, other), other)

    def ceildiv(self, divisor: LengthLike) -> "Length":
        """The quotient, rounded up."""
        divisor = self._other(divisor)
        if divisor.constant is None:
            return (self + divisor - 1) // divisor
        return (self + (divisor.constant - 1)) // divisor

    # -- comparison ----------------------------------------------------------------

    def __eq__(self, other):
        if isinstance(other, (int, str)) and not isinstance(other, bool):
            other = Length.of(other)
        if not isinstance(other, Length):
            return NotImplemented
        if self.terms == other.terms and self.ragged == other.ragged:
            return True
        if self.strict or other.strict:
            (Length.of(self) - Length.of(other))._number(f"'{self} == {other}'")
        return False

    def __ne__(self, other):
        equal = self.__eq__(other)
        return equal if equal is NotImplemented else not equal

    def __hash__(self):
        return hash((self.terms, self.ragged))

    def _number(self, what: str) -> int:
        number = self.constant
        if number is None:
            raise LengthError(
                f"{what} needs a number, but the length '{self}' is known at the call only; "
                "state what you rely on as a bound, @ft.jit(bounds=['L >= 5'])"
            )
        return number

    def __index__(self):
        return self._number("this")

    def __int__(self):
        return self._number("int()")

    def __float__(self):
        return float(self._number("float()"))

    def __bool__(self):
        return bool(self._number("a condition"))

    def __lt__(self, other):
        return self._compare(other) < 0

    def __le__(self, other):
        return self._compare(other) <= 0

    def __gt__(self, other):
        return self._compare(other) > 0

    def __ge__(self, other):
        return self._compare(other) >= 0

    def _compare(self, other) -> int:
        return (self - other)._number("a comparison")

    # -- text ------------------------------------------------------------------------

    def __str__(self):
        if self.ragged is not None:
            return f"ragged({self.ragged})"
        text = ""
        for monomial, coefficient in _with_remainders(self).terms:
            size = abs(coefficient)
            factors = [str(size)] if size != 1 or not monomial else []
            factors += [_atom_str(atom) for atom in monomial]
            term = " * ".join(factors)
            if not text:
                text = f"-{term}" if coefficient < 0 else term
            else:
                text += f" {'-' if coefficient < 0 else '+'} {term}"
        return text or "0"

    def __repr__(self):
        return f"Length({str(self)!r})"


def _atom_key(atom) -> tuple:
    return (len(atom), str(atom[0]), "" if len(atom) == 1 else f"{atom[1]}|{atom[2]}")


def _term_key(term) -> tuple:
    """Products come first and the constant last, as a person writes them."""
    return (-len(term[0]), tuple(_atom_key(atom) for atom in term[0]))


def _atom_str(atom) -> str:
    if len(atom) == 1:
        return atom[0]
    kind, numerator, divisor = atom
    if kind == "mod":
        return f"mod({numerator}, {divisor})"
    number = divisor.constant
    if number is not None and number > 1 and dict(numerator.terms).get((), 0) == number - 1:
        return f"ceildiv({numerator - (number - 1)}, {divisor})"
    return f"floordiv({numerator}, {divisor})"


def _check_divisor(divisor: Length) -> None:
    number = divisor.constant
    if number is not None and number < 1:
        raise LengthError(f"a divisor must be at least 1, found {number}")


def _divide(numerator: Length, divisor: Length) -> Length:
    """floordiv in normal form: whole multiples leave the division, common factors cancel."""
    _check_divisor(divisor)
    d = divisor.constant
    quotient: Dict[tuple, int] = {}
    rest: Dict[tuple, int] = {}
    if d is not None:
        common = d
        for monomial, coefficient in numerator.terms:
            quotient[monomial] = coefficient // d
            rest[monomial] = coefficient % d
            if monomial:
                common = math.gcd(common, coefficient % d)
        if all(not monomial or not coefficient for monomial, coefficient in rest.items()):
            return Length(quotient)
        reduced = Length({m: c // common for m, c in rest.items()})
        d //= common
        nested = _divide_twice(reduced, d)
        if nested is None:
            nested = Length({(("div", reduced, Length({(): d})),): 1}) if d > 1 else reduced
        return Length(quotient) + nested
    if len(divisor.terms) == 1 and divisor.terms[0][1] > 0:
        atoms, c = divisor.terms[0]
        for monomial, coefficient in numerator.terms:
            left = _cancel(monomial, atoms) if coefficient % c == 0 else None
            if left is None:
                rest[monomial] = coefficient
            else:
                quotient[left] = quotient.get(left, 0) + coefficient // c
        if not rest:
            return Length(quotient)
        numerator = Length(rest)
    return Length(quotient) + Length({(("div", numerator, divisor),): 1})


def _divide_twice(numerator: Length, d: int) -> Optional[Length]:
    """floordiv(floordiv(A, b) + k, d) = floordiv(A + k * b, b * d)."""
    offset = dict(numerator.terms).get((), 0)
    inner = [(m, c) for m, c in numerator.terms if m]
    if len(inner) != 1 or inner[0][1] != 1 or len(inner[0][0]) != 1:
        return None
    atom = inner[0][0][0]
    if len(atom) == 1 or atom[0] != "div" or atom[2].constant is None:
        return None
    b = atom[2].constant
    return _divide(atom[1] + offset * b, Length({(): b * d}))


def _cancel(monomial: tuple, divisor: tuple) -> Optional[tuple]:
    rest = list(monomial)
    for atom in divisor:
        if atom not in rest:
            return None
        rest.remove(atom)
    return tuple(rest)


def _remainder(numerator: Length, divisor: Length) -> Length:
    _check_divisor(divisor)
    d = divisor.constant
    if d is None:
        return Length({(("mod", numerator, divisor),): 1})
    rest = Length({m: c % d for m, c in numerator.terms})
    return rest - d * _divide(rest, divisor)


def _with_remainders(length: Length) -> Length:
    """For printing: a remainder in the place of each c * E - c * d * floordiv(E, d)."""
    for monomial, coefficient in length.terms:
        for at, atom in enumerate(monomial):
            d = atom[2].constant if len(atom) == 3 and atom[0] == "div" else None
            if d is None or coefficient >= 0 or coefficient % d:
                continue
            factor = Length({monomial[:at] + monomial[at + 1 :]: -coefficient // d})
            terms = dict(length.terms)
            if all(0 < c <= terms.get(m, 0) or terms.get(m, 0) <= c < 0 for m, c in (atom[1] * factor).terms):
                remainder = Length({(("mod", atom[1], atom[2]),): 1}) * factor
                return _with_remainders(length - Length({monomial: coefficient}) - atom[1] * factor + remainder)
    return length


_TOKEN = re.compile(r"\s*(?:(\d+)|([A-Za-z_][A-Za-z0-9_$.]*)|(//|[-+*%(),]))")


class _Parser:
    """``sum := term (('+' | '-') term)*``, as the compiler reads lengths, and ``//`` and ``%``."""

    def __init__(self, text: str):
        self.text, self.tokens, at = text, [], 0
        stripped = text.rstrip()
        while at < len(stripped):
            match = _TOKEN.match(stripped, at)
            if not match:
                raise LengthError(f"cannot read the length {text!r} at {stripped[at:].strip()!r}")
            self.tokens.append(match.groups())
            at = match.end()
        self.at = 0

    def peek(self) -> Optional[str]:
        return self.tokens[self.at][2] if self.at < len(self.tokens) else None

    def expect(self, sign: str) -> None:
        if self.peek() != sign:
            raise LengthError(f"cannot read the length {self.text!r}: expected '{sign}'")
        self.at += 1

    def sum(self) -> Length:
        value = self.term()
        while self.peek() in ("+", "-"):
            sign = self.peek()
            self.at += 1
            value = value + self.term() if sign == "+" else value - self.term()
        return value

    def term(self) -> Length:
        value = self.factor()
        while self.peek() in ("*", "//", "%"):
            sign = self.peek()
            self.at += 1
            other = self.factor()
            value = value * other if sign == "*" else value // other if sign == "//" else value % other
        return value

    def factor(self) -> Length:
        if self.at >= len(self.tokens):
            raise LengthError(f"cannot read the length {self.text!r}: expected an integer, a name or '('")
        number, word, sign = self.tokens[self.at]
        self.at += 1
        if number is not None:
            return Length.of(int(number))
        if word is not None:
            return self.word(word)
        if sign == "-":
            return -self.factor()
        if sign == "(":
            value = self.sum()
            self.expect(")")
            return value
        raise LengthError(f"cannot read the length {self.text!r}: expected an integer, a name or '('")

    def word(self, word: str) -> Length:
        if word in ("floordiv", "ceildiv", "mod") and self.peek() == "(":
            self.at += 1
            left = self.sum()
            self.expect(",")
            right = self.sum()
            self.expect(")")
            return {"floordiv": Length.__floordiv__, "ceildiv": Length.ceildiv, "mod": Length.__mod__}[word](left, right)
        if word == "ragged" and self.peek() == "(":
            self.at += 1
            name = self.tokens[self.at][1] if self.at < len(self.tokens) else None
            if name is None:
                raise LengthError(f"cannot read the length {self.text!r}: expected a name in ragged(...)")
            self.at += 1
            self.expect(")")
            return Length.of_ragged(name)
        return Length.name(word)


def _parse(text: str) -> Length:
    parser = _Parser(text)
    value = parser.sum()
    if parser.at != len(parser.tokens):
        raise LengthError(f"cannot read the length {text!r}: something follows its end")
    return value


def parse_dims(text: str) -> Tuple[Length, ...]:
    """``"N, ceildiv(L, 2)"``: lengths with commas between them."""
    dims, depth, begin = [], 0, 0
    for at, c in enumerate(text + ","):
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            part = text[begin:at]
            if not part.strip():
                raise LengthError(f"cannot read the lengths {text!r}: one of them is empty")
            dims.append(_parse(part))
            begin = at + 1
    if begin <= len(text):
        raise LengthError(f"cannot read the lengths {text!r}: a bracket is not closed")
    return tuple(dims)


def _is_symbol(value: object) -> bool:
    """Whether it is what :func:`symbols` makes of one name."""
    return isinstance(value, tuple) and len(value) == 1 and isinstance(value[0], Length)


def symbols(names: str) -> Tuple[Length, ...]:
    """Names of lengths as values of Python: ``N, L = ft.symbols("N, L")``, and ``ft.List[N, L - 2, ft.f32]``.

    ``ft.List["N, L - 2", ft.f32]`` says the same.

    Args:
      names: one or several, with commas or spaces between them.

    Returns:
      A tuple with a :class:`Length` for each name.

    Shapes:
      None: lengths are no tensors.

    Raises:
      LengthError: a part of `names` is no name, or there is none.
    """
    try:
        found = tuple(_parse(name) for name in names.replace(",", " ").split())
    except LengthError as error:
        raise error.at(here())
    if not found or any(length.single_name is None for length in found):
        raise LengthError(f"symbols takes names with commas between them, such as 'N, L'; found {names!r}", here())
    return found


def parse_bound(text: str) -> Tuple[Length, str, Length]:
    """``"L >= 5"``: an inequality that every call guarantees."""
    for sign in (">=", "<=", "=="):
        if sign in text:
            left, right = text.split(sign, 1)
            return _parse(left), sign, _parse(right)
    raise LengthError(f"a bound is an inequality such as 'L >= 5' (with >=, <= or ==), found {text!r}")
