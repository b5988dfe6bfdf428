"""Do first screens and page 1 answer an officer? `python -m tests.benchmarks.questions`.

Asks twenty-five questions of a small audit: of what each page says before anything is unfolded, and
of page 1 of the PDF. An answer counts where it is the number or the name that audit.json and
nodes.parquet have; these are read here by code that shares nothing with the pages. Prints each
question with the places that do not answer it. Options: --people, --seed, --defense.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from streamlit.testing.v1 import AppTest

from core.audit.asked.attack import parse_attack
from core.audit.asked.method_choice import MethodChoice
from core.audit.asked.release_info import parse_release
from core.audit.asked.spec import AuditSpec
from core.audit.results.export import describe_audit, describe_nodes
from core.audit.results.view import AuditView
from core.audit.service import AuditService
from core.data.synthetic import generate_social
from core.findings.channels import describe_channels
from core.findings.policy import find_policy
from core.findings.verdict import judge
from core.report import write_report
from pages.ui import service as pages_service
from tests.benchmarks.finite import print_finite
from tests.inline import run_inline

APP_SHELL = Path(__file__).parents[2] / "pages" / "ui" / "app_shell.py"
TIMEOUT_S = 120
RELEASE = "random_deletion:strength=0.5"
ATTACKS = ("common_neighbors", "degree_product", "label_propagation", "class_prior")
SCREENS = ("decision", "data", "attack", "defend", "risk", "homophily", "tradeoff")
PAGE_1 = "page 1"
USES = ("node_classification_auc", "node_classification_f1", "link_prediction_auc", "link_f1")
DECISIONS = {"publish": "Publish", "review": "Review", "do_not_publish": "Do not publish"}


@contextmanager
def open_audit(
    home: Path, num_people: int = 200, seed: int = 1, defense: str = RELEASE
) -> Iterator[AuditView]:
    """A small audit of a generated network for a partner under contract, which the pages show."""
    graph = generate_social(num_people, seed=seed)
    spec = AuditSpec.check_spec(
        {
            "graph_name": "people",
            "graph_hash": graph.content_hash,
            "private": "affiliation",
            "utility": "label",
            "hide_links": 0.2,
            "num_repeats": 2,
            "attacks": [MethodChoice(key=key) for key in ATTACKS],
            "defenses": [MethodChoice.parse(defense, "defense")],
            "policy": find_policy("partner").model_dump(mode="json"),
            "purpose": {
                "recipient": "A partner under contract",
                "use": "Statistics of the network",
            },
        }
    )
    made = run_inline(spec, graph, home, "people")
    service = AuditService(home)
    service.warm_up = lambda: None  # type: ignore[method-assign]
    pages_service.use_service(service)
    try:
        yield service.get_view(made.summary.id)
    finally:
        pages_service.use_service(None)
        service.close()


def read_screens(view: AuditView, folder: Path, has_paper: bool = True) -> dict[str, str]:
    """Page → what its first screen says; and page 1 of the PDF, by pdftotext."""
    found = {name: read_screen(name, view.summary.id) for name in SCREENS}
    if has_paper:
        path = write_report(view, folder / "report.pdf")
        command = ["pdftotext", "-layout", "-l", "1", str(path), "-"]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        # a line may end at a hyphen, soft or not
        found[PAGE_1] = re.sub(r"(?<=\w)- (?=\w)", "-", " ".join(text.split()))
    return found


def read_screen(name: str, audit_id: str) -> str:
    """Nothing folded, and no tab but the first."""
    app = AppTest.from_file(APP_SHELL, default_timeout=TIMEOUT_S)
    app.query_params["audit"] = audit_id
    app.switch_page(f"../{name}.py").run()
    assert not app.exception, app.exception
    cards = [f"{card.label}: {card.value} ({card.delta})" for card in app.metric]
    folded = {
        id(item)
        for fold in app.expander
        for item in (*fold.markdown, *fold.caption, *fold.table, *fold.dataframe)
    }
    folds = [fold.label for fold in app.expander]
    texts = [t.value for t in (*app.markdown, *app.caption, *app.info) if id(t) not in folded]
    tables = [t.value.to_csv() for t in (*app.table, *app.dataframe) if id(t) not in folded]
    words = " ".join([*cards, *texts, *(head.value for head in app.header), *folds, *tables])
    return " ".join(re.sub(r"\\(?=\W)", "", words).split())


@dataclass(frozen=True)
class Written:
    """audit.json with the verdict, and nodes.parquet; a `release` beside the original."""

    record: dict[str, Any]
    nodes: pd.DataFrame

    @classmethod
    def of(cls, view: AuditView) -> Written:
        policy = find_policy(view.spec.policy["key"]) if view.spec.policy else None
        assert policy is not None
        record = describe_audit(view) | {"channels": describe_channels(view)}
        record |= {"verdict": judge(view, policy).describe(), "edges": view.load_graph().num_edges}
        nodes = describe_nodes(view.nodes, view.spec)
        return cls(json.loads(json.dumps(record, default=str)), nodes)

    @property
    def release(self) -> str:
        return next(one["id"] for one in self.record["releases"] if one["id"] != "original")

    @property
    def policy(self) -> dict[str, Any]:
        return dict(self.record["spec"]["policy"])

    @property
    def gravest(self) -> dict[str, Any]:
        """The exceeded limit that stops the release, by the multiple of what it allows."""
        named = {limit["name"]: limit for limit in self.policy["limits"]}
        limits = self.record["verdict"]["releases"][self.release]["limits"]
        stops = [
            {**named[one["name"]], **one}
            for one in limits
            if one["state"] == "exceeded" and named[one["name"]]["weight"] == "stop"
        ]
        return max(stops, key=lambda one: one["value"] / one["limit"])

    def find(self, release: str, metric: str, *methods: str) -> dict[str, Any]:
        """The largest done result of a metric, over these methods."""
        rows = [
            row
            for row in self.record["results"]
            if (row["release"], row["metric"], row["status"]) == (release, metric, "done")
            and (not methods or row["method"] in methods)
        ]
        return dict(max(rows, key=lambda row: row["value"]))

    def count_exposed(self, release: str, attack: str) -> tuple[int, int, int]:
        """Surely exposed, likely exposed, at stake."""
        own = self.nodes[(self.nodes.release == release) & (self.nodes.attack == attack)]
        sure, likely = own.low - own.base > 0.2, own.advantage > 0.2
        return int(sure.sum()), int(likely.sum()), len(own)

    def find_first(self) -> str:
        """The node whose advantage on the original is largest by the lower end of its interval."""
        own = self.nodes[self.nodes.release == "original"]
        attacks = [one for _, one in own.groupby("attack") if is_attack(one.attack.iloc[0])]
        worst = [max(attacks_of, key=lambda one: one.advantage.mean()) for attacks_of in (
            [one for one in attacks if one.threat.iloc[0] == threat]
            for threat in own.threat.unique()
        )]  # fmt: skip
        table = pd.concat(worst)
        return str(table.node[(table.low - table.base).idxmax()])


def is_attack(key: str) -> bool:
    return not parse_attack(key).is_blind


def number(value: float) -> str:
    """With two to four decimals."""
    texts = dict.fromkeys(f"{value:.{digits}f}" for digits in (2, 3, 4))
    return "(?:" + "|".join(map(re.escape, texts)) + ")"


def interval(row: dict[str, Any]) -> str:
    return rf"{number(row['value'])} \[{number(row['low'])}, {number(row['high'])}\]"


def either(title: str, figure: str, by: str, at: str = " ") -> str:
    """The higher of an attack and its baseline comes first: "0.7 by A" or "A 0.7"."""
    return rf"(?:{figure}{by}{title}\b|\b{title}{at}{figure})"


def frequency(share: float) -> str:
    """ "12 of 100" as a person would round it; shares below 1 in 100 do not occur here."""
    return rf"(?:{round(100 * share)} of 100|{round(1000 * share)} of 1,000)"


def exposed(counts: tuple[int, int, int]) -> str:
    sure, likely, total = counts
    settled = rf"\b{likely} of {total}\b" if sure in (0, likely) else "(?!)"
    return rf"(?:\b{sure} of {total}\b[^.]{{0,40}}likely {likely}\b|{settled})"


def date(written: Written, years: int = 0) -> str:
    day = pd.Timestamp(written.record["provenance"]["created"])
    return rf"{day.day} {day.month_name()} {day.year + years}"


def leaving(written: Written) -> list[str]:
    """The first of the columns, links and ids that leave."""
    words = {"structure": "[Ll]inks", "ids": "ids", "order": "order", "names": "names"}
    found = [one for one in written.record["channels"] if one["release"] == written.release]
    names = [words.get(one["kind"], one["name"]) for one in found if one["leaves"]]
    return [rf"What leaves .{{0,120}}?{name}" for name in names[:4]]


def list_untested(written: Written) -> list[str]:
    """Too few repeats, and re-identification."""
    spec = written.record["spec"]
    required = written.policy["repeats"]
    found = [rf"policy requires {required}\b"] if spec["num_repeats"] < required else []
    return [*found, *(["audit re-identification"] if spec["threats"]["identity"] is None else [])]


def guarantee(written: Written) -> str:
    own = written.record["guarantees"].get(written.release)
    return "empirical only" if own is None else rf"ε = {own['epsilon']:g}"


def count_tried(written: Written) -> str:
    done = {row["method"] for row in written.record["results"] if row["status"] == "done"}
    done -= {"release"}
    blind = {key for key in done if parse_attack(key).is_baseline}
    repeats = written.record["spec"]["num_repeats"]
    return rf"{len(done - blind)} attacks? beside {len(blind)} baseline attackers? in {repeats}"


def count_passing(written: Written) -> int:
    found = written.record["verdict"]["releases"]
    return sum(one["decision"] == "publish" for key, one in found.items() if key != "original")


def find_use(written: Written) -> str:
    """The first measure of usefulness that was computed."""
    known = {row["metric"] for row in written.record["results"] if row["status"] == "done"}
    return next(metric for metric in USES if metric in known)


def decide(written: Written) -> str:
    if count_passing(written):
        return "Publish"
    found = {one["decision"] for one in written.record["verdict"]["releases"].values()}
    return DECISIONS["review" if found - {"do_not_publish"} else "do_not_publish"]


Answer = Callable[[Written], list[str]]
LINKS, VALUES = ("common_neighbors", "degree_product"), ("label_propagation", "class_prior")
QUESTIONS: tuple[tuple[str, tuple[str, ...], Answer], ...] = (
    ("To whom would it go?", ("decision", PAGE_1),
     lambda w: [re.escape(w.record["spec"]["purpose"]["recipient"])]),
    ("For what purpose?", (PAGE_1,), lambda w: [re.escape(w.record["spec"]["purpose"]["use"])]),
    ("By which policy, in which version, is it judged?", ("decision", PAGE_1),
     lambda w: [rf"{w.policy['title']}, version {w.policy['version']}"]),
    ("May it be published?", ("decision", PAGE_1), lambda w: [decide(w)]),
    ("Which release is it about, at which strength?", ("defend", PAGE_1),
     lambda w: [re.escape(parse_release(w.release).title)]),
    ("Which limit speaks most against it?", ("decision", PAGE_1),
     lambda w: [re.escape(w.gravest["title"])]),
    ("What was measured there, between which ends?", (PAGE_1,), lambda w: [interval(w.gravest)]),
    ("What does that limit allow?", ("decision", PAGE_1),
     lambda w: [rf"(?:{frequency(w.gravest['limit'])}|{number(w.gravest['limit'])})"]),
    ("How many people and links are in the graph?", ("data", PAGE_1),
     lambda w: [rf"\b{w.nodes.node.nunique():,} people", rf"{w.record['edges']:,} links"]),
    ("How many withheld links does an attacker find, how many a guess?", ("attack",),
     lambda w: [frequency(w.find("original", "tpr_at_fpr_0.01", key)["value"]) for key in LINKS]),
    ("What does the defense leave of the links found?", ("defend",),
     lambda w: [frequency(w.find(w.release, "tpr_at_fpr_0.01", LINKS[0])["value"])]),
    ("How many people are exposed on the original, surely and likely, of how many?", ("risk",),
     lambda w: [exposed(w.count_exposed("original", VALUES[0]))]),
    ("How many are exposed on the release?", (PAGE_1,),
     lambda w: [exposed(w.count_exposed(w.release, key)) for key in (LINKS[0], VALUES[0])]),
    ("Who is exposed first?", ("risk",), lambda w: [rf"\b{re.escape(w.find_first())}\b"]),
    ("Which attack is strongest, and how well does it rank?", (PAGE_1,),
     lambda w: [either(parse_attack(k).title, interval(w.find(w.release, "auc", k)), " by ")
                for k in (LINKS[0], VALUES[0])]),
    ("How well would a baseline attacker?", (PAGE_1,),
     lambda w: [either(parse_attack(k).title, number(w.find(w.release, "auc", k)["value"]),
                       r" \[[^]]*\] by ", " at ") for k in (LINKS[1], VALUES[1])]),
    ("How well does guessing?", (PAGE_1,), lambda _: ["0.5 is guessing"]),
    ("How many attacks were tried, how often?", (PAGE_1,), lambda w: [count_tried(w)]),
    ("How many links does the release keep?", ("defend", PAGE_1),
     lambda w: [rf"Links kept\S* .*?(?:{number(w.find(w.release, 'links_kept')['value'])})"]),
    ("What stays useful, and what was it?", (PAGE_1,),
     lambda w: [interval(w.find(r, find_use(w))) for r in ("original", w.release)]),
    ("What leaves?", (PAGE_1,), leaving),
    ("What does the defense prove?", ("defend", PAGE_1), lambda w: [guarantee(w)]),
    ("What was not tested?", (PAGE_1,), list_untested),
    ("Are people like their neighbours?", ("homophily",),
     lambda w: [frequency(w.find("original", "ghratio_proximity")["value"])]),
    ("When was it judged, and when again?", (PAGE_1,), lambda w: [date(w), date(w, 1)]),
)  # fmt: skip
"""Question, where it has its answer, and the patterns that all stand there."""


def list_missing(
    written: Written, screens: dict[str, str], places: tuple[str, ...], answer: Answer
) -> list[tuple[str, str]]:
    """(place, pattern) of what is not said."""
    found = [place for place in places if place in screens]
    return [
        (place, pattern)
        for place in found
        for pattern in answer(written)
        if not re.search(pattern, screens[place])
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--defense", default=RELEASE)
    options = parser.parse_args()
    os.environ["AUDIT_DEVICE"] = "cpu"
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        with open_audit(home / "home", options.people, options.seed, options.defense) as view:
            written, screens = Written.of(view), read_screens(view, home)
    answered = 0
    for question, places, answer in QUESTIONS:
        missing = list_missing(written, screens, places, answer)
        answered += not missing
        print(f"{'-' if missing else '+'} {question} {missing or ', '.join(places)}")
    print(f"{answered} of {len(QUESTIONS)} answered")


if __name__ == "__main__":
    print_finite(main)
