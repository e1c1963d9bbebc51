# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Guides: what lies in docs/ and at the top of the repository, as pages of the site."""

import pathlib
import re
import shutil

# A page's place on the site, by its file in the repository.
TOP = {"README.md": "index.md", "docs/README.md": "map.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
_BUILT = re.compile(r"`build/docs/([\w-]+)\.md`")


def place(file):
    """Where a file of the repository, as a path from its root, lies on the site; None where it is no page."""
    if file in TOP:
        return TOP[file]
    if file.startswith("docs/") and file.endswith((".md", ".svg")) and not file.startswith("docs/site/"):
        return file[len("docs/"):]
    example = re.fullmatch(r"examples/(?:python/)?(\w+)\.(?:mlir|py)", file)
    if example:
        return f"gallery/{example.group(1)}.md"
    return "gallery/index.md" if file in ("examples", "examples/python") else None


def copy_guides(root, pages):
    files = [root / name for name in TOP if (root / name).exists()]
    files += [f for f in (root / "docs").rglob("*") if f.suffix in (".md", ".svg")]
    for file in dict.fromkeys(files):
        where = place(str(file.relative_to(root)))
        if where:
            target = pages / where
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)
            if target.suffix == ".md":
                target.write_text(_mend(root, file, target.read_text(), where))


def mend_links(root, pages):
    """References that the guides name by their place in a build become links, where the site has them."""
    for page in pages.rglob("*.md"):
        text, depth = page.read_text(), "../" * len(page.relative_to(pages).parent.parts)
        made = _BUILT.sub(lambda m: f"[`{m.group(1)}`]({depth}reference/{m.group(1)}.md)" if (pages / f"reference/{m.group(1)}.md").exists() else m.group(0), text)
        if made != text:
            page.write_text(made)


def _mend(root, file, text, where):
    """Links to files that are no pages of the site become the file's name."""
    depth = "../" * (len(pathlib.PurePosixPath(where).parts) - 1)

    def link(match):
        image, words, target = match.groups()
        path, _, anchor = target.partition("#")
        if "://" in target or target.startswith(("mailto:", "#")):
            return match.group(0)
        found = (file.parent / path).resolve()
        inside = found.is_relative_to(root)
        goal = place(str(found.relative_to(root))) if inside else None
        if goal and (found.exists()):
            return f"{image}[{words}]({depth}{goal}{'#' + anchor if anchor else ''})"
        return f"{words} (`{found.relative_to(root)}`)" if inside and words.strip("`") != path else words

    parts = re.split(r"(^```.*?^```\s*$|^<!--.*?-->)", text, flags=re.M | re.S)
    return "".join(part if i % 2 else _LINK.sub(link, part) for i, part in enumerate(parts))
