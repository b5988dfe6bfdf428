"""Plants one bug at a time in a scratch copy and says whether the named tests notice.

    python -m tests.mutations [--only N] [--list]

An entry is a file, the text that stands there, the bug, and the tests that must fail with it.
Prints killed or survived per entry and the totals; exit code 1 where one survived or no longer
applies.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
COPIED = ("core", "tests", "assets", "pyproject.toml")
LIMIT_S = 300


@dataclass(frozen=True)
class Mutation:
    """bug: what goes wrong, in words; file, old, new: the edit; tests: pytest's selection."""

    bug: str
    file: str
    old: str
    new: str
    tests: str


BUDGETS = "tests/contract/test_budgets.py"
COST = f"{BUDGETS}::test_what_is_promised_is_what_the_noise_costs"
SPLITS = "tests/data/test_splits.py"
CHECK = "tests/privacy/test_claim_check.py"
RANKING = "tests/measures/test_ranking.py"
INTERVALS = "tests/measures/test_intervals.py"
LEDGER = "tests/privacy/test_ledger.py"
BLOCKS = "tests/algorithms/test_block_model.py"
NAMES = "tests/attacks/attribute/test_block_model.py"
ELSEWHERE = "tests/attacks/attribute/test_shadow_graph.py"
MATCHER = "tests/attacks/identity/test_supervised_matcher.py"
CONCLUSIONS = "tests/findings/test_conclusions.py"
HONESTY = "tests/findings/test_honesty.py"
VERDICT = "tests/findings/test_verdict.py"

