#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""extract.py FILE.h5 CASE DIR: one case as recipe.json, weights.h5, tokens.h5 and expected.h5."""

import pathlib
import sys

import h5py


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    with h5py.File(sys.argv[1]) as file:
        if sys.argv[2] not in file:
            sys.exit(f"{sys.argv[1]}: no case {sys.argv[2]}, there are: {', '.join(file)}")
        case = file[sys.argv[2]]
        (folder / "recipe.json").write_bytes(case.attrs["recipe"] + b"\n")
        with h5py.File(folder / "weights.h5", "w") as out:
            case.copy("params", out)
        with h5py.File(folder / "tokens.h5", "w") as out:
            case.copy("tokens", out)
            case.copy("targets", out)
        with h5py.File(folder / "expected.h5", "w") as out:
            for name in case["expected"]:
                case["expected"].copy(name, out)

if __name__ == "__main__":
    main()
