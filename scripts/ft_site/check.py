# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads a site: links and anchors lead somewhere, nothing comes from another host."""

import html.parser
import pathlib
import urllib.parse

# Attributes by which a page loads a part of itself; <a href> goes elsewhere and may.
_PARTS = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}
_FREE = ("canonical", "alternate", "edit")


class _Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.anchors, self.links, self.parts = set(), [], []

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        for name in ("id", "name"):
            if found.get(name):
                self.anchors.add(found[name])
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        if tag in _PARTS and found.get(_PARTS[tag]) and found.get("rel") not in _FREE:
            self.parts.append(found[_PARTS[tag]])


def _read(path):
    page = _Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def _target(site, page, link):
    """The file that a relative link of a page names, or None for one that leaves the site."""
    url = urllib.parse.urlsplit(link)
    if url.scheme or url.netloc:
        return None
    path = urllib.parse.unquote(url.path)
    found = (site / path.lstrip("/")) if path.startswith("/") else page.parent / path if path else page
    found = pathlib.Path(str(found)).resolve()
    return found / "index.html" if found.is_dir() else found


def wrong(site, files):
    """One line for each thing that is wrong."""
    pages, lines = {path.resolve(): _read(path) for path in files}, []
    for path, page in pages.items():
        name = path.relative_to(site.resolve())
        if str(name) == "404.html":  # served for any address: its links begin at the root
            continue
        for part in page.parts:
            if urllib.parse.urlsplit(part).netloc:
                lines.append(f"{name}: {part} is loaded from another host")
        for link in page.links + page.parts:
            goal = _target(site, path, link)
            if goal is None:
                continue
            anchor = urllib.parse.unquote(urllib.parse.urlsplit(link).fragment)
            if not goal.exists():
                lines.append(f"{name}: {link} leads nowhere")
            elif anchor and goal in pages and anchor not in pages[goal].anchors and not anchor.startswith("__"):
                lines.append(f"{name}: {link}: the page has no such anchor")
    return lines
