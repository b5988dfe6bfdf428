"""Numbers in words: no more digits than they deserve."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.findings.numbers import format_duration, format_interval, format_limited, format_number
from core.findings.tables import describe_sample
from core.words import format_error, format_percent


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "1 s"), (7.4, "7 s"), (44, "40 s"), (170, "3 min"), (5000, "83 min"), (7600, "2 h")],
)
def test_durations_are_said_as_people_say_them(seconds: float, text: str) -> None:
    assert format_duration(seconds) == text


@given(st.floats(-1e7, 1e7) | st.floats(-1e-3, 1e-3))
def test_a_number_of_an_array_is_written_as_any_other(value: float) -> None:
    assert format_number(np.float64(value)) == format_number(value)


def test_small_numbers_are_powers_of_ten() -> None:
    for value, text in ((4e-5, "4.0 × 10⁻⁵"), (-4e-5, "−4.0 × 10⁻⁵")):
        assert format_number(np.float64(value)) == text


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ((0.844, 0.8, 0.88), "0.84 [0.80, 0.88]"),
        ((0.0274, 0.0096, 0.045), "0.027 [0.010, 0.045]"),
        ((-0.00081, -0.0031, 0.0015), "−0.0008 [−0.0031, 0.0015]"),
        ((0.1, 0.092, 0.12), "0.10 [0.09, 0.12]"),
        ((0.0, -0.02, 0.02), "0.000 [−0.020, 0.020]"),
        ((2.4e-6, 2.4e-6, 2.5e-6), "below 0.0001"),
        ((1e-6, -3e-6, 4e-6), "within 0.0001 of 0"),
        ((1e-6, 0.0, 0.0012), "0.0000 [0.0000, 0.0012]"),
        ((-1e-6, -0.001, 0.3), "0.00 [0.00, 0.30]"),
        ((0.0, 0.0, 0.0), "0.00 [0.00, 0.00]"),
        ((12.3, 9.6, 15.0), "12 [10, 15]"),
        ((1234.0, -1.0, 2500.0), "1,234 [−1, 2,500]"),
        ((9.996, 9.99, 9.999), "10.00 [9.99, 10.00]"),
        ((0.31, None, None), "0.31"),
        ((None, 0.1, 0.2), "–"),
    ],
)
def test_a_number_and_its_interval_have_the_same_decimals(numbers, text) -> None:
    assert format_interval(*numbers) == text


@pytest.mark.parametrize(
    ("numbers", "texts"),
    [
        ((0.604, 0.6), ("0.604", "0.600")),
        ((0.604, 0.6, 0.58, 0.62), ("0.604 [0.580, 0.620]", "0.600")),
        ((0.55, 0.6, 0.5, 0.6004), ("0.5500 [0.5000, 0.6004]", "0.6000")),
        ((0.43, 0.05, 0.4, 0.46), ("0.43 [0.40, 0.46]", "0.050")),
        ((14.2, 14.0), ("14.2", "14.0")),
        ((0.6, 0.6), ("0.60", "0.60")),
        ((0.6000000000000001, 0.6), ("just above 0.60", "0.60")),
        ((0.5999999999999999, 0.6), ("just below 0.60", "0.60")),
        ((None, 0.6), ("–", "0.60")),
        ((0.604, 0.6, float("nan"), None), ("0.604", "0.600")),
    ],
)
def test_digits_tell_a_figure_from_its_limit(numbers, texts) -> None:
    """ "Exceeded: 0.60, limit 0.60" of 0.604."""
    assert format_limited(*numbers) == texts


@given(st.floats(0.01, 5), st.floats(0, 1), st.floats(0.01, 2))
def test_every_end_of_an_interval_is_on_its_side_of_the_limit(value, half, limit) -> None:
    numbers = (value, value - half, value + half)
    text, most = format_limited(value, limit, *numbers[1:])
    shown = re.findall(r"-?[\d.]+", text.replace("−", "-"))
    for part, number in zip(shown, numbers, strict=True):
        if abs(number - limit) > 1e-5:
            assert (float(part) > float(most)) == (number > limit)
            assert float(part) != float(most)


def test_an_epsilon_and_its_limit_are_set_numbers() -> None:
    assert format_limited(6.0, 3.0, metric="epsilon_edge") == ("6", "3")


@given(st.floats(-5, 5), st.floats(0, 2), st.floats(0, 2))
def test_what_is_shown_of_an_interval_is_near_it(value, below, above) -> None:
    """However it is shortened, nothing moves by more than the last digit that is shown."""
    numbers = (value, value - below, value + above)
    text = format_interval(*numbers).replace("−", "-")
    if text.startswith(("below", "within")):
        assert max(map(abs, numbers)) < 1e-4
        return
    shown = text.replace("[", "").replace("]", "").replace(",", "").split()
    (decimals,) = {len(part.partition(".")[2]) for part in shown}
    for part, number in zip(shown, numbers, strict=True):
        assert abs(float(part) - number) <= 0.5 * 10.0**-decimals + 1e-12


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (1998 / 1999, "99.95 %"),
        (400 / 403, "99.3 %"),
        (0.99, "99 %"),
        (1.0, "100 %"),
        (1 - 1e-12, "99.999999 %"),
        (0.304, "30 %"),
        (0.00042, "0.04 %"),
        (0.0, "0 %"),
    ],
)
def test_only_all_is_a_hundred_percent(share: float, text: str) -> None:
    assert format_percent(share) == text


@given(st.integers(1, 10**6), st.integers(1, 10**6))
def test_some_are_never_said_to_be_all_or_nobody(some: int, others: int) -> None:
    text = format_percent(some / (some + others))
    assert text.endswith(" %")
    assert 0 < float(text[:-2]) < 100


@pytest.mark.parametrize(
    ("counts", "words"), [((76_359, 76_359), "76,359 nodes"), ((38, 40), "38–40 nodes")]
)
def test_equal_counts_are_one_number(counts, words):
    """ "76,359 to 76,359 hidden nodes"."""
    rows = pd.DataFrame({"n": counts, "seeds": 5, "low": 0.1, "high": 0.2})
    assert describe_sample(rows, "node").startswith(f"{words} in each of 5 repeats")


@given(st.floats(1e-6, 1.0))
def test_an_error_is_never_rounded_down(share: float) -> None:
    """An error of 2.5 % was "at most 2 %"."""
    said = float(format_error(share).removesuffix(" %")) / 100
    assert share * (1 - 1e-9) <= said <= 1.1 * share
    assert format_error(0.025) == "2.5 %"
