"""Settings as widgets: bounds, sweeps and choices come from the method's own declaration."""

from __future__ import annotations

from typing import ClassVar, Literal

import pytest
from pydantic import Field

from core.methods import Defense, MethodInfo
from core.registry import find_method, list_methods
from pages.ui.method_form import list_fields, propose_values


class Example(Defense):
    info: ClassVar[MethodInfo] = MethodInfo("example", "Example", "", "", "empirical")
    strength: float = Field(0.3, ge=0, le=1, title="Share", description="What it does.")
    epsilon: float = Field(6.0, gt=0)
    rounds: int = Field(5, ge=1, le=50)
    mode: Literal["hard", "soft"] = "hard"
    limit: int | None = Field(None, ge=1)
    symmetric: bool = True

    def publish(self, graph, threats, context):
        raise NotImplementedError


def test_fields_carry_what_the_method_declares() -> None:
    fields = {field.name: field for field in list_fields(Example)}
    assert list(fields) == ["strength", "epsilon", "rounds", "mode", "limit", "symmetric"]
    assert (fields["strength"].low, fields["strength"].high) == (0, 1)
    assert fields["strength"].title == "Share"
    assert fields["strength"].help == "What it does."
    assert fields["epsilon"].low > 0
    assert fields["rounds"].kind == "integer"
    assert fields["mode"].choices == ("hard", "soft")
    assert fields["limit"].optional
    assert fields["limit"].kind == "integer"
    assert fields["symmetric"].kind == "boolean"


def test_proposed_sweeps_stay_inside_the_bounds() -> None:
    for field in list_fields(Example):
        if field.is_number:
            values = propose_values(field)
            assert values
            assert all(field.low is None or value >= field.low for value in values)
            assert all(field.high is None or value <= field.high for value in values)


@pytest.mark.parametrize("method", list_methods(), ids=lambda m: m.info.key)
def test_every_method_has_a_form(method) -> None:
    """A setting that no widget can show would silently become a text field."""
    for field in list_fields(method):
        assert field.kind in ("integer", "number", "boolean", "choice", "text")
        if field.kind == "text":
            assert isinstance(field.default, str | None)


def test_the_share_of_blinks_budget_is_studied_over_its_whole_range() -> None:
    (field,) = (f for f in list_fields(find_method("blink", "defense")) if f.name == "delta")
    assert field.optional
    assert propose_values(field) == [0.1, 0.3, 0.5, 0.7, 0.9]
