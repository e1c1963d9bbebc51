# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays of other libraries: what they are, where their data is, and how results are made.

NumPy and PyTorch are read directly, which is fast; anything else with ``__dlpack__`` (JAX, CuPy, …)
through DLPack, and what has none through Python's buffer protocol. Nothing is copied. No library is
imported here before one of its arrays has been seen.
"""

from __future__ import annotations

import ctypes
import functools
import math
import sys
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

from . import host_memory
from .errors import ArgumentError, DTypeError
from .types import DType, bf16, bool_, dtype_of, f16, f32, f64, i8, i16, i32, i64

CPU, CUDA = 1, 2
CUDA_HOST, CUDA_MANAGED, ROCM = 3, 13, 10

_CODES = {
    (2, 16): f16, (2, 32): f32, (2, 64): f64, (4, 16): bf16,
    (0, 8): i8, (0, 16): i16, (0, 32): i32, (0, 64): i64, (6, 8): bool_,
}


class ArrayInfo(NamedTuple):
    """What is known of an array. `strides` count elements; None is dense row-major.

    `holder` keeps the data alive; `kind` says which library it is of.
    """

    kind: str
    dtype: Optional[DType]
    dtype_text: str
    shape: Tuple[int, ...]
    strides: Optional[Tuple[int, ...]]
    device_type: int
    device_id: int
    pointer: int
    readonly: bool
    holder: Any


# -- DLPack --------------------------------------------------------------------------------------------------


class DLTensor(ctypes.Structure):
    """DLPack's tensor, which is also the runtime's ``FtTensor``."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype = ctypes.c_void_p
_capsule_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


def code_of(dtype: DType) -> Tuple[int, int]:
    """DLPack's code and bits of an element type."""
    for key, value in _CODES.items():
        if value == dtype:
            return key
    raise DTypeError(f"no code for {dtype}")


def _of_dlpack(array) -> ArrayInfo:
    device_type, device_id = (int(x) for x in array.__dlpack_device__())
    if device_type == CUDA:
        # The consumer's stream is the one that the call uses; -1 asks for no synchronisation. JAX computes on streams
        # of its own and knows no -1: 1, the default stream on which its arrays are used, waits for what it computes.
        capsule = array.__dlpack__(stream=1 if _kind(array) == "jax" else -1)
    else:
        capsule = array.__dlpack__()
    tensor = DLTensor.from_address(_capsule_pointer(capsule, b"dltensor"))
    shape = tuple(tensor.shape[i] for i in range(tensor.ndim))
    strides = tuple(tensor.strides[i] for i in range(tensor.ndim)) if tensor.strides else None
    dtype = _CODES.get((tensor.code, tensor.bits)) if tensor.lanes == 1 else None
    text = str(dtype) if dtype else f"DLPack type ({tensor.code}, {tensor.bits} bits, {tensor.lanes} lanes)"
    if device_type in (CUDA_HOST, CUDA_MANAGED):
        device_type = CPU if device_type == CUDA_HOST else CUDA
    pointer = (tensor.data or 0) + tensor.byte_offset
    return ArrayInfo(_kind(array), dtype, text, shape, strides, device_type, device_id, pointer, _is_readonly(array), capsule)


def _is_readonly(array) -> bool:
    # JAX's arrays never change; NumPy's newer DLPack says so by a flag, older ones refuse.
    return type(array).__module__.split(".", 1)[0] in ("jax", "jaxlib")


def _kind(array) -> str:
    module = type(array).__module__.split(".", 1)[0]
    return {"jaxlib": "jax"}.get(module, module)


# -- buffers ---------------------------------------------------------------------------------------------------

_FORMATS = {
    "e": f16, "f": f32, "d": f64, "b": i8, "h": i16, "i": i32, "l": i64 if ctypes.sizeof(ctypes.c_long) == 8 else i32,
    "q": i64, "?": bool_,
}


def _of_buffer(array) -> ArrayInfo:
    view = memoryview(array)
    dtype = _FORMATS.get(view.format.lstrip("@=<"))
    size = view.itemsize
    strides = None if view.strides is None else tuple(s // size for s in view.strides)
    if view.nbytes == 0:
        pointer = 0
    else:
        pointer = _buffer_pointer(view)
    return ArrayInfo("buffer", dtype, f"format '{view.format}'", tuple(view.shape), strides, CPU, 0, pointer, view.readonly, view)


class _PyBuffer(ctypes.Structure):
    _fields_ = [
        ("buf", ctypes.c_void_p), ("obj", ctypes.py_object), ("len", ctypes.c_ssize_t), ("itemsize", ctypes.c_ssize_t),
        ("readonly", ctypes.c_int), ("ndim", ctypes.c_int), ("format", ctypes.c_char_p),
        ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p), ("suboffsets", ctypes.c_void_p), ("internal", ctypes.c_void_p),
    ]


