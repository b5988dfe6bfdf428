"""Releases that are out already count: their ε, and what a collector learns."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pandas as pd
import pytest

from core.findings.policy import find_policy
from core.findings.published_before import list_open_runs
from core.findings.verdict import judge, judge_next
from core.privacy.ledger import Entry
from core.release import ORIGINAL, Guarantee
from tests.oracles.audits import list_attack_keys, make_audit, make_noise, tabulate_results

KEYS = list_attack_keys("instant", "seconds")
DELETION, NOISE = "random_deletion", "edge_rand:epsilon=1.0"
GUARANTEE = Guarantee("edge", epsilon=1.0)
VIEW = make_audit(
    make_noise((ORIGINAL, DELETION, NOISE), KEYS), KEYS, (DELETION, NOISE),
    guarantees={NOISE: GUARANTEE},
)  # fmt: skip
PARTNER = find_policy("partner")
DATE = "2026-04-01T12:00:00+00:00"
OWN, OTHER = VIEW.summary.id, "a2"


def publish(*runs):
    """The audit, of whose graph these were published: (release, by which audit or "")."""
    entries = [
        Entry.of(f"run{k}", DATE, release, GUARANTEE if release == NOISE else Guarantee(), audit)
        for k, (release, audit) in enumerate(runs)
    ]
    return replace(VIEW, ledger=tuple(entries))


def compose(view, releases, known, threats=("link", "included", "attribute"), status="done"):
    """The audit with attackers on these threats who hold what is `known`."""
    methods = {"link": "jaccard", "included": "mechanism_posterior@included",
               "attribute": "label_propagation"}  # fmt: skip
    names = {
        threat: methods[threat] + ("+" if "@" in methods[threat] else "@") for threat in threats
    }
    more = tabulate_results(
        (release, release, {}, names[threat] + known, "auc", 0.5, 0.49, 0.51, 400, 5, status, "")
        for release, threat in product(releases, threats)
    )
    return replace(view, results=pd.concat([view.results, more], ignore_index=True))


def decide(view, release):
    found = judge(view, PARTNER).find(release)
    return found.decision, found.untried


@pytest.mark.parametrize("release", [DELETION, NOISE])
def test_what_was_published_before_keeps_a_release_at_review(release):
    assert decide(VIEW, release) == ("publish", ())
    decision, (lacks,) = decide(publish((release, "")), release)
    assert decision == "review"
    assert lacks == (
        "1 release of this graph was published before, and no attacker on withheld links or "
        "private values held them together with this one: attacks on these hold one release each"
    )
    _, (lacks,) = decide(publish((DELETION, OTHER), (release, OTHER)), release)
    assert lacks.startswith("2 releases of this graph were published before")


def test_the_run_that_publishes_it_is_its_own_and_another_release_is_not():
    view = publish((DELETION, OWN))
    assert decide(view, DELETION) == ("publish", ())
    assert decide(view, NOISE)[0] == "review"
    again = publish((DELETION, OWN), (DELETION, OWN))
    assert decide(again, DELETION)[0] == "review"


@pytest.mark.parametrize("audit", ["", OTHER])
def test_a_run_of_another_audit_or_of_none_is_not_its_own(audit):
    """By the command line, with the column of the salaries: the same defense, made by others."""
    assert decide(publish((DELETION, audit)), DELETION)[0] == "review"
    assert decide(publish((DELETION, OWN), (DELETION, audit)), DELETION)[0] == "review"


@pytest.mark.parametrize("release", [DELETION, NOISE])
def test_one_more_is_judged_with_all_that_are_out(release):
    """What was made may leave, and its second noise may not unseen."""
    view = publish((release, OWN))
    assert decide(view, release) == ("publish", ())
    found = judge_next(view, release, PARTNER)
    assert (found.decision, len(found.untried)) == ("review", 1)
    assert judge_next(VIEW, release, PARTNER).decision == "publish"
    assert judge_next(VIEW, "lap_graph", PARTNER) is None


def test_one_more_exceeds_the_limit_before_it_is_made():
    """ε 2 of "at most 3" is met by one run, and known to be exceeded before the second."""
    twice = "edge_rand:epsilon=2.0"
    entry = Entry.of("run", DATE, twice, Guarantee("edge", epsilon=2.0), OWN)
    view = replace(
        make_audit(make_noise((ORIGINAL, twice), KEYS), KEYS, (twice,),
                   guarantees={twice: Guarantee("edge", epsilon=2.0)}),
        ledger=(entry,),
    )  # fmt: skip
    assert decide(view, twice) == ("publish", ())
    assert judge_next(view, twice, PARTNER).untried[-1] == (
        "With 1 release published before the limit on ε, 3, is exceeded. One link: ε = 4 over 2 "
        "publishing runs."
    )


def test_attackers_who_hold_as_many_clear_it():
    view = publish((DELETION, ""), (DELETION, ""))
    both = [DELETION, NOISE]
    assert list_open_runs(compose(view, both, "composition:3"), DELETION, PARTNER) == []
    assert list_open_runs(compose(view, both, "composition:2"), DELETION, PARTNER) != []
    assert list_open_runs(compose(view, both, "composition:3"), NOISE, PARTNER) != []
    assert list_open_runs(compose(view, [NOISE], "composition:3"), DELETION, PARTNER) != []


def test_attackers_on_links_do_not_clear_it_for_values():
    """Three releases of 65 % deletion told the values that one did not: AUC 0.75 of at most 0.7."""
    view = publish((DELETION, ""), (DELETION, ""))
    cases = {
        ("included",): "withheld links or private values",
        ("included", "attribute"): "withheld links",
        ("link", "attribute"): "",
    }
    for threats, missing in cases.items():
        found = list_open_runs(
            compose(view, [DELETION], "composition:3", threats), DELETION, PARTNER
        )
        assert len(found) == bool(missing)
        for text in found:
            assert f"no attacker on {missing} held them" in text
            assert text.endswith(": attacks on these hold one release each")


def test_an_attack_that_did_not_finish_clears_nothing():
    view = publish((DELETION, ""))
    for status, count in (("done", 0), ("failed", 1), ("skipped", 1)):
        held = compose(view, [DELETION], "composition:2", status=status)
        assert len(list_open_runs(held, DELETION, PARTNER)) == count


def test_the_remedy_is_one_that_can_be_audited():
    (single,) = tabulate_results([
        (DELETION, DELETION, {}, "mechanism_posterior@included", "auc", 0.5, 0.49, 0.51, 400, 5,
         "done", "")
    ]).to_dict("records")  # fmt: skip
    view = publish((DELETION, ""))
    only = replace(view, results=pd.DataFrame([single]))
    (told,) = list_open_runs(only, DELETION, PARTNER)
    assert told.endswith("no attacker on released links held them together with this one: audit "
                         "their composition")  # fmt: skip
    every = replace(view, results=pd.concat([view.results, pd.DataFrame([single])]))
    (told,) = list_open_runs(every, DELETION, PARTNER)
    assert "on withheld links, released links or private values held" in told
    assert "audit the composition of released links; attacks on the others hold one" in told


def test_those_who_hold_one_of_every_defense_clear_it_once():
    each = f"composition:{DELETION}|{NOISE}".replace("|", "%7C").replace("=", "%3D")
    view = compose(publish((DELETION, "")), [DELETION, NOISE], each)
    assert list_open_runs(view, NOISE, PARTNER) == []
    assert list_open_runs(publish((DELETION, "")), NOISE, PARTNER) != []
    assert list_open_runs(view, DELETION, PARTNER) != []
    for more in ((DELETION, ""), (NOISE, ""), ("lap_graph", "")):
        twice = compose(publish((DELETION, ""), more), [DELETION, NOISE], each)
        assert list_open_runs(twice, NOISE, PARTNER) != []


def test_the_epsilons_of_all_runs_count_against_the_limit():
    """ "ε 1, at most 3" of the third, fourth and twenty-fifth release at ε = 1."""
    assert PARTNER.find_limit("release", "epsilon_edge") == 3
    for count, exceeded in ((2, False), (3, True)):
        view = compose(publish(*[(NOISE, "")] * count), [NOISE], f"composition:{count + 1}")
        found = list_open_runs(view, NOISE, PARTNER)
        assert bool(found) == exceeded
    (told,) = found
    assert told == (
        "With 3 releases published before the limit on ε, 3, is exceeded. One link: ε = 4 over 4 "
        "publishing runs."
    )
    empirical = publish((DELETION, ""), *[(NOISE, "")] * 4)
    assert not any("limit on ε" in text for text in list_open_runs(empirical, DELETION, PARTNER))
