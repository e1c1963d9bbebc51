# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The check `words` of structure.py: phrases that no text of the project uses, and sentences that are too long.

It reads comments, descriptions of TableGen records, docstrings, docs outside of code, and message strings. A message is a string
with at least four words in a C++ source; strings that `<<` or adjacency joins are one message.

    prose.py [--write]     prints each directory's count of long sentences, or writes it to scripts/prose.txt

`scripts/prose.txt` holds a line for each directory: `directory | long sentences`. A count may only fall.
Messages of the compiler and descriptions of passes have none.
"""

import collections
import pathlib
import re
import subprocess
import sys

MOST_WORDS = 30
FEWEST_WORDS = 4  # what is shorter is a name or a cell of a table
FOLDERS = ("lib", "include", "tools", "python", "docs", "scripts", "benchmarks", "integration", "README.md", "CONTRIBUTING.md")
BANNED = re.compile(r"\b(nobody|somebody|whoever|what is said|blocks? of threads|behind)\b", re.I)
# `behind a peer` is slower than it; files and options have names of their own.
ALLOWED = re.compile(r"behind (?:a|its|the|other) peers?\b|behind (?:PyTorch|cuBLAS|cuDNN)\b", re.I)
CPP = re.compile(r'(?P<comment>//[^\n]*|/\*.*?\*/)|R"(?P<mark>\w*)\(.*?\)(?P=mark)"|(?P<string>"(?:\\.|[^"\\\n])*")|\'(?:\\.|[^\'\\\n])\'', re.S)
TD = re.compile(r'(?P<comment>//[^\n]*)|(?P<block>\[\{.*?\}\])|(?P<string>"(?:\\.|[^"\\\n])*")', re.S)
PYTHON = re.compile(r'(?P<block>""".*?""")|(?P<string>"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\')|(?P<comment>#[^\n]*)', re.S)


def paragraphs(path, text):
    """(first line, kind, text) of each run of prose: a comment over several lines, a description, a message, a paragraph of docs."""
    if path.suffix == ".md":
        yield from markdown(text)
    elif path.suffix in (".cpp", ".h", ".c", ".cu", ".inc", ".def"):
        yield from joined(text, CPP, "//")
    elif path.suffix == ".td":
        yield from joined(text, TD, "//")
    elif path.suffix == ".py":
        yield from joined(text, PYTHON, "#")


def markdown(text):
    text = re.sub(r"^(```|~~~).*?^\1", lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.S | re.M)
    text = re.sub(r"`[^`\n]*`", "code", text)
    text = re.sub(r"\]\([^)\n]*\)", "]", text)
    line, block = 1, []
    for number, content in enumerate(text.split("\n") + [""], 1):
        item = re.match(r"\s*(?:[-*+]|\d+\.)\s|\s*#|\s*\|", content)
        if (not content.strip() or item) and block:
            yield line, "docs", "\n".join(block)
            block = []
        if content.lstrip().startswith("|"):
            for cell in content.strip().strip("|").split("|"):
                yield number, "docs", cell
            continue
        if content.strip():
            line = number if not block else line
            block.append(content)


def joined(text, pattern, mark):
    """Comments on lines that follow each other are one; so are strings with nothing but `<<`, names or blanks between them."""
    kind, first, parts, end = None, 0, [], 0
    for match in list(pattern.finditer(text)) + [None]:
        found = match and next((k for k in ("comment", "block", "string") if match.groupdict().get(k)), None)
        before = text[text.rfind("\n", 0, match.start()) + 1:match.start()] if found == "block" else ""
        if found == "block" and mark == "#" and before.strip(" \tr"):
            found = None  # data, not a docstring
        elif found == "block" and mark == "//" and re.search(r"extra\w+ = $", before):
            yield from ((text.count("\n", 0, match.start()) + line, *rest) for line, *rest in joined(match.group(), CPP, "//"))
            found = None  # methods in C++
        between = text[end:match.start()] if match else ";"
        goes_on = found == kind and found and (
            (found == "comment" and not between.strip() and between.count("\n") == 1) or
            (found == "string" and re.fullmatch(r"\s*(?:(?:<<|\+)[^;\"{}]*?(?:<<|\+))?\s*(?:(?:<<|\+)\s*)?", between)))
        if not goes_on and parts:
            yield from spoken(first, kind, parts)
            parts = []
        if match is None:
            break
        if found:
            if not parts:
                first = text.count("\n", 0, match.start()) + 1
            kind = found
            parts.append((match.group(), "<<" in between or "+" in between, match.start() - text.rfind("\n", 0, match.start()) - 1))
        else:
            kind = None
        end = match.end()


def spoken(line, kind, parts):
    if kind == "comment":
        content = "\n".join(re.sub(r"^(///?<?|#:?|/\*+)|\*/$", "", part).strip() for part, _, _ in parts)
        content = re.sub(r"^\s*=+.*$|^\S+\.(?:h|cpp) - |-\*-.*?-\*-.*", "", content, flags=re.M)
        for paragraph in re.split(r"\n\s*\n", content):
            yield line, "comment", paragraph
    elif kind == "block":
        yield from description(line, parts[0][0], parts[0][2])
    else:
        content = "".join((" … " if apart else "") + part[1:-1] for part, apart, _ in parts)
        if len(re.findall(r"[A-Za-z]{2,}", content)) >= FEWEST_WORDS:
            yield line, "message", content.replace("\\n", "\n")


def description(line, text, margin):
    """The paragraphs and items of a TableGen description, or of a docstring in column `margin`, without tables and what is indented as code."""
    python = text.startswith('"""')
    content = re.sub(r'^\[\{|\}\]$|^"""|"""$', "", text)
    content = re.sub(r"```.*?```", "", content, flags=re.S)
    content = re.sub(r"^\s*\|.*$", "", content, flags=re.M)  # tables
    items = r"|\n\s*(?=\w+: )" if python else ""  # `Attributes:` of a class
    for paragraph in re.split(r"\n\s*\n|\n\s*(?=[-*] )" + items, content):
        if python and is_code(paragraph, margin) or not python and re.match(r"\s{8,}\S", paragraph.split("\n")[-1]):
            continue
        yield line, "description", paragraph
        line += paragraph.count("\n") + 1


