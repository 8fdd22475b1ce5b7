#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What assistive technology reads of a running Normscope on the accessibility bus: bus.py.

Of the basic window, of the full one and of it while both runs train and afterwards: everything that takes the focus has a
role and a name (a menu of choices its label); a slider and a spin box have a value within their range; a plot has a name
and a summary of what it shows; the name, role and state of a button change with what it does.
"""
import sys
import time

import pyatspi

PATIENCE = 60  # seconds
NO_ROLES = {"filler", "unknown", "invalid", "redundant object"}
# Qt's own containers, which take the focus for their content.
CONTAINERS = {"scroll pane", "layered pane", "viewport"}


def wait_for(what, found):
    for _ in range(PATIENCE * 10):
        value = found()
        if value:
            return value
        time.sleep(0.1)
    sys.exit(f"{what}: not within {PATIENCE} s")


def children(node):
    try:
        return [child for child in (node.getChildAtIndex(i) for i in range(node.childCount)) if child]
    except Exception:  # it has gone since
        return []


def shown(node):
    """All nodes on the screen, depth first."""
    try:
        if node.getState().contains(pyatspi.STATE_SHOWING) or node.getRole() == pyatspi.ROLE_APPLICATION:
            yield node
    except Exception:
        return
    for child in children(node):
        yield from shown(child)


def label_of(node):
    if node.name:
        return node.name
    for relation in node.getRelationSet():
        if relation.getRelationType() == pyatspi.RELATION_LABELLED_BY:
            return relation.getTarget(0).name
    return ""


def problems(app, counts):
    for node in shown(app):
        role, state = node.getRoleName(), node.getState()
        counts[role] = counts.get(role, 0) + 1
        focusable = state.contains(pyatspi.STATE_FOCUSABLE)
        where = f"{role} \"{node.name}\" in \"{node.parent.name if node.parent else ''}\""
        if focusable and role not in CONTAINERS and node.name and role in NO_ROLES:
            yield f"{where}: no role"
        if focusable and role not in CONTAINERS and role not in NO_ROLES and not label_of(node):
            yield f"{where}: no name"
        if role in ("slider", "spin button"):
            value = node.queryValue()
            # What is typed may lie outside of a slider.
            if not value.minimumValue <= value.maximumValue or value.currentValue < value.minimumValue - 1e-9:
                yield f"{where}: {value.currentValue} of {value.minimumValue} to {value.maximumValue}"
        if role == "chart" and (not node.name or len(node.description) < 10):
            yield f"{where}: no summary: \"{node.description}\""


def find(app, role, name):
    return next((n for n in shown(app) if n.getRoleName() == role and n.name.startswith(name)), None)


def main():
    app = wait_for("the program on the bus", lambda: next(
        (a for a in pyatspi.Registry.getDesktop(0) if a and a.name == "Normscope"), None))
    wait_for("the main button", lambda: find(app, "push button", "Train"))
    found, counts = [], {}
    wait_for("a plot with curves", lambda: any(
        n.getRoleName() == "chart" and "Pre-LN" in n.description for n in shown(app)))

    def check(window):
        counts.clear()
        found.extend(f"{window}: {line}" for line in problems(app, counts))
        print(f"{window}: {sum(counts.values())} nodes, {counts.get('chart', 0)} plots, {counts.get('slider', 0)} sliders, "
              f"{counts.get('push button', 0)} buttons")

    check("basic window")
    basic = dict(counts)
    find(app, "push button", "Full window").queryAction().doAction(0)
    wait_for("four panels", lambda: sum(n.getRoleName() == "chart" for n in shown(app)) >= basic["chart"] + 2)
    check("full window")
    if counts.get("slider", 0) <= basic.get("slider", 0):
        found.append("the full window has no more sliders than the basic one")
    find(app, "push button", "Train").queryAction().doAction(0)
    wait_for("the button that pauses", lambda: find(app, "push button", "Pause"))
    check("in training")
    wait_for("the end of both runs", lambda: find(app, "push button", "300 more steps"))
    wait_for("a headline", lambda: any("stalled" in n.description.lower() for n in shown(app)))
    check("after training")
    if found:
        sys.exit("\n".join(found))


main()
