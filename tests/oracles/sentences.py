"""Sentences of summaries, checked by code that shares nothing with what writes them.

The checker reads a sentence with expressions of its own, and recomputes from the drawn numbers
what it states: direction, tie, count, who. A sentence that it cannot read fails.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from core.audit.results.node_risks import NODE_COLUMNS
from core.audit.results.view import AuditView
from core.findings.change import summarize_release
from core.findings.exposure import summarize_risk
from core.findings.homophily import summarize_homophily
from core.findings.page_summary import PageSummary, summarize_decision
from core.findings.people_map import compute_people, summarize_map
from core.findings.policy import Limit, Policy
from core.findings.strongest import summarize_attacks
from core.findings.tradeoff import summarize_tradeoff
from core.findings.verdict import judge
from core.graph import Graph
from tests.oracles.audits import make_audit

TITLES = {
    "original": "the original",
    "random_deletion": "Random deletion",
    "k_degree_anonymity": "k-degree anonymity",
}
RELEASES = tuple(TITLES)
LINK = {"adamic_adar": "Adamic–Adar", "jaccard": "Jaccard"}
LINK_BASE = {"degree_product": "Degree product"}
VALUE = {"label_propagation": "Label propagation", "com_infer": "ComInfer"}
VALUE_BASE = {"class_prior": "Class prior"}
ATTACKS = {**LINK, **LINK_BASE, **VALUE, **VALUE_BASE}
TPR = "tpr_at_fpr_0.01"
USE = "node_classification_auc"
PEOPLE = 30
GROUPS = 3
NUMBER = re.compile(r"(?<![\w.,])[\d][\d.,]*(?: of [\d][\d.,]*)?")
CLAUSE = re.compile(r"[,;:] | and | but | while | against ")
WORDS = re.compile(r"\d[\d,]*(?:\.\d+)?")
LIMITS = {("link", TPR): 0.3, ("attribute", TPR): 0.3, ("attribute", "advantage_share"): 0.4}
POLICY = Policy(
    key="house",
    version=1,
    title="House",
    effort="instant",
    repeats=2,
    limits=tuple(
        Limit(name=f"{t}-{m}", threat=t, metric=m, limit=v, title=f"{t} {m}", source="a test")
        for (t, m), v in LIMITS.items()
    ),
)


@dataclass
class World:
    """Drawn numbers: (release, attack or "release", metric) → value; people exposed by release, and
    how many of them beyond noise."""

    scores: dict[tuple[str, str, str], float]
    half: float
    exposed: dict[str, int]
    sure: dict[str, int]

    def worst(self, release: str, attacks, metric: str = TPR) -> float | None:
        found = [self.scores.get((release, a, metric)) for a in attacks]
        return max((v for v in found if v is not None), default=None)

    @property
    def noise(self) -> float:
        """Least difference of two figures that is clear."""
        return math.hypot(self.half, self.half)


def draw_world(seed: int) -> World:
    rng = random.Random(seed)
    pick = lambda: rng.choice(  # noqa: E731
        [0.0, 0.0017, 0.01, 0.1, 0.104, 0.25, 0.36, 0.43, 0.6, 0.996, 1.0, round(rng.random(), 3)]
    )
    scores = {}
    for release in RELEASES:
        for attack in ATTACKS:
            if rng.random() < 0.9:
                scores[release, attack, TPR] = pick()
        scores[release, "release", USE] = pick()
        for key in ("proximity", "role"):
            gap = rng.choice([-0.3, 0.0, 0.004, 0.1, 0.3])
            scores[release, "release", f"ghratio_{key}"] = 0.4 + gap
            scores[release, "release", f"ghratio_{key}_gap"] = gap
    exposed = {release: rng.choice([0, 1, 2, 9, 15, PEOPLE]) for release in RELEASES}
    half = rng.choice([0.0005, 0.01, 0.1, math.nan])
    sure = {r: rng.choice([count, count, rng.randint(0, count)]) for r, count in exposed.items()}
    return World(scores, half, exposed, sure)


def build_view(world: World):
    rows = [
        (f"n{i}", r, "com_infer", 0.5 + gain, gain, 0.5 + low, 0.5 + gain, 5)
        for r in RELEASES
        for i in range(PEOPLE)
        for gain in [0.4 if i < world.exposed[r] else 0.0]
        for low in [gain if i < world.sure[r] else 0.0]
    ]
    nodes = pd.DataFrame(rows, columns=list(NODE_COLUMNS))
    view = make_audit(world.scores, list(ATTACKS), RELEASES[1:], half=world.half, nodes=nodes)
    return replace(view, results=view.results.assign(seeds=5))


def share_of(text: str) -> float:
    """ "36 of 100" → .36; "fewer than 1 of 100,000" → 0."""
    if text.startswith("fewer than"):
        return 0.0
    count, total = (float(n.replace(",", "")) for n in WORDS.findall(text))
    return count / total


FREQUENCY = r"(?P<{}>fewer than [\d,]+ of [\d,]+|[\d,]+ of [\d,]+)"


def is_about(text: str, value: float) -> bool:
    if text.startswith("fewer than"):
        return value < share_of(text.removeprefix("fewer than "))
    count, total = (int(part.replace(",", "")) for part in text.split(" of "))
    half = 0.5 / total if count >= 10 else 0.0  # two digits are enough
    return abs(share_of(text) - value) <= max(0.026 * value, 1.001 * half, 1e-5)


def read(pattern: str, sentence: str) -> re.Match[str] | None:
    for name in re.findall(r"<(\w+)>", pattern):
        pattern = pattern.replace(f"<{name}>", FREQUENCY.format(name))
    return re.fullmatch(pattern, sentence)


def is_worst(world: World, release: str, threat: str, has_limits: bool) -> bool:
    """Whether no other threat is more severe against its limits, or without limits further above
    its baseline attackers; what noise explains comes last."""
    severity = {"link": 0.0, "attribute": 0.0}
    for (name, metric), (_, value) in judge_by_hand(world)[release].items():
        if not math.isnan(value):
            severity[name] = max(severity[name], value / LIMITS[name, metric])
    excess, is_doubtful = {}, dict.fromkeys(severity, False)
    for name, kinds, base in (("link", LINK, LINK_BASE), ("attribute", VALUE, VALUE_BASE)):
        real, guess = world.worst(release, kinds), world.worst(release, base)
        if None not in (real, guess):
            excess[name] = real - guess
            is_doubtful[name] = 0 <= real - guess <= world.noise
        elif (real, guess) != (None, None):  # one kind alone was run: nothing to compare it with
            excess[name] = real if guess is None else 0.0
    rank = {t: (not is_doubtful[t], severity[t] if has_limits else 0.0, excess[t]) for t in excess}
    return all(rank[threat] >= other for other in rank.values())


def check_attack(
    sentence: str, world: World, release: str = "original", has_limits: bool = True
) -> bool:
    if " private values " in sentence or " withheld links " in sentence:
        threat = "link" if " withheld links " in sentence else "attribute"
        if not is_worst(world, release, threat, has_limits):
            return False
    for kinds, base, says in (
        (LINK, LINK_BASE, r"finds <x> withheld links while accusing 1 of 100 unconnected pairs"),
        (VALUE, VALUE_BASE,
         r"recognises <x> private values while wrongly accusing 1 of 100 others"),
    ):  # fmt: skip
        real, guess = world.worst(release, kinds), world.worst(release, base)
        if found := read(f"An attacker {says}; a baseline attacker reaches <y>\\.", sentence):
            return (
                None not in (real, guess)
                and is_about(found["x"], real)
                and is_about(found["y"], guess)
                and real - guess > world.noise
                and share_of(found["x"]) > share_of(found["y"])
            )
        if found := read(f"An attacker {says}, not clearly more than a baseline attacker\\.",
                         sentence):  # fmt: skip
            clear = None not in (real, guess) and real - guess > world.noise
            return guess is not None and is_about(found["x"], real) and not clear
        if found := read(f"A baseline attacker {says}; no attack does better\\.", sentence):
            return guess is not None and is_about(found["x"], guess) and guess > (real or 0)
        if found := read(f"A baseline attacker {says}; no other attack has finished\\.", sentence):
            return real is None and guess is not None and is_about(found["x"], guess)
        if found := read(f"An attacker {says}\\.", sentence):
            return guess is None and is_about(found["x"], real)
    return sentence == "No attack has finished yet."


def check_release(sentence: str, world: World, release: str) -> bool:
    name = TITLES[release]
    changes = {}
    for kinds, what in (
        ({**LINK, **LINK_BASE}, "withheld links"),
        ({**VALUE, **VALUE_BASE}, "private values"),
    ):
        both = [a for a in kinds if all((r, a, TPR) in world.scores for r in ("original", release))]
        if both:
            changes[what] = world.worst("original", both), world.worst(release, both)
    sides = {
        what: 0 if math.isnan(world.noise) or abs(y - x) <= world.noise else 1 if y > x else -1
        for what, (x, y) in changes.items()
    }
    for kinds, what in (({**LINK, **LINK_BASE}, "withheld links"),
                        ({**VALUE, **VALUE_BASE}, "private values")):  # fmt: skip
        if sides.get(what) == -1 and world.worst(release, kinds) >= changes[what][0]:
            sides[what] = 0  # an attacker that the original did not face finds no fewer
    if len(changes) == 1:
        ((what, (before, after)),) = changes.items()
        pattern = f"With {name}, an attacker reaches <x> {what}, against <y> on the original\\."
        if found := read(pattern, sentence):
            x, y = share_of(found["x"]), share_of(found["y"])
            right = is_about(found["x"], after) and is_about(found["y"], before)
            return bool(sides[what]) and right and (x < y) == (after < before)
    kind = "(withheld links|private values)"
    if found := re.fullmatch(f"With {name}, an attacker finds (more|fewer) {kind} and {kind}\\.",
                             sentence):  # fmt: skip
        return set(sides.values()) == {1 if found[1] == "more" else -1}
    if found := re.fullmatch(
        f"With {name}, an attacker finds (more {kind}, fewer {kind}|more {kind}|fewer {kind}, "
        f"but not clearly fewer {kind})\\.", sentence
    ):  # fmt: skip
        more, fewer = found[2] or found[4], found[3] or found[5]
        told = dict.fromkeys(sides, 0) | {more: 1, fewer: -1}
        told.pop(None, None)
        return told == sides and found[6] in (None, *(w for w, side in sides.items() if not side))
    nan = math.isnan(world.half)
    whats = " or ".join(changes)
    first = name[:1].upper() + name[1:]
    if sentence == f"{first} does not clearly change how many {whats} an attacker finds.":
        near = all(abs(x - y) <= 1e-5 for x, y in changes.values())
        return (near or not any(sides.values())) and not (nan and len(changes) > 1)
    if sentence == f"Too few splits to decide whether {name} lowers the {whats} that are found.":
        return nan
    return sentence == "No attack has finished yet." and not changes


def check_risk(sentence: str, world: World, release: str) -> bool:
    sure, likely = world.sure[release], world.exposed[release]
    start, end = f"On {TITLES[release]}, ", ", by 1 quick attack."
    if not sentence.startswith(start) or not sentence.endswith(end):
        return False
    said = sentence.removeprefix(start).removesuffix(end)
    if sure == 0 < likely:
        return said == (
            f"no person is surely exposed to attribute inference, but {likely} of {PEOPLE} likely "
            f"{'is' if likely == 1 else 'are'}"
        )
    verb = "is" if sure == 1 else "are"
    told = f"{sure} of {PEOPLE} people {verb} exposed to attribute inference"
    return said == (told if sure == likely else f"at least {told}, likely {likely}")


def check_map(sentence: str, world: World, release: str) -> bool:
    """By counting every way in which so many exposed people could fall on the communities."""
    exposed, size = world.exposed[release], PEOPLE // GROUPS
    inside = [min(max(exposed - size * k, 0), size) for k in range(GROUPS)]
    ways = [
        sum(
            math.comb(size, i) * math.comb(PEOPLE - size, exposed - i)
            for i in range(count, min(size, exposed) + 1)
        )
        for count in inside
    ]
    chance = GROUPS * min(ways) / math.comb(PEOPLE, exposed)
    sure, end = world.sure[release], ", in no community more than by chance."
    if not exposed:
        return sentence == "No person is exposed to any attack."
    if chance >= 0.01 and not sure:
        are = "is" if exposed == 1 else "are"
        told = f"No person is surely exposed, but {exposed} of {PEOPLE} at stake likely {are}"
        return sentence == told + end
    if chance >= 0.01:
        told = f"{sure} of {PEOPLE} people at stake {'is' if sure == 1 else 'are'} exposed"
        return sentence == (
            f"{told}{end}" if sure == exposed else f"At least {told}, likely {exposed}{end}"
        )
    who = "Exposed" if sure == exposed else "Likely exposed"
    pattern = rf"{who} people concentrate in community (\d): <x>, against <y> elsewhere\."
    found = read(pattern, sentence)
    if found is None:
        return False
    count = inside[int(found[1]) - 1]
    others = (exposed - count) / (PEOPLE - size)
    is_right = is_about(found["x"], count / size) and is_about(found["y"], others)
    return ways[int(found[1]) - 1] == min(ways) and is_right


def check_homophily(sentence: str, world: World, release: str = "original") -> bool:
    gaps = {
        who: world.scores[release, "release", f"ghratio_{key}_gap"]
        for key, who in (("proximity", "neighbours"), ("role", "role peers"))
    }
    pattern = (
        r"Averaged over people, <x> (neighbours|role peers) share a person's value, "
        r"against <y> by chance: a difference beyond noise\."
    )
    if found := read(pattern, sentence):
        who = "role peers" if "role peers" in sentence else "neighbours"
        clear = gaps[who] > world.half
        most = all(gaps[who] >= gap for gap in gaps.values())
        right = is_about(found["x"], 0.4 + gaps[who]) and is_about(found["y"], 0.4)
        return clear and most and right and share_of(found["x"]) > share_of(found["y"])
    if sentence == "Neither neighbours nor role peers share a person's value beyond chance.":
        return not any(gap > world.half for gap in gaps.values())
    return sentence == "Too few splits to distinguish homophily from chance." and math.isnan(
        world.half
    )


def judge_by_hand(world: World) -> dict[str, dict[tuple[str, str], tuple[str, float]]]:
    """release → limit → (state, value)."""
    told = {}
    for release in RELEASES:
        states = {}
        for (threat, metric), limit in LIMITS.items():
            attacks = {**LINK, **LINK_BASE} if threat == "link" else {**VALUE, **VALUE_BASE}
            value, half = world.worst(release, attacks), world.half
            if metric == "advantage_share":
                value = world.exposed[release] / PEOPLE
                half = wilson_high(world.exposed[release], PEOPLE) - value
            if value is None:
                states[threat, metric] = ("not tested", math.nan)
            elif value > limit:
                states[threat, metric] = ("exceeded", value)
            else:
                states[threat, metric] = ("met" if value + half <= limit else "not proven", value)
        told[release] = states
    return told


def wilson_high(count: int, n: int) -> float:
    z, p = 1.959963984540054, count / n
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    return centre + z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))


def check_decision(sentence: str, world: World) -> bool:
    states = judge_by_hand(world)
    names = {title: release for release, title in TITLES.items()}
    ok = {r for r, s in states.items() if all(x == "met" for x, _ in s.values())}
    bad = {r for r, s in states.items() if any(x == "exceeded" for x, _ in s.values())}
    if found := re.fullmatch(r"Publish (.+): it meets the policy's (\d+) limits\.", sentence):
        return names.get(found[1]) in ok - {"original"} and int(found[2]) == len(LIMITS)
    if sentence == "Review: the original meets every tested limit, but no defended release does.":
        return "original" in ok
    start = r"Do not publish: each of the (\d+) releases exceeds at least one limit; "
    if found := re.fullmatch(start + r"(.+) comes closest to passing\.", sentence):
        severity = {
            r: max((v / LIMITS[k], k) for k, (_, v) in s.items() if not math.isnan(v))
            for r, s in states.items()
        }
        mine = severity[names[found[2]]][0] if found[2] in names else math.inf
        nearest = all(v >= mine for v, _ in severity.values())
        return int(found[1]) == len(bad) == len(RELEASES) and nearest
    if found := re.fullmatch(start + r"none comes clearly closest to passing\.", sentence):
        return int(found[1]) == len(bad) == len(RELEASES)
    if found := re.fullmatch(r"Review (.+): no limit is exceeded, but (\d+) limits? (is|are) not "
                             r"proven\.", sentence):  # fmt: skip
        release = names.get(found[1], "")
        unproven = [x for x, _ in states.get(release, {}).values() if x == "not proven"]
        return (
            release not in bad and int(found[2]) == len(unproven) and len(RELEASES) - len(bad) == 1
        )
    if sentence == "Review: no limit rules out a release, but none is cleared yet.":
        return not bad
    if found := re.fullmatch(
        r"Review: (\d+) of (\d+) releases (?:is|are) ruled out; no other is cleared yet\.", sentence
    ):
        return int(found[1]) == len(bad) > 0 and int(found[2]) == len(RELEASES)
    if sentence.endswith("no limit is exceeded, but not every required test was run."):
        release = names[sentence.removeprefix("Review ").partition(":")[0]]
        return release not in bad
    return False


def check_tradeoff(sentence: str, world: World) -> bool:
    states = judge_by_hand(world)
    ok = {r for r, s in states.items() if all(x == "met" for x, _ in s.values())} - {"original"}
    if sentence == f"None of the {len(RELEASES) - 1} defended releases is cleared for publishing.":
        return True  # what was not tried may keep a release from being published
    found = re.fullmatch(
        r"(.+) may be published(?:(, as useful as the original within noise)|(, at a cost: its "
        r"node classification AUC is (.+))|(; its node classification AUC is (.+)))\.",
        sentence,
    )
    if found is None:
        return False
    release = next((r for r, title in TITLES.items() if title == found[1]), "")
    if release not in ok:
        return False
    before, after = (world.scores[r, "release", USE] for r in ("original", release))
    clear = abs(before - after) > world.noise
    told = found[4] or found[6]
    right = told is None or abs(float(told) - after) <= 0.006
    if found[2]:
        return not clear and not math.isnan(world.half)
    return right and (not found[3] or (clear and after < before))


def check_exact(line: str, world: World) -> bool:
    """ "Found at 1 % …: 0.36 [0.35, 0.37] by Jaccard on Original; n = 400, 5 splits." """
    pattern = r".+: (\S+?)(?: \[.*\])? by (.+) on (.+?)(?: \(.*\))?; n = 400, 5 splits\."
    found = re.fullmatch(pattern, line)
    if found is None:
        return True  # of the release itself, or of no attack
    attack = next(a for a, title in ATTACKS.items() if title == found[2])
    release = next(r for r, title in TITLES.items() if found[3].lower() in title.lower())
    value = world.scores[release, attack, TPR]
    return found[1] == "below" or abs(float(found[1]) - value) <= 0.006


Check = Callable[[str], bool]


def list_sentences(world: World, seed: int) -> list[tuple[PageSummary, Check]]:
    """The sentences on an audit, and those on one release of it, which the seed names."""
    view = build_view(world)
    verdict = judge(view, POLICY)
    release = RELEASES[seed % len(RELEASES)]
    defended = RELEASES[1 + seed % (len(RELEASES) - 1)]
    return [
        (summarize_decision(verdict), lambda s: check_decision(s, world)),
        (summarize_homophily(view), lambda s: check_homophily(s, world)),
        (summarize_tradeoff(view, verdict), lambda s: check_tradeoff(s, world)),
        (summarize_attacks(view, release, POLICY), lambda s: check_attack(s, world, release)),
        (summarize_attacks(view, release), lambda s: check_attack(s, world, release, False)),
        (summarize_risk(view, release, POLICY), lambda s: check_risk(s, world, release)),
        (build_map(view, release), lambda s: check_map(s, world, release)),
        (summarize_release(view, defended), lambda s: check_release(s, world, defended)),
    ]


def build_map(view: AuditView, release: str) -> PageSummary:
    graph = Graph.from_pairs(np.zeros((0, 2), int), node_ids=tuple(f"n{i}" for i in range(PEOPLE)))
    communities = np.repeat(np.arange(GROUPS), PEOPLE // GROUPS)
    return summarize_map(compute_people(graph, communities, view.nodes, release=release))


def check_style(summary: PageSummary) -> None:
    sentence = summary.sentence
    assert len(sentence.split()) <= 25, sentence
    assert sentence.endswith(".")
    assert not re.search(r"[()\[\]{}=*_]", sentence), sentence
    for clause in CLAUSE.split(sentence):
        assert len(NUMBER.findall(clause)) <= 1, sentence
    for card in summary.cards:
        assert all((card.title, card.value, card.detail))
        assert card.state in (None, "met", "exceeded", "not_proven", "not_tested")


def check_world(seed: int) -> int:
    """Check what is said of a drawn audit; returns how many false statements made of it were
    caught."""
    world, caught = draw_world(seed), 0
    for summary, check in list_sentences(world, seed):
        check_style(summary)
        assert check(summary.sentence), (seed, summary.sentence)
        for false in plant(summary.sentence):
            if false != summary.sentence and is_false(false, world, summary.sentence):
                assert not check(false), (seed, summary.sentence, false)
                caught += 1
        for line in summary.exact:
            assert check_exact(line, world), (seed, line)
            caught += swap_attacks(line, world, seed)
    return caught


def swap_attacks(line: str, world: World, seed: int) -> int:
    """Number of false lines with another attack's name; each must be caught."""
    found, caught = re.search(r" by (.+?) on ", line), 0
    for other in [title for title in ATTACKS.values() if found and title != found[1]]:
        swapped = line.replace(f" by {found[1]} ", f" by {other} ")
        if not says_nothing_new(swapped, line, world, other):
            assert not check_exact(swapped, world), (seed, swapped)
            caught += 1
    return caught


