# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The commands of ``python -m fractaltensor``: info, run, show, bench and cache.

A file is a bundle (``.ftb``) or a program in the compiler's text (``.mlir``). An argument is an array in a file (``x.npy``) or
a shape (``2x5x1x8``). Data for shapes are drawn by a seed: floats from a normal distribution of deviation 0.1, integers 0 and 1.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import sys
import time
from ctypes import byref, c_void_p
from typing import Any, List, Optional, Sequence, Tuple

from . import cache
from . import library as lib
from .bundles import _read, load
from .errors import ArgumentError, CompileError, Error
from .names import counted

#: Each variable that the package or its libraries read, with what it does.
VARIABLES = {
    "FT_NUM_THREADS": "threads of the CPU engine; by default one for each core",
    "FT_CACHE": "0, off or no: compiled programs are not kept on disk",
    "FT_CACHE_DIR": "the folder that keeps them; by default ~/.cache/fractaltensor",
    "FT_CACHE_SIZE": "its limit in bytes; by default 1 GiB",
    "FT_LIBRARY": "the folder of the compiler's library, in the place of the package's own",
    "FT_LIBCUDA": "the CUDA driver's library; by default libcuda.so.1",
    "FT_MACHINES": "the folder of machine files",
    "FT_CHECK_RANKS": "1: ranks compare what they call before each call over a mesh",
    "FT_NO_OVERLAP": "1: kernels of one call on a GPU do not overlap",
    "FT_SYNC": "1: wait after each launch on a GPU, so that an error names its kernel",
    "FT_NO_PTXAS": "PTX is not checked by ptxas where there is one",
    "FT_FULL_TRACEBACK": "errors keep the package's own frames",
}
_ROUNDS = 20


def _info(_) -> None:
    from . import __version__

    library = lib.library()
    print(f"fractaltensor {__version__}, compiler {library.ft_compiler_version().decode()}")
    print(f"python        {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores")
    print(f"library       {library.path}")
    print(f"targets       {', '.join(lib.target_names())}")
    print(f"GPU           {_gpu()}")
    for name in ("numpy", "torch", "jax", "cupy"):
        print(f"{name:14}{_version(name)}")
    print(f"cache         {cache.info().splitlines()[0]}")
    print("environment")
    for name, meaning in VARIABLES.items():
        print(f"  {name:18}{os.environ.get(name, '(not set)'):12} {meaning}")


def _gpu() -> str:
    from .devices import capability

    try:
        major, minor = capability(0)
    except Error as error:
        return f"none: {error}"
    return f"compute capability {major}.{minor}"


def _version(name: str) -> str:
    from importlib import metadata

    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"


def _entry(options):
    bundle = load(options.file)
    if options.entry:
        return bundle[options.entry]
    if len(bundle.entries) != 1:
        raise ArgumentError(f"{options.file} has {len(bundle.entries)} entries: choose one by --entry, {', '.join(bundle.entries)}")
    return bundle[bundle.entries[0]]


def _argument(text: str, dtype: str, random):
    import numpy

    if text.endswith(".npy"):
        try:
            return numpy.load(text)
        except (OSError, ValueError) as error:
            raise ArgumentError(f"{text}: {error}") from None
    sizes = text.split("x") if text != "scalar" else []
    if not all(size.isdigit() for size in sizes):
        raise ArgumentError(f"expected an array (x.npy) or a shape (2x5x1x8, scalar), found '{text}'")
    shape = tuple(map(int, sizes))
    kind = {"f16": "float16", "f32": "float32", "f64": "float64", "i1": "bool"}.get(dtype, dtype.replace("i", "int"))
    if dtype == "bf16":
        raise ArgumentError("data of bf16 are not made here: call the program from Python")
    data = random.standard_normal(shape) * 0.1 if dtype.startswith("f") else random.integers(0, 2, shape)
    return numpy.asarray(data).astype(kind)


def _data(options) -> Tuple[Any, List[Any]]:
    """An entry and the arrays for it."""
    try:
        import numpy
    except ImportError:
        raise ArgumentError("run and bench make arrays: pip install numpy") from None

    entry = _entry(options)
    wanted = entry.arguments
    if len(options.arguments) != len(wanted):
        takes = ", ".join(f"{name} ({dtype}, rank {rank})" for name, dtype, rank in wanted)
        raise ArgumentError(f"{entry.name} takes {len(wanted)} arguments: {takes}; found {len(options.arguments)}")
    random = numpy.random.default_rng(options.seed)
    values = [_argument(text, dtype, random) for text, (_, dtype, _) in zip(options.arguments, wanted)]
    for value, text, (name, _, rank) in zip(values, options.arguments, wanted):
        if value.ndim != rank:
            raise ArgumentError(f"{entry.name}: argument {name} has rank {rank}, found '{text}' of rank {value.ndim}")
    return entry, values


def _results(found) -> List[Any]:
    return list(found) if isinstance(found, tuple) else [found]


