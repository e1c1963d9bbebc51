# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bundles called on PyTorch's tensors, through the runtime's C ABI by ctypes."""

import ctypes as c

import torch

CODES = {torch.float32: (2, 32), torch.float64: (2, 64), torch.float16: (2, 16),
         torch.bfloat16: (4, 16), torch.int32: (0, 32), torch.int64: (0, 64)}


class Tensor(c.Structure):
    _fields_ = [("data", c.c_void_p), ("device_type", c.c_int32), ("device_id", c.c_int32),
                ("ndim", c.c_int32), ("code", c.c_uint8), ("bits", c.c_uint8),
                ("lanes", c.c_uint16), ("shape", c.POINTER(c.c_int64)),
                ("strides", c.POINTER(c.c_int64)), ("byte_offset", c.c_uint64)]


class LoadOptions(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("device_type", c.c_int32), ("device_id", c.c_int32)]


class CallOptions(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("stream", c.c_void_p), ("workspace", c.c_void_p),
                ("workspace_bytes", c.c_uint64), ("flags", c.c_uint64)]


def describe(tensor):
    code, bits = CODES[tensor.dtype]
    shape = (c.c_int64 * tensor.dim())(*tensor.shape)
    return Tensor(tensor.data_ptr(), 2, tensor.device.index or 0, tensor.dim(), code, bits, 1,
                  shape, None, 0)


class Program:
    """The only entry of a bundle, on one device."""

    def __init__(self, library, path, device=0):
        self.lib = library
        self.module, self.entry = c.c_void_p(), c.c_void_p()
        options = LoadOptions(c.sizeof(LoadOptions), 2, device)
        self.check(library.ft_module_load(str(path).encode(), c.byref(options), c.byref(self.module)))
        self.check(library.ft_module_entry(self.module, None, c.byref(self.entry)))

    def check(self, status):
        if status:
            raise RuntimeError(self.lib.ft_last_error().decode())

    def variants(self):
        names = []
        while (name := self.lib.ft_entry_variant(self.entry, len(names))) is not None:
            names.append(name.decode())
        return names

    def select(self, variant):
        self.check(self.lib.ft_entry_select_variant(self.entry, variant.encode()))

    def hold(self, values):
        """Binds parameters by name, once for all calls."""
        if not values:
            return
        tensors = [describe(value.contiguous()) for value in values.values()]
        names = (c.c_char_p * len(values))(*[name.encode() for name in values])
        self.check(self.lib.ft_module_bind(self.module, names, (c.POINTER(Tensor) * len(values))(*map(c.pointer, tensors)), len(values)))

    def bind(self, inputs, num_outputs, dtype):
        """Outputs of the right shapes, and a function that enqueues one call."""
        count = len(inputs) + num_outputs
        kept = [describe(t) for t in inputs]
        pointers = (c.POINTER(Tensor) * count)(*[c.pointer(t) for t in kept])
        outputs = []
        kinds = dtype if isinstance(dtype, list) else [dtype] * num_outputs
        for i in range(len(inputs), count):
            shape, rank = (c.c_int64 * 16)(), c.c_int32(16)
            self.check(self.lib.ft_output_shape(self.entry, pointers, count, i, shape, c.byref(rank)))
            kind = kinds[i - len(inputs)]
            unset = float("nan") if kind.is_floating_point else -1
            outputs.append(torch.full(tuple(shape[: rank.value]), unset, dtype=kind, device=inputs[0].device))
        kept += [describe(t) for t in outputs]
        pointers = (c.POINTER(Tensor) * count)(*[c.pointer(t) for t in kept])
        options = CallOptions(c.sizeof(CallOptions), None, None, 0, 0)

        def call(kept=(kept, list(inputs))):  # pointers say nothing of whose memory they are
            options.stream = torch.cuda.current_stream().cuda_stream
            self.check(self.lib.ft_call(self.entry, pointers, count, c.byref(options)))
            return outputs

        return outputs, call


def load_library(path):
    lib = c.CDLL(str(path))
    for name in ("ft_last_error", "ft_entry_variant"):
        getattr(lib, name).restype = c.c_char_p
    pointer = c.c_void_p
    lib.ft_module_load.argtypes = [c.c_char_p, pointer, pointer]
    lib.ft_module_entry.argtypes = [pointer, c.c_char_p, pointer]
    lib.ft_entry_variant.argtypes = [pointer, c.c_int32]
    lib.ft_entry_select_variant.argtypes = [pointer, c.c_char_p]
    lib.ft_output_shape.argtypes = [pointer, pointer, c.c_int32, c.c_int32, pointer, pointer]
    lib.ft_module_bind.argtypes = [pointer, pointer, pointer, c.c_int32]
    lib.ft_call.argtypes = [pointer, pointer, c.c_int32, pointer]
    return lib
