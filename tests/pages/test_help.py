"""The Help page: its topics, the glossary's search, methods with their citations."""

from __future__ import annotations

import pytest

from core.registry import list_methods
from tests.pages.conftest import OpenApp
from tests.pages.test_pages import texts


@pytest.mark.parametrize(
    ("topic", "words"),
    [
        ("first_audit", "Answer four questions"),
        ("first_audit", "Untick the proposed defenses"),  # the guide has no way to change one
        ("formats", "GraphML"),
        ("policies", "Partner under contract"),
        ("deployment", "AUDIT_HOME"),
    ],
)
def test_a_topic_is_shown(open_app: OpenApp, topic: str, words: str) -> None:
    app = open_app("help")
    app.segmented_control(key="topic").set_value(topic).run()
    assert words in texts(app) + "\n".join(item.value for item in app.header)


def test_the_glossary_is_searched(open_app: OpenApp) -> None:
    app = open_app("help")
    app.segmented_control(key="topic").set_value("glossary").run()
    assert "**GHRatio.**" in texts(app)
    app.text_input(key="term").set_value("pareto").run()
    assert "**Pareto front.**" in texts(app)
    assert "**GHRatio.**" not in texts(app)


def test_every_method_has_its_citation_to_copy(open_app: OpenApp) -> None:
    app = open_app("help")
    app.segmented_control(key="topic").set_value("methods").run()
    cited = {code.value for code in app.code}
    for kind in ("link_attack", "attribute_attack", "identity_attack", "defense"):
        assert {method.info.source for method in list_methods(kind)} <= cited
