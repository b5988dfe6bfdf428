"""What a person does on the pages, for the browser tests."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import psutil
from playwright.sync_api import Locator, Page, TimeoutError, expect

RUN_MS = 900_000
"""Longest wait for a run: so that a busy machine does not fail what a quiet one does in minutes."""
START_MS = 20_000
"""Longest wait for a run that was started to be shown."""
MAX_REDRAWS = 50
WAIT_MS = 60_000
expect.set_options(timeout=WAIT_MS)
NUMBER = r"\d\.\d+"
ESTIMATE = re.compile(rf"({NUMBER}) \[({NUMBER}), ({NUMBER})\]")


def open_page(page: Page, path: str, title: str) -> None:
    """A full load of a page."""
    page.goto(f"/{path}")
    settle(page, title)


def upload(
    page: Page, paths: Sequence[Path], people: int, click: Callable[[Locator], None]
) -> None:
    """Load files of one's own from the first page, in two clicks."""
    open_page(page, "", "Overview")
    with page.expect_file_chooser() as chooser:
        zone = page.get_by_test_id("stFileUploaderDropzone").locator("visible=true").first
        click(zone.get_by_test_id("stBaseButton-secondary").first)
    chooser.value.set_files(list(paths))
    wait_for_columns(page, paths)
    click(page.get_by_role("button", name="Load the graph"))
    expect(page.locator(".st-key-answer")).to_contain_text(f"{people:,} people")
    expect(page.get_by_test_id("stAlert").first).to_contain_text("is loaded")


def wait_for_columns(page: Page, paths: Sequence[Path]) -> None:
    """Until the uploaded files are read and what they hold is asked for."""
    if len(paths) > 1:
        expect(page.get_by_role("combobox", name="Id column")).to_be_visible()
    expect(page.get_by_role("button", name="Load the graph")).to_be_enabled()
    settle(page)


def load_example(page: Page) -> None:
    """Open the generated network."""
    open_page(page, "", "Overview")
    pick(page, "Try an example")
    choose(page, "Graph", "Generated social network: 1,000 nodes, 11,928 links")
    press(page, "Load ")
    settle(page, "Data")


def follow(page: Page, title: str) -> None:
    """Move to a page through the left rail."""
    page.get_by_test_id("stSidebarNav").get_by_role("link", name=title, exact=False).click()
    settle(page, title)


def settle(page: Page, title: str | None = None) -> None:
    """Wait until the page is drawn; no page may show an exception."""
    if title is not None:
        expect(page.get_by_role("heading", level=1, name=title, exact=True)).to_be_visible()
    expect(page.get_by_test_id("stStatusWidget")).to_have_count(0)
    expect(page.get_by_test_id("stSkeleton")).to_have_count(0)
    expect(page.get_by_test_id("stException")).to_have_count(0)


def choose(page: Page, label: str, option: str) -> None:
    """Pick an option of a select box; a page that is drawn anew meanwhile closes its list."""
    settle(page)
    box = page.get_by_role("combobox", name=label).first
    for patience in (5_000, 10_000, 30_000):
        box.click()
        box.fill(option)
        try:
            page.get_by_role("option", name=option, exact=True).first.click(timeout=patience)
            break
        except TimeoutError:
            page.keyboard.press("Escape")
    else:
        raise AssertionError(f"{label} does not offer {option}")
    settle(page)


def decide_to_publish(page: Page) -> None:
    """Publish what no policy has cleared."""
    settle(page)
    box = page.get_by_test_id("stCheckbox").filter(has_text="I decide to publish it")
    box.first.wait_for(timeout=30_000)  # the verdict is judged before the box is drawn
    box.locator("label").first.click()
    settle(page)
    expect(page.get_by_role("button", name="Make the release").first).to_be_enabled(timeout=30_000)


def add_option(page: Page, label: str, option: str) -> None:
    """Add a value to a multiselect that takes new ones."""
    box = page.get_by_role("combobox", name=label).first
    box.click()
    box.fill(option)
    box.press("Enter")
    settle(page)
    box.press("Escape")


