# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""References: dialects and passes from their definitions, the Python interface from its docstrings."""

import ast
import re
import shutil
import subprocess
import sys

_CMAKE = re.compile(r"^ft_reference\((\S+) (\S+) ([^)]+)\)", re.M)
_TITLES = {"ft-forms": "Short forms of `ft`", "conversions": "Passes: conversions"}


def _tablegen():
    for name in ("mlir-tblgen-22", "/usr/lib/llvm-22/bin/mlir-tblgen"):
        if shutil.which(name):
            return name
    sys.exit("site.py: error: mlir-tblgen-22 is missing: install the package mlir-22-tools, or run scripts/setup.sh")


def _title(name):
    if name in _TITLES:
        return _TITLES[name]
    return f"Passes: `{name[:-len('-passes')]}`" if name.endswith("-passes") else f"Dialect `{name}`"


def definitions(root):
    """(page, file of definitions, options of mlir-tblgen): those that a build makes."""
    return [(name, td, options.split()) for name, td, options in _CMAKE.findall((root / "docs/CMakeLists.txt").read_text())]


def write(root, folder):
    folder.mkdir(parents=True)
    tool = _tablegen()
    prefix = subprocess.run(["llvm-config-22", "--includedir"], text=True, capture_output=True).stdout.strip() if shutil.which("llvm-config-22") else "/usr/lib/llvm-22/include"
    for name, td, options in definitions(root):
        run = subprocess.run([tool, *options, "-I", str(root / "include"), "-I", prefix, str(root / "include/ft" / td)], text=True, capture_output=True)
        if run.returncode:
            sys.exit(f"site.py: error: {tool} failed on {td}:\n{run.stderr}")
        body = re.sub(r"^# .*\n", "", run.stdout, count=1, flags=re.M) if run.stdout.lstrip().startswith(("# ", "<!--")) else run.stdout
        body = body.replace("[TOC]", "")
        (folder / f"{name}.md").write_text(f"# {_title(name)}\n\n{_plain(body)}")
    _python(root, folder)


def _plain(text):
    """What mlir-tblgen writes, as the site's Markdown: angle brackets outside of code are text."""
    parts = re.split(r"(^```.*?^```\s*$|`[^`\n]+`|<!--.*?-->)", text, flags=re.M | re.S)
    return "".join(part if i % 2 else part.replace("<br>", "\n").replace("<", "&lt;") for i, part in enumerate(parts))


def public_names(source):
    """The public names of a module, in its order: `__all__` where it has one, else what it imports and defines."""
    tree = ast.parse(source.read_text())
    names = []
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__" and isinstance(node.value, (ast.List, ast.Tuple)):
            return [e.value for e in node.value.elts if isinstance(e, ast.Constant)]
        if isinstance(node, ast.ImportFrom) and node.module and all(alias.name != "*" for alias in node.names):
            names += [alias.asname or alias.name for alias in node.names]
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.append(node.name)
    return [name for name in dict.fromkeys(names) if not name.startswith("_")]


def _python(root, folder):
    package = root / "python/fractaltensor"
    for page, title, module, source in (("python", "Python: `fractaltensor`", "fractaltensor", package / "__init__.py"),
                                        ("python-functions", "Python: functions of elements", "fractaltensor.functions", package / "functions.py"),
                                        ("python-torch", "Python: `fractaltensor.torch`", "fractaltensor.torch", package / "torch/__init__.py")):
        names = public_names(source)
        text = [f"# {title}\n"] + [f"::: {module}.{name}\n" for name in names]
        (folder / f"{page}.md").write_text("\n".join(text))