def _buffer_pointer(view: memoryview) -> int:
    get, release = ctypes.pythonapi.PyObject_GetBuffer, ctypes.pythonapi.PyBuffer_Release
    get.argtypes = [ctypes.py_object, ctypes.POINTER(_PyBuffer), ctypes.c_int]
    release.argtypes = [ctypes.POINTER(_PyBuffer)]
    release.restype = None
    buffer = _PyBuffer()
    get(view, ctypes.byref(buffer), 0x18)  # PyBUF_STRIDES
    pointer = buffer.buf or 0
    release(ctypes.byref(buffer))
    return pointer


# -- NumPy -------------------------------------------------------------------------------------------------------

_numpy_dtypes: Dict[Any, Tuple[Optional[DType], str]] = {}


def numpy_dtype(dtype) -> Optional[DType]:
    """The element type of a NumPy dtype, if there is one."""
    found = _numpy_dtypes.get(dtype)
    if found is None:
        try:
            ours = dtype_of(dtype.name) if dtype.isnative and dtype.name not in ("int", "float") else None
        except DTypeError:
            ours = None
        found = _numpy_dtypes[dtype] = (ours, str(dtype))
    return found[0]


def scalar_array(value, dtype: DType):
    """A number as an array of rank 0, which the caller keeps for as long as the call runs."""
    import numpy as np

    number = value.item() if hasattr(value, "item") else value
    if isinstance(number, float) and not dtype.is_float:
        raise ArgumentError(f"is {dtype}, found the float {number!r}: round it, int(x)")
    if isinstance(number, int) and not isinstance(number, bool) and dtype.is_bool:
        raise ArgumentError(f"is bool, found the integer {number!r}: pass True or False")
    if dtype.is_integer and not -(1 << (dtype.bits - 1)) <= number < 1 << (dtype.bits - 1):
        raise ArgumentError(f"is {dtype}, which does not hold {number!r}")
    if dtype == bf16:
        bits = np.asarray(number, np.float32).view(np.uint32)
        rounded = bits + 0x7FFF + ((bits >> 16) & 1) if number == number else bits
        return (rounded >> 16).astype(np.uint16).view(_numpy_of(bf16))
    return np.asarray(number, _numpy_of(dtype))


