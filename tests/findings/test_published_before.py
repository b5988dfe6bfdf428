"""Releases that are out already count: their ε, and what a collector learns."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.findings.policy import find_policy
from core.findings.published_before import list_open_runs
from core.findings.verdict import judge
from core.privacy.ledger import Entry
from core.release import ORIGINAL, Guarantee
from tests.oracles.audits import list_attack_keys, make_audit, make_noise

KEYS = list_attack_keys("instant", "seconds")
DELETION, NOISE = "random_deletion", "edge_rand:epsilon=1.0"
GUARANTEE = Guarantee("edge", epsilon=1.0)
VIEW = make_audit(
    make_noise((ORIGINAL, DELETION, NOISE), KEYS), KEYS, (DELETION, NOISE),
    guarantees={NOISE: GUARANTEE},
)  # fmt: skip
PARTNER = find_policy("partner")
BEFORE, AFTER = "2026-02-01T12:00:00+00:00", "2026-04-01T12:00:00+00:00"


def publish(*runs):
    """The audit, of whose graph these were published: (release, when)."""
    entries = [
        Entry.of(f"run{k}", made, release, GUARANTEE if release == NOISE else Guarantee())
        for k, (release, made) in enumerate(runs)
    ]
    return replace(VIEW, ledger=tuple(entries))


def know(view, **fields):
    return replace(view, spec=view.spec.update(released_links=True, **fields))


def decide(view, release):
    found = judge(view, PARTNER).find(release)
    return found.decision, found.untried


@pytest.mark.parametrize("release", [DELETION, NOISE])
def test_what_was_published_before_keeps_a_release_at_review(release):
    assert decide(VIEW, release) == ("publish", ())
    decision, (lacks,) = decide(publish((release, BEFORE)), release)
    assert decision == "review"
    assert lacks.startswith("1 release of this graph was published before, and no attacker held")
    _, (lacks,) = decide(publish((DELETION, BEFORE), (release, BEFORE)), release)
    assert lacks.startswith("2 releases of this graph were published before")


def test_the_run_that_publishes_it_is_its_own_and_another_release_is_not():
    view = publish((DELETION, AFTER))
    assert decide(view, DELETION) == ("publish", ())
    assert decide(view, NOISE)[0] == "review"
    again = publish((DELETION, AFTER), (DELETION, AFTER))
    assert decide(again, DELETION)[0] == "review"


def test_attackers_who_hold_as_many_clear_it():
    view = publish((DELETION, BEFORE), (DELETION, BEFORE))
    assert list_open_runs(know(view, composition=3), DELETION, PARTNER) == []
    assert list_open_runs(know(view, composition=2), DELETION, PARTNER) != []
    assert list_open_runs(know(view, composition=3), NOISE, PARTNER) != []


def test_so_do_those_who_hold_one_of_every_defense():
    view = know(publish((DELETION, BEFORE)), hold_every_defense=True)
    assert list_open_runs(view, NOISE, PARTNER) == []
    assert list_open_runs(publish((DELETION, BEFORE)), NOISE, PARTNER) != []
    assert list_open_runs(view, DELETION, PARTNER) != []
    for more in ((DELETION, BEFORE), (NOISE, BEFORE), ("lap_graph", BEFORE)):
        twice = know(publish((DELETION, BEFORE), more), hold_every_defense=True)
        assert list_open_runs(twice, NOISE, PARTNER) != []


def test_the_epsilons_of_all_runs_count_against_the_limit():
    """ "ε 1, at most 3" of the third, fourth and twenty-fifth release at ε = 1."""
    assert PARTNER.find_limit("release", "epsilon_edge") == 3
    for count, exceeded in ((2, False), (3, True)):
        view = know(publish(*[(NOISE, BEFORE)] * count), composition=count + 1)
        found = list_open_runs(view, NOISE, PARTNER)
        assert bool(found) == exceeded
    (told,) = found
    assert told == (
        "With 3 releases published before the limit on ε, 3, is exceeded. One link: ε = 4 over 4 "
        "publishing runs."
    )
    empirical = publish((DELETION, BEFORE), *[(NOISE, BEFORE)] * 4)
    assert not any("limit on ε" in text for text in list_open_runs(empirical, DELETION, PARTNER))
