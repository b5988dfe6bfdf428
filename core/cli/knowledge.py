"""Options of the command line on attackers who know more: the defense, several releases."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from core.errors import InputError


def add_knowledge(parser: argparse.ArgumentParser) -> None:
    """--aware, --evaluation, --included-links, --releases-held, --hold-every-defense,
    --publisher-knows, --attacker-known, --joint and --group."""
    parser.add_argument(
        "--publisher-knows",
        choices=("none", "public", "column"),
        help="what of the private values a defense uses: none, those that the assumed attacker "
        "knows too (public), or the whole column",
    )
    parser.add_argument(
        "--attacker-known",
        metavar="SHARE,…",
        help="further attackers, each knowing such a share of the values, of people of their own: "
        "0.1, or degree:0.1 for people with many links rather, community:0.1 for everybody of "
        "some communities",
    )
    parser.add_argument(
        "--group",
        action="append",
        metavar="COLUMN",
        help="compare what attackers gain by the groups of this column; several allowed",
    )
    parser.add_argument(
        "--joint",
        action="append",
        choices=("inferred", "known"),
        help="with several private columns, attack each also by one who infers, or knows, the "
        "others; both allowed",
    )
    parser.add_argument(
        "--aware",
        action="store_true",
        help="run each attack on links and columns also by one who knows the defense",
    )
    parser.add_argument(
        "--evaluation",
        choices=("uniform", "degree_matched", "distance_2"),
        help="non-links that attacks must tell from hidden links: any (the default), such whose "
        "ends have as many links, or both sides at distance two",
    )
    parser.add_argument(
        "--included-links",
        action="store_true",
        help="attack what went into a release: which of its links are real?",
    )
    parser.add_argument(
        "--releases-held",
        type=int,
        metavar="K",
        help="links inside, attacked by one who holds K releases of the same graph as well",
    )
    parser.add_argument(
        "--hold-every-defense",
        action="store_true",
        help="links inside, attacked by one who holds a release of each defense as well",
    )


def read_knowledge(
    options: argparse.Namespace, fields: dict[str, Any], named: Sequence[str]
) -> None:
    """Fill in the spec's fields; attacks on links inside join the others.

    named: the attacks of the command; one on links inside is an error where they are not attacked.
    """
    if options.evaluation is not None:
        fields["evaluation"] = options.evaluation
    if options.aware:
        fields["aware"] = True
    if options.publisher_knows is not None:
        fields["publisher_knows"] = options.publisher_knows
    if options.attacker_known is not None:
        parts = options.attacker_known.split(",")
        fields["attacker_known"] = _read_shares([part for part in parts if ":" not in part])
        fields["attacker_places"] = [part for part in parts if ":" in part]
    if getattr(options, "more_private", None):
        fields["more_private"] = options.more_private
    if options.joint:
        fields["joint"] = options.joint
    if options.group:
        fields["groups"] = options.group
    if options.included_links:
        fields["included_links"] = True
    if options.releases_held is not None:
        fields["releases_held"] = options.releases_held
    if options.hold_every_defense:
        fields["hold_every_defense"] = True
    if any(fields.get(name) for name in ("included_links", "releases_held", "hold_every_defense")):
        from core.audit.presets import list_included_attacks
        from core.audit.spec import MethodChoice

        attacks = list(fields.get("attacks", []))
        known = {choice["key"] for choice in attacks}
        new = [m for m in list_included_attacks() if m.info.key not in known]
        fields["attacks"] = attacks + [MethodChoice.of(m()).model_dump() for m in new]
    else:
        for text in named:
            key = text.partition(":")[0]
            if key != "all" and needs_included_links(key):
                raise InputError(key, "needs links inside", remedy="use --included-links")


def needs_included_links(key: str) -> bool:
    """Whether the method attacks what went into a release, and nothing else."""
    from core.methods import LinkAttack
    from core.registry import find_method

    method = find_method(key)
    return issubclass(method, LinkAttack) and method.threats == ("included",)


def split_private(options: argparse.Namespace) -> None:
    """--private, given several times, as the main column `private` and `more_private`."""
    if getattr(options, "private", None):
        options.private, *options.more_private = dict.fromkeys(options.private)


def _read_shares(texts: Sequence[str]) -> list[float]:
    try:
        return [float(part) for part in texts]
    except ValueError:
        raise InputError(
            "--attacker-known",
            "must be shares between 0 and 1 joined by commas",
            ",".join(texts),
        ) from None


def needs_hidden_links(key: str) -> bool:
    """Whether the method attacks links that were withheld, and nothing else."""
    from core.methods import LinkAttack
    from core.registry import find_method

    method = find_method(key)
    return issubclass(method, LinkAttack) and "link" in method.threats
