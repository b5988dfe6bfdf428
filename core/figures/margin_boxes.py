"""Box plots of classification margins, one row per release (NetFense §5)."""

from __future__ import annotations

from collections.abc import Sequence

from core.audit.results.view import AuditView
from core.figures.chart import Chart, make_empty_chart
from core.figures.theme import add_rule, fit_rows, format_releases, make_panels, style_figure
from core.findings.margins import compute_margin_table
from core.findings.palette import Theme, escape_text, release_color
from core.findings.tables import list_made, span_counts


def margin_boxes(
    view: AuditView,
    attack: str,
    releases: Sequence[str],
    absolute: bool = False,
    theme: Theme = "light",
) -> Chart:
    """Private value on the left, label on the right; 0 is undecided."""
    table = compute_margin_table(view, attack, releases, absolute)
    if table.empty:
        missing = "No margins are stored for this attack: run the audit again to see them."
        return make_empty_chart(missing, theme, table)
    whats = list(dict.fromkeys(table.what))
    made = list_made(view.results)
    colors, names = release_color(made.values()), format_releases(made.values())
    titles = {"private": f"Private value, {view.get_attack(attack).title}", "label": "Label"}
    figure = make_panels(titles[what] for what in whats)
    for column, what in enumerate(whats, start=1):
        for row in table[table.what == what].itertuples():
            figure.add_box(
                y=[names[row.release]],
                orientation="h",
                lowerfence=[row.p5],
                q1=[row.q1],
                median=[row.median],
                q3=[row.q3],
                upperfence=[row.p95],
                mean=[row.mean],
                boxmean=True,
                width=0.55,
                line={"color": colors[row.release], "width": 1.6},
                showlegend=False,
                name=escape_text(made[row.release].title),
                row=1,
                col=column,
            )
        if not absolute:
            add_rule(figure, theme, "dash", x=0, row=1, col=column)
        hint = "nearer 0 is safer" if what == "private" else "more useful →"
        figure.update_xaxes(
            title_text=f"{'Absolute margin' if absolute else 'Margin'}   {hint}",
            range=[0, 1.02] if absolute else [-1.05, 1.05],
            row=1,
            col=column,
        )
    row_pixels = fit_rows([names[r] for r in table.release], 42)
    style_figure(figure, theme, 150 + row_pixels * table.release.nunique())
    figure.update_yaxes(autorange="reversed", ticklabelstandoff=4)
    repeats = int(view.results.seeds.max())
    note = (
        "Probability of the true class less the highest other one, as the classifier states it. "
        "Box: middle half and median, dashed line: mean, whiskers: 5 to 95 %. "
        f"{span_counts(table.n, 'hidden node')} over {repeats} repeats; a node "
        "counts as often as it was hidden."
    )
    return Chart(figure, table, note)
