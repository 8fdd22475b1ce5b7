#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run by CTest: check.py ROOT. Fails with file:line for each old term of TERMS.md in the sources.

Identifiers are split into words (snake and camel case), so that a term is found inside of them: `told_` is "told",
`underWay` "under way", `LearntNorm` "learnt norm". A term is matched without regard to case, as whole words.
"""
import pathlib
import re
import sys

# Generated files: their texts are checked at the source.
SKIPPED = re.compile(r"^tests/terms/|/RESULT\.md$|^tests/verdicts/(runs\.txt|TABLE\.md)$")
FOLDERS = ["app", "core", "docs", "widgets", "resources", "packaging", "python", "tests"]
ENDINGS = {".h", ".cpp", ".inc", ".md", ".json", ".cmake", ".txt"}

# Texts that contain an old term in another sense, the text of a recorded event, which tests/identity hashes, and a label
# in recorded files.
ALLOWED = ["TextBesideIcon", "Dear session", "update left out", '"left_out"', "label left_out"]

TERMS = [
    (r"refus(e|es|ed|al|ing)", "reject, rejection"),
    (r"turned", "transposed, rotated, mapped"),
    (r"compiled products?", "jit_gemm, GEMM"),
    (r"(?-i:matrix products?)|products? of matrices", "GEMM, matmul"),
    (r"go(es|ing)? on", "resume, continue"),
    (r"went on", "resumed, continued"),
    (r"stands?|stood|standing", "is placed, is applied, is, means"),
    (r"(left|leaves?|leaving) (the \w+ )?out", "skipped, omitted"),
    (r"dear|dearer|dearest", "expensive"),
    (r"can not", "cannot"),
    (r"learnt", "learned"),
    (r"behind", "after"),
    (r"beside", "next to, alongside, besides"),
    (r"doors?", "function, interface"),
    (r"rooms?|roomy", "space, memory, folder"),
    (r"hand(s|ed|ing)? (out|over)", "return, pass, allocate"),
    (r"hears?|heard", "is called with, receives"),
    (r"looks? (at|into|up at)", "reads, measures, checks"),
    (r"looked (at|into|through)", "read, measured, checked"),
    (r"knows", "supports, defines, stores"),
    (r"says", "states, returns, prints"),
    (r"said", "stated, printed, reported"),
    (r"tells|told", "reports, reported, shown"),
    (r"wants", "requires, expects"),
    (r"pictures?", "figure, image, screenshot"),
    (r"nobody|somebody", "no thread, the user"),
    (r"a person", "the user"),
    (r"speaks?", "refers to, describes"),
    (r"mend(s|ed)?", "fix"),
    (r"anew", "again"),
    (r"lest", "so that … not"),
    (r"under way", "running, pending"),
]

# Plain English in a sentence, ambiguous as a part of a name.
NAME_TERMS = [
    (r"by hand", "manual, explicit, override"),
    (r"say", "annotate, show, state"),
    (r"spoken", "described"),
    (r"roomy", "wide"),
    (r"k (least|most|fewest)", "kMin, kMax"),
]


def compiled(terms):
    each = [(re.compile(r"(?<![a-z])(?:" + term + r")(?![a-z])", re.IGNORECASE), instead) for term, instead in terms]
    return each, re.compile("|".join(pattern.pattern for pattern, _ in each), re.IGNORECASE)


PATTERNS, ANY = compiled(TERMS)
NAME_PATTERNS, ANY_NAME = compiled(NAME_TERMS)
# Of two words or more: told_, by_hand, LearntNorm.
NAME = re.compile(r"\b(?:[A-Za-z0-9]+_[A-Za-z0-9_]*|[A-Za-z0-9]*[a-z0-9][A-Z][A-Za-z0-9_]*)\b")


def words(text):
    """The text with identifiers split into words: LearntNorm_x -> Learnt Norm x."""
    text = re.sub(r"_+", " ", text)
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", text)


def terms_of(line):
    """The old terms of a line, each with what to write instead."""
    texts = words(line)
    if ANY.search(texts):
        for pattern, instead in PATTERNS:
            found = pattern.search(texts)
            if found:
                yield found[0], instead
    for name in NAME.findall(line):
        if ANY_NAME.search(words(name)):
            yield name, next(instead for pattern, instead in NAME_PATTERNS if pattern.search(words(name)))


def sources(root):
    yield root / "README.md"
    for folder in FOLDERS:
        for file in sorted((root / folder).rglob("*")):
            if file.suffix in ENDINGS and file.is_file():
                yield file


def main(root):
    # The splitting itself: what this test is for.
    for found in ("told_", "LearntNorm", "underWay", "left_out_update", "kHandedOut", "by_hand", "saySelected"):
        assert list(terms_of(found)), found
    for passes in ("toldest", "understand", "besides", "wanted", "computed by hand", "say 3"):
        assert not list(terms_of(passes)), passes
    checked, violations = 0, []
    for file in sources(root):
        name = file.relative_to(root).as_posix()
        if SKIPPED.search(name):
            continue
        checked += 1
        text = file.read_text(encoding="utf-8", errors="replace")
        for allowed in ALLOWED:
            text = text.replace(allowed, "")
        for number, line in enumerate(text.split("\n"), 1):
            violations += [f'{name}:{number}: "{found}": {instead}' for found, instead in terms_of(line)]
    if checked < 300:
        sys.exit(f"only {checked} files found under {root}: wrong ROOT")
    if violations:
        sys.exit("old terms, see tests/terms/TERMS.md:\n  " + "\n  ".join(violations))
    print(f"{checked} files without old terms")


main(pathlib.Path(sys.argv[1]).resolve())
