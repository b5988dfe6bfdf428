"""`methods`: list all methods as text, JSON or Markdown."""

from __future__ import annotations

import argparse
import json
from typing import Any

TITLES = {
    "link_attack": "Link inference attacks",
    "attribute_attack": "Attribute inference attacks",
    "identity_attack": "Re-identification attacks",
    "defense": "Defenses",
}


def add_methods(methods: argparse.ArgumentParser) -> None:
    """Options of `methods`."""
    form = methods.add_mutually_exclusive_group()
    form.add_argument(
        "--json",
        action="store_const",
        const="json",
        dest="form",
        default="text",
        help="with settings, as JSON",
    )
    form.add_argument(
        "--markdown",
        action="store_const",
        const="markdown",
        dest="form",
        help="as tables with sources",
    )
    methods.set_defaults(run=run_methods)


def run_methods(options: argparse.Namespace) -> int:
    """List the methods as text, JSON or Markdown."""
    from core.registry import describe_methods

    print(format_methods(describe_methods(), options.form))
    return 0


def format_methods(methods: list[dict[str, Any]], form: str = "text") -> str:
    """`describe_methods()` in the form "text", "json" or "markdown"."""
    if form == "json":
        return json.dumps(methods, indent=1, ensure_ascii=False)
    if form == "markdown":
        return _format_markdown(methods)
    return "\n".join(f"{m['kind']:17} {m['key']:28} {m['title']}" for m in methods)


def _format_markdown(methods: list[dict[str, Any]]) -> str:
    lines = ["# Methods", "", "Written by `python -m core methods --markdown`."]
    for kind in dict.fromkeys(method["kind"] for method in methods):
        lines += [
            "",
            f"## {TITLES[kind]}",
            "",
            "| key | method | what it does | settings | source |",
        ]
        lines.append("|---|---|---|---|---|")
        for method in methods:
            if method["kind"] == kind:
                settings = ", ".join(
                    f"`{name}`" for name in method["parameters"].get("properties", ())
                )
                cells = (method["title"], method["summary"], settings, method["source"])
                row = " | ".join(str(cell).replace("|", "\\|") for cell in cells)
                lines.append(f"| `{method['key']}` | {row} |")
    return "\n".join(lines)
