#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the rules of CONTRIBUTING.md say of the sources and no compiler checks.

    structure.py [--root=FOLDER] [attributes] [casts] [classes] [directories] [functions] [literals] [names] [passes] [pipelines] [times] [words]   (default: all, of this tree)

attributes: no source spells the name of an attribute or an operation of ours. AttributeNames.h of each dialect derives the names of
           all its `discardableAttrs`; operations have `getOperationName()`.
casts:     front ends ask interfaces what an operation reads, replaces or reshapes: they name upstream's accesses and reshapes of
           tensors only where they build one.
classes:   no class has more than 40 methods. Where one is excepted, its number of methods is, too: it may not grow.
directories: no directory holds more than 20 files `.cpp`.
functions: no function is longer than 80 lines.
literals:  passes that decide hold no number of a machine: integers above 8 in the folders LITERALS have a name, and a reason
           in a comment.
names:     no two back ends have functions or methods of equal names, in sources or headers. Where they do one thing, it is
           written once; what is another thing has another name. What overrides an interface's has the interface's name.
passes:    each registered pass has a test that checks its IR with FileCheck.
pipelines: passes are put together in lib/Pipelines alone: `create<Pass>(` of a defined pass, or an adaptor of it, stands nowhere else.
times:     what was timed stands in docs/performance.md and docs/history alone.
words:     texts have none of the phrases that prose.py lists, and no directory gains sentences of more than 30 words
           (scripts/prose.txt). Messages and descriptions of passes have no such sentence.

