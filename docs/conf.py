# SPDX-License-Identifier: GPL-3.0-or-later
"""Sphinx's configuration; docs/build calls it with the generated reference in place."""

project = "Normscope"
author = "the authors of Normscope"
copyright = "the authors of Normscope, GPL-3.0-or-later"  # noqa: A001: the name that Sphinx reads

extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["screenshots/README.md"]
myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence", "deflist"]

html_theme = "sphinx_rtd_theme"
html_static_path = ["_static"]
html_css_files = ["wide.css"]
html_show_sphinx = False
html_copy_source = False