def _run(options) -> None:
    import numpy

    entry, values = _data(options)
    results = _results(entry(*values))
    if options.out and len(options.out) != len(results):
        raise ArgumentError(f"{entry.name} has {len(results)} results, --out names {len(options.out)} files")
    for number, result in enumerate(results):
        first = " ".join(f"{value:.6g}" for value in result.ravel()[:6].tolist())
        rest = " ..." if result.size > 6 else ""
        print(f"result {number}: {result.dtype} {'x'.join(map(str, result.shape)) or 'scalar'}: {first}{rest}")
    for file, result in zip(options.out or [], results):
        try:
            numpy.save(file, result)
        except OSError as error:
            raise ArgumentError(f"{file}: {error.strerror}") from None


def _bench(options) -> None:
    if options.rounds < 1:
        raise ArgumentError(f"--rounds is 1 or more, found {options.rounds}")
    entry, values = _data(options)
    entry(*values)
    times = []
    for _ in range(options.rounds):
        begin = time.perf_counter()
        entry(*values)
        times.append((time.perf_counter() - begin) * 1e6)
    print(f"{entry.name}: median {statistics.median(times):.1f} us, least {min(times):.1f} us, {counted(options.rounds, 'call')}")


def _why_not_shown(name: str) -> str:
    if name.endswith(".ftb"):
        return "a bundle holds code alone; show takes the program (.mlir)"
    if name.endswith(".py"):
        return "show takes a program in the compiler's text (.mlir); in Python call f.show('page.html'), and f.lower(to='etdg') for a phase"
    return "show takes a program in the compiler's text (.mlir)"


def _show(options) -> None:
    if not options.file.endswith(".mlir"):
        raise ArgumentError(f"{options.file}: {_why_not_shown(options.file)}")
    text = _printed(options.file, "html" if options.out else options.to)
    if not options.out:
        print(text, end="")
        return
    try:
        with open(options.out, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise ArgumentError(f"{options.out}: {error.strerror}") from None
    print(f"wrote {options.out}, a page for a browser")


def _printed(name: str, to: str) -> str:
    """A program in the compiler's text after a phase, or drawn."""
    data = _read(name)
    library = lib.library()
    with lib.collecting() as messages:
        source, statuses, text = c_void_p(), [], ""
        status = library.ft_source_parse(lib.compiler(), data, len(data), name.encode(), source)
        if status == lib.OK:
            try:
                given = lib.CompileOptions(target=b"cpu")
                text = lib.read_text(lambda write: statuses.append(library.ft_print(source, byref(given), to.encode(), write, None)))
                status = statuses[0]
            finally:
                library.ft_source_release(source)
    errors = [m for m in messages if m.severity == "error"]
    if status != lib.OK and errors:
        places = "".join(f"{file}:{line}:{column}: error: " for file, line, column in errors[0].places[:1])
        raise CompileError(places + errors[0].text)
    lib.check(status, name)
    return text


def _cache(options) -> None:
    if options.clear:
        print(f"removed {counted(cache.clear(), 'entry', 'entries')}")
    else:
        print(cache.info())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m fractaltensor", description=__doc__.split("\n\n")[1])
    from . import __version__

    parser.add_argument("--version", action="version", version=f"fractaltensor {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser("info", help="version, library, targets, GPU, optional packages, cache and environment variables").set_defaults(run=_info)
    for name, function, text in (("run", _run, "runs a program on arrays"), ("bench", _bench, "times calls of a program")):
        command = commands.add_parser(name, help=text)
        command.add_argument("file", help="a bundle (.ftb) or a program (.mlir)")
        command.add_argument("arguments", nargs="*", help="for each argument x.npy or a shape, 2x5x1x8")
        command.add_argument("--entry", help="the function, where the file has several")
        command.add_argument("--seed", type=int, default=1, help="of the data that are drawn")
        command.set_defaults(run=function)
        if name == "run":
            command.add_argument("--out", action="append", help="an array file for a result; once for each")
        else:
            command.add_argument("--rounds", type=int, default=_ROUNDS, help="calls that are timed")
    show = commands.add_parser("show", help="prints a program after a phase, or writes its picture")
    show.add_argument("file", help="a program (.mlir)")
    show.add_argument("--to", default="etdg", help="a phase, llvm or ptx; etdg by default")
    show.add_argument("--out", help="an HTML page with the graph, in the place of text")
    show.set_defaults(run=_show)
    kept = commands.add_parser("cache", help="what is in the cache of compiled programs")
    kept.add_argument("--clear", action="store_true", help="removes all of it")
    kept.set_defaults(run=_cache)
    return parser


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Runs a command; 1 and one line on stderr where it fails."""
    options = _parser().parse_args(arguments)
    try:
        options.run(options)
    except Error as error:
        print(f"error: {error}" if ": error: " not in str(error) else str(error), file=sys.stderr)
        return 1
    except BrokenPipeError:
        # The reader has seen enough; nothing is left to write at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0