What is excepted stands in scripts/structure.txt, a line each: `check | file or pass | what | reason`. An exception that
no longer is one fails, too. Prints a count for each check and what is wrong with where it is; status 1 if anything is.
"""

import collections
import pathlib
import re
import sys

import prose

ROOT = pathlib.Path(__file__).resolve().parent.parent
MOST_LINES = 80
MOST_LITERAL = 8
MOST_FILES = 20
MOST_METHODS = 40
SOURCES = ("lib", "include", "tools", "unittests")
# The folders whose passes decide for machines, and those whose emitters only read.
LITERALS = ("lib/Schedule", "include/ft/Schedule", "lib/Conversion/LoopsToGPU", "lib/Conversion/ETDGToLoops",
            "lib/Conversion/LoopsToCPU", "lib/Conversion/LeafToLoops", "lib/Analysis/LeafGraph", "include/ft/Conversion", "include/ft/Analysis/LeafGraph",
            "lib/Dialect/Loops/Transforms", "include/ft/Dialect/Loops/Transforms", "lib/Conversion/TileToNVVM", "lib/Conversion/LaunchPlan", "lib/Target/Host", "lib/Target/MachineCode", "lib/Target/PTX",
            "lib/Dialect/ETDG/Transforms", "include/ft/Dialect/ETDG/Transforms")
BACK_ENDS = {"cpu": ("lib/Conversion/ETDGToLoops", "lib/Conversion/LoopsToCPU", "lib/Conversion/LeafToLoops"),
             "gpu": ("lib/Dialect/Loops/Transforms/GPU", "lib/Conversion/LoopsToGPU", "lib/Conversion/TileToNVVM")}
CONTROL = re.compile(r"(?:^|[^\w])(?:if|for|while|switch|catch|do|else|return|namespace|class|struct|enum|union|extern)\b")


def blanked(text):
    """The text without what stands in comments, strings and characters; lines and columns stay."""
    pattern = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])\'', re.S)
    return pattern.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def functions(text):
    """(name, first line, lines, whether it overrides) of each function with a body; lambdas are part of the function around them."""
    text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: re.sub(r"[^\n]", " ", m.group()), blanked(text), flags=re.M)
    found, stack, begin = [], [], 0
    for match in re.finditer(r"[{};]", text):
        at = match.start()
        if match.group() == "{":
            head = text[begin:at]
            inside = any(kind == "function" for kind, *_ in stack)
            name = re.search(r"([~\w:]+|operator\s*\S+)\s*\(", head)
            plain = re.sub(r"\[[^\]]*\]", "", head.split("(")[0]) if name else head
            is_function = not inside and name and not CONTROL.search(plain) and "=" not in re.sub(r"operator\s*\S+", "", plain)
            first = begin + len(head) - len(head.lstrip())
            overrides = bool(re.search(r"\b(?:override|final)\s*$", head))
            stack.append(("function", name.group(1), first, overrides) if is_function else ("other", None, 0, False))
        elif match.group() == "}" and stack:
            kind, name, first, overrides = stack.pop()
            if kind == "function":
                line = text.count("\n", 0, first) + 1
                found.append((name, line, text.count("\n", first, at) + 1, overrides))
        begin = at + 1
    return found


def sources(folders, endings=(".cpp", ".h", ".c")):
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in endings and path.is_file():
                yield path


def check_directories():
    counts = collections.Counter(path.parent for path in sources(SOURCES, (".cpp",)))
    for folder, count in sorted(counts.items()):
        if count > MOST_FILES:
            yield str(folder.relative_to(ROOT)), ".cpp", f"holds {count} files .cpp, at most {MOST_FILES}"


def check_functions():
    """(file, name, place and text) of what is too long."""
    for path in sources(SOURCES):
        for name, line, count, _ in functions(path.read_text()):
            if count > MOST_LINES:
                yield str(path.relative_to(ROOT)), name, f"{line}: {name} has {count} lines, at most {MOST_LINES}"


# A literal with a name of its own says what it is; a comment on its line or above has the reason.
NAMED = re.compile(r"\b(?:static\s+)?constexpr\b[^=;(]*=|\benum\b")
# Widths of types, alignments of the formats and bits are no property of a machine.
FORMAT = re.compile(r"Int(?:eger)?Type\w*\(|isInteger\(|Width\w*\(|getIntegerType|ConstantIntOp|alignTo|SmallVector<|SmallString<|"
                    r"isSignlessInteger|IntegerType::get|APInt|static_cast<|Bits|number32\(int64_t")
LITERAL = re.compile(r"(?<![\w.])(?<![eE][-+])(\d+)(?:[uUlL]*)(?![\w.]|\.\d)")


CLASS = re.compile(r"\b(?:class|struct)\s+(?:\w+\s+)*?(\w+)\s*(?:final\s*)?(?::[^;{}()]*)?\{")
NO_METHOD = re.compile(r"(?:using|friend|typedef|static_assert|enum|class|struct|union)\b|.*=\s*delete\s*$", re.S)


def classes(text):
    """(name, line, names of its methods) of each class. Constructors are none, and a class inside of another has its own."""
    text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: re.sub(r"[^\n]", " ", m.group()), blanked(text), flags=re.M)
    for head in CLASS.finditer(text):
        depth, own = 1, []
        for letter in text[head.end():]:
            depth += {"{": 1, "}": -1}.get(letter, 0)
            if not depth:
                break
            own.append(";" if letter == "}" and depth == 1 else letter if depth == 1 else "")
        found = []
        for declaration in "".join(own).split(";"):
            declaration = re.sub(r"\b(?:public|private|protected)\s*:", "", declaration)
            declaration = re.sub(r"^\s*template\s*<.*?>\s", "", declaration, flags=re.S).strip()
            name = re.search(r"(?<![\w.>])(operator\s*\S+?|~?\w+)\s*\((?!\s*\*)", declaration)
            # (`std::function<void(int)> f`, `int x = f(3)` and macros are none.)
            if not name or NO_METHOD.match(declaration) or "=" in declaration[:name.start()] or re.search(r"<[^<>]*$", declaration[:name.end()]):
                continue
            if name.group(1).lstrip("~") != head.group(1) and name.start() > 0:
                found.append(name.group(1))
        yield head.group(1), text.count("\n", 0, head.start()) + 1, found


def check_classes():
    allowed = {(file, what.split()[0]): what for check, file, what in exceptions() if check == "classes"}
    for path in sources(("lib", "include", "tools")):
        file = str(path.relative_to(ROOT))
        for name, line, methods in classes(path.read_text()):
            if len(methods) <= MOST_METHODS:
                continue
            # (An exception allows as many methods as it says.)
            what = allowed.get((file, name), f"{name} {MOST_METHODS}")
            most = int(what.split()[1])
            yield file, what if len(methods) <= most else name, f"{line}: {name} has {len(methods)} methods, at most {most}"


def check_literals():
    for path in sources(LITERALS):
        raw, reasoned = path.read_text(), False
        for number, (line, full) in enumerate(zip(blanked(raw).split("\n"), raw.split("\n")), 1):
            # A comment counts for the constants that follow it without a line between.
            is_comment, is_named = full.strip().startswith("//"), NAMED.search(line)
            reasoned = is_comment or ("//" in full) or (reasoned and bool(is_named))
            if FORMAT.search(line) or (is_named and reasoned):
                continue
            for literal in LITERAL.findall(line):
                if int(literal) > MOST_LITERAL:
                    what = "reason" if is_named else "name"
                    yield str(path.relative_to(ROOT)), literal, f"{number}: the literal {literal} has no {what}: {line.strip()}"


def overridden(folders):
    """(class, method) of what classes say that they override: an interface gives both back ends these names."""
    found = set()
    for path in sources(folders):
        text = blanked(path.read_text())
        for owner in re.finditer(r"\b(?:class|struct)\s+(\w+)[^;{}()]*\{", text):
            depth, at = 1, owner.end()
            while depth and at < len(text):
                depth += {"{": 1, "}": -1}.get(text[at], 0)
                at += 1
            found.update((owner.group(1), name) for name in re.findall(
                r"(\w+)\s*\([^;{}]*\)[^;{}()]*\b(?:override|final)\b", text[owner.end():at]))
    return found


def defined_names(folders):
    """Where functions and methods of each name are defined, in sources and headers; without constructors and what overrides."""
    found, overrides = collections.defaultdict(set), overridden(folders)
    for path in sources(folders):
        for full, line, _, is_override in functions(path.read_text()):
            owner, _, name = full.rpartition("::")
            owner = owner.rpartition("::")[2]
            if not is_override and owner != name and (owner, name) not in overrides and not name.startswith(("~", "operator")):
                found[name].add(f"{full} ({path.name}:{line})")
    return found


def check_names():
    cpu, gpu = defined_names(BACK_ENDS["cpu"]), defined_names(BACK_ENDS["gpu"])
    for name in sorted(set(cpu) & set(gpu)):
        yield "back ends", name, f"{name}: {', '.join(sorted(cpu[name]))} and {', '.join(sorted(gpu[name]))}"


def registered_passes():
    """(name, file, operation that it runs on or "") of each pass that is defined. Tools may have passes of their own besides.

    That nothing is missed is test/Plugin/every-pass.py's to say, which asks ft-opt."""
    texts = {path: path.read_text() for path in sorted((ROOT / "include").rglob("*.td"))}
    # A pass may be defined through a class that hands the name on: class and what it says the operation is.
    classes = {"Pass": "", "InterfacePass": ""}
    grown = True
    while grown:
        found = {name: anchor or classes[base] for text in texts.values() for name, base, anchor in re.findall(
            r'^class (\w+)<[^>]*>\s*:\s*(\w+)<\s*\w+\s*(?:,\s*"([\w:]+)")?', text, re.M) if base in classes}
        grown = not found.keys() <= classes.keys()
        classes.update(found)
    for path, text in texts.items():
        for base, name, anchor in re.findall(r'^def \w+\s*:\s*(\w+)<\s*"([\w-]+)"\s*(?:,\s*"([\w:]+)")?', text, re.M):
            if base in classes:
                yield name, path.relative_to(ROOT), (anchor or classes[base]).removeprefix("::mlir::")
    for path in sources(("lib",), (".cpp", ".h")):
        if path.parent.name == "Tools":
            continue
        for head, name in re.findall(r'PassWrapper<([^{]*)\{.*?getArgument\(\) const[^"]*"([\w-]+)"', path.read_text(), re.S):
            anchor = re.search(r"OperationPass<([\w:]+)>", head)
            yield name, path.relative_to(ROOT), anchor.group(1) if anchor else ""


