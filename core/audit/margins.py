"""Margins of single nodes, read back from what the cells of an audit left."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from sqlalchemy.engine import Row

from core.audit.states import State
from core.audit.store import files
from core.audit.store.database import Store
from core.results import RELEASE

UTILITY = f"{RELEASE}:utility"
"""Key of the cells that measured usefulness, as `core.audit.assemble.name_part` makes it."""

LoadMargins = Callable[[str, str | None], np.ndarray]


def make_margin_loader(
    store: Store, groups: Mapping[tuple[str, str], Iterable[Row[Any]]]
) -> LoadMargins:
    """`load(release, attack)` → (k,) margins of an attribute attack over the hidden nodes of all
    finished repeats, a node as often as it was hidden; with None for the attack those of the
    label classifier that measured usefulness. Empty for audits from before margins were kept."""

    def load(release: str, attack: str | None) -> np.ndarray:
        parts = [np.zeros(0)]
        for cell in groups.get((release, UTILITY if attack is None else attack), ()):
            if cell.state is not State.DONE:
                continue
            arrays = files.load_cell(store.home, cell.key)
            margins = arrays.get("label_margin" if attack is None else "margin", parts[0])
            parts.append(margins[np.isfinite(margins)])
        return np.concatenate(parts)

    return load
