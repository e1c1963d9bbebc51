#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes the documentation as a static, searchable site.

    scripts/site.py [--out build/site] [--build build] [--check]

The site holds the guides of docs/, the Python interface (from its docstrings) and a gallery of the examples.
Its references of dialects and passes come from their definitions, without a build. Where --build has ft-translate,
the gallery has each example's graph. No page loads anything from another host, and the site works at any path of any
server. Needs the packages of docs/site/requirements.txt. --check reads every page again: a link or an anchor that
leads nowhere, or a part from another host, is an error.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
from ft_site import check, config, gallery, references, stage  # noqa: E402


def build(out, tools):
    """Writes the site to `out`, which appears whole or not at all."""
    config.require_packages()
    with tempfile.TemporaryDirectory(prefix="ft-site-") as folder:
        work = pathlib.Path(folder)
        pages = work / "docs"
        stage.copy_guides(ROOT, pages)
        references.write(ROOT, pages / "reference")
        gallery.write(ROOT, pages / "gallery", tools)
        stage.mend_links(ROOT, pages)
        config.write(ROOT, work, pages)
        run = subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--config-file", str(work / "mkdocs.yml"),
                              "--site-dir", str(work / "site")], text=True, capture_output=True, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"})
        if run.returncode:
            sys.exit(f"site.py: error: mkdocs failed:\n{run.stdout}{run.stderr}")
        out.parent.mkdir(parents=True, exist_ok=True)
        if out.exists():
            shutil.rmtree(out)
        shutil.move(str(work / "site"), out)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build/site")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    out = options.out.resolve()
    if out.exists() and not (out / "sitemap.xml").exists() and any(out.iterdir()):
        sys.exit(f"site.py: error: {out} holds something else than a site; name another folder by --out")
    try:
        build(out, options.build.resolve() / "bin")
    except config.MissingPackages as missing:
        sys.exit(f"site.py: error: {missing}")
    pages = sorted(out.rglob("*.html"))
    wrong = check.wrong(out, pages) if options.check else []
    for line in wrong:
        print(line)
    print(f"{len(pages)} pages in {out}" + (f"; {len(wrong)} wrong" if options.check else ""))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
