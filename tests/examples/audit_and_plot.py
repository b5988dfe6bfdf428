"""Load a graph, audit it and draw the result: `python -m tests.examples.audit_and_plot HOME`."""

import sys
from contextlib import closing
from pathlib import Path

from core.audit.asked.spec import AuditSpec
from core.audit.service import AuditService
from core.data.catalogue import load_dataset
from core.figures.attack_bars import attack_ranking


def main(home: Path) -> None:
    graph = load_dataset("karate").graph
    with closing(AuditService(home)) as service:
        spec = AuditSpec.check_spec(
            {
                "graph_hash": service.save_graph(graph),
                "hide_links": 0.1,
                "attacks": [{"key": "adamic_adar"}, {"key": "katz", "config": {"decay": 0.3}}],
                "defenses": [{"key": "edge_rand", "config": {"epsilon": 4}}],
            }
        )
        audit_id = service.start_audit(spec)
        service.wait(audit_id)
        results = service.get_view(audit_id).results
    print(results[results.metric == "auc"][["release", "method", "value", "low", "high"]])
    attack_ranking(results, "link", "auc").figure.write_html(home / "ranking.html")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
