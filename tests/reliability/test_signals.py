"""SIGTERM ends a command with 130, whatever its parent left it with."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

WAITS = """
import argparse, time
import core.cli.main as command

def wait(options):
    print("ready", flush=True)
    time.sleep(60)

def build_parser():
    parser = argparse.ArgumentParser()
    parser.set_defaults(run=wait)
    return parser

command.build_parser = build_parser
command.run()
"""
"""The command line with one command that only waits."""


def ignore() -> None:
    """As a script's `&` leaves SIGINT, and `nohup` and the like the others."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)


def block() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})


@pytest.mark.parametrize("inherited", [None, ignore, block])
def test_terminating_ends_with_130(inherited):
    process = subprocess.Popen(
        [sys.executable, "-c", WAITS],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=inherited,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    if inherited is ignore:  # a script's Ctrl-C is not for what it started with &
        process.send_signal(signal.SIGINT)
    process.terminate()
    _, told = process.communicate(timeout=30)
    assert (process.returncode, told) == (130, b"cancelled\n")
