"""Without columns: publishes the links, unchanged or defended, without any column."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from pydantic import Field, ValidationError, model_validator

from core.context import Context
from core.graph import Graph
from core.methods import Defense, Method, MethodInfo
from core.release import Release
from core.threats import Threats


class WithoutColumns(Defense):
    """Another defense's release without its columns.

    The other defense may use the columns; the recipient gets none, so that a guarantee that
    excludes features covers the whole release. Classes stay in the graph that an audit measures,
    and are left out of what is published (`core.audit.jobs.publish`).
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="without_columns",
        title="Without columns",
        summary="Publishes the links, alone or defended in another way, without any column.",
        source="Data minimisation: GDPR, Article 5(1)(c)",
        group="empirical",
        cost="minutes",
        version=3,
    )
    keeps_columns: ClassVar[bool] = False
    members: ClassVar[dict[str, type[Defense]]] = {}
    """Supported defenses by key, set by the list of defenses."""

    defense: str = Field("", description="Key of the defense of the links; empty: none.")
    settings: str = Field(
        "", description="Its settings, name=value joined by semicolons; empty: its defaults."
    )

    @model_validator(mode="after")
    def check_defense(self) -> WithoutColumns:
        """Raise for an unknown defense or setting."""
        if self.defense and self.defense not in self.members:
            raise ValueError(f"'{self.defense}' must be one of " + ", ".join(self.members))
        if self.settings and not self.defense:
            raise ValueError("settings need a defense")
        try:
            self.make_inner()
        except ValidationError as error:
            first = error.errors()[0]
            name = ".".join(map(str, first["loc"]))
            raise ValueError(f"setting '{name}' of {self.defense}: {first['msg']}") from None
        return self

    def make_inner(self) -> Defense | None:
        """The defense of the links; None without one."""
        if not self.defense:
            return None
        config: dict[str, Any] = {}
        for item in filter(None, self.settings.split(";")):
            name, sign, value = item.partition("=")
            if not sign:
                raise ValueError("settings must be written name=value")
            if name.strip() in config:
                raise ValueError(f"setting '{name.strip()}' must be given once")
            config[name.strip()] = value.strip()
        return self.members[self.defense].model_validate(config)

    @staticmethod
    def combine(defense: Defense) -> WithoutColumns:
        """The same defense of the links, without columns."""
        settings = ";".join(f"{name}={value}" for name, value in defense.changed.items())
        return WithoutColumns(defense=defense.info.key, settings=settings)

    @property
    def phrase(self) -> str:
        inner = self.make_inner()
        return super().phrase if inner is None else f"{inner.phrase}, without columns"

    @property
    def title(self) -> str:
        """ "EdgeRand (ε = 6), without columns"."""
        inner = self.make_inner()
        return super().title if inner is None else f"{inner.title}, without columns"

    @property
    def short_title(self) -> str:
        inner = self.make_inner()
        return super().short_title if inner is None else f"{inner.short_title}, without columns"

    @property
    def inner_methods(self) -> tuple[Method, ...]:
        inner = self.make_inner()
        return () if inner is None else (inner,)

    @property
    def keeps_nodes(self) -> bool:
        inner = self.make_inner()
        return inner is None or inner.keeps_nodes

    @property
    def needs_links(self) -> bool:
        inner = self.make_inner()
        return inner is not None and inner.needs_links

    @property
    def reads_values(self) -> bool:
        inner = self.make_inner()
        return inner is not None and inner.reads_values

    @property
    def untried(self) -> str:
        inner = self.make_inner()
        return "" if inner is None else inner.untried

    def supports(self, graph: Graph, threats: Threats) -> str | None:
        if graph.features is None:
            return "needs features to withhold; choose another defense"
        inner = self.make_inner()
        return None if inner is None else inner.supports(graph, threats)

    def publish(self, graph: Graph, threats: Threats, context: Context) -> Release:
        context.progress.update(0, 1, "withholding columns")
        inner = self.make_inner()
        release = Release(graph) if inner is None else inner.publish(graph, threats, context)
        bare = release.graph.update_columns(features=None)
        columns = float(len(graph.feature_names))
        facts = {"links_removed": 0.0, "links_added": 0.0, **release.facts}
        return replace(
            release,
            graph=bare,
            defense=self.info.key,
            config=self.config,
            facts={**facts, "columns_withheld": columns},
        )
