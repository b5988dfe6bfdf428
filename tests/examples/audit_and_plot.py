"""Load a graph, audit it and draw the result: `python -m tests.examples.audit_and_plot HOME`."""

import sys
from pathlib import Path

from core.audit.run import run_inline
from core.audit.spec import AuditSpec
from core.data.catalogue import load_dataset
from core.figures.ranking import attack_ranking

home = Path(sys.argv[1])
graph = load_dataset("karate").graph
spec = AuditSpec.check_spec(
    {
        "graph_hash": graph.content_hash,
        "hide_links": 0.1,
        "attacks": [{"key": "adamic_adar"}, {"key": "katz", "config": {"decay": 0.3}}],
        "defenses": [{"key": "edge_rand", "config": {"epsilon": 4}}],
    }
)
view = run_inline(spec, graph, home)
print(view.results[view.results.metric == "auc"][["release", "method", "value", "low", "high"]])
attack_ranking(view.results, "link", "auc").figure.write_html(home / "ranking.html")