def is_code(paragraph, margin):
    """Whether all lines of a docstring's paragraph, an item aside, stand further in than its text."""
    lines = [one for one in paragraph.split("\n") if one.strip()]
    return len(lines) > 0 and all(re.match(r"\s{%d,}\S" % (margin + 2), one) for one in lines)


def sentences(text):
    """The sentences of a paragraph. A colon before a list and a semicolon do not end one; abbreviations are none."""
    text = re.sub(r"\b(e\.g|i\.e|cf|vs|etc|Fig|Sec|Table)\.", r"\1", " ".join(text.split()))
    found = [one for one in re.split(r"(?<=[.!?])\s+(?=[A-Z`'\"(\[0-9])", text) if one]
    # A long one without a comma or an end is a list of names.
    return [one for one in found if words(one) <= MOST_WORDS or re.search(r"[,.;:!?](?:\s|$)", one)]


def words(sentence):
    return len(re.findall(r"[\w`'\"][^\s]*", sentence))


def files(root):
    if (root / ".git").exists():
        listed = subprocess.run(["git", "ls-files", "-z", *FOLDERS], cwd=root, capture_output=True, text=True, check=True).stdout.split("\0")
    else:
        listed = [str(path.relative_to(root)) for folder in FOLDERS for path in
                  (sorted((root / folder).rglob("*")) if (root / folder).is_dir() else [root / folder])]
    for name in listed:
        path = root / name
        if name and path.suffix in (".cpp", ".h", ".c", ".cu", ".inc", ".def", ".td", ".py", ".md") and path.is_file():
            yield path


def measured(root):
    """(long sentences by directory, sentences by directory, (file, line, what is wrong there))."""
    long, total, banned = collections.Counter(), collections.Counter(), []
    for path in files(root):
        name, text = str(path.relative_to(root)), path.read_text(errors="replace")
        folder = str(pathlib.Path(name).parent)
        own = name == "scripts/prose.py"
        for line, kind, paragraph in paragraphs(path, text):
            plain = ALLOWED.sub("", re.sub(r"`[^`]*`", "code", paragraph))
            if not own:
                banned += [(name, line, found.group()) for found in BANNED.finditer(plain)]
            for sentence in sentences(paragraph):
                total[folder] += words(sentence) >= FEWEST_WORDS
                long[folder] += words(sentence) > MOST_WORDS
                if words(sentence) > MOST_WORDS and is_short(path, kind):
                    banned.append((name, line, f"a sentence of {words(sentence)} words in a message or a pass's description"))
    return long, total, banned


def is_short(path, kind):
    """Whether no sentence of such a text may be long: messages of the compiler, and descriptions of passes."""
    return kind == "message" and path.suffix == ".cpp" or kind == "description" and path.name == "Passes.td"


def recorded(root):
    path = root / "scripts/prose.txt"
    lines = path.read_text().split("\n") if path.exists() else []
    return {folder.strip(): int(count) for folder, _, count in (line.partition("|") for line in lines if "|" in line and not line.startswith("#"))}


def check_words(root):
    """(file, what, text) of each banned phrase, and of each directory with more long sentences than are recorded."""
    long, _, banned = measured(root)
    for name, line, phrase in banned:
        what = phrase if phrase.startswith("a sentence") else f"the phrase '{phrase}'"
        yield name, phrase.lower(), f"{line}: {what} (CONTRIBUTING.md, Rules)"
    bound = recorded(root)
    for folder, count in sorted(long.items()):
        if count > bound.get(folder, 0):
            yield folder, "long", f"sentences of more than {MOST_WORDS} words: {count}, at most {bound.get(folder, 0)} recorded (scripts/prose.txt)"


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    long, total, _ = measured(root)
    if "--write" in sys.argv[1:]:
        known = recorded(root)
        lines = ["# Sentences of more than 30 words in each directory; a count may only fall: directory | sentences"]
        lines += [f"{folder} | {min(count, known.get(folder, count))}" for folder, count in sorted(long.items()) if count]
        (root / "scripts/prose.txt").write_text("\n".join(lines) + "\n")
    for folder in sorted(total):
        print(f"{folder}: {long[folder]} of {total[folder]}")
    print(f"all: {sum(long.values())} of {sum(total.values())}, {100 * sum(long.values()) / max(sum(total.values()), 1):.1f} %")


if __name__ == "__main__":
    main()