MUTATIONS = (
    # -- defenses and their budgets ---------------------------------------------------------
    Mutation(
        "a defense's guesses follow the neighbours' values alone",
        "core/defenses/imputation.py",
        "[_spread_values(graph, part, inner), _learn_values(graph, part, inner)]",
        "[_spread_values(graph, part, inner), _spread_values(graph, part, inner)]",
        "tests/defenses/test_imputation.py",
    ),
    Mutation(
        "a defense learns from the part of the known values that it judges by",
        "core/defenses/imputation.py",
        "part = replace(threat, known=codes != MISSING)",
        "part = threat",
        "tests/defenses/test_imputation.py",
    ),
    Mutation(
        "a defense learns from a handful of known values",
        "core/defenses/imputation.py",
        "threat.known.sum() < FEWEST",
        "threat.known.sum() < 0",
        "tests/defenses/test_imputation.py",
    ),
    Mutation(
        "the bluntest power within a standard error is taken",
        "core/defenses/imputation.py",
        "<= mean[best] + error).max()",
        "<= mean[best] + error).min()",
        "tests/defenses/test_imputation.py",
    ),
    Mutation(
        "LapGraph's pairs spend all of ε",
        "core/defenses/lap_graph.py",
        'scale = account.spend(account.share_left, what="pairs")',
        "scale = 1.0 / account.epsilon",
        f"{COST}[lap_graph0]",
    ),
    Mutation(
        "GAP's sensitivity is 1 instead of √2",
        "core/defenses/gap.py",
        "noise.draw_for(sums, math.sqrt(2.0))",
        "noise.draw_for(sums, 1.0)",
        f"{COST}[gap0]",
    ),
    Mutation(
        "DPRR's degree noise is halved",
        "core/defenses/dprr.py",
        'account.add_number_noise(graph.degrees, self.delta, 1.0, "degrees")',
        'account.add_number_noise(graph.degrees, self.delta, 0.5, "degrees")',
        f"{COST}[dprr0]",
    ),
    Mutation(
        "Blink's rows spend all of ε",
        "core/defenses/blink.py",
        'bits = account.spend_bits(account.share_left, "rows")',
        "account.spend_bits(account.share_left); bits = Bits.of(self.epsilon)",
        f"{COST}[blink0]",
    ),
    Mutation(
        "EdgeRand flips at half its probability",
        "core/defenses/edge_rand.py",
        "flip = account.spend_bits().flip",
        "flip = account.spend_bits().flip / 2",
        f"{COST}[edge_rand0]",
    ),
    Mutation(
        "SymRR flips at half its probability",
        "core/defenses/sym_rr.py",
        "flip = account.spend_bits().flip",
        "flip = account.spend_bits().flip / 2",
        f"{COST}[sym_rr0]",
    ),
    Mutation(
        "PrivGraph's degrees count a link once",
        "core/defenses/priv_graph.py",
        "(2.0, 1.0)",
        "(1.0, 1.0)",
        f"{COST}[priv_graph0]",
    ),
    Mutation(
        "PrivGraph's choices ignore that a link has two ends",
        "core/defenses/priv_graph.py",
        "account.spend_choice(third, 2.0,",
        "account.spend_choice(third, 1.0,",
        f"{COST}[priv_graph0]",
    ),
    Mutation(
        "LDPGen's rounds spend half of what they say",
        "core/defenses/ldpgen.py",
        "0.5, 1.0, purpose",
        "0.5, 0.5, purpose",
        f"{COST}[ldpgen0]",
    ),
    Mutation(
        "L-DpGCN's degrees are reported with half the noise",
        "core/defenses/l_dpgcn.py",
        'account.spend(self.count_share, what="degrees")',
        'account.spend(self.count_share, 0.5, "degrees")',
        f"{COST}[l_dpgcn0]",
    ),
    Mutation(
        "the number of links of a synthesis costs nothing",
        "core/defenses/edge_synthesis.py",
        "account.add_count_noise(count, self.count_share, 1,",
        "account.add_count_noise(count, self.count_share, 1e-9,",
        f"{COST}[gap0]",
    ),
    Mutation(
        "Randomised response claims one report of a link",
        "core/defenses/randomized_response.py",
        "Account(LINK_TWICE,",
        "Account(LINK_ONCE,",
        f"{BUDGETS} -k randomized_response",
    ),
    Mutation(
        "Solitude receives reports at twice its ε",
        "core/defenses/solitude.py",
        "RandomizedResponse(epsilon=self.epsilon)",
        "RandomizedResponse(epsilon=2 * self.epsilon)",
        f"{COST}[solitude0]",
    ),
    # -- privacy ----------------------------------------------------------------------------
    Mutation(
        "accounts may be overdrawn",
        "core/privacy/budget.py",
        "if not 0 < spending.share <= self.share_left + _ROUNDING:",
        "if not 0 < spending.share:",
        "tests/privacy/test_budget.py",
    ),
    Mutation(
        "the guarantee names the budget, not what was spent",
        "core/privacy/budget.py",
        "total = self.epsilon * float(sum(spending.share for spending in spendings))",
        "total = self.epsilon",
        "tests/privacy/test_budget.py",
    ),
    Mutation(
        "a Laplace scale ignores the sensitivity",
        "core/privacy/budget.py",
        "return sensitivity / self._take(share, what)",
        "return 1.0 / self._take(share, what)",
        "tests/privacy/test_budget.py",
    ),
    Mutation(
        "Gaussian sums get all of ε although a part is spent",
        "core/privacy/budget.py",
        "amount = self.epsilon - sum(spending.epsilon for spending in self.spendings)",
        "amount = self.epsilon",
        f"{COST}[gap0]",
    ),
    Mutation(
        "Gaussian noise has half its deviation",
        "core/privacy/gaussian.py",
        "return self._draw(values.shape) * self.multiplier * sensitivity",
        "return self._draw(values.shape) * self.multiplier * sensitivity / 2",
        "tests/privacy/test_gaussian.py",
    ),
    Mutation(
        "noise of a publishing run comes from torch",
        "core/privacy/gaussian.py",
        "if self._context.is_publishing:",
        "if False:",
        "tests/privacy/test_gaussian.py",
    ),
    Mutation(
        "bits flip too rarely",
        "core/privacy/mechanisms.py",
        "return 1.0 / (1.0 + math.exp(epsilon)) if",
        "return 1.0 / (2.0 + math.exp(epsilon)) if",
        "tests/privacy/test_mechanisms.py",
    ),
    Mutation(
        "Laplace noise has half its scale",
        "core/privacy/mechanisms.py",
        "return values + context.rng(purpose).laplace(0.0, scale, values.shape)",
        "return values + context.rng(purpose).laplace(0.0, scale / 2, values.shape)",
        "tests/privacy/test_mechanisms.py",
    ),
    Mutation(
        "geometric noise is one-sided",
        "core/privacy/mechanisms.py",
        "rng.geometric(success, values.shape) - rng.geometric(success, values.shape)",
        "rng.geometric(success, values.shape) - 1",
        "tests/privacy/test_mechanisms.py",
    ),
    Mutation(
        "μ-GDP's δ loses a term",
        "core/privacy/accounting.py",
        "return math.exp(first) * -math.expm1(min(second - first, 0.0))",
        "return math.exp(first) * 0.5",
        "tests/privacy/test_accounting.py",
    ),
    Mutation(
        "T Gaussian steps cost as much as one",
        "core/privacy/accounting.py",
        "return one * math.sqrt(steps)",
        "return one",
        "tests/privacy/test_accounting.py",
    ),
    Mutation(
        "capped links are not capped",
        "core/privacy/edge_count.py",
        "if room[i] > 0 and room[j] > 0:",
        "if room[i] > 0 or room[j] > 0:",
        "tests/privacy/test_edge_count.py",
    ),
    Mutation(
        "the label leaves out that both ends report",
        "core/release.py",
        "return self.epsilon if self.epsilon_transcript is None else self.epsilon_transcript",
        "return self.epsilon",
        LEDGER,
    ),
    Mutation(
        "a private release keeps its true counts",
        "core/release.py",
        "return replace(self, curves={}, facts={}, link_scores=None)",
        "return replace(self, curves={}, link_scores=None)",
        f"{BUDGETS} -k leaves",
    ),
    Mutation(
        "the claim check judges its rule on the trials that chose it",
        "core/privacy/claim_check.py",
        "np.array(part[num_choosing:])",
        "np.array(part)",
        f"{CHECK} -k chose_it",
    ),
    Mutation(
        "the claim check does not share its error among claims",
        "core/privacy/claim_check.py",
        "alpha = (1 - CONFIDENCE) / len(LOOKS) / num_claims\n    delta",
        "alpha = (1 - CONFIDENCE) / len(LOOKS)\n    delta",
        f"{CHECK} -k share_the_error_rate",
    ),
    Mutation(
        "the claim check holds both reports to one ε",
        "core/privacy/claim_check.py",
        "claimed = guarantee.epsilon_received or 0.0\n    trials",
        "claimed = guarantee.epsilon or 0.0\n    trials",
        f"{CHECK} -k blink",
    ),
    Mutation(
        "the claim check does not play publishing runs",
        "core/privacy/claim_check.py",
        "progress=_Inner(context.progress), is_publishing=True)",
        "progress=_Inner(context.progress))",
        f"{CHECK} -k plays_publishing",
    ),
    Mutation(
        "a second download counts again",
        "core/privacy/ledger.py",
        "{})[entry.run] = entry",
        "{})[str(id(entry))] = entry",
        LEDGER,
    ),
    Mutation(
        "a budget is checked without the new run",
        "core/privacy/ledger.py",
        "if total.epsilon > budget * (1 + _ROUNDING):",
        "if total.epsilon - new.epsilon > budget * (1 + _ROUNDING):",
        LEDGER,
    ),
    # -- splits -----------------------------------------------------------------------------
    Mutation(
        "test links stay in the visible graph",
        "core/data/splits.py",
        "visible = graph.without_edges(np.concatenate([hidden, test]))",
        "visible = graph.without_edges(hidden)",
        SPLITS,
    ),
    Mutation(
        "withheld links stay in the visible graph",
        "core/data/splits.py",
        "visible = graph.without_edges(np.concatenate([hidden, test]))",
        "visible = graph.without_edges(test)",
        SPLITS,
    ),
    Mutation(
        "non-links are drawn on the visible graph",
        "core/data/splits.py",
        "sample_non_links(graph, len(hidden) + len(test), seed.rng",
        "sample_non_links(graph.without_edges(hidden), len(hidden) + len(test), seed.rng",
        SPLITS,
    ),
    Mutation(
        "the prior is over all pairs",
        "core/data/splits.py",
        "candidates = graph.num_pairs - visible.num_edges",
        "candidates = graph.num_pairs",
        SPLITS,
    ),
    Mutation(
        "known nodes are hidden as well",
        "core/data/splits.py",
        "attribute.known & ~mask)",
        "attribute.known)",
        SPLITS,
    ),
    Mutation(
        "test links overlap hidden ones",
        "core/data/splits.py",
        "graph.edges[np.sort(order[:num_hidden])], order[num_hidden:]",
        "graph.edges[np.sort(order[:num_hidden])], order",
        SPLITS,
    ),
    # -- measures ---------------------------------------------------------------------------
    Mutation(
        "ties count fully for the attacker",
        "core/measures/ranking.py",
        "    ranks = rankdata(scores)\n",
        '    ranks = rankdata(scores, "max")\n',
        RANKING,
    ),
    Mutation(
        "a ROC between two thresholds takes the next one",
        "core/measures/ranking.py",
        "self.tpr[last] + share * (self.tpr[following] - self.tpr[last])",
        "self.tpr[following]",
        RANKING,
    ),
    Mutation(
        "attribute attacks are scored on known nodes too",
        "core/measures/ranking.py",
        "    codes, raw = threat.attribute.codes[nodes], probabilities.probabilities[nodes]\n",
        "    nodes = np.flatnonzero(threat.hidden | threat.known)\n"
        "    codes, raw = threat.attribute.codes[nodes], probabilities.probabilities[nodes]\n",
        RANKING,
    ),
    Mutation(
        "a rate below what the sample resolves is shown",
        "core/measures/ranking.py",
        "if negatives < needed:",
        "if negatives < 0:",
        RANKING,
    ),
    Mutation(
        "a perfect ranking of few cases is certain",
        "core/measures/ranking.py",
        "return variance if variance > 0 else share_variance(auc * smaller, smaller)",
        "return variance",
        RANKING,
    ),
    Mutation(
        "more repeats shrink the error of the graph itself",
        "core/measures/intervals.py",
        "variance = max(overlap * within + between, within / repeats)",
        "variance = within / repeats",
        INTERVALS,
    ),
    Mutation(
        "intervals of 90 % are called 95 %",
        "core/measures/intervals.py",
        "LEVEL = 0.95",
        "LEVEL = 0.90",
        INTERVALS,
    ),
    Mutation(
        "Clopper–Pearson with one tail too few",
        "core/measures/intervals.py",
        "    tail = (1 - level) / 2\n",
        "    tail = 1 - level\n",
        INTERVALS,
    ),
    # -- blocks -----------------------------------------------------------------------------
    Mutation(
        "what passes along a link comes back along it",
        "core/algorithms/block_kernels.py",
        "found[a] = product[a] / sent[e - start, a]",
        "found[a] = product[a]",
        BLOCKS,
    ),
    Mutation(
        "links that are not there do not count",
        "core/algorithms/block_kernels.py",
        "-theta[i] * missed[a] - scale",
        "-scale",
        BLOCKS,
    ),
    Mutation(
        "more blocks cost nothing",
        "core/algorithms/block_model.py",
        "return self.evidence - 0.5",
        "return self.evidence - 0.0",
        BLOCKS,
    ),
    Mutation(
        "a block is named by the classes' shares backwards",
        "core/models/naming.py",
        "(namings == code) @ sizes",
        "(namings == len(shares) - 1 - code) @ sizes",
        NAMES,
    ),
    Mutation(
        "every block has a class",
        "core/models/naming.py",
        "weights.append(float(evidence.sum()) - np.log(2 * len(CAUTIONS)))",
        "weights.append(-1e9)",
        NAMES,
    ),
    # -- another graph ----------------------------------------------------------------------
    Mutation(
        "classes of two graphs meet by their place",
        "core/models/shadow_graph.py",
        "codes: np.ndarray = table[column.codes]",
        "codes: np.ndarray = column.codes",
        ELSEWHERE,
    ),
    Mutation(
        "neighbours elsewhere are taken to be alike",
        "core/models/shadow_graph.py",
        "return pool(members, weights)",
        "return pool(members, np.abs(weights))",
        ELSEWHERE,
    ),
    Mutation(
        "the attacker's graph is no part of the cell's key",
        "core/audit/plan.py",
        'others = {"elsewhere": spec.attacker_graph}',
        "others = {}",
        "tests/audit/test_attacker_graph.py",
    ),
    Mutation(
        "what another graph teaches is rehearsed between random halves",
        "core/models/rehearsal.py",
        "labels = find_communities(graph, rng)",
        "labels = rng.permutation(graph.num_nodes)",
        "tests/models/test_rehearsal.py",
    ),
    Mutation(
        "who was told of is judged in the rehearsal",
        "core/models/rehearsal.py",
        "judged = ~is_told[part] & (codes[part] != MISSING)",
        "judged = codes[part] != MISSING",
        "tests/models/test_rehearsal.py",
    ),
    Mutation(
        "what another graph teaches is said as surely as it was learned",
        "core/attacks/attribute/neighbourhood_classifier.py",
        "return ClassProbabilities(temper(chances, prior, sureness), facts)",
        "return ClassProbabilities(temper(chances, prior, 1.0), facts)",
        ELSEWHERE,
    ),
    Mutation(
        "columns that the attacker's graph lacks are asked of it",
        "core/audit/shadow_columns.py",
        "tuple(column for column in columns if not gaps[column])",
        "tuple(columns)",
        "tests/audit/test_attacker_graph.py",
    ),
    Mutation(
        "who is taught by another graph knows other people here",
        "core/audit/knowledge.py",
        'spread = "" if name == "transfer" else name',
        "spread = name",
        "tests/audit/test_attacker_graph.py",
    ),
    Mutation(
        "another graph's numbers are cut at quartiles of its own",
        "core/audit/threat_sampling.py",
        "column = cut_alike(graph.attribute(private.name), private)",
        "column = graph.attribute(private.name)",
        "tests/audit/test_attacker_graph.py",
    ),
    Mutation(
        "a border lies at a number of the class above it",
        "core/data/shared_numbers.py",
        "(np.array(low) + np.array(high)) / 2",
        "np.array(high)",
        "tests/data/test_shared_numbers.py",
    ),
    Mutation(
        "old specs have every column taught",
        "core/audit/spec.py",
        "            return (self.private,)\n        named",
        "            return (self.private, *self.more_private)\n        named",
        "tests/audit/test_attacker_graph.py",
    ),
    # -- identities -------------------------------------------------------------------------
    Mutation(
        "Who is alone with what is known counts as found although it fits somebody else",
        "core/measures/identity.py",
        '"share_unique": contains & (sizes == 1),',
        '"share_unique": sizes == 1,',
        "tests/measures/test_identity.py",
    ),
    Mutation(
        "Witnesses that may be two people's count twice",
        "core/algorithms/witnesses.py",
        "possible[w] += min(reach[x], 1.0) * weights[x]",
        "possible[w] += reach[x] * weights[x]",
        f"{MATCHER}::test_expected_witnesses_equal_a_naive_sum",
    ),
    Mutation(
        "A rehearsal keeps all links, whatever overlap is assumed",
        "core/attacks/identity/rehearsal.py",
        "share = min(overlap, wanted / max(len(links), 1))",
        "share = min(1.0, wanted / max(len(links), 1))",
        f"{MATCHER}::test_a_rehearsal_is_as_agreed",
    ),
    Mutation(
        "Every match of a rehearsal counts as right",
        "core/attacks/identity/match_course.py",
        "right.append((best == truth)[self._asked])",
        "right.append((best >= 0)[self._asked])",
        f"{MATCHER}::test_its_confidence_is_kept",
    ),
    Mutation(
        "The matcher asks for those only who are in the release, which it cannot know",
        "core/attacks/identity/supervised_matcher.py",
        "asked[threat.seeds[:, 0]] = False",
        "asked[threat.seeds[:, 0]] = False; asked &= threat.wanted",
        f"{MATCHER}::test_it_does_not_look_at_the_truth",
    ),
    # -- audit ------------------------------------------------------------------------------
    Mutation(
        "the overlap of repeats is always 1",
        "core/audit/assemble.py",
        "case.id: _compute_overlap(spec, case)",
        "case.id: 1.0",
        "tests/audit/test_overlap.py",
    ),
    Mutation(
        "budgets of other graphs are added up",
        "core/audit/ledger.py",
        ".where(LedgerRow.graph_hash == graph_hash)",
        ".where(sa.true())",
        "tests/audit/test_ledger.py -k same_time",
    ),
    Mutation(
        "links removed are counted as kept",
        "core/audit/describe.py",
        '"links_removed": float(before.num_edges - kept),',
        '"links_removed": float(kept),',
        "tests/audit/test_execute.py",
    ),
    Mutation(
        "a publishing run is drawn from a repeatable generator",
        "core/seeding.py",
        "return Seed(secrets.randbits(256), is_secret=True)",
        "return Seed(secrets.randbits(256))",
        "tests/test_stream_cipher.py",
    ),
    # -- verdict and words ------------------------------------------------------------------
    Mutation(
        "the words rest on the ranking alone, not on few false alarms",
        "core/findings/beat_baseline.py",
        'LOW_METRICS = ("tpr_at_fpr_0.001", "tpr_at_fpr_0.01")',
        "LOW_METRICS: tuple[str, ...] = ()",
        CONCLUSIONS,
    ),
    Mutation(
        "every difference is clear",
        "core/findings/differences.py",
        "    return paired.low > 0 or paired.high < 0",
        "    return True",
        f"tests/findings/test_differences.py {HONESTY}",
    ),
    Mutation(
        "two numbers without an interval differ",
        "core/findings/differences.py",
        "return bool(abs(first.value - second.value) > find_noise(first, second))",
        "return bool(not abs(first.value - second.value) <= find_noise(first, second))",
        f"{HONESTY} {CONCLUSIONS}",
    ),
    Mutation(
        "the trade-off recommends the original",
        "core/findings/tradeoff.py",
        "barred = [r in refused or r == ORIGINAL or is_twin(r) for r in table.release]",
        "barred = [r in refused or is_twin(r) for r in table.release]",
        f"{CONCLUSIONS} tests/figures/test_tradeoff.py",
    ),
    Mutation(
        "the trade-off recommends what another threat refuses",
        "core/findings/tradeoff.py",
        "barred = [r in refused or r == ORIGINAL",
        "barred = [r == ORIGINAL",
        CONCLUSIONS,
    ),
    Mutation(
        "people stand in the order of their risk, the majority first",
        "core/findings/people.py",
        '["advantage", "sure", "support", "node"],',
        '["risk", "sure", "support", "node"],',
        "tests/findings/test_people.py",
    ),
    Mutation(
        "a link attack is explained by the neighbours' classes",
        "core/findings/node_reasons.py",
        'elif row.threat == "link":',
        'elif row.threat == "no link":',
        "tests/findings/test_node_reasons.py",
    ),
    Mutation(
        "homophily that still runs is told as a missing column",
        "core/findings/homophily.py",
        "if view.summary.state.is_active:",
        "if not view.summary.state.is_active:",
        CONCLUSIONS,
    ),
    Mutation(
        "any narrower gap is narrowed",
        "core/findings/pair_profile.py",
        "beyond = abs(gaps[ORIGINAL]) - abs(others[best]) > find_noise(*rows)",
        "beyond = abs(gaps[ORIGINAL]) > abs(others[best])",
        CONCLUSIONS,
    ),
    Mutation(
        "a limit is kept by the value, whatever its interval",
        "core/findings/verdict.py",
        "self.evidence.high <= self.limit.limit",
        "(self.evidence.value or 0) <= self.limit.limit",
        VERDICT,
    ),
    Mutation(
        "a release is judged by its mildest limit",
        "core/findings/verdict.py",
        "return max(found, key=SEVERITY.__getitem__)",
        "return min(found, key=SEVERITY.__getitem__)",
        VERDICT,
    ),
    Mutation(
        "what was not tried is not missed",
        "core/findings/verdict.py",
        "if self.untried or not any(",
        "if not any(",
        VERDICT,
    ),
    Mutation(
        "the original is recommended",
        "core/findings/verdict.py",
        "        and verdict.release != ORIGINAL\n",
        "",
        VERDICT,
    ),
    Mutation(
        "the mildest attack stands for all",
        "core/findings/evidence.py",
        "worst = rows.loc[rows.value.idxmax()]",
        "worst = rows.loc[rows.value.idxmin()]",
        VERDICT,
    ),
    Mutation(
        "only the worst attack's interval is held against a limit",
        "core/findings/evidence.py",
        "high = None if unsure else float(rows.high.max())",
        "high = None if unsure else float(worst.high)",
        VERDICT,
    ),
    Mutation(
        "a data-independent baseline that passes is told as the original",
        "core/findings/verdict_words.py",
        'if original is not None and original.decision == "publish":',
        'if counts["publish"]:',
        CONCLUSIONS,
    ),
    Mutation(
        "weights count for nothing in the calibration",
        "core/measures/isotonic.py",
        "isotonic_regression(means, weights=total)",
        "isotonic_regression(means)",
        "tests/measures/test_isotonic.py",
    ),
    Mutation(
        "headlines tell numbers for names",
        "core/findings/attackers.py",
        "return spell(_find_headlines(nodes))",
        "return _find_headlines(nodes)",
        "tests/figures/test_attackers.py",
    ),
    Mutation(
        "people of the same names in another order get each other's halves",
        "core/findings/attackers.py",
        "is other.names\n\n    def __hash__(self) -> int:\n        return id(self.names)",
        "is not None\n\n    def __hash__(self) -> int:\n        return 0",
        "tests/figures/test_attackers.py",
    ),
    Mutation(
        "a difference of independent rows is as sure as one of them",
        "core/findings/differences.py",
        "float(second.value - first.value), find_noise(first, second)",
        "float(second.value - first.value), find_noise(second)",
        "tests/findings/test_differences.py",
    ),
    Mutation(
        "less than chance keeps the interval of more",
        "core/findings/answers.py",
        "format_interval(-gap.value, -gap.high, -gap.low)",
        "format_interval(-gap.value, gap.low, gap.high)",
        CONCLUSIONS,
    ),
    Mutation(
        "a message goes back to where it came from",
        "core/algorithms/beliefs.py",
        "cavity -= np.take(messages, self._reverse, axis=1)",
        "cavity -= 0.0 * np.take(messages, self._reverse, axis=1)",
        "tests/models/test_beliefs.py",
    ),
)


