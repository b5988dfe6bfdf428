"""Settings shared by private defenses."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from core.methods import Defense, OpenUnitInterval, Strength

Epsilon = Annotated[float, Field(gt=0, le=100, title="Privacy budget ε")]
Delta = Annotated[float, Field(gt=0, lt=0.1, title="Failure probability δ")]
CountShare = Annotated[OpenUnitInterval, Field(title="Share of ε for the number of links")]
NumLinks = Annotated[int | None, Field(ge=0, title="Number of links")]
DataFree = Annotated[
    bool,
    Field(
        title="Data-independent baseline",
        description="Run the same method without the links, on none or on as many random ones: its "
        "result depends on the data only through their number.",
    ),
]


class EdgePrivateDefense(Defense):
    """ε-edge differential privacy under a trusted curator."""

    acts_by: ClassVar[Strength | None] = Strength("epsilon", 10.0, 0.5, is_log=True)
    epsilon: Epsilon = Field(
        6.0, description="Smaller is more private; small values turn the release into noise."
    )


class LinkLocalDefense(Defense):
    """ε-link local differential privacy if both ends of a link report it."""

    is_reported_twice: ClassVar[bool] = True
    acts_by: ClassVar[Strength | None] = Strength("epsilon", 10.0, 0.5, is_log=True)
    epsilon: Epsilon = Field(
        6.0, description="Budget of one bit of a node's list; the link itself spends 2ε."
    )
