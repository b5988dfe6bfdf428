"""Metrics of attacks: what each is called and what it means, in the order of the tables."""

from __future__ import annotations

from core.measures.metric_info import INFINITY, POSITIVE, SHARE, MetricInfo


def list_attack_metrics() -> list[MetricInfo]:
    """How well an attacker does, whatever it is after."""
    return [
        MetricInfo(
            "auc",
            "Attack AUC",
            "How well the attacker ranks the truth above the rest: 0.5 is guessing, 1 is certain.",
            better_for_privacy="lower",
            range=SHARE,
            chance=0.5,
        ),
        MetricInfo(
            "accuracy",
            "Attack accuracy",
            "Share of the hidden values that the attacker guesses right. Compare it with the "
            "class prior attacker: large classes are easy to guess.",
            better_for_privacy="lower",
            range=SHARE,
        ),
        MetricInfo(
            "balanced_accuracy",
            "Attack balanced accuracy",
            "Share guessed right within each class, averaged over the classes.",
            better_for_privacy="lower",
            range=SHARE,
        ),
        MetricInfo(
            "tpr_at_fpr_0.01",
            "Found at 1 % false alarms",
            "Share of the secrets that the attacker names while accusing wrongly in 1 % of the "
            "cases: what a careful attacker finds.",
            better_for_privacy="lower",
            range=SHARE,
            chance=0.01,
        ),
        MetricInfo(
            "tpr_at_fpr_0.001",
            "Found at 0.1 % false alarms",
            "Share of the secrets that the attacker names while accusing wrongly in 1 of 1,000 "
            "cases. Needs at least 1,000 negative cases.",
            better_for_privacy="lower",
            range=SHARE,
            chance=0.001,
        ),
        MetricInfo(
            "advantage_share",
            "People exposed",
            "Share of the people at stake on whose secret the attacker puts more than 0.2 above "
            "the base rate. An attacker who guesses exposes nobody.",
            better_for_privacy="lower",
            range=SHARE,
            chance=0.0,
        ),
        MetricInfo(
            "group_gap",
            "Gap between groups",
            "How much more the attacker gains on the group of people it serves best than on the "
            "one it serves worst; the groups are chosen on other people than are compared.",
            better_for_privacy="lower",
            range=(-1.0, 1.0),
            chance=0.0,
        ),
        MetricInfo(
            "margin",
            "Margin of the true class",
            "Probability of the true class minus the highest other one. Near 0 is safe; far below "
            "0 leaks as well, because the attacker only has to invert his guess. Compare it with "
            "the class prior attacker, whose margin is above 0 wherever one class is larger.",
            better_for_privacy="lower",
            range=(-1.0, 1.0),
        ),
        MetricInfo(
            "margin_gain",
            "Margin above the class shares",
            "How much larger the margin of the true class is than the class shares alone make it, "
            "with the attacker's word calibrated. 0: the attacker knows nothing of anybody.",
            better_for_privacy="lower",
            range=(-2.0, 2.0),
            chance=0.0,
        ),
        MetricInfo(
            "margin_absolute",
            "Absolute margin",
            "Mean distance of the margin from 0, the attacker's certainty either way; compare it "
            "with the class prior attacker's.",
            better_for_privacy="lower",
            range=SHARE,
        ),
        MetricInfo(
            "error_reduction",
            "Error taken away",
            "For a private number: by how much the attacker's estimates are nearer the truth than "
            "the median of the known numbers, as a share of that error. 0: no nearer; 1: exact.",
            better_for_privacy="lower",
            range=(-INFINITY, 1.0),
            chance=0.0,
        ),
        MetricInfo(
            "close_share",
            "Numbers estimated closely",
            "For a private number: share of the people whose number the attacker estimates to "
            "within a quarter of the column's interquartile range either way. Compare it with the "
            "class prior attacker, who says the median of everybody.",
            better_for_privacy="lower",
            range=SHARE,
        ),
        MetricInfo(
            "absolute_error",
            "Mean error of the estimate",
            "For a private number: how far the attacker's estimate is from the truth on average, "
            "in the unit of the column.",
            better_for_privacy="higher",
            range=POSITIVE,
        ),
        MetricInfo(
            "share_below_zero",
            "Margins below zero",
            "Share of the hidden nodes whose true class the attacker ranks below another.",
            better_for_privacy="higher",
            range=SHARE,
        ),
    ]


