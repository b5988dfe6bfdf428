"""Files of a benchmark: results as CSV, Parquet and JSON, and an HTML page."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from core.audit.asked.scenarios import THREAT_TITLES
from core.audit.results.benchmark import TABLE_COLUMNS
from core.audit.results.provenance import describe_packages
from core.audit.store.states import NOT_TESTED, State
from core.findings.benchmark import (
    SUMMARY_COLUMNS,
    choose_defense,
    describe_threat,
    format_shape,
    tabulate_releases,
)
from core.records import format_record, hash_files
from core.report.text import clean_text
from core.words import begin_sentence, count_noun

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Benchmark of attacks and defenses</title>
<style>
body {{ font: 15px/1.5 sans-serif; max-width: 76em; margin: 2em auto; padding: 0 1em; }}
div {{ overflow-x: auto; }}
table {{ border-collapse: collapse; }}
th, td {{ border-bottom: 1px solid #bbb; padding: 0.3em 0.8em; text-align: left; }}
tr.chosen {{ font-weight: bold; }}
summary {{ cursor: pointer; margin: 0.8em 0; }}
</style>
</head>
<body>
<h1>Benchmark of attacks and defenses</h1>
<p>{scope}</p>
{remarks}
<h2>Which attack to fear, and which defense to choose</h2>
{answers}
<h2>Every release</h2>
<p>For each release the strongest attack, baseline attackers included, and the best baseline
attacker, whom a real attack must beat. Intervals are 95 %; n counts cases in each repeat. ✓: the
strongest attack is clearly below that on the original; ✗: clearly above; –: no clear
difference.</p>
{tables}
<h2>How it was run</h2>
<p>{missing} All figures are in results.csv, results.parquet and results.json beside this page.</p>
<pre>{settings}</pre>
</body>
</html>
"""
REMARKS = {
    "num_repeats": "One repeat: intervals cover the sample, not what another split or other noise "
    "would change.",
    "at_most": "Settings of methods were lowered to save time, so that learned attacks are weaker "
    "than they can be: what they reach is a lower bound of the risk.",
    "max_nodes": "Large graphs were sampled by a random walk: on the whole graph figures differ.",
}
"""Remarks shown before the figures: field of the benchmark → remark."""


RECORD = "results.json"
FILES = ("results.csv", "results.parquet", "summary.csv", "index.html")
"""Files of a benchmark, which the record lists."""


def write_benchmark(
    folder: Path, settings: dict[str, Any], table: pd.DataFrame, summary: pd.DataFrame
) -> None:
    """Write results.csv, .parquet and .json, summary.csv and index.html to `folder`.

    settings  the benchmark's spec as JSON
    table     of `core.audit.results.benchmark.gather_results`
    summary   of `core.findings.benchmark.summarize_benchmark`
    """
    paths = [folder / name for name in FILES]
    paths[3].write_text(format_page(settings, table, summary), encoding="utf-8")
    table, summary = table[list(TABLE_COLUMNS)], summary[list(SUMMARY_COLUMNS)]
    table.to_csv(paths[0], index=False)
    table.to_parquet(paths[1], index=False)
    summary.to_csv(paths[2], index=False, float_format="%.4g")
    records = {
        name: json.loads(rows.to_json(orient="records", double_precision=15))
        for name, rows in (("summary", summary), ("results", table))
    }
    content = {"spec": settings, "provenance": describe_packages(), **records}
    text = format_record(content, hash_files(folder, paths), indent=1, allow_nan=False)
    (folder / RECORD).write_text(text, encoding="utf-8")


def format_page(settings: dict[str, Any], table: pd.DataFrame, summary: pd.DataFrame) -> str:
    """One self-contained HTML page without scripts; names are escaped."""
    graphs = dict(list(summary.groupby("graph", sort=False)))
    remarks = [REMARKS["num_repeats"]] if settings["num_repeats"] == 1 else []
    remarks += [REMARKS[name] for name in ("at_most", "max_nodes") if settings[name]]
    return PAGE.format(
        scope=_escape(_describe_scope(table)),
        remarks="".join(f"<p><strong>{_escape(text)}</strong></p>" for text in remarks),
        answers="".join(_format_answers(str(g), rows) for g, rows in graphs.items())
        or "<p>No attack was run.</p>",
        tables="".join(_format_tables(str(g), rows) for g, rows in graphs.items()),
        missing=_escape(_describe_missing(table)),
        settings=html.escape(json.dumps({**settings, **describe_packages()}, indent=1)),
    )


def _describe_scope(table: pd.DataFrame) -> str:
    attacks = {attack.method_id for attack in table.attack if attack is not None}
    return (
        f"{count_noun(len(attacks), 'attack')} on "
        f"{count_noun(table.release.nunique(), 'release')} of "
        f"{count_noun(table.graph.nunique(), 'graph')}: {', '.join(table.graph.unique())}."
    )


def _describe_missing(table: pd.DataFrame) -> str:
    failed = int((table.status == State.FAILED).sum())
    skipped = int(table.status.isin([State.SKIPPED, NOT_TESTED]).sum())
    return (
        f"{count_noun(failed, 'figure')} failed and {count_noun(skipped, 'figure')} could not be "
        "computed, with the reason in the column reason."
    )


def _format_answers(graph: str, rows: pd.DataFrame) -> str:
    items = []
    for threat, part in rows.groupby("threat", sort=False):
        fear, choose = describe_threat(part)
        title = begin_sentence(dict(THREAT_TITLES)[threat])
        items.append(
            f"<li><strong>{_escape(title)}.</strong> Attack to fear: {_escape(fear)}<br>"
            f"Defense to choose: {_escape(choose)}</li>"
        )
    return f"<h3>{_escape(graph)} ({_escape(format_shape(rows))})</h3><ul>{''.join(items)}</ul>"


def _format_tables(graph: str, rows: pd.DataFrame) -> str:
    parts = []
    for threat, part in rows.groupby("threat", sort=False):
        best, table = choose_defense(part), tabulate_releases(part)
        chosen = table.pop("release") == (None if best is None else best.release)
        body = [
            _format_row(map(str, row), "td", bool(is_chosen))
            for row, is_chosen in zip(table.to_numpy(), chosen, strict=True)
        ]
        title = f"{graph}: {dict(THREAT_TITLES)[threat]}"
        parts.append(
            f"<details><summary>{_escape(title)}</summary><div><table>"
            f"{_format_row(table.columns, 'th')}{''.join(body)}</table></div></details>"
        )
    return "".join(parts)


def _format_row(cells: Iterable[str], tag: str, is_chosen: bool = False) -> str:
    inside = "".join(f"<{tag}>{_escape(cell)}</{tag}>" for cell in cells)
    return f'<tr class="chosen">{inside}</tr>' if is_chosen else f"<tr>{inside}</tr>"


def _escape(text: object) -> str:
    return html.escape(clean_text(text, 2000))
