"""Formats of counts, shares, names and sentences."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

MAX_PERCENT_DECIMALS = 6
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def count_noun(count: int, noun: str, plural: str = "") -> str:
    """ "1 link", "1,204 links"; `plural` where it is not the noun with an s."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def list_names(given: str | Iterable[str]) -> tuple[str, ...]:
    """Several names as they are; one text is one name, not its letters."""
    return tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else (given,)


def join_words(words: Sequence[str], last: str = "and") -> str:
    """ "links, values and nodes"."""
    return f" {last} ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def format_modes(counts: Mapping[str, str]) -> str:
    """ "“person” (300) and “group” (80)": names are of columns, in whatever number.

    counts  name → count as told, which the external edition of the report rounds
    """
    return join_words([f"“{name}” ({count})" for name, count in counts.items()])


def begin_sentence(text: str) -> str:
    """The text with a capital letter in front; the rest as it is."""
    return text[:1].upper() + text[1:]


def cut_text(text: str, limit: int) -> str:
    """The text in at most `limit` characters; a cut one ends in an ellipsis."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def format_percent(share: float) -> str:
    """0.304 → "30 %"; one significant digit below 1 %, 0.00042 → "0.04 %", and of what is missing
    to all: 0.9995 → "99.95 %". Only all is "100 %", only nothing "0 %"."""
    if share != share:
        return "–"
    percent = 100 * share
    rest = 100 - percent
    if 0 < rest < 0.95:
        decimals = _count_decimals(rest)
        return f"{min(percent, 100 - 10**-decimals):.{decimals}f} %"
    if abs(percent) >= 0.95 or percent == 0:
        return f"{percent:.0f} %"
    return f"{percent:.{_count_decimals(percent)}f} %"


def format_error(share: float) -> str:
    """A bound on a share of wrong answers, never rounded down: 0.025 → "2.5 %", two digits."""
    percent = 100 * share
    if percent <= 0:
        return "0 %"
    step = 10.0 ** (math.floor(math.log10(percent)) - 1)
    return f"{math.ceil(percent / step - 1e-9) * step:.6g} %"


def format_value(value: float) -> str:
    """A number that was set, in six digits: 6.0 → "6", 1e-05 → "10⁻⁵", 2.5e-07 → "2.5 × 10⁻⁷"."""
    return write_power(f"{value:g}")


def write_power(text: str) -> str:
    """ "4.0e-05" → "4.0 × 10⁻⁵", "1e-05" → "10⁻⁵"; a text without an exponent as it is."""
    digits, is_power, power = text.partition("e")
    if not is_power:
        return text
    factor = "" if digits == "1" else f"{digits} × "
    return f"{factor}10{str(int(power)).translate(_RAISED)}"


def _count_decimals(percent: float) -> int:
    """Position of the first non-zero decimal, at most six."""
    return min(-int(f"{percent:.0e}".rpartition("e")[2]), MAX_PERCENT_DECIMALS)
