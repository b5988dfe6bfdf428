"""Sentences on several private columns and on numeric columns.

They contain column names, which are user data: escape before display.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from core.audit.results.view import AuditView
from core.findings.differences import compare_rows, is_clear
from core.findings.inverted_scores import format_strength, invert_scores
from core.findings.numbers import format_estimate, format_number, format_row
from core.findings.tables import attack_rows, select_results
from core.measures.quantities import find_tolerance
from core.release import ORIGINAL

HOW = {"inferred": "Inferring the other private columns as well", "known": "Knowing the others"}


def answer_private_columns(view: AuditView) -> list[str]:
    """Sentences on the original: one per numeric column, and one per column and mode of joint
    inference."""
    return [*_answer_quantities(view), *_answer_joint(view)]


def _answer_quantities(view: AuditView) -> Iterator[str]:
    graph = None
    for column in view.spec.threats.columns:
        rows = _select(view, "error_reduction", column)
        if rows.empty:
            continue
        graph = graph or view.load_graph()
        values = graph.column(column).values
        if values is None:
            continue
        real = rows[~rows.is_baseline]
        best = (rows if real.empty else real).sort_values("value").iloc[-1]
        close = _format(view, best.method, "close_share")
        error = _format(view, best.method, "absolute_error")
        text = (
            f"{column} is a number. On the original, {best.attack.title} estimates it to "
            f"within {format_number(find_tolerance(values))} for a share of "
            f"{close} of the {view.spec.nodes.many}. It is "
            f"{error} off on average, and removes {format_row(best)} of the error "
            "of the median."
        )
        baselines = rows[rows.is_baseline]
        if len(baselines) and not real.empty:
            baseline = baselines.loc[baselines.value.idxmax()]
            other = _format(view, baseline.method, "close_share")
            text += (
                f" The best baseline attacker, {baseline.attack.title}, comes that close "
                f"for {other} and removes {format_row(baseline)}."
            )
        yield text


def _format(view: AuditView, method: str, metric: str) -> str:
    """A figure on the original, or the reason why there is none."""
    rows = select_results(view.results, metric, [ORIGINAL], method)
    if rows.empty:
        return format_estimate(view.estimate(ORIGINAL, method, metric))
    return format_row(rows.iloc[0])


def _answer_joint(view: AuditView) -> Iterator[str]:
    for column in view.spec.threats.columns:
        rows = _select(view, "auc", column)
        if rows.empty:
            continue
        rows = invert_scores(rows)
        real = rows[~rows.is_baseline]
        plain = real[real.knowledge == "standard"]
        for how, start in HOW.items():
            joint = real[real.knowledge == f"joint:{how}"]
            if plain.empty or joint.empty:
                continue
            before, after = plain.loc[plain.value.idxmax()], joint.loc[joint.value.idxmax()]
            change = compare_rows(before, after)
            change_text = f", a difference of {format_estimate(change)}" if change else ""
            noise = "" if is_clear(before, after) else ", within the noise"
            yield (
                f"{start}, an attacker on {column} reaches AUC {format_strength(after)} instead of "
                f"{format_strength(before)}{change_text}{noise}."
            )


def _select(view: AuditView, metric: str, column: str) -> pd.DataFrame:
    """`attack_rows` of the attacks on a column of the original, with `knowledge`."""
    rows = attack_rows(view.results, metric, "attribute")
    rows = rows[rows.release == ORIGINAL]
    target = "" if column == view.spec.threats.private else column
    rows = rows.assign(knowledge=[attack.knowledge.text for attack in rows.attack])
    is_on_column = [attack.target == target for attack in rows.attack]
    return rows[np.array(is_on_column, bool)].reset_index(drop=True)
