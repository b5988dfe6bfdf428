"""Options of the command line on attackers who know more: the defense, several releases."""

from __future__ import annotations

import argparse
from typing import Any


def add_knowledge(parser: argparse.ArgumentParser) -> None:
    """--aware, --included-links and --releases-held."""
    parser.add_argument(
        "--aware",
        action="store_true",
        help="run each attack on links and columns also by one who knows the defense",
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


def read_knowledge(options: argparse.Namespace, fields: dict[str, Any]) -> None:
    """Fill in the spec's fields; attacks on links inside join the others."""
    if options.aware:
        fields["aware"] = True
    if options.included_links:
        fields["included_links"] = True
    if options.releases_held is not None:
        fields["releases_held"] = options.releases_held
    if options.included_links or options.releases_held is not None:
        from core.audit.presets import list_included_attacks
        from core.audit.spec import MethodChoice

        attacks = list(fields.get("attacks", []))
        named = {choice["key"] for choice in attacks}
        new = [m for m in list_included_attacks() if m.info.key not in named]
        fields["attacks"] = attacks + [MethodChoice.of(m()).model_dump() for m in new]


def needs_hidden_links(key: str) -> bool:
    """Whether the method attacks links that were withheld, and nothing else."""
    from core.methods import LinkAttack
    from core.registry import find_method

    method = find_method(key)
    return issubclass(method, LinkAttack) and "link" in method.threats
