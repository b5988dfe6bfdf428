"""Which releases a search tries, and that only figures of new splits let one leave."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from core.audit.asked.method_choice import MethodChoice
from core.audit.asked.release_info import parse_release
from core.defenses.random_deletion import RandomDeletion
from core.defenses.random_rewiring import RandomRewiring
from core.defenses.without_columns import WithoutColumns
from core.findings.evidence import Evidence
from core.findings.policy import Limit
from core.findings.verdict import Check
from core.measures.intervals import combine_measurements
from core.release import ORIGINAL
from core.results import Measurement
from core.search.ladders import Ladder
from core.search.measured import Measured
from core.search.run import ERROR, share_error
from core.search.strategy import CONFIRMATIONS, COSTLY_S, Search

LIMIT = Limit(name="links", threat="link", metric="auc", limit=0.7, title="t", source="s")
STEPS = 8
MOST = 30


def make_ladders(count):
    """Ladders of distinct defenses: two kinds at strengths of their own."""
    found = []
    for number in range(count):
        kind = (RandomDeletion, RandomRewiring)[number % 2]
        strengths = np.linspace(0.1, 0.9, STEPS) + number / 1000
        found.append(Ladder(tuple(MethodChoice.of(kind(strength=round(s, 4))) for s in strengths)))
    return found


def measure(choice_id, values, kept, level=0.95):
    """What splits with these risks say."""
    items = [Measurement("auc", float(v), 0.0, 400) for v in values]
    found = combine_measurements(items, 1.0, level)
    check = Check(limit=LIMIT, evidence=Evidence(found.value, found.low, found.high))
    return Measured(parse_release(choice_id), (check,), {"links": kept}, check.decision)


def walk(search, answer):
    """Run a search whose trials `answer` measures; returns the trials."""
    steps, found, trials = search.run(), None, []
    while True:
        try:
            trial = next(steps) if found is None else steps.send(found)
        except StopIteration:
            return trials
        trials.append(trial)
        ids = (ORIGINAL, *(choice.id for choice in trial.choices))
        found = {release: answer(trial, release) for release in ids}


def draw_truth(rng, ladders):
    """Risk and usefulness of every setting, both falling with the strength."""
    truth = {ORIGINAL: (0.9, 1.0)}
    for ladder in ladders:
        risk = np.sort(rng.uniform(0.55, 0.85, STEPS))[::-1]
        kept = np.sort(rng.uniform(0.2, 0.98, STEPS))[::-1]
        for choice, *pair in zip(ladder.rungs, risk, kept, strict=True):
            truth[choice.id] = tuple(pair)
    return truth


def find_best(truth, least=0.0):
    """The grid's most useful setting within the limit."""
    within = [k for r, (risk, k) in truth.items() if risk <= LIMIT.limit and k >= least]
    return max(within, default=math.nan)


@pytest.mark.parametrize("least", [0.0, 0.6])
@pytest.mark.parametrize("has_costly", [False, True])
def test_exact_figures_give_what_the_whole_grid_gives(least, has_costly):
    rng, tried, cells = np.random.default_rng(1), 0, 0
    for _ in range(40):
        ladders = [replace(one, is_synthesis=i < 2) for i, one in enumerate(make_ladders(12))]
        truth = draw_truth(rng, ladders)
        search = Search(ladders, {"links": least}, has_costly=has_costly)
        trials = walk(search, lambda _t, r, truth=truth: measure(r, [truth[r][0]] * 3, truth[r][1]))
        best = find_best(truth, least)
        found = search.list_confirmed()
        assert (search.state == "none_passes") == math.isnan(best)
        assert math.isnan(best) or found[0].score == best
        tried += sum(len(trial.choices) for trial in trials if trial.stage == "screening")
        cells += len(truth) - 1
    assert tried < 0.3 * cells, "bisection and bounds spare most of the grid"