def plant(sentence: str) -> list[str]:
    """False statements made of a true one: direction, tie, count, who."""
    found = []
    parts = re.findall(r"[\d,]+ of [\d,]+", sentence)
    if " against " in sentence and len(set(parts)) == 2:
        first, second = parts
        found.append(sentence.replace(first, "#").replace(second, first).replace("#", second))
    if "xposed people concentrate" in sentence:
        found.append(re.sub(r"community \d", "community 3", sentence))
    elif parts and "exposed" in sentence:
        number = int(parts[0].split(" ")[0])
        found.append(sentence.replace(parts[0], f"{number + 2} of {PEOPLE}"))
    if parts and "exposed" not in sentence.lower():
        total = parts[0].split(" of ")[1]
        found.append(sentence.replace(parts[0], f"55 of {total}", 1))
    if "a baseline attacker reaches" in sentence:
        head = sentence.partition(";")[0]
        found.append(f"{head}, not clearly more than a baseline attacker.")
    if "not clearly more than a baseline attacker" in sentence:
        head = sentence.partition(", not")[0]
        found.append(f"{head}; a baseline attacker reaches 1 of 1,000.")
    if "does not clearly change" in sentence:
        name, _, rest = sentence.partition(" does not clearly change how many ")
        what = rest.removesuffix(" an attacker finds.")
        found.append(
            f"With {name}, an attacker reaches 1 of 100 {what}, against 9 of 100 on the original."
        )
    for true, false in (("finds more", "finds fewer"), ("finds fewer", "finds more")):
        if true in sentence:
            found.append(sentence.replace(true, false))
    if "but not clearly fewer" in sentence:
        found.append(sentence.replace(", but not clearly fewer", " and"))
    if "Random deletion comes closest" in sentence:
        found.append(sentence.replace("Random deletion comes", "k-degree anonymity comes"))
    if sentence.startswith("Publish"):
        found.append(re.sub(r"(\d+) limits", "9 limits", sentence))
        found.append("Do not publish: each of the 3 releases exceeds at least one limit; "
                     "the original comes closest to passing.")  # fmt: skip
    if "as useful as the original" in sentence:
        found.append(re.sub(r", as useful.*", ", at a cost: its node classification AUC is 0.10.",
                            sentence))  # fmt: skip
    if "role peers share" in sentence and "Neither" not in sentence:
        found.append(sentence.replace("role peers", "neighbours"))
    return found


def is_false(planted: str, world: World, true: str) -> bool:
    """Whether the planted sentence is no other true one by luck."""
    if "neighbours share" in planted:
        gaps = [world.scores["original", "release", f"ghratio_{k}_gap"]
                for k in ("proximity", "role")]  # fmt: skip
        return gaps[0] != gaps[1]
    if "55 of" in planted:
        mine, other = (share_of(re.findall(r"[\d,]+ of [\d,]+", t)[0]) for t in (true, planted))
        return abs(mine - other) > 2 * max(0.026 * mine, 0.5 * other / 55)  # both are rounded
    return True


def says_nothing_new(swapped: str, line: str, world: World, title: str) -> bool:
    """Whether the other attack reached about the same there, or never ran."""
    attack = next(a for a, name in ATTACKS.items() if name == title)
    where = re.search(r" on (.+?)(?: \(.*\))?; n =", line)
    assert where is not None
    release = next(r for r, name in TITLES.items() if where[1].lower() in name.lower())
    other = world.scores.get((release, attack, TPR))
    mine = float(re.search(r": (\S+?)(?: \[| by)", line)[1].replace("below", "0"))
    return other is None or abs(other - mine) <= 0.012
