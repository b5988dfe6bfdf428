"""Measures: scores and releases → numbers with their uncertainty.

intervals   repeats of a metric → Estimate
ranking     what an attack's scores are worth: AUC, TPR at low FPR, odds, margins, ROC
node_risk   calibrated risk of each person under one attack
ghratio     homophily: what neighbours and structural peers give away
structure   what a release does to the shape of the graph
utility     what a release is still good for
pair_profile  how near hidden, visible and absent pairs are
"""

from core.measures.metrics import METRICS, STATISTICS, MetricInfo

__all__ = ["METRICS", "STATISTICS", "MetricInfo"]
