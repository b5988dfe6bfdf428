"""Titles of keys and ids for screen and report, and the direction of each metric."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from core.audit.knowledge import Adaptive, Auxiliary, Composition, Joint, Knowledge, Shadow
from core.audit.scenarios import Scenario, Threat, split_id
from core.defenses.external import EXTERNAL
from core.errors import InputError
from core.measures.metrics import METRICS
from core.methods import Defense, Method
from core.registry import parse_method
from core.release import ORIGINAL
from core.results import RELEASE
from core.words import format_percent

if TYPE_CHECKING:
    from core.audit.view import RunningCell


@dataclass(frozen=True)
class ThreatWords:
    """Name of the threat, its aim, its items, and what people are exposed to."""

    attack: str
    aim: str
    unit: str
    exposed_on: str

    @property
    def title(self) -> str:
        return self.attack.capitalize()


THREAT_WORDS: dict[str, ThreatWords] = {
    "link": ThreatWords("link inference", "find withheld links", "pair", "withheld links"),
    "included": ThreatWords(
        "inference of released links", "find released links", "pair", "released links"
    ),
    "attribute": ThreatWords(
        "attribute inference", "infer the private attribute", "node", "the private attribute"
    ),
    "identity": ThreatWords(
        "re-identification", "find nodes by their links", "node", "who they are"
    ),
    "": ThreatWords("inference", "find a secret", "case", "a secret"),
}
"""Wording per threat; "" for an attack that this version does not know."""

LOW_FPR = "tpr_at_fpr_0.01"
"""Reported before AUC, since attacks of equal AUC can differ tenfold at a low FPR."""

MAIN_ATTACK_METRICS = ("auc", "accuracy", "released_auc", "expected_found", "hits_at_1")
"""Headline metrics of attacks, in order of preference."""

MAIN_UTILITY_METRICS = (
    "node_classification_auc",
    "node_classification_f1",
    "link_prediction_auc",
    "link_f1",
)
"""Headline measures of usefulness, in order of preference."""


def metric_title(key: str) -> str:
    """Title of the metric, or its key in words if this version does not know it."""
    info = METRICS.get(key)
    return info.title if info else key.replace("_", " ").capitalize()


def is_attack_metric(key: str) -> bool:
    """Whether the metric measures the success of an attack."""
    info = METRICS.get(key)
    return info is not None and info.group == "attack"


def is_lower_safer(key: str) -> bool:
    """Whether a lower value means less exposure."""
    info = METRICS.get(key)
    return info is None or info.better_for_privacy != "higher"


def is_higher_useful(key: str) -> bool:
    """Whether a larger value of a utility metric means a more useful release."""
    info = METRICS.get(key)
    return info is None or info.better_for_utility != "lower"


def has_utility_direction(key: str) -> bool:
    """Whether the metric can be an axis of usefulness."""
    info = METRICS.get(key)
    return info is not None and info.better_for_utility is not None


def chance_level(metric: str) -> float | None:
    """Value reached by guessing, if it does not depend on the data."""
    info = METRICS.get(metric)
    return None if info is None else info.chance


def axis_title(metric: str) -> str:
    """Title with an arrow and direction for a horizontal axis: "Attack AUC   ← safer"."""
    if is_attack_metric(metric):
        hint = "← safer" if is_lower_safer(metric) else "safer →"
    else:
        hint = "more useful →" if is_higher_useful(metric) else "← more useful"
    return f"{metric_title(metric)}   {hint}"


STRENGTHS = ("strength", "epsilon", "alpha")
"""Settings that state the strength of a defense; always shown."""

_SYMBOLS = {"epsilon": "ε", "delta": "δ", "alpha": "α"}


@lru_cache(maxsize=1024)
def _parse(method_id: str) -> Method | None:
    """Method of a scenario id, or None if this version does not know it."""
    try:
        return parse_method(split_id(method_id)[0])
    except InputError:
        return None


def method_title(method_id: str) -> str:
    """Title of an attack or defense with its settings; the id if it is unknown.

    Default settings are omitted except the strength of a defense: "EdgeRand (ε = 6)". ε is what the
    recipient gets, "Blink (2ε = 12)" if both ends report a link. Further knowledge of the attacker
    follows the title.
    """
    return _compose_title(method_id, is_brief=False)


def attacker_title(method_id: str) -> str:
    """`method_title` of the attack behind a figure; "" for a figure of the release itself."""
    return "" if method_id in ("", RELEASE) else method_title(method_id)


def describe_attacker(method_id: str) -> str:
    """ " by Adamic–Adar", to follow a figure; "" as in `attacker_title`."""
    title = attacker_title(method_id)
    return f" by {title}" if title else ""


NAMES = {ORIGINAL: "the original", EXTERNAL: "the release made elsewhere"}
"""Releases that were not made by a method of this tool."""


def method_name(method_id: str) -> str:
    """Name of a method or release for use in a sentence: no settings, no scenario."""
    if method_id in NAMES:
        return NAMES[method_id]
    method = _parse(method_id)
    return method_id.partition(":")[0] if method is None else method.info.title


@lru_cache(maxsize=1024)
def _compose_title(method_id: str, is_brief: bool) -> str:
    """is_brief: only the strength of a defense and switches that are on."""
    method = _parse(method_id)
    if method is None:
        return method_id
    shown = []
    for name, value in method.config.items():
        default = type(method).model_fields[name].get_default(call_default_factory=True)
        is_strength = method.kind == "defense" and name in STRENGTHS
        if is_strength or (value != default and (value is True or not is_brief)):
            shown.append(_describe_setting(method, name, value))
    title = f"{method.info.title} ({', '.join(shown)})" if shown else method.info.title
    return ", ".join([title, *_describe_scenario(method_id)])


_SPREADS = {
    "stratified": "",
    "degree": ", with many links rather",
    "community": ", of some communities",
}


def _describe_scenario(method_id: str) -> list[str]:
    """Target and knowledge of a scenario beyond its method's default."""
    if not split_id(method_id)[1]:
        return []
    scenario = Scenario.parse(method_id)
    words = ["on released links"] if scenario.threat == "included" else []
    if scenario.target:
        words.append(f"on {scenario.target}")
    return [*words, *filter(None, [describe_knowledge(scenario.knowledge)])]


