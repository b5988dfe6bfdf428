"""The transfer matrix holds attribute attacks as it holds link attacks."""

from __future__ import annotations

import pandas as pd

from core.figures.transfer import transfer_matrix
from core.findings.tradeoff import compute_transfer
from tests.figures.conftest import RELEASES, make_results, result_row
from tests.oracles.audits import tabulate_results


def test_attribute_attacks_have_a_row_each_and_every_release_a_column():
    values = (0.9, 0.7, 0.55)
    rows = [
        result_row(release, "label_propagation", "auc", value)
        for release, value in zip(RELEASES, values, strict=True)
    ]
    known = make_results()
    results = pd.concat([known, tabulate_results(rows)], ignore_index=True)
    table = compute_transfer(results, "auc", "attribute").set_index("attack")
    assert set(table.index) == {"label_propagation", "class_prior"}
    assert table.loc["label_propagation", list(RELEASES)].tolist() == list(values)
    heat = transfer_matrix(results, "auc", "attribute").figure.data[0]
    assert {title for title in heat.y} == {"Label propagation", "Class prior"}
    row = list(heat.y).index("Label propagation")
    told = [
        f'<span style="color:#{ink}">{value:.2f}</span>'
        for value, ink in zip(values, ("ffffff", "000000", "000000"), strict=True)
    ]
    assert list(heat.text[row]) == told


def test_an_attack_that_ran_on_one_release_alone_is_said_to_be_missing_elsewhere():
    whole = make_results()
    assert "Empty" not in transfer_matrix(whole, "auc", "link").note
    is_one = (whole.method == "common_neighbors") & (whole.release != "original")
    note = transfer_matrix(whole[~is_one], "auc", "link").note
    assert note.endswith("Empty: not run on that release.")


def test_many_releases_continue_below_with_their_names_level():
    """Eleven names stood aslant above one row."""
    names = ["original", *(f"random_deletion:strength={step / 20:g}" for step in range(1, 11))]
    rows = [
        result_row(name, "common_neighbors", "auc", 0.5 + place / 40)
        for place, name in enumerate(names)
    ]
    figure = transfer_matrix(tabulate_results(rows), "auc", "link").figure
    axes = [axis for axis in figure.select_xaxes()]
    assert {axis.tickangle for axis in axes} == {0}
    assert [len(heat.x) for heat in figure.data] == [4, 4, 3]
    shown = [value for heat in figure.data for value in heat.z[0]]
    assert shown == [0.5 + place / 40 for place in range(11)]
    assert [axis.range for axis in axes] == [(-0.5, 3.5)] * 3


def test_a_colour_scale_has_the_height_for_its_marks():
    """With two attacks its four marks stood on each other; with four rows it has 128 pixels."""
    for count in (2, 3, 4):
        keys = ("common_neighbors", "degree_product", "adamic_adar", "jaccard")[:count]
        rows = [result_row("original", key, "auc", 0.7) for key in keys]
        figure = transfer_matrix(tabulate_results(rows), "auc", "link").figure
        assert figure.layout.coloraxis.showscale == (count == 4)


def test_of_many_releases_the_title_tells_the_range():
    """It was empty above the largest matrices."""
    names = ["original", *(f"random_deletion:strength={step / 20:g}" for step in range(1, 11))]
    values = [0.9, *(0.5 + step / 40 for step in range(1, 11))]
    rows = [
        result_row(name, attack, "auc", value - less)
        for name, value in zip(names, values, strict=True)
        for attack, less in (("common_neighbors", 0.0), ("jaccard", 0.01))
    ]
    assert transfer_matrix(tabulate_results(rows), "auc", "link").title == (
        "Strongest attack: 0.90 on Original, 0.53 to 0.75 on the 10 others"
    )


def test_cells_of_unlike_colour_tell_unlike_figures():
    """0.012 and 0.010 were both told as 0.01."""
    rows = [
        result_row(release, "common_neighbors", "tpr_at_fpr_0.01", value)
        for release, value in zip(RELEASES[:2], (0.012, 0.0101), strict=True)
    ]
    (heat,) = transfer_matrix(tabulate_results(rows), "tpr_at_fpr_0.01", "link").figure.data
    first, second = (text.partition(">")[2].partition("<")[0] for text in heat.text[0])
    assert (first, second) == ("0.012", "0.010")
