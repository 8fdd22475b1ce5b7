#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The two curves next to the help of each panel, resources/help/examples.json, from the default comparison.

    python3 tests/reference/help_examples.py build/ci            writes the file
    python3 tests/reference/help_examples.py build/ci --check    trains again and compares it with the file

Both presets are trained with every probe on one thread, which takes less than a minute on two cores; `normscope
figure --csv` gives the values of each panel at the last step. A panel of maps or of several lines for a run is
reduced to one value a layer, as `reduced_by` states.
"""

import csv
import json
import math
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGET = ROOT / "resources" / "help" / "examples.json"
PRESETS = ("pre-ln-copy", "post-ln-copy")
# What is one curve a run already, and what is reduced.
CURVES = ("growth", "gradients", "training", "residual", "tokens", "updates", "ranges", "mismatch", "fragility",
          "lipschitz", "importance", "weights", "shift", "jacobian", "spectra", "paths")
REDUCED = {"null_space": ("stem", "the norm site"), "theta": ("cell", "mean over heads"),
           "attention": ("cell", "mean over heads")}
POINTS = 40  # of a curve over steps, spread evenly on the axis of the panel, log2(1 + step)


def rows_of(build, sessions, panel, folder):
    out = folder / f"{panel}.csv"
    subprocess.run([build / "app" / "normscope", "figure", *sessions, "--panel", panel, "--csv", out],
                   check=True, stdout=subprocess.DEVNULL)
    with open(out, newline="", encoding="utf-8") as file:
        return [row for row in csv.DictReader(file) if row["plot"] in ("0", "1")]


def three_digits(value):
    return None if not math.isfinite(value) else float(f"{value:.3g}")


def thinned(points):
    """Steps at even distances on log2(1 + step), the first and the last included."""
    last = points[-1][0]
    kept = []
    for i in range(POINTS):
        wanted = 2 ** (math.log2(1 + last) * i / (POINTS - 1)) - 1
        nearest = min(points, key=lambda p: abs(math.log2(1 + p[0]) - math.log2(1 + wanted)))
        if nearest not in kept:
            kept.append(nearest)
    return kept


def curve_of(rows, name, panel):
    own = [row for row in rows if row["run"] == name]
    own = [row for row in own if row["plot"] == own[0]["plot"]]  # further ones are of another quantity
    if panel in REDUCED:
        kind, _ = REDUCED[panel]
        if kind == "cell":
            layers = {}
            for row in own:
                if row["kind"] == "cell":
                    layers.setdefault(float(row["y"]) + 1, []).append(float(row["value"]))
            return sorted((y, sum(v) / len(v)) for y, v in layers.items())
        if kind == "stem":
            return [(float(row["x"]), float(row["value"])) for row in own if row["kind"] == "stem"]
    series = name if any(row["series"] == name and row["kind"] == "measured" for row in own) else None
    measured = [row for row in own if row["kind"] == "measured" and (series is None or row["series"] == series)]
    return [(float(row["x"]), float(row["value"])) for row in measured if row["value"]]


def examples(build):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        sessions = []
        for preset in PRESETS:
            sessions.append(folder / f"{preset}.h5")
            subprocess.run([build / "app" / "cli" / "normscope-cli", "train", preset, "--probes", "full", "--threads",
                            "1", "--out", sessions[-1]], check=True, stdout=subprocess.DEVNULL)
        panels = {}
        for panel in (*CURVES, *REDUCED):
            rows = rows_of(build, sessions, panel, folder)
            curves = [curve_of(rows, run, panel) for run in ("Pre-LN", "Post-LN")]
            if panel == "training":
                curves = [thinned(curve) for curve in curves]
            if not all(len(curve) > 2 for curve in curves):
                raise SystemExit(f"{panel}: no curve of each run: {[len(c) for c in curves]}")
            entry = {key: [[p[0], three_digits(p[1])] for p in curve]
                     for key, curve in zip(("learned", "stalled"), curves)}
            if panel in REDUCED:
                entry["reduced_by"] = REDUCED[panel][1]
            panels[panel] = entry
    return {"format": "normscope-examples", "presets": list(PRESETS), "panels": panels}


def drawn(entry):
    """What the height of a value in the image is linear in, and the span of all of them."""
    values = [y for key in ("learned", "stalled") for _, y in entry[key] if y is not None]
    low, high = min(values), max(values)
    even = math.log10 if low > 0 and high > 20 * low else float
    return even, max(even(high) - even(low), 1e-300)


def differences(old, new):
    """Values that differ by more than a tenth of the image's height: another processor sums in another order, and
    after 300 steps a run that stalled has another gradient of the same size."""
    for panel, entry in new["panels"].items():
        if panel not in old["panels"]:
            yield f"{panel}: is missing"
            continue
        even, span = drawn(old["panels"][panel])
        for key in ("learned", "stalled"):
            before, after = old["panels"][panel][key], entry[key]
            if [x for x, _ in before] != [x for x, _ in after]:
                yield f"{panel}, {key}: other places"
                continue
            for (x, y), (_, v) in zip(before, after):
                if (y is None) != (v is None) or (y is not None and abs(even(y) - even(v)) > 0.1 * span):
                    yield f"{panel}, {key}: {y} at {x}, {v} now"
                    break


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    made = examples(build)
    if "--check" in sys.argv:
        found = list(differences(json.loads(TARGET.read_text(encoding="utf-8")), made))
        print("\n".join(found) if found else f"{len(made['panels'])} panels: as in {TARGET.name}")
        sys.exit(1 if found else 0)
    TARGET.parent.mkdir(exist_ok=True)
    lines = ",\n".join(f'  "{panel}": {json.dumps(entry)}' for panel, entry in made["panels"].items())
    TARGET.write_text(f'{{"format": "{made["format"]}", "presets": {json.dumps(made["presets"])}, "panels": {{\n{lines}\n}}}}\n',
                      encoding="utf-8")
    print(f"{TARGET}: {len(made['panels'])} panels")


main()
