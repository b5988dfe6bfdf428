"""Settings shared by private defenses."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from core.methods import Defense


class EdgePrivateDefense(Defense):
    """ε-edge differential privacy under a trusted curator."""

    epsilon: float = Field(
        6.0,
        gt=0,
        le=100,
        title="Privacy budget ε",
        description="Smaller is more private; small values turn the release into noise.",
    )


class LinkLocalDefense(Defense):
    """ε-link local differential privacy if both ends of a link report it."""

    is_reported_twice: ClassVar[bool] = True
    epsilon: float = Field(
        6.0,
        gt=0,
        le=100,
        title="Privacy budget ε",
        description="Budget of one bit of a node's list; the link itself spends 2ε.",
    )
