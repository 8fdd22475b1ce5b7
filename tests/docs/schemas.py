#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The test `docs_schemas`: what the program prints with --json fits the published schemas, and the loop of docs/guide/automation.md works.

schemas.py CLI
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import jsonschema

ROOT = pathlib.Path(__file__).resolve().parents[2]
CLI = os.path.abspath(sys.argv[1])
SMALL = [word for setting in ("stack.depth=2", "stack.d_model=16", "stack.heads=2", "stack.context=16", "batch=2")
         for word in ("--set", setting)]
GROWTH = ["--set", 'probes=[{"id":"growth","every":50}]']
validators = {}
for path in sorted((ROOT / "docs" / "schemas").glob("*.json")):
    schema = json.loads(path.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validators[path.stem] = jsonschema.Draft202012Validator(schema)
held = set()


def run(*arguments, code=0):
    done = subprocess.run([CLI, *arguments], capture_output=True, text=True)
    if done.returncode != code:
        sys.exit(f"{' '.join(arguments)}: exit code {done.returncode} instead of {code}\n{done.stderr}")
    return done.stdout


def strict(text):
    def reject(word):
        raise ValueError(f"{word} is no JSON")
    return json.loads(text, parse_constant=reject)


def require_valid(name, values, where):
    for value in values:
        error = jsonschema.exceptions.best_match(validators[name].iter_errors(value))
        if error:
            sys.exit(f"{where}: {name}.json: {error.json_path}: {error.message[:400]}")
    held.add(name)


def lines(name, *arguments, code=0):
    """A value a line; returns them."""
    values = [strict(line) for line in run(*arguments, code=code).splitlines()]
    require_valid(name, values, " ".join(arguments))
    return values


def whole(name, *arguments, code=0):
    value = strict(run(*arguments, code=code))
    require_valid(name, [value], " ".join(arguments))
    return value


def train():
    seen = set()
    for arguments, state, code in (
            (["pre-ln", *SMALL, "--steps", "300", "--out", "a.h5", "--watch", "loss > 0"], "finished", 0),
            (["pre-ln", *SMALL, "--steps", "300", "--out", "a.h5", "--resume", "--watch", "loss > 0"], "finished", 0),
            (["pre-ln", *SMALL, "--steps", "300", "--out", "b.h5", "--set", "seed=7", "--only", "blocks.0"], "finished", 0),
            (["pre-ln", *SMALL, "--steps", "3", "--out", "c.h5", "--set", "precision=fp16", "--set", "stack.residual_step=1e6"],
             "diverged", 3),
            (["pre-ln", *SMALL, "--steps", "20", "--out", "i.h5", "--set",
              'interventions=[{"kind":"norm_eps","rho":0.6,"cap":0.1,"every":5,"samples":16}]'], "stalled", 0),
            (["tiny-vit", "--steps", "5", "--out", "v.h5"], None, 0),
            (["pre-ln", *SMALL, "--steps", "1000000", "--out", "d.h5", "--max-seconds", "0.5"], "interrupted", 4),
            (["pre-ln", *SMALL, "--out", "e.h5", "--max-seconds", "1e-9"], "interrupted", 4),
            (["pre-ln", *SMALL, "--out", "/nowhere/f.h5"], "failed", 1)):
        values = lines("train", "train", *arguments, "--json", code=code)
        seen |= {value["event"] for value in values}
        last = values[-1]
        if last["event"] != "end" or (state and last["state"] != state):
            sys.exit(f"{' '.join(arguments)}: the last line is no result {state}: {last}")
        if any(value["event"] == "end" for value in values[:-1]):
            sys.exit(f"{' '.join(arguments)}: a result before the last line")
    if not {"begin", "note", "step", "probe", "watch", "intervention", "end"} <= seen:
        sys.exit(f"train --json: only the events {sorted(seen)} were seen")


def loop():
    """The shell script of the guide, as printed: at most 15 lines, and it comes to a run that does not diverge."""
    page = (ROOT / "docs" / "guide" / "automation.md").read_text()
    script = re.search(r"```sh\n#!/bin/sh\n(# loop\.sh .*?)```", page, flags=re.S)[1]
    if len(script.splitlines()) > 15:
        sys.exit("the loop of docs/guide/automation.md is longer than 15 lines")
    os.mkdir("loop")
    environment = {**os.environ, "PATH": os.path.dirname(CLI) + ":" + os.environ["PATH"]}
    done = subprocess.run(["sh", "-c", script, "loop.sh", "diverging", "loop"], capture_output=True, text=True, env=environment, timeout=300)
    result = strict(done.stdout) if done.returncode == 0 else {"state": done.stderr}
    if result["state"] not in ("finished", "stalled", "collapsed") or len(os.listdir("loop")) < 2:
        sys.exit(f"the loop of docs/guide/automation.md ended with {result['state']}")
    require_valid("train", [result], "the loop of docs/guide/automation.md")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    train()
    lines("bench", "bench", "--json", "--only", "theta float32, rows of 128")
    lines("bench", "bench", "--count", "--only", "d64", "--json")
    lines("bench", "bench", "--count", "pre-ln", "--set", "stack.depth=2", "--json")
    whole("check", "check", "pre-ln", "--only", "E03,N", "--json")
    whole("preflight", "preflight", "pre-ln", "--json")
    whole("diff", "diff", "a.h5", "b.h5", "--json")
    whole("diff", "diff", "a.h5", "a.h5", "--json")
    whole("remedies", "remedies", "diverging", "--set", "stack.depth=4", "--try-all", "--json")
    if whole("remedies", "remedies", "pre-ln", *SMALL, "--set", "steps=300", "--json")["remedies"]:
        sys.exit("remedies: of a run that did not fail")
    run("sweep", "pre-ln", *SMALL, *GROWTH, "--steps", "300", "--seeds", "1:9", "--out", "H")
    whole("sweep-status", "sweep", "--status", "H", "--json")
    for rate in ("0.003", "0.3", "0.5"):
        run("train", "pre-ln", *SMALL, *GROWTH, "--steps", "300", "--set", f"optimizer.lr={rate}", "--out", f"hot{rate}.h5")
    whole("bands", "bands", "hot0.003.h5", "--healthy", "H", "--json")
    whole("bands", "bands", "hot0.3.h5", "hot0.5.h5", "--healthy", "H", "--json")
    whole("gallery", "gallery", "n-table1", "--out", "G", "--no-training", "--json")
    whole("gallery", "gallery", "n-table1", "--out", "G", "--json")
    loop()

    missing = []
    for command in re.findall(r"^  ([a-z]+) ", run("--help").split("Subcommands:")[1], flags=re.M):
        name = "sweep-status" if command == "sweep" else command
        if "--json " in run(command, "--help") and name not in held:
            missing.append(command)
    if missing or held != set(validators):
        sys.exit(f"not held against a schema: {missing}; schemas without a test: {sorted(set(validators) - held)}")
print(f"{len(held)} schemas")