def test_a_costly_defense_waits_until_the_others_are_closed():
    """GPS sampling was trained at three strengths before cheaper defenses kept more."""
    cheap, costly = make_ladders(5)[:4], Ladder(make_ladders(5)[4].rungs, seconds=COSTLY_S + 1)
    names = {choice.id for choice in costly.rungs}

    def answer(trial, release):
        strength = 0.0 if release == ORIGINAL else float(release.partition("=")[2])
        risk, kept = (0.95, 0.5) if release in names else (0.9, 1.0)
        return measure(release, [risk - strength / 2] * 3, kept - strength / 4)

    search = Search([costly, *cheap], {"links": 0.1})
    trials = [t for t in walk(search, answer) if t.stage == "screening"]
    first = next(i for i, t in enumerate(trials) if names & {c.id for c in t.choices})
    assert all({c.id for c in t.choices} <= names for t in trials[first:])
    assert first == len(trials) - 1, "one trial of it shows that it keeps less"
    assert search.candidates[0].dropped


@pytest.mark.parametrize(
    ("risks", "tried"),
    [
        (np.full(STEPS, 1.41), [3, 7]),
        (np.full(STEPS, 1.39), [3, 5, 6, 7]),
        (np.linspace(1.9, 0.6, STEPS), [3, 5, 6, 7]),
        (np.linspace(3.1, 0.6, STEPS), [3, 7, 5, 6]),
    ],
)
def test_a_setting_far_from_the_limits_is_followed_by_the_strongest(risks, tried):
    """On LastFM Asia four settings of each defense were tried where its strongest was refused."""
    (ladder,) = make_ladders(1)
    places = {choice.id: place for place, choice in enumerate(ladder.rungs)}
    search = Search([ladder], {"links": 0.1})
    trials = walk(search, lambda _t, r: measure(r, [risks[places.get(r, 0)]] * 3, 0.5))
    screened = [t for t in trials if t.stage == "screening"]
    assert [places[c.id] for t in screened for c in t.choices] == tried
    assert search.candidates[0].is_acceptable == (risks[-1] < LIMIT.limit)


def test_nothing_passes_where_every_setting_exceeds_a_limit():
    ladders = make_ladders(3)
    search = Search(ladders, {"links": 0.0})
    trials = walk(search, lambda _trial, r: measure(r, [0.8] * 3, 0.9))
    assert search.state == "none_passes"
    assert not search.list_confirmed()
    assert {trial.stage for trial in trials} == {"screening"}
    assert {c.dropped for c in search.candidates} == {"exceeds a limit at every strength"}


def test_a_release_that_keeps_too_little_is_not_recommended():
    ladders = make_ladders(2)
    kept = {c.id: k for ladder in ladders for c, k in zip(ladder.rungs, _fall(), strict=True)}
    search = Search(ladders, {"links": 0.95})
    walk(search, lambda _t, r: measure(r, [0.5] * 3, kept.get(r, 1.0)))
    assert search.state == "none_passes"
    assert {c.dropped for c in search.candidates} == {"keeps too little"}


def _fall():
    return np.linspace(0.9, 0.2, STEPS)


def test_measures_that_are_missing_end_a_ladder_with_the_reason():
    search = Search(make_ladders(1), {"links": 0.0})
    walk(search, lambda _t, r: measure(r, [0.5] * 3, math.nan))
    assert search.candidates[0].dropped == "what must stay useful could not be measured on it"
    search = Search(make_ladders(1), {"links": 0.0})
    walk(search, lambda _t, r: Measured(parse_release(r), not_made="needs a GPU"))
    assert search.candidates[0].dropped == "cannot be made: needs a GPU"
    search = Search(make_ladders(1), {"links": 0.0})
    walk(search, lambda _t, r: Measured(parse_release(r), kept={"links": 1.0}))
    assert search.candidates[0].dropped == "no attack measured anything on it"


def test_links_without_columns_bound_every_release_without_columns():
    bare = Ladder((MethodChoice.of(WithoutColumns()),), has_columns=False)
    rungs = [WithoutColumns.combine(RandomDeletion(strength=s)) for s in (0.2, 0.4, 0.6, 0.8)]
    other = Ladder(tuple(map(MethodChoice.of, rungs)), has_columns=False)
    with_columns = make_ladders(8)
    search = Search([bare, *with_columns, other], {"links": 0.0})
    tried = []

    def answer(trial, release):
        tried.append(release)
        is_bare = release.startswith("without_columns")
        return measure(release, [0.5] * 3, 0.4 if is_bare else 0.9)

    walk(search, answer)
    assert search.candidates[-1].dropped == "others within the limits keep more"
    assert not any(release == choice.id for release in tried for choice in other.rungs)


