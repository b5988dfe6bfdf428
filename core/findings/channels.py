"""What leaves with a release, part by part, and whether an attack finds people by it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Literal

import pandas as pd
from pydantic import BaseModel, ConfigDict

from core.attacks.attribute.neighbourhood_classifier import NeighbourhoodClassifier
from core.attacks.identity.column_values import ColumnValues
from core.attacks.identity.degree import Degree
from core.attacks.identity.value_join import ValueJoin
from core.audit.results.view import AuditView
from core.audit.store.states import State
from core.data.link_release import NONE, WEIGHT
from core.data.release_columns import Rule
from core.defenses.external import EXTERNAL
from core.findings.leaving import describe_rule
from core.methods import AttributeAttack, IdentityAttack, Method
from core.release import ORIGINAL
from core.words import begin_sentence, count_noun, join_words

Treatment = Literal["attacked", "coarsened", "left out", "not attacked"]
ORDER: tuple[Treatment, ...] = ("not attacked", "coarsened", "attacked", "left out")
"""In tables, what stands against a release first."""

PENDING = {
    "reason": "no attack that has finished finds people by them",
    "remedy": "wait until the audit has ended",
}
"""Of what is not attacked while attacks are still to come."""

MANY = 50
"""Features above which they are one channel, as the words of texts are."""

NAMED = 4
"""Channels named in a sentence; of more, their number is told."""

ORDER_ATTACK = "Order of rows and ids"
"""What `judge` tries on every release with pseudonyms."""

ASK = "audit re-identification"
NO_ATTACK = "no attack finds people by them"
MAY_DIFFER = "no attack counts them where values may have been changed"
ONE_ROW = "write each link of the release once"
NO_SEEDS = "no attacker compares them at people found already"
NO_SEEDS_REMEDY = "let attackers know such people (“Nodes already identified”, or --seeds-known)"
INCOMPARABLE = "their cells cannot be compared with the original's values"


class Channel(BaseModel):
    """A part of a release, such as a column of its links.

    name    plural noun, as in "link weights"
    remedy  how to attack it or to leave it out, as a clause
    column  the column that it is, as `publish_columns` names it
    kind    of a column number, time, category or direction; else structure, rows, ids, order, names
            or files
    attacks titles of the attacks that find people by it
    reason  why it is not attacked, as a clause
    rules   how a column that leaves was coarsened, in words
    exists  whether the graph or the release has it; pages and reports name no other
    """

    model_config = ConfigDict(frozen=True)
    name: str
    treatment: Treatment
    remedy: str
    column: str = ""
    kind: str = "number"
    attacks: tuple[str, ...] = ()
    reason: str = NO_ATTACK
    rules: tuple[str, ...] = ()
    exists: bool = True

    @property
    def is_open(self) -> bool:
        """Whether it stands against a release: it leaves and nobody is sought by it. A column that
        is coarser and not attacked is one, for a rule may change next to nothing. Names of columns
        and classes stand and fall with the columns."""
        is_coarse = self.treatment == "coarsened" and bool(self.column)
        return (self.treatment == "not attacked" or is_coarse) and self.kind != "names"

    @property
    def state(self) -> str:
        """ "coarsened (year and month), not attacked"."""
        if self.treatment == "left out" or not self.rules:
            return self.treatment
        tried = "attacked" if self.attacks else "not attacked"
        return f"coarsened ({', '.join(self.rules)}), {tried}"

    def describe(self, release: str) -> dict[str, Any]:
        """As audit.json has it."""
        return {
            "release": release,
            "name": self.column or self.kind,
            "kind": self.kind,
            "leaves": self.treatment != "left out",
            "state": self.treatment.replace(" ", "_"),
            "attacks": list(self.attacks),
        }


def describe_open(channels: Iterable[Channel]) -> tuple[str, ...]:
    """What stands against a release with these channels, a sentence for each reason and remedy.
    Without a colon, after which page 1 of the report cuts."""
    found: dict[tuple[str, str], list[str]] = {}
    for channel in channels:
        if channel.is_open:
            found.setdefault((channel.reason, channel.remedy), []).append(channel.name)
    return tuple(
        f"{shorten_names(names)} leave and {reason}, so {remedy}"
        for (reason, remedy), names in found.items()
    )


def shorten_names(names: Collection[str]) -> str:
    """ "link weights, original ids and 3 more"."""
    first = list(names)[:NAMED]
    more = len(names) - len(first)
    parts = [*first, *([f"{more} more"] if more else [])]
    return join_words(parts)


def tabulate_channels(channels: Iterable[Channel]) -> pd.DataFrame:
    """The channels in words, a row each, those that nobody attacked first."""
    rows = [
        {
            "Channel": begin_sentence(channel.name),
            "Kind": channel.kind,
            "Leaves": "no" if channel.treatment == "left out" else "yes",
            "State": channel.state,
            "Attacks": ", ".join(channel.attacks),
        }
        for channel in sorted(channels, key=lambda c: ORDER.index(c.treatment))
        if channel.exists
    ]
    return pd.DataFrame(rows, columns=["Channel", "Kind", "Leaves", "State", "Attacks"])


def count_channels(channels: Collection[Channel]) -> str:
    """Of what leaves, "5 of 9 channels, 2 of them not attacked"."""
    known = [channel for channel in channels if channel.exists]
    leaving = [channel for channel in known if channel.treatment != "left out"]
    num_open = sum(channel.treatment != "attacked" for channel in leaving)
    attacked = "all attacked" if not num_open else f"{num_open} of them not attacked"
    return f"{len(leaving)} of {len(known)} channels, {attacked}"


def list_channels(view: AuditView, release: str) -> tuple[Channel, ...]:
    """Channels of a release: its structure, the columns of its nodes and links, how many rows a
    link has, ids, order of rows and ids, names of columns and classes, and files beside it. A
    column of links counts as attacked only if what is asked for beside people is inferred from it
    too."""
    links = tuple(_list_links(view, release))
    links = *links, *_list_repeats(view, release, links)
    if not view.node_channels.is_known:
        return links
    nodes = tuple(_list_nodes(view, release))
    columns = [c for c in (*nodes, *links) if c.treatment != "left out"]
    parts = _find_structure(view, release), *nodes, *links, *_list_others(view, release, columns)
    if view.summary.state.is_active and view.spec.threats.identity is not None:
        waits = [part.is_open and part.reason == NO_ATTACK for part in parts]
        return tuple(
            part.model_copy(update=PENDING) if waiting else part
            for part, waiting in zip(parts, waits, strict=True)
        )
    return parts


def explain_unchosen(view: AuditView, release: str) -> str:
    """That attackers read columns of numbers which do not leave, as none were chosen, and the
    remedy; "" if they read none."""
    if view.spec.disclosure.publish_columns is not None or release == EXTERNAL:
        return ""
    source, leaving = view.node_channels.find_source(), view.node_channels.find_leaving(release)
    unseen = [name for name, kind in source.items() if kind == "number" and name not in leaving]
    if not unseen:
        return ""
    return (
        f"Attackers read {count_noun(len(unseen), 'column')} that would not leave, as none were "
        "chosen: choose the columns to publish (Data page, or --publish-columns) and audit again"
    )


def describe_channels(view: AuditView) -> list[dict[str, Any]]:
    """Channels of every release, as audit.json has them."""
    releases = [summary.id for summary in view.releases]
    return [c.describe(release) for release in releases for c in list_channels(view, release)]


def _find_structure(view: AuditView, release: str) -> Channel:
    attacks = _name(m for m in _list_attacks(view, release) if m.finds_by == "links")
    add = f"add an attack on identities by links, such as {Degree.info.title}"
    return Channel(
        name="links",
        treatment="attacked" if attacks else "not attacked",
        remedy=add if view.spec.threats.identity else ASK,
        kind="structure",
        attacks=attacks,
    )


def _list_nodes(view: AuditView, release: str) -> Iterator[Channel]:
    """Columns of the nodes; many features are one channel."""
    channels, asked = view.node_channels, view.spec.threats.identity is not None
    source, leaving = channels.find_source(), channels.find_leaving(release)
    incomparable = channels.find_incomparable(release)
    methods = [m for m in _list_attacks(view, release) if m.finds_by == "columns"]
    remedy = f"add the attack {ColumnValues.info.title}, or leave them out" if asked else ASK
    kinds = {**source, **leaving}
    features = [name for name, kind in kinds.items() if kind == "number"]
    block = features if len(features) > MANY else []
    rules = _find_rules(view)
    for column, kind in kinds.items():
        if column in block:
            continue
        attacks = _name(m for m in methods if m.reads_column(column))
        is_apart = asked and column in incomparable
        yield Channel(
            name=f"values of {column}",
            treatment=_find_treatment(
                column in leaving, bool(attacks) and not is_apart, column in rules
            ),
            remedy="write them as numbers, intervals, prefixes or sets" if is_apart else remedy,
            column=column,
            kind=kind,
            attacks=attacks if column in leaving and not is_apart else (),
            reason=INCOMPARABLE if is_apart else NO_ATTACK,
            rules=rules.get(column, ()),
        )
    if block:
        left = [name for name in block if name in leaving]
        attacks = _name(m for m in methods if all(map(m.reads_column, left)))
        is_apart = asked and not set(left).isdisjoint(incomparable)
        yield Channel(
            name=f"{len(block)} features",
            treatment=_find_treatment(
                bool(left), bool(attacks) and not is_apart, not rules.keys().isdisjoint(block)
            ),
            remedy=remedy,
            column="features",
            attacks=attacks if left and not is_apart else (),
            reason=INCOMPARABLE if is_apart else NO_ATTACK,
        )


def _list_links(view: AuditView, release: str) -> Iterator[Channel]:
    """Weights of the links and each of their other columns, of the graph and of the release.

    Whom an attacker has found already tells who is at the other end of a link. Without, values are
    only counted per person: where all have the same ones, as many allies and rivals, nobody is
    found though the links of each value tell people apart. So nothing is cleared by that alone;
    where it does find people, the limits are exceeded anyway.
    """
    leaving, source = view.link_channels.find_leaving(release), view.link_channels.find_source()
    kinds = {WEIGHT: "number", **source, **leaving}  # that there are none is recorded too
    known, rules = view.link_channels.find_known(), _find_rules(view)
    titles = _name(m for m in _list_attacks(view, release) if m.finds_by == "values")
    identity = view.spec.threats.identity
    has_seeds = identity is not None and identity.seeds_known > 0
    for column, kind in kinds.items():
        counting = titles if known is None or column in known else ()
        attacks = counting if has_seeds else ()
        blind = "" if column == WEIGHT and not attacks else _find_blind(view, release, column)
        is_read, lacks_seeds = bool(attacks) and not blind, bool(counting) and not has_seeds
        remedy = _find_remedy(view, release, column, bool(blind))
        yield Channel(
            name="link weights" if column == WEIGHT else f"values of {column}",
            treatment=_find_treatment(column in leaving, is_read, column in rules),
            remedy=NO_SEEDS_REMEDY if lacks_seeds and not blind else remedy,
            column=column,
            kind=kind,
            attacks=attacks if column in leaving and is_read else (),
            reason=blind or (NO_SEEDS if lacks_seeds else NO_ATTACK),
            rules=rules.get(column, ()),
            exists=column in source or column in leaving,
        )


def _list_repeats(view: AuditView, release: str, columns: Sequence[Channel]) -> Iterator[Channel]:
    """How many rows a link has, where some link leaves in several.

    A row leaves with a value, and attacks on values read each as often as it occurs: who reads all
    columns reads the rows, but of a release made elsewhere, whose values may be others.
    columns  those of the links
    """
    if not view.link_channels.find_repeats(release):
        return
    leaving = [c for c in columns if c.treatment != "left out" and c.column != WEIGHT]
    unread = [channel for channel in leaving if not channel.attacks]
    is_read = not unread and release != EXTERNAL
    first = unread[0] if unread else None
    yield Channel(
        name="numbers of rows of links",
        treatment="attacked" if is_read else "not attacked",
        remedy=ONE_ROW if release == EXTERNAL or first is None else first.remedy,
        kind="rows",
        attacks=leaving[0].attacks if is_read and leaving else (),
        reason=first.reason if first else MAY_DIFFER,
    )


def _list_others(view: AuditView, release: str, columns: list[Channel]) -> Iterator[Channel]:
    """Ids, order of rows and ids, names of columns and classes, and files beside a release.

    columns  those that leave
    """
    asked, is_judged = view.spec.threats.identity is not None, release == EXTERNAL
    defense = view.get_release(release).defense
    is_renamed = asked or getattr(defense, "renames_nodes", False) or bool(view.spec.external_match)
    ids: Treatment = "left out" if is_renamed else "not attacked"
    yield Channel(name="original ids", treatment=ids, remedy=ASK, kind="ids")
    # What this program writes is sorted by ids, or in random order.
    order: Treatment = "left out" if not is_judged else "attacked" if asked else "not attacked"
    tried = (ORDER_ATTACK,) if order == "attacked" else ()
    yield Channel(name="orders of rows", treatment=order, remedy=ASK, kind="order", attacks=tried)
    open_ = [channel for channel in columns if channel.is_open]
    yield Channel(
        name="names of columns and classes",
        treatment="not attacked" if open_ else "attacked" if columns else "left out",
        remedy=ASK,
        kind="names",
        attacks=() if open_ else tuple(dict.fromkeys(t for c in columns for t in c.attacks)),
    )
    if not is_judged:  # its provenance tells of no person
        yield Channel(name="files beside it", treatment="left out", remedy="", kind="files")


def _find_treatment(leaves: bool, is_attacked: bool, is_coarse: bool) -> Treatment:
    if not leaves:
        return "left out"
    if is_attacked:
        return "attacked"
    return "coarsened" if is_coarse else "not attacked"


def _find_blind(view: AuditView, release: str, column: str) -> str:
    """Why what a column of links tells of private values or withheld links is not known; "" if
    none are asked for. Attacks on links read weights; of those on values, few read them."""
    threats = view.spec.threats
    secrets = ["private values"] if threats.private is not None else []
    if column == WEIGHT:
        methods = (m for m in _list_measured(view, release) if isinstance(m, AttributeAttack))
        secrets = [] if any(method.reads_weights for method in methods) else secrets
    elif threats.has_links:
        secrets.append("withheld links")
    return f"no attack infers {' or '.join(secrets)} from them" if secrets else ""


def _find_remedy(view: AuditView, release: str, column: str, is_blind: bool) -> str:
    """is_blind: whether attacks on private values or withheld links lack the column."""
    audit, instead = f"audit re-identification with {ValueJoin.info.title}", ""
    if is_blind and column == WEIGHT:
        reading = NeighbourhoodClassifier.info
        if view.summary.state.is_active and reading.key in {c.key for c in view.spec.attacks}:
            return PENDING["remedy"]
        audit = f"add the attack {reading.title}"
        instead = f"{audit}, or "
    if release == EXTERNAL:
        return f"{instead}write the release without them"
    if column not in view.link_channels.find_leaving(ORIGINAL):
        return f"{instead}choose a defense or setting that publishes links without them"
    if column == WEIGHT:
        way = "(“Column of the weight”, or --weight none)"
        return f"{audit}, or load the graph without them {way}"
    if is_blind:
        return f"leave them out of the published columns ({NONE} for all)"
    return f"{audit} and a second graph that has them, or leave {column} out"


def _find_rules(view: AuditView) -> dict[str, tuple[str, ...]]:
    """Column → how it is coarsened, in words."""
    found: dict[str, tuple[str, ...]] = {}
    for text in view.spec.disclosure.generalize:
        column = Rule.parse(text).column
        found[column] = (*found.get(column, ()), describe_rule(text))
    return found


def _list_measured(view: AuditView, release: str) -> list[Method]:
    """Attacks measured on the release; baseline attackers do not count."""
    rows = view.results[(view.results.release == release) & (view.results.status == State.DONE)]
    methods = [attack.method for attack in rows.attack.unique() if attack is not None]
    return [method for method in methods if method is not None and not method.info.is_baseline]


def _list_attacks(view: AuditView, release: str) -> list[IdentityAttack]:
    """Those that find people."""
    return [m for m in _list_measured(view, release) if isinstance(m, IdentityAttack)]


def _name(methods: Iterable[IdentityAttack]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(method.info.title for method in methods))
