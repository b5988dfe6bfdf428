"""Pages are drawn in the order in which they were asked for, and nobody waits for ever."""

from __future__ import annotations

import threading
import time

import pytest

from pages.ui.fair_semaphore import FairSemaphore


def start(
    semaphore: FairSemaphore, ends: list[int], number: int, gate: threading.Event | None = None
):
    def run() -> None:
        with semaphore.hold(max_wait_s=30):
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
    semaphore, gate, ends = FairSemaphore(1), threading.Event(), []
    threads = [start(semaphore, ends, 0, gate)]
    wait_until(lambda: semaphore._free == 0)
    for number in range(1, 20):
        threads.append(start(semaphore, ends, number))
        wait_until(lambda number=number: len(semaphore._waiting) == number)
    gate.set()
    for thread in threads:
        thread.join(30)
    assert ends == list(range(20))
    assert semaphore._free == 1


def test_who_waited_long_goes_on_beside_the_others():
    semaphore = FairSemaphore(1)
    with semaphore.hold():
        for _ in range(2):
            with semaphore.hold(max_wait_s=0.01):
                pass
        assert not semaphore._waiting
    assert semaphore._free == 1


def test_a_page_that_fails_lets_the_next_one_in():
    semaphore = FairSemaphore(1)
    with pytest.raises(ZeroDivisionError), semaphore.hold():
        1 / 0  # noqa: B018
    assert semaphore._free == 1


def test_who_waited_long_in_a_queue_that_moves_is_not_drawn_beside_it():
    semaphore, inside, most = FairSemaphore(1), [], []

    def run() -> None:
        with semaphore.hold(max_wait_s=0.5):
            inside.append(1)
            most.append(len(inside))
            time.sleep(0.02)
            inside.pop()

    threads = [threading.Thread(target=run) for _ in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert most == [1] * 40
    assert semaphore._free == 1


def test_behind_pages_that_stand_still_the_queue_goes_on():
    semaphore, gate, ends = FairSemaphore(1), threading.Event(), []
    with semaphore.hold():

        def run(number: int) -> None:
            with semaphore.hold(max_wait_s=0.1):
                ends.append(number)
                if len(ends) == 3:
                    gate.set()

        threads = [threading.Thread(target=run, args=(number,)) for number in range(3)]
        for thread in threads:
            thread.start()
        assert gate.wait(30)
    for thread in threads:
        thread.join(30)
    assert sorted(ends) == [0, 1, 2]
    assert semaphore._free == 1
