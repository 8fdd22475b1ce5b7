#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs README's commands as printed, one after the other, in an empty folder: readme_commands.py BIN.

BIN has normscope and cli/normscope-cli. What the comment after two spaces or more says is dropped; a training gets few steps
where the line sets none. packaging/… (which build), pip, lines of Python, and
lines that open a window or need a card are not run.
"""
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Steps that keep every command short: the fourth line measures step 45.
FEW = {"train": ["--steps", "50"], "sweep": ["--set", "steps=4", "--set", "stack.depth=2"]}


def commands_of(text):
    for line in re.findall(r"^    (\S.*)$", text, flags=re.M):
        yield re.split(r"  +", line)[0]


def words_of(command):
    words = shlex.split(command)
    if words[0] == "normscope-cli" and words[1] in FEW and "--steps" not in words:
        words += FEW[words[1]]
    return words


def main():
    programs = pathlib.Path(sys.argv[1]).resolve()
    environment = dict(os.environ, PATH=f"{programs}:{programs}/cli:{os.environ['PATH']}", NORMSCOPE_CUDA_PLUGIN="")
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        environment.pop(name, None)
    ran, failed = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for command in commands_of((ROOT / "README.md").read_text(encoding="utf-8")):
            of_a_card = "--backend cuda" in command
            if of_a_card or command.startswith(("packaging/", "docs/build", "export ", "pip ", "with ")):
                print(f"not run: {command}")
                continue
            words = words_of(command)
            done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True)
            ran += 1
            print(f"{done.returncode}  {shlex.join(words)}")
            if done.returncode != 0:
                failed += 1
                print(done.stdout + done.stderr)
        left = sorted(path.name for path in pathlib.Path(folder).iterdir())
        print("left: " + ", ".join(left))
    if ran < 10:
        print(f"only {ran} commands were found: the extraction is wrong")
        return 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
