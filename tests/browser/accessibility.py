"""axe-core on a page: what screen readers or weak eyes stumble over, and whose fault it is."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from typing import Any

import axe_playwright_python
from playwright.sync_api import Page

RULES = (
    "color-contrast",
    "heading-order",
    "page-has-heading-one",
    "empty-heading",
    "image-alt",
    "svg-img-alt",
    "frame-title",
    "button-name",
    "link-name",
    "label",
    "select-name",
    "aria-command-name",
    "aria-input-field-name",
    "aria-toggle-field-name",
    "aria-dialog-name",
    "aria-roles",
    "role-img-alt",
    "nested-interactive",
)

STREAMLIT: dict[tuple[str, str], str] = {}
"""(rule, part of the element) → why it is not ours to mend. Nothing is, of these rules; its list of
pages breaks "list" and "listitem", which are not among them."""


@dataclass(frozen=True)
class Fault:
    """A rule that an element breaks."""

    rule: str
    target: str
    html: str
    why: str

    def __str__(self) -> str:
        return f"{self.rule} at {self.target}: {self.why} in {self.html[:200]}"


def find_faults(page: Page) -> list[Fault]:
    """What axe-core finds on the page as it stands, less what is Streamlit's own."""
    script = (resources.files(axe_playwright_python) / "axe.min.js").read_text()
    page.evaluate(script)
    result: dict[str, Any] = page.evaluate(
        "rules => axe.run(document, {runOnly: {type: 'rule', values: rules}, "
        "resultTypes: ['violations'], iframes: false})",
        list(RULES),
    )
    faults = [
        Fault(rule["id"], " ".join(map(str, node["target"])), node["html"], node["failureSummary"])
        for rule in result["violations"]
        for node in rule["nodes"]
    ]
    return [fault for fault in faults if not _is_theirs(fault)]


def _is_theirs(fault: Fault) -> bool:
    return any(fault.rule == rule and part in fault.html + fault.target for rule, part in STREAMLIT)
