"""Options of the command line on what leaves with a graph: columns, how coarse, whose rows."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any


def add_columns(parser: argparse.ArgumentParser) -> None:
    """--publish-columns, --generalize and --leave-out."""
    parser.add_argument(
        "--publish-columns",
        action="append",
        metavar="COLUMN[,…]",
        help="columns that leave with the graph, and no others; 'none' for none",
    )
    parser.add_argument(
        "--generalize",
        action="append",
        metavar="COLUMN:RULE",
        help="publish a column coarser: bin=WIDTH, cap=VALUE, round=DIGITS, rare=PEOPLE, year, "
        "month; may be repeated",
    )
    parser.add_argument(
        "--without-columns",
        action="store_true",
        help="every release a second time, without any column",
    )
    parser.add_argument(
        "--leave-out", type=Path, metavar="FILE", help="ids of people to leave out, one a line"
    )


def add_without_columns(defenses: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each defense of the links is followed by the same without columns; first, columns alone."""
    from core.audit.spec import MethodChoice
    from core.defenses.without_columns import WithoutColumns
    from core.methods import Defense

    listed = [MethodChoice.of(WithoutColumns.model_validate({})).model_dump()]
    for fields in defenses:
        listed.append(fields)
        defense = MethodChoice.model_validate(fields).make("defense")
        assert isinstance(defense, Defense)
        if not isinstance(defense, WithoutColumns) and defense.info.key != "pseudonyms":
            listed.append(MethodChoice.of(WithoutColumns.combine(defense)).model_dump())
    return listed


def read_columns(options: argparse.Namespace) -> dict[str, Any]:
    """The fields of a spec that the options give."""
    from core.data.release_columns import Rule
    from core.data.text_input import load_text

    fields: dict[str, Any] = {}
    if options.publish_columns is not None:
        names = [n.strip() for text in options.publish_columns for n in text.split(",")]
        fields["publish_columns"] = [n for n in dict.fromkeys(names) if n not in ("", "none")]
    if options.generalize is not None:
        for text in options.generalize:
            Rule.parse(text)
        fields["generalize"] = list(dict.fromkeys(options.generalize))
    if options.leave_out is not None:
        lines = (line.strip() for line in load_text(options.leave_out).splitlines())
        fields["leave_out"] = list(dict.fromkeys(line for line in lines if line))
    return fields
