#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The check on a card links: of the sources that compiling.py names for it, no function is missing.

    links.py CXX LIBRARY    LIBRARY: libnormscope_backend.a, whose objects are taken for the sources with kernels
"""
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from compiling import REFERENCE, ROOT  # noqa: E402

compiler, library = sys.argv[1:]
with tempfile.TemporaryDirectory() as folder:
    objects = []
    for source in REFERENCE:
        made = f"{folder}/{pathlib.Path(source).stem}.o"
        if source.startswith("core/backend/cuda/"):  # long to compile; the library's object has the same functions
            member = pathlib.Path(source).name + ".o"
            subprocess.run(["ar", "x", str(pathlib.Path(library).resolve()), member], cwd=folder, check=True)
            made = f"{folder}/{member}"
        else:
            subprocess.run([compiler, "-std=c++20", "-O0", f"-I{ROOT}", "-c", str(ROOT / source), "-o", made], check=True)
        objects.append(made)
    # The library's objects ask for functions of the race checker too, which the check does not have.
    done = subprocess.run([compiler, "-o", f"{folder}/operations", *objects, "-ldl", "-lpthread",
                           "-Wl,--warn-unresolved-symbols"], capture_output=True, text=True)
missing = sorted(set(re.findall(r"undefined reference to `(normscope::[^']*)'", done.stderr)))
if done.returncode != 0 or missing:
    sys.exit("tests/gpu/compiling.py: its REFERENCE lacks the source of\n" + "\n".join(missing or [done.stderr]))
