"""Margins of single nodes, read back from what the cells of an audit left."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from core.audit.cell_groups import Groups, format_part, list_done
from core.audit.store import files
from core.audit.store.database import Store

LoadMargins = Callable[[str, str | None], np.ndarray]


def make_margin_loader(store: Store, groups: Groups) -> LoadMargins:
    """`load(release, attack)` → (k,) margins of an attribute attack over the hidden nodes of all
    finished repeats, a node as often as it was hidden; with None for the attack those of the
    label classifier that measured usefulness. Empty for audits from before margins were kept."""

    def load(release: str, attack: str | None) -> np.ndarray:
        parts = [np.zeros(0)]
        for cell in list_done(groups, release, attack or format_part("utility")):
            arrays = files.load_cell(store.home, cell.key)
            margins = arrays.get("label_margin" if attack is None else "margin", parts[0])
            parts.append(margins[np.isfinite(margins)])
        return np.concatenate(parts)

    return load