def describe_knowledge(knowledge: Knowledge) -> str:
    """Knowledge of an attacker beyond the release; "" for the standard one."""
    match knowledge:
        case Adaptive():
            return "adaptive"
        case Auxiliary() as known:
            return f"others who know {format_percent(known.share)}{_SPREADS[known.spread]}"
        case Joint(how=how):
            return f"{'knowing' if how == 'known' else 'inferring'} the other private columns"
        case Shadow():
            return "trained on another graph"
        case Composition(releases=number, defenses=defenses):
            held = " and ".join(map(release_title, defenses)) or f"{number} releases"
            return f"combining {held}"
        case _:
            return ""


def _describe_setting(method: Method, name: str, value: Any) -> str:
    """ "ε = 6"; a switch that is on is shown by its title alone."""
    if value is True:
        title = type(method).model_fields[name].title or name.replace("_", " ")
        return title[0].lower() + title[1:]
    if name == "epsilon" and isinstance(method, Defense) and method.is_reported_twice:
        return f"2ε = {2 * value:g}"
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return f"{_SYMBOLS.get(name, name.replace('_', ' '))} = {text}"


def release_title(release_id: str) -> str:
    """Display name of the release."""
    return "Original" if release_id == ORIGINAL else method_title(release_id)


def describe_running(cell: RunningCell) -> str:
    """A part that is being computed: "GPS on original", "Making EdgeRand (ε = 6)"."""
    title = cell.release if cell.release == ORIGINAL else release_title(cell.release)
    if cell.kind == "publish":
        return f"Making {title}"
    return (
        f"{method_title(cell.method)} on {title}" if cell.kind == "attack" else f"Measuring {title}"
    )


def short_titles(releases: Iterable[str]) -> dict[str, str]:
    """Release → short name for axes and legends.

    "GPS sampling" for "GPS sampling (epochs = 3, batch = 6)"; the full name if another release
    would have the same short one.
    """
    ids = list(dict.fromkeys(releases))
    brief = {i: release_title(i) if i == ORIGINAL else _compose_title(i, True) for i in ids}
    times = Counter(brief.values())
    return {i: title if times[title] == 1 else release_title(i) for i, title in brief.items()}


def plain_titles(releases: Iterable[str]) -> dict[str, str]:
    """Release → name without settings for a sentence; `short_titles` if two would be the same."""
    ids = list(dict.fromkeys(releases))
    plain = {i: release_title(i) if i in NAMES else method_name(i) for i in ids}
    return plain if len(set(plain.values())) == len(ids) else short_titles(ids)


def is_baseline(method_id: str) -> bool:
    """Whether the attack is a baseline attacker."""
    method = _parse(method_id)
    return method is not None and method.info.is_baseline


def is_blind(method_id: str) -> bool:
    """Whether the attack uses neither links nor columns, so that it exposes nobody."""
    method = _parse(method_id)
    return method is not None and method.info.is_blind


def is_data_independent(release_id: str) -> bool:
    """Whether a release is a data-independent baseline, made for comparison only."""
    method = _parse(release_id)
    return method is not None and getattr(method, "data_free", False)


@lru_cache(maxsize=1024)
def attack_threat(method_id: str) -> Threat | None:
    """Threat of the attack; None for rows on the release itself."""
    method = _parse(method_id)
    if method is None or method.kind == "defense":
        return None
    return Scenario.parse(method_id).threat


def defense_key(release_id: str) -> str:
    """Key of the defense that made the release of this id."""
    return release_id.partition(":")[0]
