# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Discrete Fourier transforms: library steps on the two parts of complex numbers."""

from __future__ import annotations

from typing import List, Optional

from ..ir import dtypes
from ..ir import views as base
from ..ir.builder import Builder
from ..problems import Problem
from ..frontend.values import Complex, Tensor, is_number
from . import pointwise
from .composed import dense
from .moving import padded, roll
from .steps import call
from .table import OPERATORS, dim_of, dtype_of, operator
from .views import known, unfold

GROUP = "Library steps"


def _transformed(b: Builder, input, kind: str, sizes: Optional[List[int]], dims: List[int], norm: Optional[str], what: str):
    """`kind` is NumPy's name. `sizes` are those that the input is cut or padded to; of `irfftn` and `hfft` the last one is the result's."""
    real = input.real if isinstance(input, Complex) else input
    if not isinstance(real, Tensor):
        raise Problem(f"{what}: expects a tensor, found {type(input).__name__}")
    if norm not in (None, "backward", "ortho", "forward"):
        raise Problem(f"{what}: norm is 'backward', 'ortho' or 'forward', found {norm!r}")
    if kind in ("rfftn", "ihfft") and isinstance(input, Complex):
        raise Problem(f"{what}: expects real numbers, found complex ones")
    if real.dtype.is_float and real.dtype.bits == 16:
        raise Problem(f"{what}: expects float32 or float64, found {real.dtype}", "dtype")
    given = [x if x.dtype.is_float else pointwise.to_dtype(b, x, dtypes.float32) for x in ((input.real, input.imag) if isinstance(input, Complex) else (input,))]
    if not dims and kind in ("fftn", "ifftn"):  # one number, or nothing to transform
        return Complex(given[0], given[1] if len(given) > 1 else OPERATORS["zeros_like"].function(b, given[0]))
    half = kind in ("irfftn", "hfft")
    own = [known(real.sizes[d], what) for d in dims]
    if sizes is None:
        sizes = [*own[:-1], 2 * (own[-1] - 1)] if half else own
    if any(n < 1 for n in sizes):
        raise Problem(f"{what}: transforms have at least one element, found sizes {sizes}", "shape")
    made = list(real.sizes)
    for d, n in zip(dims, sizes):
        made[d] = n
    if kind in ("rfftn", "ihfft"):
        made[dims[-1]] = sizes[-1] // 2 + 1
    results = [(given[0].dtype, made)] * (1 if half else 2)
    found = call(b, "fourier", given, results, kind=kind, sizes=tuple(sizes), dims=tuple(dims), norm=norm or "backward")
    return found[0] if half else Complex(*found)


def _dims(input, dim, s, otherwise, what: str):
    """Sizes and dimensions of a transform over several of these."""
    rank = input.rank if isinstance(input, Tensor) else input.real.rank
    listed = None if s is None else [known(n, what) for n in (s if isinstance(s, (tuple, list)) else [s])]
    if dim is None:
        dim = otherwise if listed is None else list(range(-len(listed), 0))
    dims = [dim_of(d, rank) for d in (range(rank) if dim is None else dim if isinstance(dim, (tuple, list)) else [dim])]
    if listed is not None and len(listed) != len(dims):
        raise Problem(f"{what}: {len(listed)} sizes for {len(dims)} dimensions", "shape")
    if listed is not None and -1 in listed:
        raise Problem(f"{what}: a size is at least 1, found {listed}", "shape")
    return listed, dims


def _register(name: str, kind: str, rank: Optional[int]):
    """One dimension (`n`, `dim`), two (`s`, `dim`), or any number of them."""
    path = f"torch.fft.{name}"
    if rank == 1:

        @operator(path, GROUP)
        def one(b: Builder, input, n=None, dim=-1, norm=None):
            sizes, dims = _dims(input, dim, n, None, name)
            return _transformed(b, input, kind, sizes, dims, norm, name)
    else:

        @operator(path, GROUP)
        def several(b: Builder, input, s=None, dim=(-2, -1) if rank == 2 else None, norm=None):
            sizes, dims = _dims(input, dim, s, None, name)
            return _transformed(b, input, kind, sizes, dims, norm, name)


