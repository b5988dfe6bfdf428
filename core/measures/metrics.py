"""What every metric is called, which way is good, and what it means in plain words.

Figures, pages and the report read titles and directions here and nowhere else.
"""

from __future__ import annotations

from core.measures.attack_metrics import (
    list_attack_metrics,
    list_identity_metrics,
    list_link_metrics,
)
from core.measures.metric_info import MetricInfo
from core.measures.release_metrics import (
    list_homophily_metrics,
    list_pair_metrics,
    list_structure_metrics,
    list_utility_metrics,
)

METRICS: dict[str, MetricInfo] = {
    info.key: info
    for info in (
        *list_attack_metrics(),
        *list_link_metrics(),
        *list_identity_metrics(),
        *list_homophily_metrics(),
        *list_utility_metrics(),
        *list_structure_metrics(),
        *list_pair_metrics(),
    )
}
"""Every metric by key, in the order in which tables show them."""
