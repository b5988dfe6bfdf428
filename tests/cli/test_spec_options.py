"""Options of the command line come from the fields of a spec, help and bounds included."""

from __future__ import annotations

import argparse
import re

import pytest

from core.audit.asked.declared import Declaration
from core.audit.asked.spec import AuditSpec, list_spec_fields
from core.audit.asked.spec_parts import PARTS
from core.audit.computing.plan import plan_audit
from core.audit.computing.prepared import PreparedAudit
from core.cli.arguments import add_options, read_options, title_options
from core.cli.audit import add_audit
from core.errors import InputError
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


def test_every_declared_option_is_one_of_the_command() -> None:
    """With the declared help, whether it is built from the field or a command adds it."""
    parser = argparse.ArgumentParser()
    add_audit(parser)
    options = {flag: action for action in parser._actions for flag in action.option_strings}
    in_graph = {"private", "utility", "hide_links"}  # stand with a graph's, without a spec
    for name, field in list_spec_fields().items():
        declared = Declaration.of(field)
        if declared.option:
            option = options[declared.find_option(name)]
            start = (field.description or "")[1:30].replace("%", "%%")
            assert start in str(option.help) or name in in_graph, name


def test_a_note_is_kept_and_renews_no_cell() -> None:
    graph = two_communities()
    fields = {"graph_hash": graph.content_hash, "hide_links": 0.1, "attacks": [{"key": "jaccard"}]}
    plain, noted = (
        AuditSpec.check_spec({**fields, **read(*w)}) for w in ((), ("--note", "of May"))
    )
    assert noted.model_dump()["note"] == "of May"
    cells = [plan_audit(PreparedAudit.build(spec, graph)) for spec in (plain, noted)]
    assert cells[0] == cells[1]


@pytest.mark.parametrize(
    ("words", "rule"),
    [
        (("--repeats", "0"), "--repeats must be greater than or equal to 1; got 0"),
        (("--known", "1"), "--known must be less than 1"),
        (("--auxiliary-known", "3"), "--auxiliary-known must be shares between 0 and 1"),
    ],
)
def test_a_message_names_the_option(words: tuple[str, ...], rule: str) -> None:
    """`--repeats 0` was answered about the spec field 'num_repeats'."""
    parser = argparse.ArgumentParser()
    add_options(parser, *PARTS.values(), AuditSpec)
    options = parser.parse_args(words)
    fields = {"graph_hash": "x", **read_options(options, *PARTS.values(), AuditSpec)}
    with pytest.raises(InputError, match=f"^{re.escape(rule)}"):
        AuditSpec.check_spec(fields, title_options(options))


def test_a_message_on_a_file_names_its_field() -> None:
    options = argparse.Namespace(num_repeats=None, seeds_known=-1)
    with pytest.raises(InputError, match=r"^spec field 'num_repeats' must be"):
        AuditSpec.check_spec({"graph_hash": "x", "num_repeats": 0}, title_options(options))
    fields = {"graph_hash": "x", "identity": {"seeds_known": -1}}
    with pytest.raises(InputError, match=r"^--seeds-known must be"):
        AuditSpec.check_spec(fields, title_options(options))
