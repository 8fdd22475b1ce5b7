#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run by CTest: sentences.py ROOT. Fails with file:line for each sentence of the program that has over 20 words.

A lecturer reads the window's words aloud. The sentences are those of the string literals in the sources of the window and
of what it shows, and of the presets, stories and gallery entries. A semicolon and a line break end one, too: in a
formula's legend they separate the symbols. A word contains a letter or a digit.
"""
import json
import pathlib
import re
import sys

FOLDERS = ["app/window", "app/lab", "widgets", "core/findings", "core/recipe", "core/claims", "core/preflight", "core/gallery",
           "core/run", "core/stories", "core/train"]
MOST_WORDS = 20
LITERALS = re.compile(r'(?:"(?:[^"\\\n]|\\.)*"\s*)+')
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
ENDS = re.compile(r"(?<=[.!?])\s+|\n|; ")


def long_sentences(text):
    for sentence in ENDS.split(text):
        count = sum(any(c.isalnum() for c in word) for word in sentence.split())
        if count > MOST_WORDS:
            yield count, sentence


def literals(source):
    """The texts of a C++ source, adjacent literals joined, with the line where each begins."""
    source = re.sub(r"//[^\n]*", "", source)
    for found in LITERALS.finditer(source):
        yield source.count("\n", 0, found.start()) + 1, "".join(LITERAL.findall(found[0])).replace("\\n", "\n")


def texts(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            yield from texts(part)
    elif isinstance(value, str):
        yield value


def main(root):
    twenty = " ".join(["word"] * MOST_WORDS)
    assert not list(long_sentences(twenty + ". " + twenty + "; ‖·‖ " + twenty))
    assert list(long_sentences(twenty + " + 1"))
    assert list(literals('f("a "  // no\n  "b");'))[0] == (1, "a b")
    checked, violations = 0, []
    for folder in FOLDERS:
        for file in sorted((root / folder).rglob("*.cpp")):
            name = file.relative_to(root).as_posix()
            for line, text in literals(file.read_text(encoding="utf-8")):
                checked += 1
                violations += [f"{name}:{line}: {count} words: {s}" for count, s in long_sentences(text)]
    for file in sorted((root / "resources").rglob("*.json")):
        name = file.relative_to(root).as_posix()
        for text in texts(json.loads(file.read_text(encoding="utf-8"))):
            checked += 1
            violations += [f"{name}: {count} words: {s}" for count, s in long_sentences(text)]
    if checked < 5000:
        sys.exit(f"only {checked} texts found under {root}: wrong ROOT")
    if violations:
        sys.exit(f"sentences of more than {MOST_WORDS} words:\n  " + "\n  ".join(violations))
    print(f"{checked} texts without a sentence of more than {MOST_WORDS} words")


main(pathlib.Path(sys.argv[1]).resolve())
