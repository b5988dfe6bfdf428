"""audit.json is as assets/schemas/audit.json says, for every kind of audit."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from referencing import Registry, Resource

from core.audit.asked.spec import AuditSpec
from core.audit.results.export import SCHEMA, write_audit
from core.audit.results.provenance import describe_run
from core.audit.store.states import State
from core.cli.audit import judge_audit
from core.defenses.external import EXTERNAL
from core.errors import InputError
from core.findings.channels import describe_channels
from core.findings.uses import describe_uses
from core.privacy.claim_check import ClaimCheck
from core.release import ORIGINAL
from tests.inline import run_inline
from tests.report.test_gate import claim, count, make_view

SCHEMAS = Path(__file__).parents[2] / "assets" / "schemas"


@pytest.fixture(scope="module")
def validator():
    schema, verdict = (
        json.loads((SCHEMAS / f"{n}.json").read_text()) for n in ("audit", "verdict")
    )
    assert schema["properties"]["schema"]["const"] == SCHEMA
    registry = Registry().with_resource("verdict.json", Resource.from_contents(verdict))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema, registry=registry)


@pytest.fixture(scope="module")
def write(tmp_path_factory):
    """The audit.json of a view, with its verdict where it has a policy."""

    def call(view) -> dict[str, object]:
        folder = tmp_path_factory.mktemp("out")
        view = replace(view, provenance=describe_run(view.spec) | {"devices": ["CPU"]})
        verdict, _ = judge_audit(view, lambda _text: None)
        found = {"channels": describe_channels(view), "columns": describe_uses(view)}
        write_audit(view, folder, {**verdict, **found})
        return json.loads((folder / "audit.json").read_text())

    return call


@pytest.fixture(scope="module")
def whole(tmp_path_factory, write, graph, make_spec):
    """With a guarantee and control nodes."""
    spec = make_spec(
        control=0.2,
        attacks=[{"key": "common_neighbors"}, {"key": "class_prior"}],
        defenses=[{"key": "edge_rand"}],
    )
    written = write(run_inline(spec, graph, tmp_path_factory.mktemp("home")))
    assert written["guarantees"]
    assert {"released", "control", ""} == {row["population"] for row in written["results"]}
    return written


@pytest.fixture(scope="module")
def judged(write):
    """With a verdict and a claim check."""
    check = ClaimCheck(
        *("edge_rand", {"epsilon": 1.0}, "edge", 1.0, 0.0, 1.2, 3.0, 200, 500, "links"),
        roc=np.array([[0.0, 0.1], [1.0, 1.0]]),
    )
    written = write(claim(State.DONE, check)(make_view()))
    assert written["verdict"]["releases"]
    assert written["claim_checks"]
    return written


def test_audits_are_valid(validator, whole, judged, write):
    external = write(make_view(names=(ORIGINAL, EXTERNAL)))
    assert any("not_tested" in release for release in external["releases"])
    failed = write(count(cells_failed=1)(make_view()))
    for written in (whole, judged, external, failed):
        validator.validate(written)


@pytest.mark.parametrize(
    "place",
    [
        (),
        ("provenance",),
        ("releases", 0),
        ("guarantees", "edge_rand"),
        ("results", 0),
        ("results", -1),
        ("results", -1, "control_difference"),
        ("claim_checks", 0),
        ("verdict",),
        ("verdict", "releases", ORIGINAL, "limits", 0),
    ],
)
def test_unknown_and_missing_members_fail(place, validator, whole, judged):
    changed = copy.deepcopy(judged if {"verdict", "claim_checks"} & {*place} else whole)
    target = changed
    for step in place:
        target = target[step]
    target["new"] = 1
    with pytest.raises(jsonschema.ValidationError, match="'new' was unexpected"):
        validator.validate(changed)
    del target["new"]
    validator.validate(changed)
    del target[next(iter(target))]
    with pytest.raises(jsonschema.ValidationError, match="required"):
        validator.validate(changed)


def test_the_spec_of_an_audit_is_read_again_and_unknown_fields_fail(whole):
    assert AuditSpec.check_spec(whole["spec"]).model_dump(mode="json") == whole["spec"]
    with pytest.raises(InputError, match="new"):
        AuditSpec.check_spec(whole["spec"] | {"new": 1})
