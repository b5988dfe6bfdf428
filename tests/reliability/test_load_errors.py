"""A session that meets an error box has met an error, whatever the status of its page."""

from __future__ import annotations

import pytest
from streamlit.proto.Alert_pb2 import Alert
from streamlit.proto.Element_pb2 import Element

from tests.reliability.load import PAGES, ROOT, find_error


@pytest.mark.parametrize(
    ("element", "found"),
    [
        (Element(alert=Alert(body="boom", format=Alert.ERROR)), "boom"),
        (Element(alert=Alert(body="careful", format=Alert.WARNING)), ""),
        (Element(alert=Alert(body="good", format=Alert.SUCCESS)), ""),
        (Element(exception={"message": "raised"}), "raised"),
        (Element(markdown={"body": "text"}), ""),
    ],
)
def test_what_counts_as_an_error(element, found):
    assert find_error(element) == found


def test_every_page_that_is_opened_exists():
    """A page was renamed, and neither the load nor the page benchmark could start any more."""
    assert set(PAGES) <= {path.stem for path in (ROOT / "pages").glob("*.py")}