for _kind in ("fft", "ifft", "rfft", "irfft"):
    for _rank, _end in ((1, ""), (2, "2"), (None, "n")):
        _register(_kind + _end, _kind + "n", _rank)
_register("hfft", "hfft", 1)
_register("ihfft", "ihfft", 1)


def _frequencies(name: str, half: bool):
    @operator(f"torch.fft.{name}", GROUP)
    def implementation(b: Builder, n, d=1.0, *, dtype=None):
        if not isinstance(n, int) or not is_number(d):
            raise Problem(f"{name}: n and d must be known when the program is compiled")
        places = range(n // 2 + 1) if half else [*range((n + 1) // 2), *range(-(n // 2), 0)]
        return dense(b, [i / (n * d) for i in places], dtype_of(dtype, dtypes.float32), [len(places)])


_frequencies("fftfreq", False)
_frequencies("rfftfreq", True)


def _shifted(name: str, back: bool):
    @operator(f"torch.fft.{name}", GROUP)
    def implementation(b: Builder, input, dim=None):
        dims = [dim_of(d, input.rank) for d in (range(input.rank) if dim is None else dim if isinstance(dim, (tuple, list)) else [dim])]
        halves = [known(input.sizes[d], name) // 2 for d in dims]
        return roll(b, input, [-n if back else n for n in halves], dims)


_shifted("fftshift", False)
_shifted("ifftshift", True)


@operator("stft", GROUP, note="return_complex is True")
def stft(
    b: Builder, input, n_fft, hop_length=None, win_length=None, window=None, center=True, pad_mode="reflect", normalized=False, onesided=None, return_complex=None,
    align_to_window=None,
):  # fmt: skip
    """Transforms of frames: [..., frequency, frame]."""
    if return_complex is not True or align_to_window is not None:
        raise Problem("stft: return_complex must be True: torch.view_as_real gives the parts in a dimension of their own")
    hop, width = hop_length or n_fft // 4, win_length or n_fft
    x = input if input.rank == 2 else base.unsqueeze(b, input, 0)
    if input.rank not in (1, 2) or not 0 < width <= n_fft:
        raise Problem(f"stft: expects 1 or 2 dimensions and a window of at most {n_fft}, found {input.describe()} and {width}", "shape")
    if center:
        lifted = padded(b, base.unsqueeze(b, x, 1), [n_fft // 2, n_fft // 2], pad_mode)
        x = base.squeeze(b, lifted, 1)
    frames = unfold(b, x, 1, n_fft, hop)
    if window is not None or width < n_fft:
        weights = window if window is not None else b.constant_tensor(1.0, x.dtype, [width])
        left = (n_fft - width) // 2
        weights = padded(b, weights, [left, n_fft - width - left], "constant", 0) if width < n_fft else weights
        frames = pointwise.mul(b, frames, weights)
    norm = "ortho" if normalized else None
    found = _transformed(b, frames, "rfftn" if onesided is not False else "fftn", None, [2], norm, "stft")
    turned = [b.copy(base.permute(b, part, [0, 2, 1])) for part in (found.real, found.imag)]
    return Complex(*(turned if input.rank == 2 else [base.squeeze(b, part, 0) for part in turned]))


@operator("torch.linalg.eig", GROUP, note="lengths and signs of vectors are LAPACK's")
def eig(b: Builder, A):
    from .solving import square
    from .table import named

    square(b, A, "eig")
    values, vectors = A.sizes[:-1], A.sizes
    found = call(b, "eig", [A], [(A.dtype, n) for n in (values, values, vectors, vectors)])
    return named((Complex(*found[:2]), Complex(*found[2:])), "eigenvalues", "eigenvectors")


@operator("torch.linalg.eigvals", GROUP)
def eigvals(b: Builder, A):
    from .solving import square

    square(b, A, "eigvals")
    return Complex(*call(b, "eigvals", [A], [(A.dtype, A.sizes[:-1])] * 2))


