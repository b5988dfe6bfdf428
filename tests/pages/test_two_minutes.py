"""Twenty questions that a stranger asks: each has its answer on one first screen, or on page 1.

The answers are computed here from the stored numbers, by code that shares nothing with the pages.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Iterator

import pytest
from streamlit.testing.v1 import AppTest

from core.audit.asked.attack import parse_attack
from core.audit.asked.method_choice import MethodChoice
from core.audit.asked.spec import AuditSpec
from core.audit.results.view import AuditView
from core.audit.service import AuditService
from core.data.synthetic import generate_social
from core.findings.policy import find_policy
from core.findings.strongest import describe_false_alarms
from core.findings.verdict import judge
from core.report import write_report
from pages.ui import service as pages_service
from tests.inline import run_inline
from tests.pages.conftest import APP_SHELL, TIMEOUT_S

RELEASE = "random_deletion:strength=0.5"
SCREENS = ("decision", "data", "attack", "defend", "risk", "homophily", "tradeoff")


@pytest.fixture(scope="module")
def view(tmp_path_factory) -> Iterator[AuditView]:
    """A small audit of a generated network, for a partner under contract."""
    graph = generate_social(200, seed=1)
    attacks = ("common_neighbors", "degree_product", "label_propagation", "class_prior")
    spec = AuditSpec.check_spec(
        {
            "graph_name": "people",
            "graph_hash": graph.content_hash,
            "private": "affiliation",
            "hide_links": 0.2,
            "num_repeats": 2,
            "attacks": [MethodChoice(key=key) for key in attacks],
            "defenses": [MethodChoice.parse(RELEASE, "defense")],
            "policy": find_policy("partner").model_dump(mode="json"),
            "purpose": {
                "recipient": "A partner under contract",
                "use": "Statistics of the network",
            },
        }
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("AUDIT_DATABASE", raising=False)
        patch.setenv("AUDIT_DEVICE", "cpu")
        home = tmp_path_factory.mktemp("decided")
        made = run_inline(spec, graph, home, "people")
        service = AuditService(home)
        patch.setattr(service, "warm_up", lambda: None)
        pages_service.use_service(service)
        yield service.get_view(made.summary.id)
        pages_service.use_service(None)
        service.close()


@pytest.fixture(scope="module")
def screens(view, tmp_path_factory) -> dict[str, str]:
    """Page → what its first screen says: nothing folded, no tab but the first, no table."""
    found = {name: read_screen(name, view.summary.id) for name in SCREENS}
    path = write_report(view, tmp_path_factory.mktemp("report") / "report.pdf")
    if shutil.which("pdftotext"):
        command = ["pdftotext", "-layout", "-l", "1", str(path), "-"]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        found["page 1"] = " ".join(text.split())
    return found


def read_screen(name: str, audit_id: str) -> str:
    app = AppTest.from_file(APP_SHELL, default_timeout=TIMEOUT_S)
    app.query_params["audit"] = audit_id
    app.switch_page(f"../{name}.py").run()
    assert not app.exception, app.exception
    cards = [f"{card.label}: {card.value} ({card.delta})" for card in app.metric]
    folded = {id(item) for fold in app.expander for item in (*fold.markdown, *fold.caption)}
    texts = [t.value for t in (*app.markdown, *app.caption, *app.info) if id(t) not in folded]
    tables = [table.value.to_csv() for table in app.table]
    words = " ".join([*cards, *texts, *(head.value for head in app.header), *tables])
    return " ".join(re.sub(r"\\(?=\W)", "", words).split())


def value(view: AuditView, release: str, metric: str, *methods: str) -> float:
    rows = view.results[(view.results.release == release) & (view.results.metric == metric)]
    return max(rows.value[rows.method == m].iloc[0] for m in methods)


def frequency(share: float) -> str:
    """ "12 of 100" as a person would round it; shares below 1 in 100 do not occur here."""
    return rf"{round(100 * share)} of 100|{round(1000 * share)} of 1,000"


def count_exposed(view: AuditView, release: str) -> str:
    """People whose private value the label propagation puts 0.2 above its base rate, surely and
    likely."""
    part = view.nodes.parts[release, parse_attack("label_propagation")]
    sure = int((part.low - part.risk + part.advantage > 0.2).sum())
    likely, total = int((part.advantage > 0.2).sum()), len(part.nodes)
    return rf"{sure} of {total} .*likely {likely}\b|\b{likely} of {total} "


QUESTIONS: tuple[tuple[str, str, Callable[[AuditView], str]], ...] = (
    ("To whom would it go?", "decision", lambda v: "A partner under contract"),
    ("To whom, on paper?", "page 1", lambda v: "A partner under contract"),
    ("For what purpose?", "page 1", lambda v: "Statistics of the network"),
    ("By which policy is it judged?", "decision", lambda v: r"Partner under contract, version \d"),
    ("May it be published?", "decision", lambda v: decide(v)),
    ("May it, on paper?", "page 1", lambda v: decide(v)),
    ("Which limit speaks most against it?", "decision", lambda v: find_gravest(v)),
    ("Which limit, on paper?", "page 1", lambda v: find_gravest(v)),
    ("How many people are in the graph?", "data", lambda v: r"\b200 people"),
    ("How many, on paper?", "page 1", lambda v: r"\b200\b"),
    ("How many links has it?", "data", lambda v: f"{v.load_graph().num_edges:,} links"),
    ("How many withheld links does an attacker find?", "attack",
     lambda v: frequency(value(v, "original", "tpr_at_fpr_0.01", "common_neighbors"))),
    ("How many would one find who only guesses?", "attack",
     lambda v: frequency(value(v, "original", "tpr_at_fpr_0.01", "degree_product"))),
    ("How many people's values are exposed?", "risk",
     lambda v: count_exposed(v, "original")),
    ("What does the defense leave of the links found?", "defend",
     lambda v: frequency(value(v, RELEASE, "tpr_at_fpr_0.01", "common_neighbors"))),
    ("Which defense was tried?", "defend", lambda v: "Random deletion"),
    ("What does the defense prove?", "defend", lambda v: "empirical only"),
    ("Are people like their neighbours?", "homophily",
     lambda v: frequency(value(v, "original", "ghratio_proximity", "release"))),
    ("How many releases may leave?", "tradeoff", lambda v: f"{count_passing(v)} of 1"),
    ("When is it judged again?", "page 1",
     lambda v: str(int(v.summary.created[:4]) + 1)),
)  # fmt: skip


def decide(view: AuditView) -> str:
    """The limits, applied by hand to every defended release."""
    if count_passing(view):
        return "Publish"
    states = [r.decision for r in judge(view, find_policy("partner")).releases]
    return "Review" if set(states) - {"do_not_publish"} else "Do not publish"


def find_gravest(view: AuditView) -> str:
    verdict = judge(view, find_policy("partner"))
    checks = [c for r in verdict.releases for c in r.checks if c.state == "exceeded"]
    titles = {re.escape(check.limit.title) for check in checks}
    return "|".join(titles)


def count_passing(view: AuditView) -> int:
    releases = judge(view, find_policy("partner")).releases
    return sum(r.decision == "publish" for r in releases if r.release == RELEASE)


def test_the_odds_of_the_links_found_stand_below_the_headline(view, screens) -> None:
    told = describe_false_alarms(view)
    assert "wrong" in told
    assert told in screens["attack"]


def test_there_are_twenty_questions() -> None:
    assert len(QUESTIONS) == 20


@pytest.mark.parametrize(("question", "screen", "answer"), QUESTIONS, ids=[q[0] for q in QUESTIONS])
def test_a_stranger_finds_the_answer(question, screen, answer, view, screens) -> None:
    if screen not in screens:
        pytest.skip("page 1 of the PDF is read with pdftotext")
    assert re.search(answer(view), screens[screen]), (question, answer(view), screens[screen])
