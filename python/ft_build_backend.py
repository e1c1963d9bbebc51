# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The build backend of the Python package (PEP 517 and 660); it needs nothing but Python and CMake.

A wheel holds the package and the library, which is built by CMake in ``build/`` (a build that is up to date is
used as it is). Environment:

- ``FT_PREBUILT``: a folder with ``libFractalTensor.so`` (and ``libFractalTensorRuntime.so``) to take instead;
- ``FT_WHEEL_TAG``: the platform's tag, such as ``manylinux_2_35_x86_64`` (scripts/wheel.sh).
"""

import base64
import hashlib
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "python/fractaltensor"
LIBRARIES = ("libFractalTensor.so", "libFractalTensorRuntime.so")


def _field(name):
    """A field of [project]; Python 3.9 has no reader of TOML."""
    return re.search(rf'^{name} = "(.*)"', (ROOT / "pyproject.toml").read_text(), re.M).group(1)


NAME, VERSION = _field("name"), _field("version")


def _metadata():
    readme = ROOT / _field("readme")
    text = readme.read_text() if readme.exists() else ""
    extras = "".join(f"Provides-Extra: {x}\nRequires-Dist: {x} ; extra == '{x}'\n" for x in ("numpy", "torch", "jax"))
    return (
        f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {VERSION}\nSummary: {_field('description')}\n"
        f"License: Apache-2.0 WITH LLVM-exception\nRequires-Python: {_field('requires-python')}\n{extras}"
        f"Description-Content-Type: text/markdown\n\n{text}"
    )


def _tag():
    platform = os.environ.get("FT_WHEEL_TAG") or sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return f"py3-none-{platform}"


# -- the library ---------------------------------------------------------------------------------------------


def _run(command):
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    if done.returncode:
        sys.stderr.write(done.stdout[-8000:])
        raise SystemExit(f"fractaltensor: '{' '.join(command)}' failed")


def _need(program, package):
    if shutil.which(program) is None:
        raise SystemExit(
            f"fractaltensor: building needs '{program}': apt-get install {package} (scripts/setup.sh installs all of it), "
            "or give a folder with the built library as FT_PREBUILT"
        )


def _build():
    """The folder with the libraries, built now unless they are given."""
    given = os.environ.get("FT_PREBUILT")
    if given:
        folder = pathlib.Path(given)
        if not (folder / LIBRARIES[0]).exists():
            raise SystemExit(f"fractaltensor: FT_PREBUILT={given} holds no {LIBRARIES[0]}")
        return folder
    _need("cmake", "cmake")
    _need("ninja", "ninja-build")
    if not os.path.exists("/usr/lib/llvm-22/lib/cmake/mlir/MLIRConfig.cmake") and not os.environ.get("MLIR_DIR"):
        raise SystemExit(
            "fractaltensor: building needs LLVM and MLIR 22: apt-get install libmlir-22-dev mlir-22-tools clang-22 lld-22, "
            "or set MLIR_DIR to the folder of MLIRConfig.cmake"
        )
    build = ROOT / "build"
    if not (build / "build.ninja").exists():
        preset = ["--preset", "default"] if shutil.which("clang++-22") else ["-G", "Ninja", "-B", "build", "-DCMAKE_BUILD_TYPE=Release"]
        extra = [f"-DMLIR_DIR={os.environ['MLIR_DIR']}"] if os.environ.get("MLIR_DIR") else []
        _run(["cmake", *preset, *extra])
    _run(["cmake", "--build", "build", "--target", "FractalTensor", "FractalTensorRuntime"])
    return build / "lib"


def _movable(file):
    """Makes a copied library look for the other one beside it, and for LLVM where it was built against."""
    done = subprocess.run(["readelf", "-d", str(file)], capture_output=True, text=True) if shutil.which("readelf") else None
    found = re.search(r"R(?:UN)?PATH.*\[(.*)\]", done.stdout) if done else None
    kept = [p for p in (found.group(1).split(":") if found else []) if "llvm" in p]
    script = f'file(RPATH_SET FILE "{file}" NEW_RPATH "{":".join(["$ORIGIN", *kept])}")\n'
    with tempfile.NamedTemporaryFile("w", suffix=".cmake", delete=False) as out:
        out.write(script.replace("$ORIGIN", "\\$ORIGIN"))
    try:
        _run(["cmake", "-P", out.name])
    finally:
        os.unlink(out.name)


# -- wheels ---------------------------------------------------------------------------------------------------


class _Wheel:
    """Writes a wheel with its record; the same input gives the same bytes."""

    def __init__(self, path):
        self.archive, self.records = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED), []

    def add(self, name, data, mode=0o644):
        info = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
        info.external_attr, info.compress_type = (0o100000 | mode) << 16, zipfile.ZIP_DEFLATED
        self.archive.writestr(info, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self.records.append(f"{name},sha256={digest},{len(data)}")

    def finish(self, folder, tag):
        self.add(f"{folder}/METADATA", _metadata().encode())
        pure = "false" if "any" not in tag else "true"
        self.add(f"{folder}/WHEEL", f"Wheel-Version: 1.0\nGenerator: fractaltensor\nRoot-Is-Purelib: {pure}\nTag: {tag}\n".encode())
        self.add(f"{folder}/top_level.txt", f"{NAME}\n".encode())
        license_file = ROOT / "LICENSE"
        if license_file.exists():
            self.add(f"{folder}/LICENSE", license_file.read_bytes())
        record = f"{folder}/RECORD"
        self.archive.writestr(record, "\n".join([*self.records, f"{record},,", ""]))
        self.archive.close()


def _sources():
    return sorted(p for p in PACKAGE.rglob("*") if p.suffix in (".py", ".pyi", ".typed"))


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    libraries = _build()
    tag = _tag()
    name = f"{NAME}-{VERSION}-{tag}.whl"
    wheel = _Wheel(os.path.join(wheel_directory, name))
    for path in _sources():
        wheel.add(f"{NAME}/{path.relative_to(PACKAGE).as_posix()}", path.read_bytes())
    with tempfile.TemporaryDirectory() as folder:
        for library in LIBRARIES:
            if not (libraries / library).exists():
                continue
            copy = pathlib.Path(folder) / library
            shutil.copyfile(libraries / library, copy)
            if not os.environ.get("FT_PREBUILT"):
                _movable(copy)
            wheel.add(f"{NAME}/lib/{library}", copy.read_bytes(), 0o755)
    wheel.finish(f"{NAME}-{VERSION}.dist-info", tag)
    return name


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """The package where it lies; the library from build/lib."""
    _build()
    tag = "py3-none-any"
    name = f"{NAME}-{VERSION}-{tag}.whl"
    wheel = _Wheel(os.path.join(wheel_directory, name))
    wheel.add(f"__editable__.{NAME}.pth", f"{PACKAGE.parent}\n".encode())
    wheel.finish(f"{NAME}-{VERSION}.dist-info", tag)
    return name


def build_sdist(sdist_directory, config_settings=None):
    base = f"{NAME}-{VERSION}"
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True)
    if done.returncode == 0 and done.stdout:
        files = [f for f in done.stdout.decode().split("\0") if f]
    else:
        files = [str(p.relative_to(ROOT)) for p in ROOT.rglob("*") if p.is_file() and not str(p.relative_to(ROOT)).startswith(("build", ".git/"))]
    with tarfile.open(os.path.join(sdist_directory, f"{base}.tar.gz"), "w:gz") as archive:
        for file in sorted(files):
            if (ROOT / file).exists():
                archive.add(ROOT / file, f"{base}/{file}")
        data = _metadata().encode()
        info = tarfile.TarInfo(f"{base}/PKG-INFO")
        info.size = len(data)
        archive.addfile(info, io.BytesIO(data))
    return f"{base}.tar.gz"


def get_requires_for_build_wheel(config_settings=None):
    return []


get_requires_for_build_editable = get_requires_for_build_sdist = get_requires_for_build_wheel
