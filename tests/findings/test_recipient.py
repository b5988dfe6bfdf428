"""A policy that asks for less than the recipient's is warned of, wherever the decision is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.cli.audit import judge_audit
from core.findings.policy import find_policy
from core.findings.recipient import RECIPIENTS, explain_lax_policy, find_recipient
from core.findings.verdict import judge
from core.report import ReportOptions
from core.report.document import build_content
from core.report.gate import build_gate, format_html, format_markdown
from tests.oracles.audits import list_attack_keys, make_audit, make_noise

KEYS = tuple(RECIPIENTS)
PARTNER = {"recipient": RECIPIENTS["partner"]}
HOUSE = find_policy("partner").model_copy(update={"key": "house", "title": "House"})


@pytest.mark.parametrize("recipient", KEYS)
@pytest.mark.parametrize("key", KEYS)
def test_the_policy_of_a_recipient_who_is_trusted_more_is_laxer(recipient, key):
    text = explain_lax_policy({"recipient": RECIPIENTS[recipient]}, find_policy(key))
    assert bool(text) == (KEYS.index(key) > KEYS.index(recipient))


def change_limits(**fields):
    """House limits of which the first has these fields."""
    first, *others = HOUSE.limits
    return HOUSE.model_copy(
        update={"limits": (first.model_copy(update=fields), *others)} if fields else {}
    )


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        (change_limits(), ""),
        (change_limits(limit=0.01), ""),
        (change_limits(limit=0.5), "1 of 12 limits are laxer or missing."),
        (change_limits(weight="review"), "1 of 12 limits"),
        (change_limits(optional=True), "1 of 12 limits"),
        (change_limits(methods=("katz",)), "1 of 12 limits"),
        (change_limits(metric="accuracy"), "1 of 12 limits"),
        (change_limits(threat="included"), "1 of 12 limits"),
        (HOUSE.model_copy(update={"repeats": 2}), ": fewer tests are required."),
        (HOUSE.model_copy(update={"effort": "instant"}), ": fewer tests are required."),
        (HOUSE.model_copy(update={"effort": "minutes", "repeats": 9}), ""),
    ],
)
def test_a_policy_is_compared_by_what_it_asks_for(policy, words):
    text = explain_lax_policy(PARTNER, policy)
    assert (words in text) if words else text == ""


def test_who_is_named_in_other_words_has_no_policy_to_compare_with():
    for purpose in ({}, {"recipient": "a university"}):
        assert explain_lax_policy(purpose, find_policy("internal")) == ""


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("named", [*RECIPIENTS.values(), "a university"])
def test_the_recipient_printed_is_that_of_the_policy_chosen(key, named):
    """ "Recipient: Colleagues, in a controlled room. Policy: Public", on the signed page too."""
    attacks = list_attack_keys()
    view = make_audit(make_noise(("original", "random_deletion"), attacks), attacks)
    own = find_policy("internal").model_dump(mode="json")
    spec = view.spec.update(policy=own, purpose={"recipient": named})
    policy = find_policy(key)
    told = named if key == "internal" else RECIPIENTS[key]
    page = build_content(replace(view, spec=spec), ReportOptions(policy=policy, sections=()))
    rows = {row["name"]: str(row) for row in page[0]["summary"][0]["rows"]}
    assert told in rows["Recipient"]
    assert find_recipient(spec, policy) == told
    assert find_recipient(spec.update(policy=None), policy) == named
    assert bool(explain_lax_policy(spec.purpose, policy)) == (
        named in RECIPIENTS.values() and KEYS.index(key) > list(RECIPIENTS.values()).index(named)
    )


@pytest.mark.parametrize("key", ["internal", "partner"])
def test_report_command_and_files_warn_alike(key):
    """ "Recipient: A partner under contract. Policy: Internal", without a word."""
    attacks = list_attack_keys()
    view = make_audit(make_noise(("original", "random_deletion"), attacks), attacks)
    policy = find_policy(key)
    spec = view.spec.update(policy=policy.model_dump(mode="json"), purpose=PARTNER)
    view = replace(view, spec=spec)
    warning = judge(view, policy).policy_warning
    assert bool(warning) == (key == "internal")
    said: list[str] = []
    content, _ = judge_audit(view, said.append)
    assert content["verdict"]["policy_warning"] == warning
    assert [text for text in said if "laxer" in text] == [f"warning: {warning}"] * bool(warning)
    page = build_content(view, ReportOptions(sections=()))[0]["summary"]
    told = ["".join(s["text"] for s in b["spans"]) for b in page if b["kind"] == "warning"]
    assert [text for text in told if "laxer" in text] == [warning] * bool(warning)
    gate = build_gate(view, 0)
    for text in (format_markdown(gate), format_html(gate)):
        assert ("is laxer than that of the recipient" in text) == bool(warning)