def main() -> int:
    """Run all entries, or one."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--only", type=int, metavar="N", help="number of one entry")
    parser.add_argument("--list", action="store_true", help="only print the entries")
    options = parser.parse_args()
    chosen = [options.only] if options.only is not None else range(1, len(MUTATIONS) + 1)
    if options.list:
        for number in chosen:
            print(f"{number:3}  {MUTATIONS[number - 1].bug}")
        return 0
    verdicts = []
    with tempfile.TemporaryDirectory() as folder:
        scratch = _copy(Path(folder))
        for number in chosen:
            verdict = run_mutation(MUTATIONS[number - 1], scratch)
            verdicts.append(verdict)
            print(f"{number:3}  {verdict:9}  {MUTATIONS[number - 1].bug}", flush=True)
    killed = verdicts.count("killed")
    print(f"{killed} of {len(verdicts)} killed")
    return 0 if killed == len(verdicts) else 1


def run_mutation(mutation: Mutation, scratch: Path) -> str:
    """Plant the bug, run its tests, take it out again: killed, survived or stale."""
    path = scratch / mutation.file
    text = path.read_text(encoding="utf-8")
    if text.count(mutation.old) != 1:
        return "stale"
    path.write_text(text.replace(mutation.old, mutation.new), encoding="utf-8")
    try:
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
        done = subprocess.run(
            [*command, *mutation.tests.split()],
            cwd=scratch,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            timeout=LIMIT_S,
        )
    except subprocess.TimeoutExpired:
        return "killed"
    finally:
        path.write_text(text, encoding="utf-8")
    # 1: tests failed; anything else is no verdict, such as a selection without tests.
    return {0: "survived", 1: "killed"}.get(done.returncode, f"error {done.returncode}")


def _copy(folder: Path) -> Path:
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            ignored = shutil.ignore_patterns("__pycache__", "screenshots")
            shutil.copytree(source, folder / name, ignore=ignored)
        else:
            shutil.copy(source, folder / name)
    return folder


if __name__ == "__main__":
    sys.exit(main())
