#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks that wheel and sdist of the Python package have every source file: python_contents.py DIST SOURCE"""

import glob
import os
import sys
import tarfile
import zipfile


def main():
    dist, source = sys.argv[1:]
    wanted = {os.path.relpath(path, os.path.join(source, "src"))
              for path in glob.glob(os.path.join(source, "src", "normscope", "**", "*.py"), recursive=True)}
    (wheel,), (sdist,) = glob.glob(os.path.join(dist, "*.whl")), glob.glob(os.path.join(dist, "*.tar.gz"))
    in_wheel = set(zipfile.ZipFile(wheel).namelist())
    in_sdist = {name.partition("/")[2] for name in tarfile.open(sdist).getnames()}
    missing = [f"wheel: {name}" for name in wanted - in_wheel]
    missing += [f"sdist: src/{name}" for name in wanted if f"src/{name}" not in in_sdist]
    missing += [f"sdist: {name}" for name in ("README.md", "pyproject.toml") if name not in in_sdist]
    extra = [name for name in in_wheel if not name.startswith(("normscope/", "normscope-"))]
    for line in sorted(missing):
        print(f"missing in the {line}", file=sys.stderr)
    for line in sorted(extra):
        print(f"not of the package in the wheel: {line}", file=sys.stderr)
    sys.exit(1 if missing or extra else 0)


if __name__ == "__main__":
    main()
