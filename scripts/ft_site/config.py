# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""MkDocs' configuration: theme, search, the order of the pages."""

import importlib.util
import json

NEEDS = {"mkdocs": "mkdocs", "material": "mkdocs-material", "mkdocstrings": "mkdocstrings", "mkdocstrings_handlers.python": "mkdocstrings-python"}
START = ["index.md", "when.md", "python-tutorial.md", "tutorial.md", "gallery/index.md", "limits.md", "performance.md"]
USE = ["python.md", "torch.md", "gradients.md", "distributed.md", "raising.md", "embedding.md", "c-api.md", "debugging.md", "extending.md"]
CSS = """
.md-grid { max-width: 80rem; }
.md-typeset iframe.graph { width: 100%; height: 34rem; border: 1px solid var(--md-default-fg-color--lightest); }
.md-typeset table:not([class]) { display: block; overflow-x: auto; }
.md-typeset h2 code, .md-typeset h3 code { overflow-wrap: anywhere; }
@media (max-width: 76.234375em) { [data-md-toggle=drawer]:not(:checked) ~ .md-container .md-sidebar--primary { visibility: hidden; } }
"""
# The theme's drawer of narrow windows takes Enter, and Tab does not lead to it.
SCRIPT = """
document.querySelectorAll('label.md-header__button[for=__drawer]').forEach(label => {
  label.tabIndex = 0;
  label.setAttribute('role', 'button');
  label.setAttribute('aria-label', 'Navigation');
  label.addEventListener('keydown', event => { if (event.key === ' ') { event.preventDefault(); label.click(); } });
});
"""


class MissingPackages(Exception):
    pass


def _found(module):
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def require_packages():
    missing = [package for module, package in NEEDS.items() if not _found(module)]
    if missing:
        raise MissingPackages(f"{', '.join(missing)} missing: pip install -r docs/site/requirements.txt")


def write(root, work, pages):
    every = sorted(str(p.relative_to(pages)) for p in pages.rglob("*.md"))

    def some(names):
        return [name for name in names if name in every]

    gallery = [p for p in every if p.startswith("gallery/")]
    reference = [p for p in every if p.startswith("reference/")]
    history = [p for p in every if p.startswith(("history/", "changelog"))]
    rationale = [p for p in every if p.startswith("rationale/")]
    inside = [p for p in every if p not in START + USE + gallery + reference + history + rationale]
    (pages / "site.css").write_text(CSS)
    (pages / "site.js").write_text(SCRIPT)
    settings = {
        "site_name": "FractalTensor",
        "docs_dir": str(pages),
        "hooks": [str(root / "scripts/ft_site/hooks.py")],
        "theme": {"name": "material", "font": False, "features": ["navigation.tabs", "navigation.indexes", "content.code.copy", "search.highlight", "toc.follow"],
                  "palette": [{"media": "(prefers-color-scheme: light)", "scheme": "default", "toggle": {"icon": "material/weather-night", "name": "dark"}},
                              {"media": "(prefers-color-scheme: dark)", "scheme": "slate", "toggle": {"icon": "material/weather-sunny", "name": "light"}}]},
        "extra": {"generator": False},
        "extra_css": ["site.css"],
        "extra_javascript": ["site.js"],
        "plugins": ["search", {"mkdocstrings": {"handlers": {"python": {
            "paths": [str(root / "python")], "options": {"show_root_heading": True, "show_source": False, "heading_level": 2, "show_root_full_path": False,
                                                         "docstring_style": "google", "filters": ["!^_"], "allow_inspection": False}}}}}],
        "markdown_extensions": ["tables", "fenced_code", "attr_list", "md_in_html", {"toc": {"permalink": True, "toc_depth": 3}}, "pymdownx.highlight", "pymdownx.superfences"],
        "validation": {"links": {"anchors": "warn", "absolute_links": "warn", "unrecognized_links": "ignore"}},
        "nav": [{"Start": some(START)}, {"Use": some(USE)}, {"Gallery": gallery}, {"Reference": reference},
                {"Inside": inside}, {"Rationale": rationale}, {"History": history}],
    }
    # JSON is YAML.
    (work / "mkdocs.yml").write_text(json.dumps(settings, indent=1))
