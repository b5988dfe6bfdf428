"""`check-claim`: try to refute by experiment what a defense promises."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from core.cli.terminal import MeterProgress, make_folder, say


def add_check_claim(commands: Any) -> None:
    """The command's options."""
    check = commands.add_parser("check-claim", help="try to refute what a defense promises")
    check.add_argument("--defense", required=True, metavar="KEY[:name=value,…]")
    check.add_argument(
        "--trials",
        type=int,
        metavar="N",
        help="runs of the defense (by default from ε)",
    )
    check.add_argument("--root-seed", type=int, default=0, metavar="N")
    check.add_argument("--out", type=Path, metavar="FILE", help="where the outcome goes, as JSON")
    check.set_defaults(run=run_check_claim)


def run_check_claim(options: argparse.Namespace) -> int:
    """Try to refute a release's guarantee by experiment."""
    from core.audit.jobs.claims import play_claim
    from core.audit.spec import MethodChoice

    choice = MethodChoice.parse(options.defense, "defense")
    if options.out is not None:
        make_folder(options.out.parent)
    check = play_claim(choice, options.trials, options.root_seed, MeterProgress())
    if options.out is not None:
        text = json.dumps(check.describe(), indent=1, ensure_ascii=False)
        options.out.write_text(text + "\n", encoding="utf-8")
    return say(check.verdict, code=1 if check.is_refuted else 0)
