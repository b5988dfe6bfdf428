"""The main pictures of a finished audit without a word, beside what is said of each.

    python -m tests.benchmarks.wordless HOME AUDIT [--scheme light] [--width 1440] [--out DIR]

Photographs the first chart of Decision, Risk, Map and Trade-off as the page shows it, all of its
text hidden, and prints the page's sentence and the picture's title. Whoever looks writes down what
the picture alone says, before reading these. Exits with 1 where a page has no picture.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from playwright.sync_api import expect

from tests.benchmarks.finite import print_finite
from tests.benchmarks.gallery import open_browser, open_page

PAGES = ("decision", "risk", "map", "tradeoff")
WORDS = ".js-plotly-plot text, .js-plotly-plot .modebar { visibility: hidden !important; }"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("home", type=Path)
    parser.add_argument("audit")
    parser.add_argument("--scheme", choices=("light", "dark"), default="light")
    parser.add_argument("--width", type=int, default=1440)
    parser.add_argument("--out", type=Path, default=Path("wordless"))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    expect.set_options(timeout=180_000)
    missing = []
    with open_browser(options.home) as (browser, address):
        page = browser.new_page(
            viewport={"width": options.width, "height": 1600}, color_scheme=options.scheme
        )
        for name in PAGES:
            open_page(page, address, name, options.audit)
            charts = page.locator(".js-plotly-plot")
            if not charts.count():
                missing.append(name)
                continue
            titles = charts.first.locator(".gtitle").all_text_contents()
            told = page.locator(".st-key-answer").all_text_contents()
            page.add_style_tag(content=WORDS)
            charts.first.screenshot(path=options.out / f"{name}-{options.scheme}.png")
            print(f"{name}: {' '.join([*told[:1], *titles])}", flush=True)
    print(f"1 picture each of {len(PAGES) - len(missing)} pages; none: {', '.join(missing) or '0'}")
    sys.exit(bool(missing))


if __name__ == "__main__":
    print_finite(main)
