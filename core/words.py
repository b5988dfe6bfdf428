"""Counts and sentences as people write them."""

from __future__ import annotations


def count_noun(count: int, noun: str, plural: str = "") -> str:
    """ "1 link", "1,204 links"; `plural` where it is not the noun with an s."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def begin_sentence(text: str) -> str:
    """The text with a capital letter in front; the rest as it is."""
    return text[:1].upper() + text[1:]
