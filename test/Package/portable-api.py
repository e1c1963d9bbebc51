# The table of ft-c/PortableApi.h has every function of the headers that it speaks for, with its arguments.
# RUN: %python %s %ft_src/include/ft-c | FileCheck %s
# CHECK: {{[4-9][0-9]}} functions
import pathlib
import re
import sys

folder = pathlib.Path(sys.argv[1])


def without_comments(name):
    return re.sub(r"/\*.*?\*/", "", (folder / name).read_text(), flags=re.S)


def plain(text):
    return re.sub(r"\s+", " ", text).replace("* ", "*").strip()


declared = {}
for header in ("Runtime.h", "Compiler.h"):
    text = without_comments(header)
    for result, name, arguments in re.findall(r"^([A-Za-z_][\w ]*[ *]+)ft_(\w+)\(([^;{]*?)\);", text, re.S | re.M):
        declared[name] = (plain(result), plain(arguments))
table = {name: (plain(result), plain(arguments))
         for result, name, arguments in re.findall(r"^  ([A-Za-z_][\w ]*[ *]+?)\(\*(\w+)\)\(([^;]*?)\);",
                                                   without_comments("PortableApi.h"), re.S | re.M)}
for name in sorted(declared.keys() | table.keys()):
    if declared.get(name) != table.get(name):
        sys.exit(f"ft_{name}: declared {declared.get(name)}, in the table {table.get(name)} (new ones go to its end)")
print(f"{len(table)} functions")
