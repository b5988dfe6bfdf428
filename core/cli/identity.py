"""Options of the command line on identities: what an attacker holds who wants to find people."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.cli.terminal import say

if TYPE_CHECKING:
    from core.audit.service import AuditService

ERROR = 0.1
"""By how much those attackers are wrong who know a person's surroundings roughly."""


def add_identity(parser: argparse.ArgumentParser) -> None:
    """--identity and what goes with it."""
    parser.add_argument(
        "--identity", action="store_true", help="can people be found in it by their links?"
    )
    parser.add_argument(
        "--auxiliary-graph",
        type=Path,
        metavar="FILE",
        help="a second graph of the same people; else one is simulated by sampling",
    )
    parser.add_argument("--seeds-known", type=int, metavar="N", help="people found beforehand (20)")
    parser.add_argument(
        "--overlap", type=float, metavar="SHARE", help="links in the simulated graph (0.9)"
    )
    parser.add_argument(
        "--noise", type=float, metavar="SHARE", help="wrong links in the simulated graph (0)"
    )


def read_identity(
    options: argparse.Namespace,
    fields: dict[str, Any],
    service: AuditService,
) -> None:
    """Fill in the spec's field `identity`; a given second graph is stored under its hash."""
    from core.audit.spec import IdentityChoice

    given = {
        name: getattr(options, name)
        for name in ("overlap", "noise", "seeds_known")
        if getattr(options, name) is not None
    }
    if options.auxiliary_graph is not None:
        from core.data.sandbox import load_in_sandbox

        second = load_in_sandbox(options.auxiliary_graph).graph
        say(f"second graph: {second.num_nodes} nodes, {second.num_edges} links")
        given["auxiliary_graph"] = service.save_graph(second)
    options.identity = options.identity or bool(given)
    if options.identity:
        default = IdentityChoice.model_validate({}).model_dump()
        fields["identity"] = default | (fields.get("identity") or {}) | given


def needs_links(options: argparse.Namespace, fields: dict[str, Any]) -> bool:
    """Whether links are hidden although nothing says so: where no other threat is named, or an
    attack on links."""
    from core.errors import InputError
    from core.registry import find_method

    if fields.get("private") or fields.get("sensitive_links"):
        return False
    if not fields.get("identity"):
        return True
    for text in options.attack or []:
        try:
            if find_method(text.partition(":")[0]).kind == "link_attack":
                return True
        except InputError:
            continue  # "all", or a mistake that is told of when attacks are read
    return False


def add_identity_attacks(attacks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """All attacks on identities, unless some are named; baseline attackers in any case.

    The attackers who count are there twice: knowing exactly, and being a little wrong.
    """
    from core.audit.spec import MethodChoice
    from core.methods import ATTACK_KINDS
    from core.registry import find_method, list_methods

    kinds = [find_method(attack["key"], *ATTACK_KINDS).kind for attack in attacks]
    methods = list_methods("identity_attack")
    if "identity_attack" in kinds:
        named = {attack["key"] for attack in attacks}
        wanted = [m() for m in methods if m.info.is_baseline and m.info.key not in named]
    else:
        wanted = [method() for method in methods]
        rough = [m for m in methods if "error" in m.model_fields]
        wanted += [method.model_validate({"error": ERROR}) for method in rough]
    return [*attacks, *(MethodChoice.of(method).model_dump() for method in wanted)]