def tick(page: Page, label: str, value: bool = True) -> None:
    box = find_checkbox(page, label)
    if box.locator("input").is_checked() != value:
        box.locator("label").first.click()
        settle(page)
    expect(box.locator("input")).to_be_checked(checked=value)


def find_checkbox(page: Page, label: str) -> Locator:
    return page.get_by_test_id("stCheckbox").filter(has_text=re.compile(rf"^\s*{label}\s*$")).first


def fill_number(page: Page, label: str, value: float) -> None:
    field = page.get_by_role("spinbutton", name=label, exact=True).first
    field.fill(f"{value:g}")
    field.press("Enter")
    settle(page)


def press(page: Page | Locator, name: str, exact: bool = False) -> None:
    page.get_by_role("button", name=name, exact=exact).first.click()


def unfold(page: Page, label: str) -> None:
    """Open what is folded under a label."""
    fold = page.get_by_test_id("stExpander").filter(has_text=label).first
    if fold.locator("details").first.get_attribute("open") is None:
        fold.locator("summary").first.click()
        settle(page)


def clear_attacks(page: Page) -> None:
    """Untick all attacks; the boxes are redrawn before the page says that none is left."""
    unfold(page, "Choose single attacks")
    page.get_by_role("button", name="Clear selection", exact=True).click()
    expect(page.get_by_text("Select at least one attack.")).to_be_visible()
    settle(page)


def pick(page: Page, label: str) -> None:
    """Choose a segment of a segmented control."""
    page.get_by_test_id("stButtonGroup").get_by_text(label).first.click()
    settle(page)


def wait_for_audit(page: Page) -> None:
    """Until the rail shows no running job any more; a redraw may hide it for a moment. A small
    audit may end before it is shown: what the page then says is for the test to look at."""
    cancel = page.get_by_role("button", name="Cancel the audit")
    with contextlib.suppress(TimeoutError):
        cancel.wait_for(timeout=START_MS)
    for _ in range(MAX_REDRAWS):
        expect(cancel).to_have_count(0, timeout=RUN_MS)
        settle(page)
        page.wait_for_timeout(1500)
        if cancel.count() == 0:
            return
    raise AssertionError("the audit did not end")


def read_answer(page: Page) -> str:
    return page.locator(".st-key-answer").first.inner_text()


def read_exact(page: Page) -> str:
    """The exact figures behind the cards and the sentence."""
    unfold(page, "Exact figures")
    return page.get_by_test_id("stExpander").filter(has_text="Exact figures").first.inner_text()


def open_tab(page: Page, name: str) -> None:
    """Open a tab; its content is drawn only then."""
    page.get_by_role("tab", name=name).first.click()
    settle(page)


def read_estimates(text: str) -> list[tuple[float, float, float]]:
    """All `0.84 [0.80, 0.88]` of a text as (value, low, high)."""
    return [tuple(float(part) for part in match) for match in ESTIMATE.findall(text)]


def read_charts(page: Page) -> str:
    """All texts that the page's charts show."""
    return " ".join(page.locator(".js-plotly-plot text").all_text_contents())


def click_heatmap(page: Page, column: float = 0.25, row: float = 0.1) -> None:
    """Click into the first heatmap's plot area, at shares of its width and height."""
    plot = page.locator(".js-plotly-plot").first
    area = plot.locator(".nsewdrag").first
    area.scroll_into_view_if_needed()
    box = area.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + column * box["width"], box["y"] + row * box["height"])
    page.wait_for_timeout(300)
    page.mouse.click(box["x"] + column * box["width"], box["y"] + row * box["height"])


def download(page: Page, name: str, folder: Path, within: Locator | None = None) -> Path:
    """Press a button of that name; within a part of the page it must be named so exactly."""
    with page.expect_download(timeout=RUN_MS) as waiting:
        press(within or page, name, exact=within is not None)
    path = folder / waiting.value.suggested_filename
    waiting.value.save_as(path)
    return path


def count_cpu() -> float:
    """Seconds of processor time of this process' children: the server and its workers."""
    total = 0.0
    for child in psutil.Process().children(recursive=True):
        if "chromium" not in child.name():
            times = child.cpu_times()
            total += times.user + times.system
    return total