def check_passes():
    tested = set()
    for path in sorted((ROOT / "test").rglob("*")):
        if not path.is_file() or path.suffix not in (".mlir", ".test"):
            continue
        text = path.read_text(errors="replace").replace("\\\n", "")
        commands = re.findall(r"RUN:(.*)", text)
        # What comes out is looked at, or each place has its own expected diagnostic.
        if any("FileCheck" in command or "--verify-diagnostics" in command for command in commands):
            for command in commands:
                if "ft-opt" in command or "mlir-opt" in command:
                    tested.update(word.lstrip("-") for word in re.findall(r"[\w-]+", command))
    for name, path, _ in registered_passes():
        if name not in tested:
            yield str(path), name, f"{name}: no test checks its IR"


CREATE = re.compile(r"\bcreate(\w+)\s*\(")


def check_pipelines():
    text = "\n".join(path.read_text() for path in sorted((ROOT / "include").rglob("Passes.td")))
    # (Adaptors differ in case: createScheduleForGpu stood for createETDGScheduleForGPU.)
    defined = {name.lower() for name in re.findall(r"^def (\w+)\s*:\s*\w*Pass\b", text, re.M)}
    defined |= {re.sub("^(etdg|ft|loops|tile|tssa)", "", name) for name in defined}
    for path in sources(("lib", "include")):
        if "Pipelines" in path.parts:
            continue
        for number, line in enumerate(blanked(path.read_text()).split("\n"), 1):
            for name in CREATE.findall(line):
                if name.lower() in defined:
                    yield str(path.relative_to(ROOT)), f"create{name}", f"{number}: create{name} adds a pass outside of lib/Pipelines"


TIME = re.compile(r"[\d.]+ ?(?:ms|µs|ns)\b|[\d.]+ s\b|[\d.]+ [GT](?:FLOP|B)/s\b")


def check_times():
    for path in sorted((ROOT / "docs").rglob("*.md")):
        if path.name == "performance.md" or path.parent.name == "history":
            continue
        for number, line in enumerate(path.read_text().split("\n"), 1):
            for found in TIME.findall(line):
                yield str(path.relative_to(ROOT)), found, f"{number}: a time, which belongs into docs/performance.md: {line.strip()}"


