"""What a publishing run is asked to do."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from core.audit.spec import AuditSpec, MethodChoice
from core.errors import InputError
from core.methods import Defense


class PublishSpec(BaseModel):
    """What is to be published: a graph, a defense, and what of an audit the defense is told.

    A known set that an audit draws is an assumption about attackers; nobody published it. So
    the defense is told the whole private column, or with publisher_knows "none" nothing of it.
    private, more_private, utility, known, hide_links, sensitive_links, utility_train,
    publish_columns, generalize, leave_out  as in `AuditSpec`; no link is held back for tests,
    and only sensitive links are withheld from the release
    budget  largest sum of ε, for one link and for one node, that the runs of the graph's lineage
            may reach
    lineage name of the data that the graph is of: its runs count together (core.audit.ledger)
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    graph_hash: str
    defense: MethodChoice
    private: str | None = None
    utility: str | None = None
    more_private: tuple[str, ...] = ()
    publisher_knows: Literal["none", "column"] = "column"
    known: float = Field(0.1, gt=0, lt=1)
    hide_links: float | None = Field(None, gt=0, lt=1)
    sensitive_links: tuple[tuple[str, str], ...] | None = None
    utility_train: float = Field(0.3, gt=0, lt=1)
    publish_columns: tuple[str, ...] | None = None
    generalize: tuple[str, ...] = ()
    leave_out: tuple[str, ...] = ()
    budget: float | None = Field(None, gt=0)
    lineage: Annotated[str, Field(min_length=1, max_length=64)] | None = None

    @staticmethod
    def of_audit(
        spec: AuditSpec, defense: MethodChoice, budget: float | None = None
    ) -> PublishSpec:
        """One of the audit's defenses on its graph; links that were drawn are not withheld."""
        return PublishSpec(
            graph_hash=spec.graph_hash,
            defense=defense,
            private=spec.private,
            utility=spec.utility,
            more_private=spec.more_private,
            publisher_knows="none" if spec.publisher_knows == "none" else "column",
            known=spec.known,
            hide_links=None,
            sensitive_links=spec.sensitive_links,
            utility_train=spec.utility_train,
            publish_columns=spec.publish_columns,
            generalize=spec.generalize,
            leave_out=spec.leave_out,
            budget=budget,
        )

    @staticmethod
    def check_spec(fields: dict[str, Any]) -> PublishSpec:
        """A PublishSpec of its fields, or InputError."""
        try:
            return PublishSpec.model_validate(fields)
        except ValidationError as error:
            first = error.errors()[0]
            name = ".".join(map(str, first["loc"]))
            raise InputError(name, first["msg"].lower(), first.get("input")) from None

    @property
    def names_columns(self) -> bool:
        """Whether it says which columns leave, so that all formats hold those and no others."""
        return bool(self.generalize) or self.publish_columns is not None

    def make_defense(self) -> Defense:
        """The defense with its settings."""
        defense = self.defense.make("defense")
        assert isinstance(defense, Defense)
        return defense
