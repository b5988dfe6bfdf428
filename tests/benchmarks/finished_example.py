"""Makes assets/example.tar.xz, the finished audit that the Overview opens.

    python -m tests.benchmarks.finished_example [--out FILE] [--home FOLDER]

The guide's answers for colleagues on a generated network, ten releases, three of them of one
defense. It takes about ten minutes of two cores. Twice the same version on one machine gives the
same file; `tests/audit/test_archive.py` fails where a version of a method has moved since. With
`--home` an interrupted run goes on.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from core.audit.asked.answers import Answers, make_fields
from core.audit.asked.presets import PRESETS
from core.audit.asked.spec import AuditSpec
from core.audit.service import AuditService
from core.audit.store.archive import EXAMPLE, pack_audit
from core.audit.store.database import Store
from core.audit.store.states import State
from core.data.synthetic import generate_social
from core.findings.guide import describe_recipient
from core.findings.policy import find_policy
from core.findings.verdict import judge
from tests.benchmarks.finite import print_finite

PEOPLE, REPEATS = 300, 3
NAME = "Finished example"
ANSWERS = Answers(
    recipient="internal",
    secrets=("links", "attribute", "identity"),
    knowledge=("values",),
    uses=("statistics", "column"),
    private="affiliation",
    utility="label",
)
DEFENSES = (
    "gps_sampling",
    "ppgsl",
    "netfense",
    "privdpr",
    "blink:epsilon=1",
    "blink:epsilon=3",
    *(f"random_deletion:strength={strength}" for strength in (0.3, 0.6, 0.9)),
)
"""With the data-independent baseline of PrivDPR these are ten."""


def make_spec() -> AuditSpec:
    """The audit as the guide would ask for it."""
    graph = generate_social(PEOPLE)
    return AuditSpec.check_spec(
        {
            "graph_name": graph.name,
            "graph_hash": graph.content_hash,
            **make_fields(ANSWERS, PRESETS[0], DEFENSES),
            **describe_recipient(ANSWERS),
            "publish_columns": [ANSWERS.utility],
            "num_repeats": REPEATS,
        }
    )


def make_example(home: Path) -> bytes:
    """Audit, lay out the map, pack."""
    service = AuditService(home)
    try:
        graph_hash = service.save_graph(generate_social(PEOPLE))
        spec = make_spec()
        audit_id = service.find_same_audit(spec)
        if audit_id is None:
            audit_id = service.start_audit(spec, NAME)
        else:
            service.resume_audit(audit_id)
        layout = service.layouts.start(graph_hash)
        service.wait(audit_id)
        service.layouts.wait(layout)
        view = service.get_view(audit_id)
        assert view.summary.state is State.DONE, view.summary.state
        assert not view.summary.cells_failed, view.summary.cells_failed
        verdict = judge(view, find_policy(ANSWERS.recipient))
        for release in verdict.releases:
            states = [f"{check.limit.name} {check.state}" for check in release.checks]
            open_ = [text for text in states if not text.endswith((" met", " not_tested"))]
            print(release.release, release.decision, *open_, *release.open_points, sep="; ")
    finally:
        service.close()
    return pack_audit(Store(home), audit_id)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--out", type=Path, default=EXAMPLE)
    parser.add_argument("--home", type=Path)
    options = parser.parse_args()
    os.environ |= {"AUDIT_DEVICE": "cpu", "OMP_NUM_THREADS": "1"}
    os.environ.pop("AUDIT_DATABASE", None)
    with tempfile.TemporaryDirectory() as folder:
        content = make_example(options.home or Path(folder) / "home")
    options.out.write_bytes(content)
    print(f"{options.out}: {len(content):,} bytes")
    sys.exit(len(content) > 2_000_000)


if __name__ == "__main__":
    print_finite(main)
