"""What an eye stumbles over on a page: labels on each other, cut words, boxes that do not show."""

from __future__ import annotations

from playwright.sync_api import Page

MIN_CONTRAST = 3.0
"""Of the outline of what can be ticked against its ground (WCAG 2.2, 1.4.11)."""
WIDEST_GAP = 40
"""Pixels between columns that lie below each other on a narrow page."""

_SCRIPT = """([minimum, widest]) => {
  const found = [], shown = e => { const r = e.getBoundingClientRect();
    return r.width > 0 && r.height > 0 && getComputedStyle(e).opacity !== '0'; };
  const main = document.querySelector('[data-testid=stMain]');
  if (main.scrollWidth > main.clientWidth + 1) found.push('the page is wider than its window');
  document.querySelectorAll('.js-plotly-plot').forEach(plot => {
    const frame = plot.getBoundingClientRect();
    const texts = [...plot.querySelectorAll('svg text')].filter(e => shown(e)
      && e.textContent.trim() && !e.closest('.hoverlayer')
      && !/rotate\\((?!0[,)])/.test(e.getAttribute('transform') || ''));
    const boxes = texts.map(e => e.getBoundingClientRect());
    boxes.forEach((a, i) => {
      const name = texts[i].textContent.slice(0, 40);
      if (a.left < frame.left - 1 || a.right > frame.right + 1) found.push(`cut: ${name}`);
      boxes.slice(i + 1).forEach((b, j) => {
        const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (wide > 3 && high > 4)
          found.push(`on each other: ${name} and ${texts[i + 1 + j].textContent.slice(0, 40)}`);
      });
    });
  });
  const light = color => { const c = color.match(/[\\d.]+/g).slice(0, 3).map(v => v / 255)
    .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2]; };
  const ground = light(getComputedStyle(document.querySelector('[data-testid=stApp]'))
    .backgroundColor);
  const boxes = '[data-testid=stRadioOption]:not([data-disabled]) > div > div:first-child, '
    + '[data-testid=stCheckbox] > label:not([data-disabled]) > div:first-of-type';
  document.querySelectorAll(boxes).forEach(e => { if (!shown(e)) return;
    const edge = light(getComputedStyle(e).borderTopColor);
    const ratio = (Math.max(edge, ground) + 0.05) / (Math.min(edge, ground) + 0.05);
    if (ratio < minimum) found.push(`hardly seen (${ratio.toFixed(1)}:1): ${
      e.parentElement.innerText.slice(0, 40)}`); });
  document.querySelectorAll('button[disabled]').forEach(e => { if (!shown(e)) return;
    const [r, g, b] = getComputedStyle(e).color.match(/[\\d.]+/g);
    const ratio = (Math.max(light(`${r},${g},${b}`), ground) + 0.05)
      / (Math.min(light(`${r},${g},${b}`), ground) + 0.05);
    if (ratio < minimum) found.push(`cannot be read: ${e.innerText.slice(0, 40)}`); });
  document.querySelectorAll('[data-testid=stMultiSelectTagsContainer]').forEach(e => {
    const frame = e.getBoundingClientRect();
    e.querySelectorAll('[data-tag]').forEach(tag => { const r = tag.getBoundingClientRect();
      if (r.right > frame.right + 1 || r.bottom > frame.bottom + 1)
        found.push(`hidden choice: ${tag.innerText.slice(0, 40)}`); }); });
  document.querySelectorAll('[data-testid=stHorizontalBlock]').forEach(e => {
    const columns = [...e.children].filter(shown);
    columns.slice(1).forEach((below, i) => { const above = columns[i];
      const gap = below.getBoundingClientRect().top - above.getBoundingClientRect().bottom;
      if (gap > widest) found.push(`a gap of ${Math.round(gap)} pixels above: ${
        below.innerText.slice(0, 40)}`); }); });
  main.querySelectorAll('*').forEach(e => { const style = getComputedStyle(e);
    if (style.textOverflow === 'ellipsis' && style.overflowX !== 'visible' && shown(e)
      && e.scrollWidth > e.clientWidth + 1) found.push(`cut: ${e.textContent.slice(0, 40)}`); });
  return [...new Set(found)];
}"""


DRAWN = """() => [...document.querySelectorAll('[data-testid=stPlotlyChart]')]
  .every(e => e.offsetParent === null || e.querySelector('.main-svg'))"""


def find_stumbles(page: Page) -> list[str]:
    """What is cut off, lies on something else or is too faint, a line each, with charts drawn."""
    page.wait_for_function(DRAWN)
    found: list[str] = page.evaluate(_SCRIPT, [MIN_CONTRAST, WIDEST_GAP])
    return found
