"""Specification of a publishing run."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field

from core.audit.asked.declared import declare
from core.audit.asked.knowledge import PublisherKnows
from core.audit.asked.method_choice import MethodChoice
from core.audit.asked.spec import AuditSpec, PartedSpec
from core.privacy.ledger import Budget, parse_budget


class PublishSpec(PartedSpec):
    """A publishing run: graph, defense, and the threats given to the defense.

    The defense gets of the private column what it got in the audit: all of it by default, nothing
    with publisher_knows "none". With "public" it gets the values of the people whom attackers are
    said to know (known_people), without whom as many are drawn anew: whom attackers know is an
    assumption, so such a release is for review. No link is held back for tests, and only sensitive
    links are withheld.
    """

    defense: MethodChoice = Field(json_schema_extra=declare(option=False))
    publisher_knows: PublisherKnows = Field(
        "column",
        description="Access of the defense to the private column, as in an audit: none, the "
        "values known to attackers (public), or all of it (column).",
    )
    budget: Annotated[Budget, BeforeValidator(parse_budget)] | None = Field(
        None,
        description="Refuse what would take the sum of ε or of δ, for one link or for one node, "
        "over all publishing runs of the graph's lineage above this, and whatever follows a run "
        "without a guarantee for it; DELTA is at most one in the number of nodes, its default.",
        json_schema_extra={"metavar": "EPS[,DELTA]"},
    )
    lineage: str | None = Field(
        None,
        min_length=1,
        max_length=64,
        description="Name of the data that the graph is of: all publishing runs of it count "
        "together.",
        json_schema_extra={"metavar": "NAME"},
    )

    @staticmethod
    def of_audit(
        spec: AuditSpec, defense: MethodChoice, budget: float | None = None
    ) -> PublishSpec:
        """One of the audit's defenses on its graph; randomly drawn links are not withheld."""
        return PublishSpec(
            graph_hash=spec.graph_hash,
            defense=defense,
            threats=spec.threats.model_copy(update={"hide_links": None, "identity": None}),
            disclosure=spec.disclosure,
            publisher_knows=spec.publisher_knows,
            budget=None if budget is None else Budget(budget),
            lineage=None,
        )
