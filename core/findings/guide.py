"""What the answers in the guide mean: defenses worth trying, policy, purpose, and their words."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from core.audit.asked.answers import Answers, Knowledge, Recipient, Secret, Use, runs_adaptive
from core.audit.asked.method_choice import MethodChoice
from core.audit.asked.presets import PRESETS, Preset
from core.audit.asked.spec import AuditSpec
from core.audit.computing.partitions import explain_method
from core.audit.results.view import AuditView
from core.audit.store.costs import Shape
from core.audit.store.estimate import TimeModel, make_task
from core.findings.policy import Policy, find_policy
from core.findings.recipient import RECIPIENTS, find_recipient
from core.findings.verdict import Verdict
from core.graph import Graph
from core.methods import Defense, Suggestion
from core.partitioned.graph import PartitionedGraph
from core.registry import list_methods
from core.threats import AttributeThreat, LinkThreat, Threats
from core.words import begin_sentence

SECRETS: dict[Secret, str] = {
    "links": "Who is linked to whom",
    "attribute": "A private column",
    "identity": "Who is behind a pseudonym",
}
KNOWLEDGE: dict[Knowledge, str] = {
    "values": "Some of the private values",
    "method": "How the graph was defended",
    "links": "That some published links may be invented",
    "network": "Another graph of the same nodes",
}
ABOUT: dict[Knowledge, Secret] = {"values": "attribute", "links": "links", "network": "identity"}
"""Knowledge → the only secret that it helps to learn; none: it helps with all."""
USES: dict[Use, str] = {
    "links": "Predicting or recommending links",
    "column": "Predicting a column",
    "statistics": "Statistics of the network",
}
MAX_DEFENSES = 4
MAX_PUBLISH_S = 1_200.0
"""Expected seconds per release above which a defense is not proposed."""

MAX_RATIO = 6.0
"""Links of a release per link of the graph above which it is mostly noise."""

DEFAULT_EPSILON = 3.0
"""ε used if the policy has no limit on it."""


@dataclass(frozen=True)
class Advice:
    """A proposed defense with the secrets that it protects, the reason, and expected seconds."""

    choice: MethodChoice
    secrets: tuple[str, ...]
    reason: str
    seconds: float

    @property
    def defense(self) -> str:
        """As written in options."""
        return self.choice.id


@dataclass(frozen=True)
class Proposal:
    """A change that could alter the decision: a preset to run or a defense to try."""

    of: Preset | MethodChoice
    reason: str

    @property
    def key(self) -> str:
        """Of the preset; the defense as in ids."""
        return self.of.id if isinstance(self.of, MethodChoice) else self.of.key


def list_suggested() -> list[tuple[type[Defense], Suggestion]]:
    """Defenses that may be proposed, in order of preference among equally suitable ones."""
    found = [
        (method, suggestion)
        for method in list_methods("defense")
        if issubclass(method, Defense)
        and (suggestion := vars(method).get("suggestion")) is not None  # not of its base
    ]
    return sorted(found, key=lambda pair: pair[1].place)


def choose_defenses(
    answers: Answers,
    graph: Graph,
    policy: Policy | None = None,
    model: TimeModel | None = None,
    tried: Collection[str] = (),
) -> list[Advice]:
    """At most four defenses that can run on this graph and could pass the policy, best first.

    `supports` of each is called with the threats of the answers; its ε is the largest that the
    policy allows. For each secret a learned defense comes first.

    policy  None: the shipped one of the recipient
    model   predicts seconds; None: typical ones
    tried   ids of releases that are not proposed again
    """
    policy = policy or find_policy(answers.recipient)
    secrets, uses = set(answers.secrets), set(answers.uses)
    found = [
        (suggestion, Advice(choice, suggestion.secrets, reason, seconds))
        for suggestion, choice, reason, seconds in list_possible(answers, graph, policy, model)
        if choice.id not in tried
    ]
    found.sort(
        key=lambda item: (
            answers.recipient not in item[0].recipients,
            -len(secrets & set(item[0].secrets)),
            -len(uses & set(item[0].uses)),
        )
    )
    first = [
        next((f for f in found if f[0].is_learned and secret in f[0].secrets), None)
        for secret in answers.secrets
    ]
    chosen = {advice.defense: advice for _, advice in [*filter(None, first), *found]}
    return list(chosen.values())[:MAX_DEFENSES]


def list_possible(
    answers: Answers, graph: Graph, policy: Policy, model: TimeModel | None = None
) -> list[tuple[Suggestion, MethodChoice, str, float]]:
    """Suggested defenses of the secrets that can run on this graph in a bearable time and whose
    release is not mostly noise, each with the reason and expected seconds."""
    threats = build_threats(answers, graph)
    model = model or TimeModel(())
    size, shape = (graph.num_nodes, graph.num_edges), Shape.of(graph)
    found = []
    for method, suggestion in list_suggested():
        if not set(answers.secrets) & set(suggestion.secrets):
            continue
        defense = _choose_budget(method, suggestion, policy)
        choice = MethodChoice.of(defense)
        seconds = model.predict(make_task("publish", choice.id, shape, choice.id))
        is_noise = defense.expect_links(*size) > MAX_RATIO * graph.num_edges
        obstacle = explain_method(defense, graph) or defense.supports(threats.visible, threats)
        if seconds > MAX_PUBLISH_S or is_noise or obstacle:
            continue
        reason = suggestion.reason
        if defense.needs_links and not answers.named_links:
            reason += ". Before publishing, name the sensitive links on the Data page"
        found.append((suggestion, choice, reason, seconds))
    return found


def explain_obstacle(choice: MethodChoice, graph: Graph, answers: Answers) -> str:
    """Why a defense cannot run on this graph with these secrets; "" if it can."""
    threats, defense = build_threats(answers, graph), choice.make_defense()
    return explain_method(defense, graph) or defense.supports(threats.visible, threats) or ""


def propose_changes(
    view: AuditView, verdict: Verdict, graph: Graph, model: TimeModel | None = None
) -> list[Proposal]:
    """Changes that could alter the decision: the cheapest preset able to clear a release if
    tests are missing, and untried defenses if no release may be published."""
    policy = verdict.policy
    found = []
    is_whole = not isinstance(graph, PartitionedGraph)  # else no preset runs what is missing
    if is_whole and any(r.untried for r in verdict.releases if r.decision != "do_not_publish"):
        preset = next((p for p in PRESETS if can_clear(p, policy)), None)
        if preset is not None:
            reason = "Runs the attacks that the policy requires and that this audit lacks."
            found.append(Proposal(preset, reason))
    if verdict.recommended is None:
        tried = [summary.id for summary in view.releases]
        answers = read_answers(view.spec, policy)
        for advice in choose_defenses(answers, graph, policy, model, tried):
            reason = f"{begin_sentence(advice.reason)}."
            found.append(Proposal(advice.choice, reason))
    return found


def _choose_budget(method: type[Defense], suggestion: Suggestion, policy: Policy) -> Defense:
    """The defense with the largest ε that the policy allows, where it limits it."""
    if not suggestion.limit:
        return method()
    epsilon = policy.find_limit("release", suggestion.limit) or DEFAULT_EPSILON
    return method.model_validate({"epsilon": epsilon / (2 if method.is_reported_twice else 1)})


def build_threats(answers: Answers, graph: Graph) -> Threats:
    """Minimal threats of the requested kinds, for calling `supports`."""
    graph, link = graph.with_private(answers.private, answers.utility), None
    if "links" in answers.secrets and graph.num_edges:
        is_whole = not isinstance(graph, PartitionedGraph)
        pairs = graph.edges[:1] if is_whole else np.zeros((1, 2), np.int64)
        link = LinkThreat(pairs, pairs[:0], 0.0)
    private = answers.private if "attribute" in answers.secrets else None
    attribute, utility = (_split_values(graph, name) for name in (private, answers.utility))
    return Threats(graph, link, attribute, utility=utility)


def _split_values(graph: Graph, column: str | None) -> AttributeThreat | None:
    if column is None:
        return None
    values = graph.column(column)
    is_even = np.arange(len(values.codes)) % 2 == 0
    return AttributeThreat(values, values.known & is_even, values.known & ~is_even)


def read_answers(spec: AuditSpec, policy: Policy) -> Answers:
    """The answers that correspond to this audit."""
    asked = {
        "links": spec.threats.has_links,
        "attribute": spec.threats.private is not None,
        "identity": spec.threats.identity is not None,
    }
    secrets = tuple(secret for secret in SECRETS if asked[secret])
    recipient: Recipient = next((key for key in RECIPIENTS if key == policy.key), "public")
    return Answers(
        recipient,
        secrets,
        private=spec.threats.private,
        utility=spec.disclosure.utility,
        named_links=spec.threats.sensitive_links or (),
    )


def describe_recipient(answers: Answers) -> dict[str, Any]:
    """Fields of an AuditSpec on who receives the release: policy and purpose."""
    policy = find_policy(answers.recipient).model_dump(mode="json")
    return {"policy": policy, "purpose": describe_answers(answers)}


def describe_answers(answers: Answers) -> dict[str, str]:
    """Contents of “Purpose and recipient” in the report."""
    titles = SECRETS | ({"attribute": f"the column {answers.private}"} if answers.private else {})
    secrets = [titles[secret] for secret in answers.secrets]
    kept = USES | (
        {"column": f"predicting the column {answers.utility}"} if answers.utility else {}
    )
    uses = [kept[use] for use in answers.uses]
    answered = {
        "recipient": RECIPIENTS[answers.recipient],
        "knowledge": _enumerate([KNOWLEDGE[k] for k in answers.knowledge])
        or "Nothing beyond the release",
        "secrets": _enumerate(secrets),
        "use": _enumerate(uses),
        "legal_basis": answers.legal_basis,
    }
    return {key: text for key, text in answered.items() if text}


def _enumerate(parts: Sequence[str]) -> str:
    """One line that begins with a capital letter, and none of its parts after the first."""
    return begin_sentence(", ".join(part[:1].lower() + part[1:] for part in parts))


def describe_spec(spec: AuditSpec, policy: Policy) -> dict[str, str]:
    """The same contents for an audit that was started without the guide."""
    answers = read_answers(spec, policy)
    knows = {
        "values": spec.threats.private is not None,
        "method": spec.knowledge.adaptive,
        "links": spec.attacks_released_links,
        "network": spec.threats.identity is not None,
    }
    known = tuple(key for key in KNOWLEDGE if knows[key])
    answered = describe_answers(replace(answers, knowledge=known, uses=()))
    more = [f"the column {name}" for name in spec.threats.more_private]
    secrets = ", ".join([*filter(None, [answered.get("secrets", "")]), *more])
    named = {} if spec.policy is None else {"recipient": policy.title}
    return {**named, "knowledge": answered["knowledge"], "secrets": secrets}


def describe_purpose(spec: AuditSpec, policy: Policy) -> dict[str, str]:
    """Those contents as the audit names them, else by `describe_spec`; the recipient is that of the
    policy."""
    recipient = find_recipient(spec, policy)
    named = {"recipient": recipient} if recipient else {}
    return describe_spec(spec, policy) | spec.purpose | named


def can_clear(preset: Preset, policy: Policy) -> bool:
    """Whether the preset includes every test that the policy requires."""
    enough = set(policy.allowed_costs) <= set(preset.costs)
    knows = preset.adaptive or not policy.attackers.adaptive
    return enough and knows and preset.num_repeats >= policy.repeats


def describe_preset(preset: Preset, answers: Answers, defenses: Sequence[str]) -> str:
    """Title and attacks of a preset with these answers; without a defense none is adaptive."""
    adaptive = runs_adaptive(answers, preset) and bool(defenses)
    return f"{preset.title}: {preset.describe(adaptive)}"


def explain_preset(preset: Preset, answers: Answers) -> str:
    """Sentence on whether the preset can clear a release for the recipient: it needs the policy's
    attacks, and people must be looked for, since nothing leaves that no such attack has read."""
    if not can_clear(preset, find_policy(answers.recipient)):
        return "Can refuse a release for this recipient, not clear one."
    if "identity" in answers.secrets:
        return "Can clear a release for this recipient."
    return f"Can clear a release only if “{SECRETS['identity']}” must not be learned either."
