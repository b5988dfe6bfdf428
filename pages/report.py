"""Report: what do I hand over?"""

from __future__ import annotations

from pages.ui import page


def main() -> None:
    page.open_page("Report", "What do I hand over?")
    page.require_view("A report is made of an audit.")


main()
