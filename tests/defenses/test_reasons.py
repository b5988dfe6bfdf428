"""Reasons why a defense cannot run complete the sentence "… cannot run here: …"."""

from __future__ import annotations

import numpy as np
import pytest

from core.graph import Graph
from core.registry import list_methods
from core.threats import Threats


@pytest.mark.parametrize("method", list_methods("defense"), ids=lambda m: m.info.key)
def test_a_reason_says_what_the_defense_needs(method):
    graph = Graph.from_pairs(np.empty((0, 2), int), 1)
    defense = method.model_validate(
        {"line": "cp {in} {out}"} if method.info.key == "command" else {}
    )
    reason = defense.supports(graph, Threats(graph))
    if reason is not None:
        assert reason.startswith("needs " if method.info.key != "command" else "a command ")
        assert not reason.endswith(".")
