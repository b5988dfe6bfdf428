"""Which process computes something, and whether it still lives."""

from __future__ import annotations

import json
import socket
import time
from datetime import UTC, datetime

import psutil

HEARTBEAT_S = 2.0
_DEAD_S = 15.0


def describe_owner() -> str:
    """Host, process and its start: tells whether the owner of a job still lives."""
    process = psutil.Process()
    return json.dumps([socket.gethostname(), process.pid, process.create_time()])


def is_owner_alive(owner: str, heartbeat: float) -> bool:
    """On this host the process must exist; elsewhere its heartbeat must be recent."""
    if not owner:
        return False
    host, pid, started = json.loads(owner)
    if host != socket.gethostname():
        return time.time() - heartbeat < _DEAD_S
    try:
        process = psutil.Process(pid)
        is_same = abs(process.create_time() - started) < 1
        return bool(is_same and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


def make_timestamp() -> str:
    """Now in UTC, ISO 8601 to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
