"""Measures: scores and releases → figures with their uncertainty.

intervals   repeats of a metric → Estimate
ranking     value of an attack's scores: AUC, TPR at low FPR, odds, margins, ROC
node_risk   calibrated risk of each node under one attack
ghratio     homophily with neighbours and structural peers
structure   structural change by a release
utility     usefulness of a release for learning
pair_profile  proximity of hidden, visible and absent pairs
"""
