"""Pages are drawn in the order in which they were asked for, and nobody waits for ever."""

from __future__ import annotations

import threading
import time

import pytest

from pages.ui.turns import Turns


def start(turns: Turns, ends: list[int], number: int, gate: threading.Event | None = None):
    def run() -> None:
        with turns.take(max_wait_s=30):
            if gate is not None:
                gate.wait(30)
            ends.append(number)

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def wait_until(is_so) -> None:
    deadline = time.monotonic() + 30
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.001)


def test_who_came_first_is_drawn_first():
    turns, gate, ends = Turns(1), threading.Event(), []
    threads = [start(turns, ends, 0, gate)]
    wait_until(lambda: turns._free == 0)
    for number in range(1, 20):
        threads.append(start(turns, ends, number))
        wait_until(lambda number=number: len(turns._waiting) == number)
    gate.set()
    for thread in threads:
        thread.join(30)
    assert ends == list(range(20))
    assert turns._free == 1


def test_who_waited_long_goes_on_beside_the_others():
    turns = Turns(1)
    with turns.take():
        for _ in range(2):
            with turns.take(max_wait_s=0.01):
                pass
        assert not turns._waiting
    assert turns._free == 1


def test_a_page_that_fails_gives_its_turn_back():
    turns = Turns(1)
    with pytest.raises(ZeroDivisionError), turns.take():
        1 / 0  # noqa: B018
    assert turns._free == 1
