"""How attacks carry over between releases: every attack on every release."""

from __future__ import annotations

from typing import Literal

import pandas as pd

from core.audit.scenarios import Threat
from core.findings.inverted_scores import invert_scores
from core.findings.labels import method_title
from core.findings.tables import attack_rows, list_releases


def compute_transfer(
    results: pd.DataFrame,
    metric: str,
    threat: Threat | None = None,
    of: Literal["value", "strength"] = "value",
) -> pd.DataFrame:
    """attack, title, one column a release; attacks by their strength on the original.

    of  the attack's own value, or with those that are clearly wrong inverted
    """
    rows = attack_rows(results, metric, threat)
    if rows.empty:
        return pd.DataFrame(columns=["attack", "title"])
    rows["strength"] = invert_scores(rows).value
    wide = rows.pivot_table([*{"strength", of}], "method", "release", sort=False)
    first = next(r for r in list_releases(results) if r in wide["strength"].columns)
    order = wide["strength"][first].sort_values(ascending=False, kind="stable").index
    wide = wide[of].loc[order]
    wide = wide[[r for r in list_releases(results) if r in wide.columns]].reset_index()
    wide.columns.name = None
    wide = wide.rename(columns={"method": "attack"})
    wide.insert(1, "title", wide.attack.map(method_title))
    return wide