def list_identity_metrics() -> list[MetricInfo]:
    """How well people are found by what is known of them."""
    rows = [
        (
            "expected_found",
            "Expected share found",
            "Share of the people whom an attacker finds who guesses among all that fit what is "
            "known of a person.",
        ),
        (
            "share_unique",
            "Unique people",
            "Share of the people with links whom what is known fits alone: whoever knows it "
            "has found them.",
        ),
        (
            "share_below_5",
            "Hidden among fewer than five",
            "Share of the people with links whom what is known fits together with at most "
            "three others.",
        ),
        (
            "hits_at_1",
            "Found by a second graph",
            "Share of the people whom the attacker, holding a second graph of them, takes for "
            "the right node of the release.",
        ),
        (
            "hits_at_10",
            "Among ten candidates",
            "Share of the people who are among the ten nodes that the attacker thinks likeliest.",
        ),
        (
            "mrr",
            "Mean reciprocal rank",
            "One over the place of the right node in the attacker's list of ten, 0 where it is "
            "not in it, averaged over the people.",
        ),
        (
            "precision_at_0.9_confidence",
            "Right when sure",
            "Share of the attacker's matches that are right, among those of which he is at least "
            "90 % sure.",
        ),
        (
            "named_at_0.9_confidence",
            "Named for sure",
            "Share of the people of whose node the attacker is at least 90 % sure.",
        ),
    ]
    shares = [
        MetricInfo(key, title, text, better_for_privacy="lower", range=SHARE)
        for key, title, text in rows
    ]
    smallest = MetricInfo(
        "k_anonymity",
        "Smallest group",
        "The k of k-anonymity: how many people share what is known, in the smallest such group.",
        unit="people",
        better_for_privacy="higher",
        range=POSITIVE,
    )
    return [*shares, smallest]


def list_link_metrics() -> list[MetricInfo]:
    """Of attackers on links alone: among all pairs, and inside a release."""
    rows = (
        *(
            (
                f"precision_at_{count}",
                f"Right among the first {count} named",
                f"Share of withheld links among the {count} unlinked pairs of all that the "
                "attacker would name first. A guesser's share is that of withheld links among all "
                "such pairs, next to nothing.",
                None,
            )
            for count in (50, 100, 500)
        ),
        (
            "released_auc",
            "Released links: AUC",
            "How well the attacker ranks the links that went into the release above all other "
            "pairs: 0.5 is guessing, 1 is certain.",
            0.5,
        ),
        (
            "released_precision",
            "Released links: real ones",
            "Share of the links of the release that are links of the graph that was defended.",
            None,
        ),
        (
            "released_precision_top_tenth",
            "Released links: real ones among the likeliest tenth",
            "Share of real links among the tenth of the release's links that the attacker "
            "believes most.",
            None,
        ),
        (
            "recovered_at_precision_0.9",
            "Links recovered, nine in ten right",
            "Largest share of the graph's links that the attacker can name so that nine in ten of "
            "the pairs it names are links.",
            0.0,
        ),
        (
            "recovered_at_precision_0.99",
            "Links recovered, 99 in 100 right",
            "Largest share of the graph's links that the attacker can name so that 99 in 100 of "
            "the pairs it names are links.",
            0.0,
        ),
        (
            "released_tpr_at_fpr_0.001",
            "Released links found at 0.1 % false alarms",
            "Share of the graph's links that the attacker names while naming 1 in 1,000 of the "
            "other pairs.",
            0.001,
        ),
    )
    return [
        MetricInfo(key, title, text, better_for_privacy="lower", range=SHARE, chance=chance)
        for key, title, text, chance in rows
    ]
