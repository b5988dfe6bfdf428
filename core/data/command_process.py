"""Runs a user's command under limits, without access to other files or the network.

  python -m core.data.command_process MEMORY_MB SECONDS PLACE FOLDER PATH … -- PROGRAM ARGUMENT …

It runs in PLACE. FOLDER is writable; the PATHs, the system's programs and libraries, and Python are
readable. Files are restricted by Landlock (Linux 5.13), network and other processes by namespaces;
where the platform lacks or forbids both, the command runs with the caller's rights. The first line
on standard output lists the restrictions in force; the command's own output is discarded.
"""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/nix/store")
SYSTEM_FILES = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime", "/dev/urandom")
DEVICES = ("/dev/null", "/dev/zero", "/dev/random")

_NEW_USER, _NEW_PID, _NEW_NET = 0x10000000, 0x20000000, 0x40000000
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF, _NO_NEW_PRIVS = 444, 445, 446, 38
_READ = 1 << 0 | 1 << 2 | 1 << 3  # execute, read a file, read a folder
_READ_FILE = 1 << 0 | 1 << 2
_USE_FILE = 1 << 1 | 1 << 2  # write and read one
_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
"""Landlock version → number of file rights it supports; later ones as the fifth."""


class _Ruleset(ctypes.Structure):
    _fields_ = [
        ("files", ctypes.c_uint64),
        ("network", ctypes.c_uint64),
        ("scope", ctypes.c_uint64),
    ]


class _PathRule(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("rights", ctypes.c_uint64), ("parent", ctypes.c_int32)]


def main() -> None:
    """Set the limits, apply the restrictions, and execute the command."""
    from core.data.reader_process import set_limits

    memory, seconds, place, folder, *rest = sys.argv[1:]
    split = rest.index("--")
    paths, command = rest[:split], rest[split + 1 :]
    is_apart = _leave_namespaces()
    os.umask(0o077)
    set_limits(int(memory) << 20, int(seconds) * (os.cpu_count() or 1))
    is_closed = _close_files(folder, [*SYSTEM, *SYSTEM_FILES, sys.prefix, sys.base_prefix, *paths])
    os.write(1, f"files={int(is_closed)} network={int(is_apart)}".encode())
    os.chdir(place)
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    if is_apart:
        _run_below(command)
    _execute(command)


def _execute(command: list[str]) -> None:
    try:
        os.execvp(command[0], command)
    except OSError as error:
        os.write(2, f"{Path(command[0]).name}: {error.strerror}".encode())
        os._exit(127)


def _leave_namespaces() -> bool:
    """Whether the network is disabled and children see only their own processes."""
    if sys.platform != "linux":
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    flags = _NEW_NET | _NEW_PID
    return bool(libc.unshare(flags | _NEW_USER) == 0 or libc.unshare(flags) == 0)


def _run_below(command: list[str]) -> None:
    """Run the command as a child, so that all its processes end with the namespace's first one."""
    first = os.fork()
    if first:
        _exit_like(first)
    child = os.fork()
    if child:
        _exit_like(child)
    _execute(command)


def _exit_like(child: int) -> None:
    """Exit with the child's status; other ended children are reaped."""
    while True:
        pid, status = os.wait()
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            os._exit(code if code >= 0 else 128 - code)


def _close_files(folder: str, readable: list[str]) -> bool:
    """Restrict file access to these paths; `folder` is writable. Returns whether it succeeded."""
    if sys.platform != "linux":
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    version = libc.syscall(_CREATE_RULESET, None, 0, 1)
    if version < 1:
        return False
    every = (1 << _RIGHTS.get(version, 16)) - 1
    rules = _Ruleset(every, 3 if version >= 4 else 0, 3 if version >= 6 else 0)
    size = ctypes.sizeof(rules)
    if version < 6:
        size = 16
    if version < 4:
        size = 8
    ruleset = libc.syscall(_CREATE_RULESET, ctypes.byref(rules), size, 0)
    if ruleset < 0:
        return False
    named = [(folder, every)]
    named += [(path, _READ if os.path.isdir(path) else _READ_FILE) for path in readable]
    named += [(path, _USE_FILE) for path in DEVICES]
    for path, rights in named:
        if Path(path).exists():
            place = os.open(path, os.O_PATH | os.O_CLOEXEC)
            rule = _PathRule(rights & every, place)
            if libc.syscall(_ADD_RULE, ruleset, 1, ctypes.byref(rule), 0):
                return False
            os.close(place)
    is_set = libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
    return is_set and bool(libc.syscall(_RESTRICT_SELF, ruleset, 0) == 0)


if __name__ == "__main__":
    main()
