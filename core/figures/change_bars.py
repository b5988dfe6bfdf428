"""What a release removes and adds, by class and by community."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from core.figures.chart import Chart, make_empty_chart
from core.figures.releases import STATES
from core.figures.theme import INKS, add_rule, make_panels, shorten_names, style_figure
from core.findings.link_changes import (
    BETWEEN,
    COMMUNITIES_LATER,
    TEST,
    UNKNOWN,
    Grouping,
    describe_link_changes,
)
from core.findings.palette import Theme, class_marks, escape_text, ink_on
from core.words import format_percent

MAX_GROUPS = 8
ROW_PX = 36
MAX_LETTERS = 14
ANCHORS = {"kept": "start", "removed": "end", "added": "middle"}
"""State of a link → where its number stands in the bar, away from the dashed line."""

LEAST_TEXT = 0.09
"""Share of a bar below which no number fits."""


def link_changes(
    tables: Mapping[Grouping, pd.DataFrame],
    name: str,
    classes: Sequence[str] = (),
    theme: Theme = "light",
) -> Chart:
    """A bar for the links within each group and one for those between groups: kept, removed, added,
    of the original's. The dashed line is the share of all links that is kept.

    tables  "class" or "community" → `count_link_changes`; classes: of the column, in its order
    """
    tables = {by: one for by, one in tables.items() if _tells(one)} or tables
    if not tables or not next(iter(tables.values())).links.sum():
        return make_empty_chart("There is no link to compare.", theme)
    shown = {by: _pool_groups(table) for by, table in tables.items()}
    titles = [f"By {by}" for by in shown]
    figure, ink = make_panels(titles, shared_yaxes=False, horizontal_spacing=0.27), INKS[theme]
    marks = class_marks(classes)
    end = 1 + max(float((table.added / table.links).max()) for table in shown.values())
    for column, (by, table) in enumerate(shown.items(), 1):
        names = [_format_row(row, by, marks, ink.muted) for row in table.itertuples()]
        links = table.links.to_numpy(float)
        parts = {
            "kept": (links - table.removed) / links,
            "removed": table.removed / links,
            "added": table.added / links,
        }
        for state, shares in parts.items():
            if state == "added" and end == 1:
                continue  # nor is it in the legend
            color, *_ = STATES[state]
            figure.add_bar(
                x=100 * shares.to_numpy(float),
                y=names,
                orientation="h",
                name=state,
                legendgroup=state,
                showlegend=column == 1,
                marker={"color": color},
                text=[
                    format_percent(share) if share >= LEAST_TEXT * end else "" for share in shares
                ],
                textposition="inside",
                insidetextanchor=ANCHORS[state],
                textangle=0,
                textfont={"color": ink_on(color)},
                customdata=np.round(shares * links).astype(int),
                hovertemplate=f"%{{customdata:,}} {state}, %{{x:.0f}} %<extra></extra>",
                row=1,
                col=column,
            )
        kept = 1 - table.removed.sum() / table.links.sum()
        add_rule(figure, theme, "dash", x=100 * kept, row=1, col=column)
    line = {"color": ink.text, "width": 1.3, "dash": "dash"}
    figure.add_scatter(x=[None], y=[None], mode="lines", name="kept of all links", line=line)
    height = ROW_PX * max(map(len, shown.values())) + 150
    title = describe_link_changes(tables, name)
    style_figure(figure, theme, height, title, barmode="stack", bargap=0.3)
    figure.update_layout(
        legend={"y": 0, "yanchor": "bottom", "yref": "container"},
        margin={"b": 76},
        uniformtext={"minsize": 11, "mode": "hide"},
    )
    figure.update_yaxes(autorange="reversed", showgrid=False, tickfont={"color": ink.text})
    figure.update_xaxes(ticksuffix=" %", range=[0, 102 * end], nticks=6)
    figure.update_xaxes(title_text="Of the links before")
    source = pd.concat([table.assign(by=by) for by, table in tables.items()])
    return Chart(figure, source, _describe_note(tables))


def _tells(table: pd.DataFrame) -> bool:
    """Whether both ends of any link have a group; of links between two modes one may have none."""
    return bool(table.links[table.kind != UNKNOWN].any())


def _pool_groups(table: pd.DataFrame) -> pd.DataFrame:
    """Rows with links: the largest groups in their order, the others as one, then the rest."""
    table = table[table.links > 0]
    within = table[table.kind == "within"]
    largest = within.links.nlargest(MAX_GROUPS).index
    few = within.drop(largest)
    rows = [within.loc[sorted(largest)]]
    if len(few):
        sums = few[["links", "removed", "added"]].sum()
        rows.append(pd.DataFrame([{"kind": "within", "group": f"{len(few):,} others", **sums}]))
    return pd.concat([*rows, table[table.kind != "within"]], ignore_index=True)


def _format_row(row: object, by: str, marks: Mapping[str, tuple[str, str]], muted: str) -> str:
    kind, group, links = (getattr(row, name) for name in ("kind", "group", "links"))
    names = {BETWEEN: "between them", UNKNOWN: f"{by} unknown"}
    name = escape_text(names.get(kind) or shorten_names([group], MAX_LETTERS)[0])
    if kind == "within" and by == "class" and group in marks:
        name = f'<span style="color:{marks[group][0]}">■</span> {name}'
    return f'{name} <span style="color:{muted}">({links:,})</span>'


def _describe_note(tables: Mapping[Grouping, pd.DataFrame]) -> str:
    note = "Links within each group before, which are 100 %; first repeat's release."
    if "community" not in tables:
        note += f" {COMMUNITIES_LATER}"
    return f"{note} Uneven: {TEST}."
