"""What the Data page lets a person choose: private columns, withheld links, knowledge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter, ValidationError

from core.audit.asked.knowledge import KnowledgeSpec, PublisherKnows
from core.audit.asked.spec import AuditSpec
from core.audit.asked.spec_parts import (
    PARTS,
    DisclosureSpec,
    IdentityChoice,
    ThreatSpec,
    nest_fields,
)
from core.graph import Graph
from core.nouns import NounKey

DEFAULT_SHARE = 0.1
"""Default share of withheld links."""


@dataclass(frozen=True, kw_only=True)
class ThreatChoice:
    """Choices on the Data page, grouped as in the specs of audits and publishing runs.

    noun  what the nodes are called; None: as `find_noun_key` proposes
    way   how the sensitive links are chosen
    """

    threats: ThreatSpec
    disclosure: DisclosureSpec
    knowledge: KnowledgeSpec
    publisher_knows: PublisherKnows = "column"
    groups: tuple[str, ...] = ()
    noun: NounKey | None = None
    way: str = "share"

    @property
    def spec_fields(self) -> dict[str, Any]:
        """Fields of an AuditSpec; the identity threat is added with its attacks."""
        names = ("threats", "disclosure", "knowledge", "publisher_knows", "groups", "noun")
        fields = {name: getattr(self, name) for name in names}
        threats = self.threats.model_copy(update={"identity": None})
        knows = self.knowledge
        if threats.private is None:
            threats = threats.model_copy(update={"more_private": ()})
            knows = knows.model_copy(update={"auxiliary_known": (), "shadow_graph": None})
        if not threats.more_private:
            knows = knows.model_copy(update={"joint": ()})
        return {**fields, "threats": threats, "knowledge": knows}

    @property
    def identity(self) -> IdentityChoice:
        """Auxiliary knowledge of re-identification attacks."""
        return self.threats.identity or IdentityChoice.model_validate({})

    @property
    def columns(self) -> tuple[str | None, ...]:
        """Private and utility columns and those of groups, None for one that is not chosen."""
        threats = self.threats
        return (threats.private, *threats.more_private, self.disclosure.utility, *self.groups)

    @property
    def is_empty(self) -> bool:
        return self.threats.private is None and not self.has_links

    @property
    def has_links(self) -> bool:
        """Whether links are withheld; a chosen list must not be empty."""
        return self.threats.has_links and self.threats.sensitive_links != ()

    @staticmethod
    def of_spec(spec: AuditSpec) -> ThreatChoice:
        way = "given" if spec.threats.sensitive_links is not None else "share"
        return ThreatChoice(
            # The pages have no control for known people.
            threats=spec.threats.model_copy(update={"known_people": None}),
            disclosure=spec.disclosure,
            knowledge=spec.knowledge,
            publisher_knows=spec.publisher_knows,
            groups=spec.groups,
            noun=spec.noun,
            way=way if spec.threats.has_links else "none",
        )

    @staticmethod
    def of_fields(**fields: Any) -> ThreatChoice:
        """Build a choice from flat fields, named as in the command-line options."""
        nested: dict[str, Any] = {name: {} for name in PARTS} | nest_fields(fields)
        made = {name: model.model_validate(nested[name]) for name, model in PARTS.items()}
        return ThreatChoice(**{**nested, **made})

    @staticmethod
    def propose(
        graph: Graph, private: str | None = None, utility: str | None = None
    ) -> ThreatChoice:
        """Default choice, with the columns that are known to be private and useful, if any.

        An only attribute is private. Of several none is: with the wrong one, an audit would call
        the secret safe. No column is useful by a guess, since it would be published.
        """
        names = list(graph.attributes)
        if private is None and len(names) == 1 and utility != names[0]:
            private = names[0]
        return ThreatChoice.of_fields(private=private, utility=utility, hide_links=DEFAULT_SHARE)

    @staticmethod
    def read(kept: object) -> ThreatChoice | None:
        """The choice that `write` gave; None if it is of another version, or nothing."""
        try:
            return None if kept is None else _FORM.validate_python(kept)
        except ValidationError:
            return None

    def write(self) -> dict[str, Any]:
        """The choice as JSON, to be kept with its graph."""
        written: dict[str, Any] = _FORM.dump_python(self, mode="json")
        return written

    def update(self, **fields: Any) -> ThreatChoice:
        """Copy with changed flat fields, named as in the command-line options."""
        return ThreatChoice.of_fields(**{**vars(self), **fields})


_FORM = TypeAdapter(ThreatChoice)