@pytest.mark.parametrize(("risk", "is_refused"), [(0.8, True), (0.6, False)])
def test_columns_that_exceed_a_limit_without_links_refuse_every_release_with_them(risk, is_refused):
    """NBA's people are found by their figures, however many of their links are deleted."""
    alone = Ladder((MethodChoice.of(RandomDeletion(strength=1.0)),), has_links=False)
    (base,) = make_ladders(1)
    rungs = [WithoutColumns.combine(choice.make_defense()) for choice in base.rungs]
    bare = Ladder(tuple(map(MethodChoice.of, rungs)), has_columns=False, base=base)
    (open_,) = make_ladders(3)[2:]
    search = Search([alone, base, bare, open_], {"links": 0.3})

    def answer(_trial, release):
        if release == alone.rungs[0].id:
            return measure(release, [risk] * 3, 0.0)
        is_bare = release.startswith("without_columns")
        return measure(release, [0.5 if is_bare else 0.75] * 3, 0.5)

    trials = walk(search, answer)
    reasons = [one.dropped for one in search.candidates]
    refused = "the columns alone exceed a limit"
    assert (reasons[1] == reasons[3] == refused) == is_refused
    assert reasons[0].startswith("keeps too little")
    tried = {choice.id for trial in trials for choice in trial.choices}
    assert len(tried & {choice.id for choice in base.rungs}) == (1 if is_refused else 4)
    assert not reasons[2], "links without columns are tried"


def make_slow(seconds):
    """One ladder that passes only at its strongest, and one that takes long and always passes."""
    quick, slow = make_ladders(2)
    return [quick, Ladder(slow.rungs, seconds=seconds)]


@pytest.mark.parametrize(("within", "is_tried"), [(None, True), (3001.0, True), (2999.0, False)])
def test_what_takes_longer_than_the_time_is_left_out_and_leaves_the_search_undecided(
    within, is_tried
):
    quick, slow = make_slow(100.0)
    search = Search([quick, slow], {"links": 0.0}, within)
    names = {choice.id for choice in slow.rungs}
    trials = walk(search, lambda _t, r: measure(r, [0.5 if r in names else 0.8] * 3, 0.5))
    assert any(c.id in names for t in trials for c in t.choices) == is_tried
    assert search.state == ("confirmed" if is_tried else "undecided")
    assert [each.rungs for each in search.list_left_out()] == [slow.rungs] * (not is_tried)


def test_what_is_confirmed_in_time_is_confirmed():
    search = Search(make_slow(100.0), {"links": 0.0}, within=60.0)
    walk(search, lambda _t, r: measure(r, [0.5] * 3, 0.5))
    assert search.state == "confirmed"


def make_pair(least):
    """A search of one defense with and without columns, and what it tried of the latter."""
    (base,) = make_ladders(1)
    rungs = [WithoutColumns.combine(choice.make_defense()) for choice in base.rungs]
    bare = Ladder(tuple(map(MethodChoice.of, rungs)), has_columns=False, base=base)
    places = {
        choice.id: place for ladder in (base, bare) for place, choice in enumerate(ladder.rungs)
    }
    search, tried = Search([base, bare], {"links": 0.0}), []

    def answer(trial, release):
        place, is_bare = places.get(release, 0), release.startswith("without")
        tried.extend([place] * (is_bare and trial.stage == "screening"))
        risk = 0.6 if place >= least[is_bare] else 0.8
        return measure(release, [risk] * 3, 1 - place / 10)

    walk(search, answer)
    return search, tried


