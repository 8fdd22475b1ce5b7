# SPDX-License-Identifier: GPL-3.0-or-later
"""What is measured: one file a probe. ID is its name in a session; measure(seen) returns its arrays.

Names, axes and units are those of Normscope's own probes (`normscope-cli probes ID`), so that the window draws
a recording of PyTorch as it draws its own. What a pass of PyTorch does not show is NaN.
"""

from . import attention, gradients, growth, norm_sites, ranges, residual, theta, tokens, updates

ALL = {probe.ID: probe for probe in (growth, gradients, residual, updates, norm_sites, tokens, attention, theta, ranges)}

PRESETS = {
    "off": (),
    "economy": ("growth", "gradients", "updates"),
    "standard": ("growth", "gradients", "residual", "updates", "null_space", "tokens", "attention"),
    "full": tuple(ALL),
}


def chosen(probes):
    """The probes of a preset's name or of a list of ids, in the order of ALL. ValueError for an unknown one."""
    if isinstance(probes, str):
        if probes not in PRESETS:
            raise ValueError(f"probes: {probes!r} is unknown; {', '.join(PRESETS)}, or a list of {', '.join(ALL)}")
        probes = PRESETS[probes]
    unknown = [one for one in probes if one not in ALL]
    if unknown:
        raise ValueError(f"probes: {', '.join(map(repr, unknown))} unknown; allowed: {', '.join(ALL)}")
    return [probe for name, probe in ALL.items() if name in set(probes)]
