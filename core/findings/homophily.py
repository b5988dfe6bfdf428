"""GHRatios against the class shares (GPS Eq. 3–5, Fig. 2): why structure reveals attributes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from core.audit.results.view import AuditView
from core.findings.tables import list_releases

MECHANISMS = {
    "ghratio_proximity": "Neighbours",
    "ghratio_role": "Role peers",
    "ghratio_combined": "Both",
}
"""Column of the profile → compared set: neighbours, nodes of similar degree, the union."""


NUM_BINS = 20


def compute_ghratio_histogram(
    profile: pd.DataFrame, releases: Sequence[str] | None = None
) -> pd.DataFrame:
    """mechanism, release, ratio (bin centre), share (of the nodes with a ratio), nodes."""
    edges = np.linspace(0, 1, NUM_BINS + 1)
    parts = []
    for name in MECHANISMS:
        for release in list_releases(profile):
            values = profile.loc[profile.release == release, name].dropna().to_numpy(float)
            if len(values) == 0 or (releases is not None and release not in releases):
                continue
            counts, _ = np.histogram(values, edges)
            parts.append(
                pd.DataFrame(
                    {
                        "mechanism": name,
                        "release": release,
                        "ratio": (edges[:-1] + edges[1:]) / 2,
                        "share": counts / len(values),
                        "nodes": counts,
                    }
                )
            )
    columns = ["mechanism", "release", "ratio", "share", "nodes"]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)


def compute_reference_share(profile: pd.DataFrame) -> float:
    """Mean over nodes of their class share: the expected ratio without homophily."""
    shares = profile.loc[profile.release == list_releases(profile)[0], "class_share"]
    return float(pd.to_numeric(shares, errors="coerce").mean())


def explain_missing_ratios(view: AuditView) -> str:
    """Reason why an audit has no GHRatios: nothing to measure, not yet, or not measured."""
    column = view.spec.threats.private
    if column is None:
        return (
            "This audit has no private column, so there is no homophily to measure. "
            "Choose one on the Data page and run the attacks again."
        )
    if view.summary.state.is_active:
        who = view.spec.nodes.many
        return f"Still running: how alike {who} are in {column} appears here once it is measured."
    return f"Homophily of {column} was not measured: resume the audit, or look at what failed."
