# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What MkDocs calls while it makes pages."""

import re

_ROLE = re.compile(r":(?:meth|func|class|mod|attr|exc|data):(?=<code>)")


def on_page_content(html, **_):
    """Docstrings name functions by roles of reStructuredText, whose marks the site does not show."""
    return _ROLE.sub("", html)