def _of_numpy(array) -> ArrayInfo:
    size = array.itemsize or 1
    strides = tuple(s // size if s % size == 0 else None for s in array.strides)
    if None in strides:
        raise ArgumentError(f"an array has strides {array.strides} that are no multiples of its {size}-byte numbers: copy it, np.ascontiguousarray(x)")
    return ArrayInfo(
        "numpy", numpy_dtype(array.dtype), str(array.dtype), array.shape, strides, CPU, 0,
        array.__array_interface__["data"][0], not array.flags.writeable, array,
    )


_POINTER = ctypes.c_void_p


def _fast_numpy_pointer(array) -> int:
    """An ndarray's data pointer, which follows the object's header: part of NumPy's stable ABI."""
    return _POINTER.from_address(id(array) + object.__basicsize__).value or 0


def _slow_numpy_pointer(array) -> int:
    return array.__array_interface__["data"][0]


_pointer_checked: Optional[Callable] = None


def numpy_pointer() -> Callable[[Any], int]:
    """How the address of an ndarray's data is read; the fast way only where it is seen to be right."""
    global _pointer_checked
    if _pointer_checked is None:
        import numpy as np

        samples = [np.zeros(3), np.zeros((2, 5), np.int8)[:, 1:], np.arange(6.0)[::-1]]
        right = sys.implementation.name == "cpython" and all(
            _fast_numpy_pointer(s) == _slow_numpy_pointer(s) for s in samples
        )
        _pointer_checked = _fast_numpy_pointer if right else _slow_numpy_pointer
    return _pointer_checked


# -- PyTorch ---------------------------------------------------------------------------------------------------------

_torch_dtypes: Dict[Any, Tuple[Optional[DType], str]] = {}


def torch_dtype(dtype) -> Optional[DType]:
    """The element type of a torch.dtype, if there is one."""
    found = _torch_dtypes.get(dtype)
    if found is None:
        try:
            ours = dtype_of(dtype)
        except DTypeError:
            ours = None
        found = _torch_dtypes[dtype] = (ours, str(dtype))
    return found[0]


def _of_torch(array) -> ArrayInfo:
    if array.layout is not sys.modules["torch"].strided:
        raise ArgumentError(f"an array is {array.layout}: only dense tensors are taken, x.to_dense()")
    device = array.device
    if device.type not in ("cpu", "cuda"):
        raise ArgumentError(f"an array is on the device {device}: there are cpu and cuda; move it, x.cpu()")
    if array.is_conj() or array.is_neg():
        array = array.resolve_conj().resolve_neg()
    return ArrayInfo(
        "torch", torch_dtype(array.dtype), str(array.dtype), tuple(array.shape), tuple(array.stride()),
        *device_of(array), array.data_ptr(), False, array,
    )


# -- any ----------------------------------------------------------------------------------------------------------------


def describe(value) -> Optional[ArrayInfo]:
    """What an argument is, or None where it is no array."""
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        if isinstance(value, numpy.ma.MaskedArray):
            raise ArgumentError("a masked array has a mask that would be lost: fill it, x.filled(0)")
        if isinstance(value, numpy.ndarray):
            return _of_numpy(value)
        if isinstance(value, numpy.generic):
            return None
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        return _of_torch(value)
    if hasattr(value, "__dlpack__") and hasattr(value, "__dlpack_device__"):
        return _of_dlpack(value)
    try:
        memoryview(value)
    except TypeError:
        return None
    return _of_buffer(value)


def _numpy_of(dtype: DType):
    import numpy as np

    if dtype == bf16:
        found = sys.modules.get("ml_dtypes")
        return np.dtype(found.bfloat16) if found else np.dtype(np.uint16)
    return np.dtype({"f16": "float16", "f32": "float32", "f64": "float64", "i1": "bool"}.get(dtype.name, dtype.name.replace("i", "int")))


_TORCH_NAMES = {"f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64", "i1": "bool",
                "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64"}


def torch_of(dtype: DType):
    """The torch.dtype of an element type."""
    return getattr(sys.modules["torch"], _TORCH_NAMES[dtype.name])


def autocast(types: Sequence, values: Sequence) -> Sequence:
    """Under PyTorch's autocast: floats in the element types of their parameters, by operations that autograd knows.

    Tensors of an open element type, of which not all have the same, are cast to autocast's own. `values` itself is returned
    where nothing is to be cast.
    """
    import torch

    def is_cast(value) -> bool:
        return isinstance(value, torch.Tensor) and value.is_floating_point() and torch.is_autocast_enabled(value.device.type)

    elements = [getattr(type_, "element", type_).dtype for type_ in types]
    open_types: Dict[str, set] = {}
    for dtype, value in zip(elements, values):
        if not dtype.is_bound and is_cast(value):
            open_types.setdefault(dtype.name, set()).add(value.dtype)
    made = []
    for dtype, value in zip(elements, values):
        wanted = getattr(value, "dtype", None)
        if is_cast(value):
            if dtype.is_bound and dtype.is_float:
                wanted = torch_of(dtype)
            elif not dtype.is_bound and len(open_types[dtype.name]) > 1:
                wanted = torch.get_autocast_dtype(value.device.type)
        made.append(value if wanted == getattr(value, "dtype", None) else value.to(wanted))
    return values if all(a is b for a, b in zip(made, values)) else made


def device_of(tensor) -> Tuple[int, int]:
    """The device of a tensor of PyTorch, which may have no data."""
    return CUDA if tensor.device.type == "cuda" else CPU, tensor.device.index or 0


def allocator(kind: str, dtype: DType, shape: Tuple[int, ...], device_type: int, device_id: int) -> Callable[[], Any]:
    """A function that makes an array for a result, in the library that `kind` says."""
    if kind == "torch":
        import torch

        device = torch.device("cuda", device_id) if device_type == CUDA else torch.device("cpu")
        # Like one number that stands for all: it takes PyTorch two thirds of the time of parsing a shape and a type.
        template = torch.empty((1,) * len(shape), dtype=torch_of(dtype), device=device).expand(shape)
        return functools.partial(torch.empty_like, template, memory_format=torch.contiguous_format)
    if kind == "cupy":
        import cupy

        target = _numpy_of(dtype)

        def make():
            with cupy.cuda.Device(device_id):
                return cupy.empty(shape, target)

        return make
    if device_type == CUDA:
        if "torch" in sys.modules:
            return allocator("torch", dtype, shape, device_type, device_id)
        return _no_allocator
    try:
        import numpy as np
    except ImportError:
        return lambda: _plain_buffer(dtype, shape)
    host_memory.check(math.prod(shape) * _numpy_of(dtype).itemsize)
    return functools.partial(np.empty, shape, _numpy_of(dtype))


def _no_allocator():
    raise ArgumentError("results on a GPU need out=, or arguments of PyTorch or CuPy")


def _plain_buffer(dtype: DType, shape: Tuple[int, ...]):
    letter = {"f16": "e", "f32": "f", "f64": "d", "i8": "b", "i16": "h", "i32": "i", "i64": "q", "i1": "?"}.get(dtype.name)
    if letter is None:
        raise ArgumentError(f"a result of {dtype} needs NumPy, or out=")
    count = 1
    for extent in shape:
        count *= extent
    raw = bytearray(max(1, count * dtype.itemsize))
    view = memoryview(raw)[: count * dtype.itemsize]
    return view.cast(letter, shape) if count and shape else view.cast(letter)


def finish(kind: str, array):
    """A result in the library of the first argument, without a copy where the two have a common language for it."""
    if kind == "jax":
        import jax

        try:
            return jax.dlpack.from_dlpack(array)
        except (BufferError, TypeError):
            # NumPy's DLPack does not say bf16.
            return jax.numpy.asarray(array)
    if kind in ("numpy", "torch", "cupy", "buffer") or not hasattr(array, "__dlpack__"):
        return array
    library = sys.modules.get(kind)
    convert = getattr(library, "from_dlpack", None)
    return convert(array) if convert else array


def is_dense(info: ArrayInfo) -> bool:
    """Whether an array is row-major without gaps."""
    if info.strides is None or 0 in info.shape:
        return True
    expected = 1
    for extent, stride in zip(reversed(info.shape), reversed(info.strides)):
        if extent != 1 and stride != expected:
            return False
        expected *= extent
    return True


def dense_copy(array, always: bool = False):
    """The same numbers, dense: for code that reads no strides. With `always` they are copied even if they are dense."""
    kind = _kind(array)
    if hasattr(array, "contiguous"):
        return array.clone(memory_format=sys.modules["torch"].contiguous_format) if always else array.contiguous()
    if kind == "cupy":
        return sys.modules["cupy"].ascontiguousarray(array)
    import numpy as np

    if kind == "numpy" and always:
        return np.array(array, order="C", copy=True)
    if kind == "numpy":
        return np.ascontiguousarray(array)
    return np.ascontiguousarray(np.from_dlpack(array) if hasattr(array, "__dlpack__") else np.asarray(memoryview(array)))


def constant_data(value, frames):
    """Shape, numbers in row-major order and element type of data that is baked into a program."""
    from .trace import Traced

    if isinstance(value, Traced):
        raise ArgumentError("const takes data, this value is traced already: use it as it is", frames)
    if hasattr(value, "detach") and hasattr(value, "tolist"):
        return _flat(value.detach().cpu().tolist(), dtype_of(value.dtype))
    if hasattr(value, "tolist") and hasattr(value, "dtype"):
        return _flat(value.tolist(), dtype_of(value.dtype))
    if hasattr(value, "__array__"):
        import numpy as np

        return constant_data(np.asarray(value), frames)
    return _flat(value, None, frames)


def _flat(nested, dtype: Optional[DType], frames=()):
    shape: List[int] = []
    level = nested
    while isinstance(level, (list, tuple)):
        shape.append(len(level))
        level = level[0] if level else None
    flat: List = []

    def walk(item, depth):
        if isinstance(item, (list, tuple)):
            if depth >= len(shape) or len(item) != shape[depth]:
                raise ArgumentError("const: the rows of nested data have different lengths", frames)
            for inner in item:
                walk(inner, depth + 1)
        elif depth != len(shape) or not isinstance(item, (bool, int, float)):
            raise ArgumentError(f"const takes numbers, found {type(item).__name__}", frames)
        else:
            flat.append(item)

    walk(nested, 0)
    if dtype is None:
        dtype = bool_ if flat and all(isinstance(n, bool) for n in flat) else f32 if any(isinstance(n, float) for n in flat) else i64
    return tuple(shape), flat, dtype
