"""Leakage through links against leakage through columns.

Compares every release with the one without columns, and lists published columns that alone
determine a private one.
"""

from __future__ import annotations

import pandas as pd

from core.audit.asked.scenarios import Threat
from core.audit.computing.prepared import list_written, prepare_graph
from core.audit.results.view import AuditView
from core.data.warnings import find_telling_columns
from core.findings.differences import is_clear
from core.findings.labels import metric_title
from core.findings.numbers import format_row
from core.findings.tables import compute_worst_attacks, main_metric
from core.release import ORIGINAL


def answer_columns(results: pd.DataFrame, threat: Threat) -> str:
    """Whether links or columns are the leak, beyond noise; "" if no release lacks the columns."""
    metric = main_metric(results, threat)
    if metric is None:
        return ""
    worst = compute_worst_attacks(results, metric, threat).set_index("release", drop=False)
    without = worst[[made.withholds_columns_alone for made in worst.made]]
    if ORIGINAL not in worst.index or without.empty:
        return ""
    before, bare = worst.loc[ORIGINAL], without.iloc[0]
    defended = worst[[made.is_defended and made.keeps_columns for made in worst.made]]
    best = None if defended.empty else defended.loc[defended.value.idxmin()]
    named = f"{metric_title(metric)} of the worst case"
    falls = f"{named} from {format_row(before)} to {format_row(bare)}"
    if bare.value < before.value and is_clear(bare, before):
        if best is None:
            return f"Withholding the columns alone lowers {falls}. No defense of links was run."
        other = f"{best.made.title}, the lowest that keeps them,"
        if bare.value < best.value and is_clear(bare, best):
            return (
                f"Columns, not links, are the leak: withholding them lowers {falls}, while "
                f"{other} reaches {format_row(best)}."
            )
        return f"Withholding the columns alone lowers {falls}; {other} reaches {format_row(best)}."
    if best is not None and best.value < before.value and is_clear(best, before):
        return (
            f"Links, not columns, are the leak: without columns, {named} stays at "
            f"{format_row(bare)}; with {best.made.title} it is {format_row(best)}."
        )
    return f"Withholding the columns does not lower {named} beyond noise: {format_row(bare)}."


def list_telling_columns(view: AuditView) -> list[str]:
    """One warning per column that attackers see and that alone determines a private one, and on
    ids that do, with a remedy.

    Contains column names, which are user data: escape before display.
    """
    private = view.spec.threats.columns
    if not private:
        return []
    spec = view.spec.update(leave_out=())  # the view's graph is without them
    before = view.load_graph()
    after = prepare_graph(spec, before)
    seen = {*after.feature_names, *list_written(spec, after)}
    others = after.with_columns([name for name in seen if name not in private])
    # Of a release made elsewhere the recipient may hold other ids than the audit does.
    shows_ids = view.spec.external_release is None
    found = [
        telling
        for column in private
        for telling in find_telling_columns(others, before.column(column))
        if shows_ids or not telling.is_id
    ]
    return [
        f"{'The node ids' if t.is_id else f'Column “{t.column}”'} alone "
        f"reveal{'s' * (not t.is_id)} “{t.secret}”, even without links: {t.remedy}."
        for t in found
    ]
