"""Options of the command line come from the fields of a spec, help and bounds included."""

from __future__ import annotations

import argparse

from core.audit.plan import plan_audit
from core.audit.prepared import PreparedAudit
from core.audit.spec import PARTS, AuditSpec
from core.cli.arguments import add_options, read_options
from tests.oracles.graphs import two_communities


def read(*words: str) -> dict[str, object]:
    parser = argparse.ArgumentParser()
    add_options(parser, *PARTS.values(), AuditSpec)
    return read_options(parser.parse_args(words), *PARTS.values(), AuditSpec)


def test_only_what_is_given_is_a_field() -> None:
    assert read() == {}
    assert read("--adaptive", "--composition", "3") == {"adaptive": True, "composition": 3}
    assert read("--auxiliary-known", "0.1,degree:0.3")["auxiliary_known"] == ["0.1", "degree:0.3"]
    assert read("--publish-columns", "none") == {"publish_columns": []}


def test_a_note_is_kept_and_renews_no_cell() -> None:
    graph = two_communities()
    fields = {"graph_hash": graph.content_hash, "hide_links": 0.1, "attacks": [{"key": "jaccard"}]}
    plain, noted = (
        AuditSpec.check_spec({**fields, **read(*w)}) for w in ((), ("--note", "of May"))
    )
    assert noted.model_dump()["note"] == "of May"
    cells = [plan_audit(PreparedAudit.build(spec, graph)) for spec in (plain, noted)]
    assert cells[0] == cells[1]
