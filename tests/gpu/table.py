# SPDX-License-Identifier: GPL-3.0-or-later
"""The result of tests/gpu/run as Markdown."""


def check_rows(rows):
    worst = {}
    for row in rows:
        error = float(row["error_in_epsilon"])
        kept = worst.setdefault((row["operation"], row["type"]), [0, 0.0, row["allowed"], True])
        kept[0] += 1
        kept[1] = error if not error <= kept[1] else kept[1]
        kept[3] = kept[3] and row["passed"]
    return ["| operation | type | calls | largest error in ε | allowed | |", "|---|---|---|---|---|---|"] + [
        f"| {o} | {t} | {n} | {e:.3g} | {a:g} | {'' if good else 'failed'} |" for (o, t), (n, e, a, good) in worst.items()]


def time_rows(rows):
    return ["| operation | ms | GB/s | TFLOP/s |", "|---|---|---|---|"] + [
        f"| {r['operation']} | {r['ms']:.4f} | {r['gb_per_s'] or '':} | {r['tflop_per_s'] or '':} |" for r in rows]


def short(number):
    return "" if number is None else f"{number:.3g}"


def steps_rows(rows):
    head = ["| run | steps | s | loss of the first step | first ten | largest difference | allowed | |",
            "|---|---|---|---|---|---|---|---|"]
    return head + [
        f"| {r['run']} | {r['steps']} | " + " | ".join(short(r.get(k)) for k in ("s", "first", "ten", "largest", "allowed")) +
        f" | {'' if r['passed'] else 'failed ' + r.get('error', '')} |" for r in rows]


def bench_rows(rows):
    def rate(r):
        if "stack_steps_per_s" in r:
            return f"{r['stack_steps_per_s']:,.0f} steps/s"
        return f"{r['tokens_per_s']:,.0f}" if "tokens_per_s" in r else ""
    return ["| step | ms | tokens/s |", "|---|---|---|"] + [
        f"| {r['what']} | {short(r['ms'])} | {rate(r)} |" if "ms" in r else
        f"| {r['what']} | {r['skipped']} | |" for r in rows]


def torch_rows(rows):
    return ["| step, PyTorch | | ms | tokens/s |", "|---|---|---|---|"] + [
        f"| {r['what']} | {'compiled' if r['compiled'] else 'eager'} | " +
        (f"{r['ms']:.3f} | {r['tokens_per_s']:,.0f} |" if "ms" in r else f"{r['error']} | |") for r in rows]


def kernel_rows(rows):
    return ["| step | kernel | calls a step | µs a step |", "|---|---|---|---|"] + [
        f"| {r['step']} | {r['kernel']} | {r['calls']:.4g} | {r['us']:,.1f} |" for r in rows]


ROWS = {"check": check_rows, "time": time_rows, "launches": time_rows, "nccl": time_rows, "steps": steps_rows, "resume": steps_rows,
        "bench": bench_rows, "probes": bench_rows, "torch": torch_rows, "kernels": kernel_rows}


def markdown(result):
    lines = ["# The CUDA plug-in on a card", "", f"{result['card']}, {result['date']}, revision {result['revision']}.", ""]
    for name, part in result["parts"].items():
        lines += [f"## {name}: {part['state']}, {part['seconds']:.0f} s", ""]
        if part["rows"] and name in ROWS:
            try:
                lines += ROWS[name](part["rows"])
            except (KeyError, TypeError, ValueError) as error:  # of this part alone; result.json has them
                lines.append(f"Its rows have not the form of this table: {type(error).__name__} {error}.")
        if part["text"]:
            lines += ["", "```", part["text"], "```"]
        lines.append("")
    return "\n".join(lines)