@pytest.mark.parametrize(
    ("with_columns", "without", "tried", "dropped"),
    [
        (0, 0, [], "with its columns it is within the limits too"),
        (4, 1, [1, 0], ""),
        (3, 3, [1, 2], "exceeds a limit where it is weaker than with its columns"),
        (STEPS, 6, [3, 5, 6], ""),
        (STEPS, STEPS, [3, 5, 6, 7], "exceeds a limit at every strength"),
    ],
)
def test_without_columns_only_weaker_settings_are_tried(with_columns, without, tried, dropped):
    search, found = make_pair((with_columns, without))
    assert found == tried
    assert search.candidates[1].dropped == dropped
    scores = [one.score for one in search.list_confirmed()][:1]
    least = min(with_columns, without)
    assert scores == ([] if least == STEPS else [1 - least / 10])


def test_a_defense_that_cannot_be_made_is_not_tried_without_columns():
    (base,) = make_ladders(1)
    rungs = [WithoutColumns.combine(choice.make_defense()) for choice in base.rungs]
    bare = Ladder(tuple(map(MethodChoice.of, rungs)), has_columns=False, base=base)
    search = Search([base, bare], {"links": 0.0})
    trials = walk(search, lambda _t, r: Measured(parse_release(r), not_made="needs a GPU"))
    assert len(trials) == 1
    assert search.candidates[1].dropped == "cannot be made: needs a GPU"


def test_stronger_attackers_move_a_ladder_to_a_stronger_setting():
    (ladder,) = make_ladders(1)
    places = {choice.id: place for place, choice in enumerate(ladder.rungs)}

    def answer(trial, release):
        first = 2 if trial.stage == "screening" else 5
        risk = 0.6 if places.get(release, -1) >= first else 0.8
        return measure(release, [risk] * 3, 1 - places.get(release, 0) / 10)

    search = Search([ladder], {"links": 0.0})
    trials = walk(search, answer)
    assert search.list_confirmed()[0].made.id == ladder.rungs[5].id
    assert all(places[c.id] >= 2 for t in trials if t.stage != "screening" for c in t.choices)


def test_the_costliest_attackers_meet_only_what_the_others_let_through():
    """A matcher took two thirds of a race that a cheaper attacker had decided."""
    weak, strong = make_ladders(2)
    places = {c.id: place for ladder in (weak, strong) for place, c in enumerate(ladder.rungs)}
    refuses = {choice.id for choice in weak.rungs}

    def answer(trial, release):
        is_refused = trial.stage == "race" and release in refuses
        is_refused |= trial.has_costly and trial.stage == "race" and places.get(release, 9) < 2
        return measure(release, [0.8 if is_refused else 0.6] * 3, 1 - places.get(release, 0) / 10)

    search = Search([weak, strong], {"links": 0.0}, has_costly=True)
    trials = [trial for trial in walk(search, answer) if trial.stage == "race"]
    assert [trial.number for trial in trials] == list(range(len(trials)))
    met = {c.id for t in trials if t.has_costly for c in t.choices}
    assert met == {strong.rungs[place].id for place in (0, 4, 2, 1)}, "others refused the rest"
    assert search.list_confirmed()[0].made.id == strong.rungs[2].id
    without = Search([weak, strong], {"links": 0.0})
    assert all(trial.has_costly for trial in walk(without, answer))


@pytest.mark.parametrize("made", [{"not_made": "needs a GPU"}, {"kept": {"links": 0.9}}])
def test_only_what_could_not_be_made_meets_no_more_attackers(made):
    """Attackers that measured nothing refuse nothing."""
    (ladder,) = make_ladders(1)

    def answer(trial, release):
        if trial.stage == "race" and not trial.has_costly:
            return Measured(parse_release(release), **made)
        return measure(release, [0.6] * 3, 0.9)

    search = Search([ladder], {"links": 0.0}, has_costly=True)
    races = [trial for trial in walk(search, answer) if trial.stage == "race"]
    assert [trial.has_costly for trial in races] == [False, True][: 1 + ("kept" in made)]