FRONT_ENDS = ("lib/Conversion/FTToETDG", "lib/Conversion/SCFToETDG", "lib/Conversion/LinalgToETDG", "lib/Conversion/GraphWriter",
              "lib/Conversion/TSSAToTensor", "include/ft/Conversion/GraphWriter")
# What has one of the interfaces of include/ft/Interfaces by an external model, and upstream's interface of slices alone.
ACCESS = re.compile(r"\btensor::((?:Parallel)?(?:Extract|Insert)(?:Slice)?Op|(?:Expand|Collapse)ShapeOp)\b(?!::create\b)|"
                    r"\b(OffsetSizeAndStrideOpInterface)\b")


def check_casts():
    for path in sources(FRONT_ENDS):
        for number, line in enumerate(blanked(path.read_text()).split("\n"), 1):
            for match in ACCESS.finditer(line):
                name = match.group(1) or match.group(2)
                yield str(path.relative_to(ROOT)), name, f"{number}: names {name}, which an interface stands for: {line.strip()}"


# Names of attributes and operations of the dialects. AttributeNames.h of each derives those of attributes from its definition, and
# RenamedWords.h has those of before.
SPELLED = re.compile(r'"(etdg|ft|loops|tile)\.(\w+)"')
DERIVED = re.compile(r"(\w+) = (\w+)Dialect::(\w+)AttrHelper::getNameStr\(\);")


def declared_attributes():
    """(dialect, name) of each attribute that the definition of a dialect lists."""
    for path in sorted((ROOT / "include").rglob("*.td")):
        for dialect in re.finditer(r"^def \w+\s*:\s*Dialect\s*\{.*?^\}", path.read_text(), re.M | re.S):
            name = re.search(r'let name = "(\w+)"', dialect.group())
            listed = re.search(r"let discardableAttrs = \(ins(.*?)\);", dialect.group(), re.S)
            if name and listed:
                yield from ((name.group(1), attribute) for attribute in re.findall(r":\$(\w+)", listed.group(1)))


def check_attributes():
    for path in sources(("lib", "include", "tools")):
        for number, line in enumerate(path.read_text().split("\n"), 1) if path.name != "RenamedWords.h" else ():
            for dialect, name in SPELLED.findall(line):
                yield (str(path.relative_to(ROOT)), f"{dialect}.{name}",
                       f"{number}: the literal \"{dialect}.{name}\": expected {dialect}::names::… of an attribute, getOperationName() of an operation")
    for dialect, name in declared_attributes():
        camel = "".join(word.capitalize() for word in name.split("_"))
        found = [path for path in sources(("include",)) if path.name == "AttributeNames.h" and path.parts[-3].lower() == dialect]
        if not any(helper == camel and constant == camel[0].lower() + camel[1:] for path in found for constant, _, helper in DERIVED.findall(path.read_text())):
            yield f"include/ft/Dialect/{dialect}", f"{dialect}.{name}", f"AttributeNames.h has no {camel[0].lower() + camel[1:]} for {dialect}.{name}"


CHECKS = {"attributes": check_attributes, "casts": check_casts, "classes": check_classes, "directories": check_directories, "functions": check_functions, "literals": check_literals, "names": check_names, "passes": check_passes,
          "pipelines": check_pipelines,
          "times": check_times, "words": lambda: prose.check_words(ROOT)}


def exceptions():
    allowed = {}
    for number, line in enumerate((ROOT / "scripts/structure.txt").read_text().split("\n"), 1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = [part.strip() for part in line.split("|")]
        if len(parts) != 4 or parts[0] not in CHECKS or not parts[3]:
            sys.exit(f"scripts/structure.txt:{number}: expected `check | file | what | reason`, found: {line}")
        allowed[tuple(parts[:3])] = number
    return allowed


def main():
    global ROOT
    arguments = sys.argv[1:]
    if arguments and arguments[0].startswith("--root="):
        ROOT = pathlib.Path(arguments.pop(0).split("=", 1)[1]).resolve()
    chosen = arguments or list(CHECKS)
    if unknown := [name for name in chosen if name not in CHECKS]:
        sys.exit(f"unknown check {unknown[0]}; there are {', '.join(CHECKS)}")
    allowed, used, wrong = exceptions(), set(), 0
    for check in chosen:
        total = new = 0
        for file, what, text in CHECKS[check]():
            total += 1
            if (check, file, what) in allowed:
                used.add((check, file, what))
                continue
            new += 1
            print(f"{file}:{text}" if text[0].isdigit() else f"{file}: {text}")
        wrong += new
        print(f"{check}: {total} found, {total - new} of them excepted, {new} wrong")
    for key, number in allowed.items():
        if key[0] in chosen and key not in used:
            print(f"scripts/structure.txt:{number}: nothing is excepted by this line any more")
            wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
