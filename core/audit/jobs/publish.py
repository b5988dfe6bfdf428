"""A publishing run: one release with operating-system entropy, nothing of which is recorded.

An audit must be repeatable, so its noise comes from a seed; whoever knows the seed can take the
noise away again. What leaves the house is therefore made anew, by a seed that nobody keeps.
"""

from __future__ import annotations

import shutil
import tempfile
import threading
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.audit.describe import count_changes, describe_release, restore_release
from core.audit.jobs.flags import FileProgress, read_progress
from core.audit.plan import find_pairs, prepare_graph
from core.audit.provenance import describe_packages
from core.audit.spec import AuditSpec, MethodChoice
from core.audit.store import files
from core.audit.store.database import Store
from core.audit.view import PublishProgress
from core.context import Context
from core.data.splits import draw_threats
from core.device import compute_memory_budget, cpu_device, find_device
from core.errors import AuditError, RunCancelled, UnsupportedError, describe_unexpected
from core.graph import Graph
from core.methods import Defense
from core.progress import Progress
from core.release import Release
from core.seeding import Seed
from core.threats import Threats

if TYPE_CHECKING:
    from core.audit.jobs.engine import Engine


def publish_release(
    graph: Graph,
    choice: MethodChoice,
    fields: dict[str, Any] | None = None,
    progress: Progress | None = None,
) -> Release:
    """Defend the whole graph, less the sensitive links that `fields` names.

    fields  private, utility, known, hide_links, sensitive_links as in AuditSpec. No link is
            held back for tests. Raises UnsupportedError where the defense declines.
    """
    defense = choice.make("defense")
    assert isinstance(defense, Defense)
    seed = Seed.from_entropy()
    threats = _set_up(graph, fields or {}, seed.child("threats"))
    reason = defense.supports(threats.visible, threats)
    if reason:
        raise UnsupportedError(defense.label, f"cannot run here: {reason}")
    device = find_device() if defense.info.uses_gpu else cpu_device()
    context = Context(
        seed=seed.child("publish"),
        device=device,
        progress=progress or Progress(),
        memory_budget=compute_memory_budget(device),
        is_publishing=True,
    )
    release = defense.publish(threats.visible, threats, context)
    if release.guarantee.is_private:
        return release.strip()
    return replace(release, facts={**count_changes(graph, release.graph), **release.facts})


def describe_publishing(release: Release) -> dict[str, Any]:
    """Provenance of a published release.

    No seed, and no hash of the original: who knows all but one link could try both graphs.
    """
    return {
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "randomness": "operating-system entropy, not recorded",
        **describe_release(release),
        **describe_packages(),
    }


class PublishRun:
    """A publishing run on the cluster, watched by this process only."""

    def __init__(
        self,
        store: Store,
        engine: Engine,
        graph_hash: str,
        choice: MethodChoice,
        fields: dict[str, Any],
    ) -> None:
        self.id = f"{Seed.from_entropy().root:032x}"[:10]
        self._store, self._graph_hash = store, graph_hash
        parent = store.home / "publishing"
        parent.mkdir(parents=True, exist_ok=True)
        self._folder = Path(tempfile.mkdtemp(dir=parent))
        self._result: PublishProgress | None = None
        uses_gpu = choice.make("defense").info.uses_gpu
        self._future = engine.submit(
            _publish_on_worker,
            str(store.home),
            graph_hash,
            choice.model_dump_json(),
            fields,
            str(self._folder),
            key=f"publish-{self.id}",
            uses_gpu=uses_gpu,
            priority=1,
        )
        self._lock = threading.Lock()

    def cancel(self) -> None:
        """Ask the worker to stop."""
        (self._folder / "cancel").touch()

    def get_progress(self) -> PublishProgress:
        """How far it is; the release with it once it is done."""
        with self._lock:
            if self._result is None:
                if not self._future.done():
                    return PublishProgress("running", *read_progress(self._folder))
                self._result = self._collect()
                shutil.rmtree(self._folder, ignore_errors=True)
            return self._result

    def _collect(self) -> PublishProgress:
        if self._future.status != "finished":
            return PublishProgress("failed", 1.0, "", "the worker died; try again")
        state, reason, description = self._future.result()
        if state != "done":
            return PublishProgress(state, 1.0, "", reason)
        graph = self._store.load_graph(self._graph_hash)
        arrays = files.read_npz(self._folder / "release.npz")
        release = restore_release(description, files.unpack_release(arrays, graph))
        return PublishProgress("done", 1.0, "", "", release, describe_publishing(release))


def _publish_on_worker(
    home: str, graph_hash: str, choice: str, fields: dict[str, Any], folder: str
) -> tuple[str, str, dict[str, Any]]:
    """State, reason and description; the graph goes to `folder`."""
    graph = files.load_graph(Path(home), graph_hash)
    method = MethodChoice.model_validate_json(choice)
    try:
        release = publish_release(graph, method, fields, FileProgress(Path(folder)))
    except RunCancelled as error:
        return "cancelled", str(error), {}
    except AuditError as error:
        return "failed", str(error), {}
    except Exception as error:
        return "failed", describe_unexpected(error), {}
    files.write_npz(Path(folder) / "release.npz", files.pack_release(release.graph, graph))
    return "done", "", describe_release(release)


def _set_up(graph: Graph, fields: dict[str, Any], seed: Seed) -> Threats:
    """What the defense is told: the whole graph, and the threats that the owner named."""
    spec = AuditSpec(graph_hash=graph.content_hash, **fields)
    graph = prepare_graph(spec, graph)
    given = spec.sensitive_links
    return draw_threats(
        graph,
        seed,
        private=spec.private,
        utility=spec.utility,
        known=spec.known,
        hide_links=spec.hide_links,
        sensitive_links=None if given is None else find_pairs(graph, given),
        test_links=0.0,
        utility_train=spec.utility_train,
    )
