# SPDX-License-Identifier: GPL-3.0-or-later
"""The runs of the verdict table: label, preset, settings."""

CUSTOM = 'stack.layers=[{"index":0,"attn":{"in":true},"ffn":{"in":true}},{"index":5,"attn":{"post":true}}]'


def stack(scheme, rule, rate, seed, *more, steps=200):
    """A scheme at an initialisation and a learning rate, as tests/schemes/run trains it."""
    settings = [f"stack.scheme={scheme}", f"stack.init.rule={rule}", f"optimizer.lr={rate}", f"seed={seed}", f"steps={steps}"]
    settings += [CUSTOM] * (scheme == "custom") + list(more)
    extra = "".join(f", {setting.removeprefix('stack.').removeprefix('data.').removeprefix('schedule.')}" for setting in more
                    if not setting.startswith("data.path"))
    length = "" if steps == 200 else f", {steps} steps"
    return f"{scheme}, {rule}, lr {rate}{extra}{length}, seed {seed}", "pre-ln", settings


def recipes(text):
    """`text`: path of a text file for the runs on bytes."""
    bytes_of = ("data.source=text", f"data.path={text}")
    bare = "stack.final_norm=off"
    runs = [stack(scheme, "lab", rate, seed) for scheme, rate, seed in (
        ("post", "0", 42), ("post", "1e-4", 42), ("post", "1e-2", 42), ("post", "3e-2", 42),
        ("pre", "0", 42), ("pre", "1e-4", 42), ("pre", "1e-2", 42), ("pre", "3e-2", 42),
        ("peri", "3e-2", 42), ("mix", "1e-2", 42), ("output", "1e-2", 42), ("none", "1e-2", 42), ("none", "0", 42))]
    runs += [stack("deepnorm", "deepnorm", rate, 42) for rate in ("0", "1e-2", "3e-2")]
    runs += [stack("post", "gpt2", rate, 42) for rate in ("1e-2", "3e-2")]
    runs += [stack("none", "lab", "3e-3", seed, bare) for seed in (42, 43, 44)]
    runs += [stack("none", "lab", "3e-4", 42, bare), stack("none", "gpt2", "3e-3", 42, bare), stack("none", "lab", "0", 42, bare),
             stack("none", "lab", "3e-2", 42, bare, "optimizer.clip=0")]
    runs += [stack("post", "lab", "3e-3", seed, "schedule.warmup=100") for seed in (42, 43, 44)]
    runs += [stack("post", "lab", "1e-2", seed, "schedule.warmup=100") for seed in (42, 43)]
    # The rate rises to the end: they learn while it is low and lose it again.
    runs += [stack("post", "deepnorm", "3e-2", 42, "schedule.warmup=200"), stack("deepnorm", "deepnorm", "3e-2", 42, "schedule.warmup=200"),
             stack("post", "gpt2", "1e-2", 42, "schedule.warmup=200")]
    runs += [stack("post", "lab", "1e-3", seed, "stack.residual_step=0.5") for seed in (42, 43)]
    runs += [stack("post", "lab", "3e-3", 42, "schedule.warmup=400"), stack("pre", "lab", "3e-2", 42, "optimizer.clip=0")]
    runs += [stack("pre", "lab", "3e-3", 42, steps=steps) for steps in (5, 19, 30)]
    runs += [stack("post", "lab", "3e-3", 42, steps=25)]
    runs += [stack("post", "lab", rate, 42, "stack.depth=24") for rate in ("3e-3", "1e-3")]
    runs += [stack(scheme, "lab", rate, 42, *bytes_of) for scheme, rate in
             (("pre", "3e-3"), ("post", "3e-3"), ("pre", "0"), ("post", "3e-4"))]
    runs += [stack(scheme, "lab", "3e-3", 42, f"data.source={source}") for source in ("copy", "induction")
             for scheme in ("pre", "post")]
    # From here on runs that tests/schemes/run makes too.
    runs += [stack(scheme, "lab", "3e-3", 42) for scheme in ("pre", "peri", "deepnorm", "mix", "lns", "output", "none")]
    runs += [stack("post", "lab", "3e-3", seed) for seed in (42, 43, 44, 45, 46, 48, 49, 50, 51)]
    runs += [stack("post", "lab", "3e-3", seed, "stack.residual_step=0.2") for seed in (42, 43, 44)]
    runs += [stack("post", "lab", "3e-4", 42, steps=1000)]
    runs += [stack(scheme, "lab", "3e-4", 42) for scheme in ("pre", "peri", "deepnorm", "mix", "lns", "output", "none", "custom")]
    runs += [stack("deepnorm", "lab", "3e-3", seed) for seed in (43, 44)]
    runs += [stack("custom", "lab", rate, seed) for rate in ("3e-3", "1e-3") for seed in (42, 43, 44)]
    runs += [stack("post", "lab", rate, 42) for rate in ("3e-4", "1e-3")]
    runs += [stack(scheme, "gpt2", "3e-3", 42) for scheme in ("post", "pre", "peri", "none")]
    runs += [stack(scheme, "deepnorm", "3e-3", 42) for scheme in ("deepnorm", "post", "pre", "output")]
    runs += [stack(scheme, "gpt2", "3e-4", 42) for scheme in ("pre", "peri", "output")]
    return runs
