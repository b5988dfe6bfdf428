"""What the upload form takes a file for, before anybody corrects it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pages.ui import upload


@pytest.mark.parametrize(
    ("name", "header", "is_links"),
    [
        ("people_target.csv", "id,class", False),
        ("people.csv", "id,target", False),
        ("friends.csv", "source,target", True),
        ("friends.csv", "a,b", True),
    ],
)
def test_a_lone_table_of_classes_is_no_list_of_links(
    tmp_path: Path, name: str, header: str, is_links: bool
) -> None:
    """Read as links, 28,281 classes once became 28,280 links."""
    path = tmp_path / name
    path.write_text("\n".join([header, *(f"{i},{i % 2 + 50}" for i in range(50))]) + "\n")
    assert upload._find_links([path]) == (path if is_links else None)
    if not is_links:
        assert upload._propose_part(path) == upload.TARGETS


def test_links_are_found_beside_a_table_of_classes(tmp_path: Path) -> None:
    links, classes = tmp_path / "edges.csv", tmp_path / "target.csv"
    links.write_text("source,target\n" + "".join(f"{i // 3},{i}\n" for i in range(30)))
    classes.write_text("id,target\n" + "".join(f"{i},{i % 2}\n" for i in range(30)))
    assert upload._find_links([classes, links]) == links
