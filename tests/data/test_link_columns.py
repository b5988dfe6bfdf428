"""The fast reader against the row by row one, on rows that are plain, odd, quoted and spaced."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from core.data import edge_list, link_text
from core.data.link_text import _COMMENT, load_link_text
from core.errors import InputError

CELLS = st.sampled_from(
    ["1", "2", "10", "0", "00", "-0", "-3", "+1", "1.0", "0x1", "a", "b c", " a", "a ", '"q"',
     '"a,b"', 'x"y', "'=1", "NA", "é", "9" * 25, ""]
)  # fmt: skip
GAPS = st.sampled_from([",", ";", "\t", " ", "  ", ", "])


def read_slowly(path):
    text = load_link_text(path)
    return edge_list._parse_columns(text, list(text.names[:2]), [])


@settings(max_examples=300)
@given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=5), GAPS, st.booleans())
@example([("a", "b"), ("07", "7")], ",", True)
@example([("1", "2"), ("07", "7")], " ", False)
@example([("1", "10"), ("-0", "0")], ",", False)
def test_fast_reader_reads_what_the_slow_one_reads(tmp_path_factory, rows, gap, header):
    path = tmp_path_factory.mktemp("links") / "e.csv"
    lines = [f"{a}{gap}{b}" for a, b in rows]
    path.write_text("\n".join([f"source{gap.strip() or gap}target"] * header + lines) + "\n")
    try:
        text = load_link_text(path)
        columns = list(text.names[:2])
        fast = link_text.read_columns(text, columns) if len(columns) == 2 else None
    except InputError:
        return
    if fast is not None:
        slow = edge_list._parse_columns(text, columns, [])
        assert fast[1] == slow[1]
        assert fast[0].tolist() == slow[0].tolist()


@pytest.mark.parametrize(
    "text",
    ["1,2\n2,3\n", "source\ttarget\na\tb\n", "  1   2 \n2 3\t\n", '"a";"b"\n"c";"a"\n', "1 2\r\n"],
)
def test_plain_files_take_the_fast_way(tmp_path, text):
    path = tmp_path / "e.txt"
    path.write_bytes(text.encode())
    found = load_link_text(path)
    fast = link_text.read_columns(found, list(found.names[:2]))
    assert fast is not None
    slow = read_slowly(path)
    assert (fast[1], fast[0].tolist()) == (slow[1], slow[0].tolist())


@pytest.mark.parametrize(("cells", "values"), [("0.5 2 1e-3", [0.5, 2, 0.001]), ("nan 1 1", None)])
def test_weights_are_read_or_left_to_the_slow_reader(tmp_path, cells, values):
    path = tmp_path / "e.csv"
    rows = [f"{i},{i + 1},{cell}" for i, cell in enumerate(cells.split())]
    path.write_text("source,target,weight\n" + "\n".join(rows))
    found = link_text.read_columns(load_link_text(path), ["source", "target", "weight"])
    assert (found and found[2].tolist()) == values


@given(st.lists(st.sampled_from(["# c", "a b", "", "  %d", "\t#", "a # b", "#", " "])))
def test_comments_become_blank_lines(lines):
    data = "\n".join(lines).encode()
    kept, removed = _COMMENT.sub(b"", data), _COMMENT.findall(data)
    is_comment = [line.lstrip(" \t")[:1] in ("#", "%") and line.strip() != "" for line in lines]
    expected = ["" if c else line for line, c in zip(lines, is_comment, strict=True)]
    assert kept.decode() == "\n".join(expected)
    assert [line.decode() for line in removed] == [
        line for line, c in zip(lines, is_comment, strict=True) if c
    ]


@given(st.lists(st.sampled_from([b"1", b" ", b"\t", b"\n", b"\r\n"])))
def test_rows_keep_one_space_between_their_cells(parts):
    data = b"".join(parts)
    rows = (row.removesuffix(b"\r") for row in data.split(b"\n"))
    expected = b"\n".join(b" ".join(row.split()) for row in rows)
    assert link_text._single_spaces(data).replace(b"\r", b"") == expected


def test_numbers_with_a_second_spelling_are_no_plain_numbers():
    assert link_text._are_plain(b"10,20\n300,4\n" * 9)
    for odd in (b"07", b"1,00", b"5,-0"):
        assert not link_text._are_plain(b"10,20\n" * 9 + odd + b"\n" + b"1,2\n" * 9)


def test_distinct_sorted_codes():
    from core.arrays import sort_distinct

    values = np.random.default_rng(0).integers(0, 50, 200)
    assert sort_distinct(values).tolist() == np.unique(values).tolist()
    assert sort_distinct(values[:0]).tolist() == []
