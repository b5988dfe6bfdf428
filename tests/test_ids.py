"""Results know what they are: above the audit no module takes an id apart or lists methods by key.

Ids are keys of tables, addresses and files; what an attack or a release is stands in `Attack` and
`ReleaseInfo`, what a method does in its class.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.audit.store.decisions import Decision
from core.findings.decisions import list_decision_rows
from core.findings.facts import build_figure
from core.findings.ledger import list_ledger_rows
from core.findings.page_summary import describe_figure
from core.findings.tables import attack_rows, compute_worst_attacks, list_made
from core.methods import ATTACK_KINDS
from core.privacy.ledger import Entry
from core.registry import list_methods
from core.release import ORIGINAL, Guarantee
from tests.oracles.audits import make_audit

ROOT = Path(__file__).parents[1]
ROOMS = ("core/findings", "core/figures", "core/report", "core/cli", "pages")
KEYS = {m.info.key for kind in (*ATTACK_KINDS, "defense") for m in list_methods(kind)}

PARSERS = {"parse_attack", "parse_release", "parse_method", "split_id", "attach_referents"}
TYPED = "core/cli/"
"""Options are text that is typed, which becomes methods there."""

NOT_IDS = {
    "pages/ui/columns_form.py": "rules of columns",
    "pages/ui/own_address.py": "addresses",
    "pages/ui/threat_form.py": "places that the analyst chose",
}
"""Files that take apart other text at a colon."""

KNOWN_KEYS = {
    "core/cli/advise.py": "default of an option",
    "core/figures/link_scores.py": "a node's number of links",
    "core/figures/releases.py": "names of training curves",
    "core/figures/risk_charts.py": "a node's number of links",
    "core/findings/groups.py": "a difference between groups",
    "core/findings/identity.py": "depths of knowledge (core.algorithms.fingerprints)",
    "core/findings/leaving.py": "depths of knowledge (core.algorithms.fingerprints)",
    "core/findings/profile.py": "a node's number of links",
    "core/findings/risk.py": "a node's number of links",
    "core/report/people.py": "a node's number of links",
    "core/cli/publish.py": "an option of the same name",
    "pages/risk.py": "a node's number of links",
    "pages/ui/threat_form.py": "a spread of the known people",
}
"""Files with a text that equals a method's key, and what it means there."""


def list_modules() -> list[str]:
    files = [path for room in ROOMS for path in (ROOT / room).rglob("*.py")]
    return sorted(str(path.relative_to(ROOT)) for path in files)


def find_parsing(source: str) -> Iterator[str]:
    """Functions that parse ids which a module imports, or calls by the name of their module."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            yield from (alias.name for alias in node.names if alias.name in PARSERS)
        elif isinstance(node, ast.Attribute):
            owner = node.value.id if isinstance(node.value, ast.Name) else ""
            is_choice = (owner, node.attr) in {("Scenario", "parse"), ("MethodChoice", "parse")}
            if is_choice or node.attr in PARSERS:
                yield f"{owner}.{node.attr}"


def find_splits(source: str) -> Iterator[str]:
    """Places in a module that split text where an id has its joints."""
    splits = {"partition", "rpartition", "split", "rsplit"}
    for node in ast.walk(ast.parse(source)):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        joints = [arg.value for arg in node.args[:1] if isinstance(arg, ast.Constant)]
        if node.func.attr in splits and set(joints) & {":", "@", "+"}:
            yield f"line {node.lineno}"


def find_keys(source: str) -> Iterator[str]:
    """Texts in a module that equal a method's key."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and node.value in KEYS:
            yield str(node.value)


@pytest.mark.parametrize("module", list_modules())
def test_no_module_takes_an_id_apart_or_lists_methods_by_key(module: str) -> None:
    source = (ROOT / module).read_text(encoding="utf-8")
    parsing = set(find_parsing(source))
    if module.startswith(TYPED):
        parsing -= {"parse_method", "MethodChoice.parse"}
    assert not parsing
    if module not in NOT_IDS and not module.startswith(TYPED):
        assert not list(find_splits(source))
    if module not in KNOWN_KEYS:
        assert not list(find_keys(source))


def test_the_test_finds_what_it_looks_for() -> None:
    for text in ("from core.audit.asked.attack import parse_attack", "Scenario.parse(a)"):
        assert list(find_parsing(text))
    assert list(find_splits("method.partition('@')[0]"))
    assert list(find_keys("FIRST = ('gcn', 'katz')")) == ["gcn", "katz"]
    assert not list(find_keys("TITLES = ('GCN', 'Katz')"))


@pytest.mark.parametrize("module", sorted({*NOT_IDS, *KNOWN_KEYS}))
def test_no_exception_is_needless(module: str) -> None:
    source = (ROOT / module).read_text(encoding="utf-8")
    assert list(find_splits(source)) if module in NOT_IDS else list(find_keys(source))


ATTACK, RELEASE = "attack_of_tomorrow:x=1@adaptive", "defense_of_tomorrow:x=1"


def test_ids_that_no_method_answers_to_are_shown_as_they_are() -> None:
    """Results of a plug-in that is gone are neither dropped nor an error."""
    known = {(where, "adamic_adar", "auc"): 0.6 for where in (ORIGINAL, RELEASE)}
    view = make_audit({**known, (RELEASE, ATTACK, "auc"): 0.9}, ("adamic_adar",), ())
    assert ATTACK in set(attack_rows(view.results, "auc").method)
    worst = compute_worst_attacks(view.results, "auc", None).set_index("release").loc[RELEASE]
    assert (worst.attack.title, worst.attack.threat) == (ATTACK, None)
    text = describe_figure(build_figure(worst))
    assert f"by {ATTACK} on {RELEASE}" in text
    assert list_made(view.results)[RELEASE].title == RELEASE
    assert (view.get_attack(ATTACK).title, view.get_release(RELEASE).title) == (ATTACK, RELEASE)
    decision = Decision(
        graph_hash="g", audit_id="a", kind="chosen", release=RELEASE, person="A. Nalyst"
    )
    assert list_decision_rows([decision])[0]["What"] == f"Chose {RELEASE}"
    entry = Entry.of("run", "2026-03-01T12:00:00", RELEASE, Guarantee())
    assert list_ledger_rows([entry])[0][1] == RELEASE


def test_a_view_knows_the_attacks_of_its_spec_without_parsing(monkeypatch) -> None:
    view = make_audit({(ORIGINAL, "adamic_adar", "auc"): 0.6}, ("adamic_adar",))
    monkeypatch.setattr("core.audit.results.view.parse_attack", lambda _: pytest.fail("parsed"))
    monkeypatch.setattr("core.audit.results.view.parse_release", lambda _: pytest.fail("parsed"))
    assert view.get_attack("adamic_adar").title == "Adamic–Adar"
    assert view.get_release("random_deletion").is_defended
