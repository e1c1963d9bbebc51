#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that the sources keep to the layers that their CMakeLists.txt declare.

    scripts/layers.py build/layers.txt [SOURCE_DIR]

A layer is a folder of lib/ with its public headers (see ft_layer in
cmake/AddFractalTensor.cmake). Each of these is an error, as file:line:

- a public header that is included and belongs to a layer which is not in DEPENDS,
- a private header of another folder; tests may look into folders that their CMakeLists.txt names (INSIDES),
- a DEPENDS that no include needs, or that is no layer,
- layers that depend on each other in a circle,
- a public header that belongs to no layer,
- an installed header (include/installed.txt) that includes one that is not.

Files that TableGen makes (*.inc) are no part of it: they hold declarations alone.
"""

import os
import re
import sys

INCLUDE = re.compile(r'\s*#\s*include\s+"([^"]+)"')
OURS = ("ft/", "ft-c/")


class Layer:
    def __init__(self, name, folder, headers, depends):
        self.name, self.folder, self.headers, self.depends = name, folder, headers, depends
        self.used = set()


def read_layers(path):
    layers = {}
    with open(path) as lines:
        for line in lines:
            if line.startswith("#") or not line.strip():
                continue
            name, folder, headers, depends = (part.strip() for part in line.split("|"))
            own = ["include/ft/" + folder[len("lib/"):]]
            own += ["include/" + header for header in headers.split()]
            layers[name] = Layer(name, folder, own, depends.split())
    return layers


class Check:
    def __init__(self, layers, root):
        self.layers, self.root, self.errors = layers, root, []
        # Of folders inside of each other the innermost counts.
        self.owners = sorted(
            ((path, layer) for layer in layers.values() for path in [layer.folder, *layer.headers]),
            key=lambda entry: -len(entry[0]))

    def error(self, where, text):
        self.errors.append(f"{where}: error: {text}")

    def owner(self, path):
        for prefix, layer in self.owners:
            if path == prefix or path.startswith(prefix + "/"):
                return layer
        return None

    def files(self, top):
        for folder, _, names in os.walk(os.path.join(self.root, top)):
            for name in sorted(names):
                if name.endswith((".cpp", ".h")):
                    yield os.path.relpath(os.path.join(folder, name), self.root)

    def includes(self, path):
        with open(os.path.join(self.root, path)) as lines:
            for number, line in enumerate(lines, 1):
                found = INCLUDE.match(line)
                if found and not found.group(1).endswith(".inc"):
                    yield f"{path}:{number}", found.group(1)

    def check_include(self, layer, path, where, header):
        if header.startswith(OURS):
            owner = self.owner("include/" + header)
            if not os.path.exists(os.path.join(self.root, "include", header)):
                self.error(where, f"there is no '{header}'")
            elif owner and owner is not layer:
                layer.used.add(owner.name)
                if owner.name not in layer.depends:
                    self.error(where, f"'{header}' belongs to {owner.name}, which is not among the DEPENDS of "
                                      f"{layer.name} ({layer.folder}/CMakeLists.txt)")
        elif header.startswith("."):
            self.error(where, f"'{header}' is a private header of another folder")
        elif "/" not in header and not os.path.exists(os.path.join(self.root, os.path.dirname(path), header)):
            self.error(where, f"'{header}' is not in this folder: headers that folders share are in include/")

    def check_sources(self):
        for top in ("lib", "include"):
            for path in self.files(top):
                layer = self.owner(path)
                if not layer:
                    self.error(path, "belongs to no layer: see ft_layer in cmake/AddFractalTensor.cmake")
                    continue
                for where, header in self.includes(path):
                    self.check_include(layer, path, where, header)

    def check_tests(self):
        """Shared headers of tests are in unittests/include; others are in their folder or in one of INSIDES."""
        for path in self.files("unittests"):
            folder = os.path.dirname(path)
            insides, lists = [folder], os.path.join(self.root, folder, "CMakeLists.txt")
            if os.path.exists(lists):
                with open(lists) as text:
                    insides += re.findall(r"lib/[\w/]+", " ".join(re.findall(r"INSIDES([^)]*)", text.read())))
            for where, header in self.includes(path):
                if header.startswith("."):
                    self.error(where, f"'{header}' is a private header of another folder")
                elif header.startswith("fttest/"):
                    if not os.path.exists(os.path.join(self.root, "unittests/include", header)):
                        self.error(where, f"there is no '{header}'")
                elif "/" not in header and not any(os.path.exists(os.path.join(self.root, inside, header)) for inside in insides):
                    self.error(where, f"'{header}' is not in this folder: headers that tests share are in unittests/include")

    def check_depends(self):
        for layer in self.layers.values():
            where = f"{layer.folder}/CMakeLists.txt"
            for name in layer.depends:
                if name not in self.layers:
                    self.error(where, f"{layer.name} DEPENDS {name}, which is no layer")
                elif name not in layer.used:
                    self.error(where, f"{layer.name} DEPENDS {name}, of which nothing is included")

    def check_circles(self):
        done, path = set(), []

        def visit(name):
            if name in path:
                circle = " -> ".join(path[path.index(name):] + [name])
                self.error(f"{self.layers[name].folder}/CMakeLists.txt", f"layers in a circle: {circle}")
            elif name not in done and name in self.layers:
                path.append(name)
                for other in self.layers[name].depends:
                    visit(other)
                path.pop()
                done.add(name)

        for name in self.layers:
            visit(name)

    def check_installed(self):
        """What is installed can be included: with all that it includes itself."""
        list_path = "include/installed.txt"
        if not os.path.exists(os.path.join(self.root, list_path)):
            return
        installed = set()
        with open(os.path.join(self.root, list_path)) as lines:
            for number, line in enumerate(lines, 1):
                entry = line.split("#")[0].strip()
                if not entry:
                    continue
                full = os.path.join(self.root, "include", entry)
                if os.path.isdir(full):
                    installed.update(path[len("include/"):] for path in self.files("include/" + entry))
                elif os.path.exists(full):
                    installed.add(entry)
                else:
                    self.error(f"{list_path}:{number}", f"there is no '{entry}'")
        for header in sorted(installed):
            if not header.endswith(".h"):
                continue
            for where, other in self.includes("include/" + header):
                if other.startswith(OURS) and other not in installed:
                    self.error(where, f"'{other}' is not installed (include/installed.txt), but '{header}' is")


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    check = Check(read_layers(sys.argv[1]), sys.argv[2] if len(sys.argv) == 3 else ".")
    check.check_sources()
    check.check_tests()
    check.check_depends()
    check.check_circles()
    check.check_installed()
    for text in check.errors:
        print(text, file=sys.stderr)
    sys.exit(1 if check.errors else 0)


if __name__ == "__main__":
    main()
