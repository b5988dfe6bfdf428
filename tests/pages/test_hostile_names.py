"""Names that are markup for Streamlit stay names, on every page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from google.protobuf.message import Message

from core.audit.asked.spec import AuditSpec
from core.audit.service import AuditService
from core.node_column import NodeColumn
from pages.ui import service as pages_service
from pages.ui.cards import STATE_ICONS
from tests.inline import run_inline
from tests.oracles.graphs import two_communities
from tests.pages.conftest import PAGES

ICON, LINK, COLOR = ":material/home:", "[a](http://evil.test)", ":red[x]"
ACTIVE = re.compile(r"(?<!\\):material/home|(?<!\\)\[a\](?!\\)\(http|(?<!\\):red\[")
INERT = {
    *("id", "alt", "user_key", "raw_values", "string_values", "placeholder"),
    *("spec", "config", "page"),
}
"""Fields that are shown as they are, or not at all."""


@pytest.fixture(scope="module")
def hostile_audit(tmp_path_factory) -> Iterator[tuple[AuditService, str]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("AUDIT_DATABASE", raising=False)
        patch.setenv("AUDIT_DEVICE", "cpu")
        home = tmp_path_factory.mktemp("home")
        graph = two_communities(24)
        columns = {
            name: NodeColumn(name, a.codes, (f"{ICON} {LINK}", f"{COLOR} {ICON}"))
            for name, a in zip((ICON, f"{COLOR}{LINK}"), graph.attributes.values(), strict=True)
        }
        ids = tuple(f"{ICON}{number}" for number in range(graph.num_nodes))
        graph = replace(graph, name=f"{ICON} {LINK}", node_ids=ids)
        graph = graph.update_columns(attributes=columns)
        spec = AuditSpec.check_spec(
            {
                "graph_name": graph.name,
                "graph_hash": graph.content_hash,
                "private": ICON,
                "known": 0.3,
                "hide_links": 0.2,
                "num_repeats": 1,
                "attacks": [{"key": "common_neighbors"}, {"key": "label_propagation"}],
                "defenses": [{"key": "random_deletion"}],
            }
        )
        view = run_inline(spec, graph, home, f"{ICON} {LINK}")
        service = AuditService(home)
        yield service, view.summary.id
        service.close()


@pytest.mark.parametrize("page", PAGES)
def test_names_are_no_markup(page, hostile_audit, open_app):
    service, audit_id = hostile_audit
    pages_service.use_service(service)
    app = open_app(page, audit=audit_id, node=f"{ICON}3")
    texts = [
        text for root in app._tree.children.values() for p in _walk(root) for text in _find_texts(p)
    ]
    assert len(texts) > 5
    for icon in STATE_ICONS.values():  # the page's own; a name's colon is escaped
        texts = [text.replace(icon, "") for text in texts]
    found = [text[:200] for text in texts if ACTIVE.search(text)]
    assert not found, "\n".join(found)


def _walk(block: Any) -> Iterator[Message]:
    if isinstance(getattr(block, "proto", None), Message):
        yield block.proto
    for child in getattr(block, "children", {}).values():
        yield from _walk(child)


def _find_texts(message: Message) -> Iterator[str]:
    """Every text that may be rendered as Markdown."""
    kind = message.DESCRIPTOR.name
    for field, value in message.ListFields():
        is_list = kind in ("Selectbox", "MultiSelect") and field.name in ("options", "default")
        is_list |= kind == "TextInput" and field.name in ("value", "default")
        if field.name in INERT or is_list or kind in ("PlotlyChart", "IFrame"):
            continue
        is_many = not isinstance(value, (str, bytes, Message)) and hasattr(value, "__iter__")
        for item in value if is_many else [value]:
            if isinstance(item, Message):
                yield from _find_texts(item)
            elif isinstance(item, str):
                yield item


def test_what_is_looked_for_is_found():
    from streamlit.proto.Checkbox_pb2 import Checkbox

    (found,) = _find_texts(Checkbox(label=f"x {ICON}", id=ICON))
    assert ACTIVE.search(found)
    assert not ACTIVE.search(r"\:material/home\: \[a\]\(http://evil\.test\) \:red\[x\]")