@pytest.mark.parametrize(("is_synthesis", "tried"), [(True, [0]), (False, [3, 1, 0])])
def test_of_a_synthesis_the_weakest_setting_is_tried_first(is_synthesis, tried):
    """PrivDPR was trained three times where the weakest release kept .001 of the links."""
    (ladder,) = make_ladders(1)
    places = {choice.id: place for place, choice in enumerate(ladder.rungs)}
    search = Search([replace(ladder, is_synthesis=is_synthesis)], {"links": 0.2})
    trials = walk(search, lambda _t, r: measure(r, [0.5] * 3, 0.01 if r in places else 1.0))
    assert [places[c.id] for trial in trials for c in trial.choices] == tried
    assert search.candidates[0].dropped == "keeps too little"


def test_what_lies_too_near_a_limit_is_confirmed_at_a_stronger_setting():
    (ladder,) = make_ladders(1)
    places = {choice.id: place for place, choice in enumerate(ladder.rungs)}
    rng = np.random.default_rng(0)

    def answer(trial, release):
        place = places.get(release, -1)
        risk = 0.699 if place == 2 else 0.72 if place < 2 else 0.698 if place < 6 else 0.5
        noise = 0.03 if trial.stage == "confirmation" else 0.0
        return measure(release, risk + noise * rng.normal(size=6), 1 - place / 10)

    search = Search([ladder], {"links": 0.0})
    trials = walk(search, answer)
    asked = [[places[c.id] for c in t.choices] for t in trials if t.stage == "confirmation"]
    assert asked[0] == [2, 3], "the weakest within the limit, and the next"
    assert len(asked) == CONFIRMATIONS
    assert asked[1] == [4, 6], "the next, and half way to the strongest"
    assert [places[one.made.id] for one in search.list_confirmed()] == [6]


def confirm(rng, release, truth, level):
    """Splits until the limit is decided, as an audit that stops early draws them."""
    risk, kept = truth[release]
    values = risk + 0.03 * rng.normal(size=MOST)
    for count in range(3, MOST + 1, 3):
        found = measure(release, values[:count], kept, level)
        low = found.checks[0].evidence.low
        if found.decision == "publish" or low > LIMIT.limit:
            break
    return found


def simulate(count, is_fresh):
    """Share of the searches whose verdict is "publish" for a release above the limit: all are,
    some by little."""
    rng, wrong = np.random.default_rng(3), 0
    looks = (MOST - 3) * (1 + 3)
    for _ in range(count):
        ladders = make_ladders(8)
        truth = {ORIGINAL: (0.9, 1.0)}
        for ladder in ladders:
            risk = np.sort(rng.uniform(0.701, 0.76, STEPS))[::-1]
            for choice, one, kept in zip(ladder.rungs, risk, _fall(), strict=True):
                truth[choice.id] = one, kept
        seen = {}

        def answer(trial, release, truth=truth, seen=seen):
            risk, kept = truth[release]
            if trial.stage == "confirmation":
                if is_fresh:
                    error = share_error(1 + trial.number)
                    return confirm(rng, release, truth, 1 - error / looks)
                return seen.get(release) or measure(release, risk + 0.03 * rng.normal(size=3), kept)
            count = 1 if trial.stage == "screening" else 3
            seen[release] = measure(release, risk + 0.03 * rng.normal(size=count), kept)
            return seen[release]

        search = Search(ladders, {"links": 0.0})
        walk(search, answer)
        wrong += bool(search.list_confirmed())
    return wrong / count


def test_two_hundred_searches_hardly_ever_let_a_wrong_release_leave():
    assert simulate(200, is_fresh=True) <= share_error(1) + share_error(2)


def test_the_splits_that_chose_a_release_would_let_wrong_ones_leave():
    assert simulate(200, is_fresh=False) > ERROR


def test_all_confirmations_on_a_graph_share_one_error():
    assert sum(share_error(number) for number in range(1, 10_000)) <= ERROR
    assert all(share_error(n + 1) < share_error(n) for n in range(1, 10))


def test_what_keeps_too_little_on_new_splits_is_not_recommended():
    search = Search(make_ladders(1), {"links": 0.8})

    def answer(trial, release):
        return measure(release, [0.5] * 3, 0.7 if trial.stage == "confirmation" else 0.9)

    walk(search, answer)
    assert search.state == "none_passes"
    assert not search.list_confirmed()
