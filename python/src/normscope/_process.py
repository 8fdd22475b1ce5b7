# SPDX-License-Identifier: GPL-3.0-or-later
"""The process that writes a recording, so that a reader can tell a live run from a dead one."""

import os
import socket
import time

SILENCE_MS = 30_000
"""After so long without a heartbeat a writer of another host counts as dead."""


def host_name():
    return socket.gethostname()


def boot_id():
    """Changes with every boot; empty where the system has none."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.readline().strip()
    except OSError:
        return ""


def start_time(pid):
    """Clock ticks from boot to the start of a process; -1 where there is no such process, or it is dead."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.readline().rpartition(")")[2].split()
    except OSError:
        return -1
    if not fields or fields[0] in "ZX":
        return -1
    return int(fields[19])


def this_process():
    """The attributes of /runs/{id}/writer: host, boot_id, pid, start."""
    pid = os.getpid()
    return {"host": host_name(), "boot_id": boot_id(), "pid": pid, "start": start_time(pid)}


def now_ms():
    """Milliseconds since 1970."""
    return int(time.time() * 1000)


def is_alive(writer, heartbeat_ms):
    """Whether that process still runs; a writer of another host by its heartbeat."""
    if writer["host"] != host_name():
        return now_ms() - heartbeat_ms <= SILENCE_MS
    return writer["boot_id"] == boot_id() and writer["start"] >= 0 and writer["start"] == start_time(writer["pid"])
