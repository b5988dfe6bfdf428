"""Numbers in the report's matrix of attacks stand out on the colours that they lie on."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

from core.report.charts import draw_transfer


def _measure_contrast(one: str, other: str) -> float:
    def measure(color: str) -> float:
        channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return float(np.dot([0.2126, 0.7152, 0.0722], linear))

    low, high = sorted((measure(one), measure(other)))
    return (high + 0.05) / (low + 0.05)


def test_every_number_has_the_contrast_that_small_text_needs():
    values = np.linspace(0.5, 1.0, 26)
    table = pd.DataFrame({"attack": "gcn", "title": "GCN", "original": values})
    drawn = draw_transfer(table, table, "auc", {"original": "Original"})
    fills = re.findall(r'<path d="[^"]*" [^>]*style="fill: (#\w{6}); stroke: #ffffff', drawn)
    texts = re.findall(r'font-size: 8px;[^"]*text-anchor: middle(?:; fill: (#\w{6}))?" x', drawn)
    assert len(fills) == len(texts) == len(values)
    contrasts = [_measure_contrast(f, t or "#000000") for f, t in zip(fills, texts, strict=True)]
    assert min(contrasts) >= 4.5


def test_names_of_eight_releases_lie_beside_each_other():
    """Strengths of one defense were written over one another."""
    names = {f"r{k}": f"Random deletion (strength = 0.{k})" for k in range(1, 9)}
    table = pd.DataFrame({"attack": "gcn", "title": "GCN", **{key: [0.6] for key in names}})
    drawn = draw_transfer(table, table, "auc", names)
    heads = re.findall(r"font-size: 7px;[^>]*>([^<]+)<", drawn) or re.findall(
        r"font: 7px[^>]*>([^<]+)<", drawn
    )
    assert len(heads) > 8
    assert max(map(len, heads)) <= 11
