"""Headline cards: a number, what it is compared with, and a bar where it has one."""

from __future__ import annotations

import html
from collections.abc import Sequence

import streamlit as st

from core.findings.facts import STATE_TITLES, LimitState
from core.findings.page_summary import Card, ScoreBar
from pages.ui.text import escape

STATE_ICONS: dict[LimitState, str] = {
    "met": ":green[:material/check:]",
    "not_proven": ":orange[:material/priority_high:]",
    "exceeded": ":red[:material/close:]",
    "not_tested": "–",
}
"""Markdown icon for the state of a limit; always shown with its title or a legend."""


def show_cards(cards: Sequence[Card]) -> None:
    """One card per headline figure, with its comparison and the state of its limit."""
    with st.grid(max(len(cards), 3), min_column_width=220, key="cards"):
        for card in cards:
            if card.bar is None:
                _show_figure(card, border=True)
                continue
            with st.container(border=True, height="stretch", gap="xsmall"):
                st.markdown(f"**{escape(card.question, 120)}**")
                _show_figure(card, border=False)
                st.html(draw_bar(card.bar, card.value, card.compared_with))
    bars = [card.bar for card in cards if card.bar is not None]
    if bars:
        marks = "Bar: strongest attack, with its 95 % interval. Line: best baseline attacker."
        has_control = any(bar.control is not None for bar in bars)
        st.caption(f"{marks} Ring: control nodes, in no release." if has_control else marks)


def _show_figure(card: Card, border: bool) -> None:
    icon = "" if card.state is None else f"{STATE_ICONS[card.state]} "
    st.metric(
        f"{icon}{escape(card.title, 120)}",
        card.value,
        card.compared_with,
        delta_color="off",
        delta_arrow="off",
        delta_description=None if card.state is None else f"limit {STATE_TITLES[card.state]}",
        help=escape(card.detail, 600),
        border=border,
        height="stretch" if border else "content",
    )


def draw_bar(bar: ScoreBar, value: str, compared_with: str) -> str:
    """HTML of a figure on a bar from guessing to all, with its interval, the best baseline attacker
    and control nodes."""
    parts = [f'<span style="width:{bar.value:.1%}"></span>']
    if bar.low is not None and bar.high is not None:
        wide = bar.high - bar.low
        parts.append(f'<u style="left:{bar.low:.1%};width:{wide:.1%}"></u>')
    if bar.baseline is not None:
        parts.append(f'<i style="left:{bar.baseline:.1%}"></i>')
    if bar.control is not None:
        parts.append(f'<b style="left:{bar.control:.1%}"></b>')
    words = html.escape(f"{value}, {compared_with}")
    return f'<div class="score-bar" role="img" aria-label="{words}">{"".join(parts)}</div>'
