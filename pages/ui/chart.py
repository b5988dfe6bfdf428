"""Charts on a page: the figure, a note on its computation, and downloads (CSV, PNG, SVG)."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

import pandas as pd
import streamlit as st

from core.audit.results.view import AuditView
from core.data.text_input import escape_cell
from core.figures.chart import Chart
from pages.ui.cache import remember
from pages.ui.text import escape
from pages.ui.theme import current_theme

CONFIG: dict[str, Any] = {
    "displaylogo": False,
    "displayModeBar": "hover",
    "modeBarButtons": [["toImage"]],
}
_IMAGES_HTML = """<button type="button" data-format="png">PNG</button>
<button type="button" data-format="svg">SVG</button>"""
_IMAGES_CSS = """
button {all: unset; cursor: pointer; color: var(--st-text-color); font: inherit;
  font-size: .93rem; padding: .3rem .45rem; border-radius: 6px; opacity: .85;}
button:hover {color: var(--st-primary-color); opacity: 1;}
button:focus-visible {outline: 2px solid var(--st-primary-color);}
"""
_IMAGES_JS = """
export default function ({ data, parentElement }) {
  for (const button of parentElement.querySelectorAll("button")) {
    button.setAttribute("aria-label", `${button.dataset.format} of ${data.name}`);
    button.onclick = () => {
      const plot = document.querySelector(`.st-key-${data.key} .js-plotly-plot`);
      const tool = plot && plot.querySelector('.modebar-btn[data-title^="Download"]');
      if (!tool) return;
      plot._context.toImageButtonOptions = {
        format: button.dataset.format, filename: data.name, scale: 2,
      };
      tool.dispatchEvent(new MouseEvent("click", { bubbles: true }));
    };
  }
}
"""


def show_chart(
    chart: Chart,
    key: str,
    title: str = "",
    config: dict[str, Any] | None = None,
    is_kept: bool = False,
    **options: Any,
) -> Any:
    """Draw a chart with its note and downloads; return its selection.

    is_kept  whether it is drawn again, so that it is worth keeping what browsers are sent
    """
    if title:
        st.header(title, anchor=False)
    if chart.is_empty:
        st.caption(escape(chart.note, 300) or "No data for this chart yet.")
        return None
    slug = re.sub(r"\W", "-", key)
    with st.container(key=f"chart-{slug}"):
        event = st.plotly_chart(
            chart.kept if is_kept else chart.figure,
            key=key,
            theme=None,
            config=config or CONFIG,
            alt=format_chart(chart, title),
            **options,
        )
    with st.container(horizontal=True, wrap=False, gap="xsmall", vertical_alignment="center"):
        st.caption(escape(chart.note, 400), width="stretch")
        download_table(chart.source, key)
        _offer_images(f"chart-{slug}", slug)
    return event


def show_cached_chart(
    view: AuditView | None,
    make: Callable[..., Chart],
    key: str,
    title: str = "",
    of: tuple[object, ...] = (),
    **options: Any,
) -> Any:
    """`show_chart` of a figure that is built once for each state of the audit and theme.

    make  a lambda or inner function, as for `cache.remember`; it is given the theme and `of`
    of    what else the figure depends on, hashable
    """
    chart = remember(view, make, current_theme(), *of)
    return show_chart(chart, key, title, is_kept=True, **options)


@cache
def _register_images() -> Callable[..., object]:
    return st.components.v2.component(
        "chart_images", html=_IMAGES_HTML, css=_IMAGES_CSS, js=_IMAGES_JS
    )


def _offer_images(key: str, name: str) -> None:
    """Buttons for PNG and SVG, drawn by the browser from the displayed figure."""
    data = {"key": key, "name": name}
    _register_images()(key=f"images-{key}", data=data, width="content")


def format_chart(chart: Chart, title: str = "") -> str:
    """Text alternative of a chart: title, axes and how it was computed."""
    axes = chart.axis_titles
    named = title or chart.title or (f"Chart of {' and '.join(axes)}" if axes else "Chart")
    text = " ".join(f"{named}. {chart.note} The table has all values.".split())
    return text.replace("<br>", " ")


def download_table(table: pd.DataFrame | Callable[[], pd.DataFrame], name: str) -> None:
    """Button that downloads a table as CSV; a function is called only on download."""
    st.download_button(
        "CSV",
        data=lambda: write_csv(table() if callable(table) else table),
        file_name=f"{name}.csv",
        mime="text/csv",
        key=f"csv-{name}",
        on_click="ignore",
        type="tertiary",
        icon=":material/download:",
    )


def write_csv(table: pd.DataFrame) -> bytes:
    """CSV in UTF-8; text that a spreadsheet would run as a formula is escaped."""
    safe = table.copy()
    for name in safe.columns:
        if not pd.api.types.is_numeric_dtype(safe[name]):
            safe[name] = safe[name].map(lambda v: escape_cell(v) if isinstance(v, str) else v)
    content: bytes = safe.to_csv(index=False).encode()
    return content
