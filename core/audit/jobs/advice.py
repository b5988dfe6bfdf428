"""Advice as a job on the cluster; what came out lies beside the audit and goes with it."""

from __future__ import annotations

import hashlib
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.audit.advice import Advice, AdviceRequest, compute_advice
from core.audit.jobs.flags import FileProgress, read_progress
from core.audit.spec import AuditSpec
from core.audit.store import files
from core.audit.store.database import Store
from core.audit.view import State
from core.context import Context
from core.device import compute_memory_budget, cpu_device, find_device
from core.errors import AuditError, RunCancelled, describe_unexpected
from core.seeding import Seed

if TYPE_CHECKING:
    from distributed import Future

    from core.audit.jobs.engine import Engine

RESULT = "advice.json"
PRIORITY = 50
"""Above the cells of audits: somebody waits for it."""


@dataclass(frozen=True)
class AdviceProgress:
    """How far the advice on one node is; `advice` is there once it is done."""

    state: State
    fraction: float = 0.0
    message: str = ""
    reason: str = ""
    advice: Advice | None = None

    @property
    def is_active(self) -> bool:
        return self.state in ("queued", "running")


class AdviceJobs:
    """Thread-safe; at most one job a node and audit. Finished advice outlives the process."""

    def __init__(self, store: Store, engine: Engine) -> None:
        self._store, self._engine = store, engine
        self._lock = threading.Lock()
        self._futures: dict[Path, Future[Any]] = {}

    def start(self, audit_id: str, request: AdviceRequest) -> None:
        """Compute the advice anew; nothing if the node's is being computed already."""
        row = self._store.find_audit(audit_id)
        folder = self._find_folder(audit_id, request.node)
        method = request.attack.make("attribute_attack")
        with self._lock:
            running = self._futures.get(folder)
            if running is not None and not running.done():
                return
            folder.mkdir(parents=True, exist_ok=True)
            for name in ("cancel", "progress", RESULT):
                (folder / name).unlink(missing_ok=True)
            spec = AuditSpec.model_validate(row.spec).model_dump_json()
            self._futures[folder] = self._engine.submit(
                _advise_on_worker,
                str(self._store.home),
                spec,
                request.model_dump_json(),
                str(folder),
                key=f"advice-{Seed.from_entropy().root:032x}",
                uses_gpu=method.info.uses_gpu,
                priority=PRIORITY,
            )

    def get(self, audit_id: str, node: str) -> AdviceProgress | None:
        """None where no advice on the node was asked for, or it was lost with its process."""
        folder = self._find_folder(audit_id, node)
        with self._lock:
            future = self._futures.get(folder)
        if future is not None and not future.done():
            fraction, message = read_progress(folder)
            return AdviceProgress("running", fraction, message)
        path = folder / RESULT
        if path.exists():
            advice = Advice.model_validate_json(path.read_text(encoding="utf-8"))
            return AdviceProgress("done", 1.0, advice=advice)
        if future is None:
            return None
        if future.status != "finished":
            is_asked = (folder / "cancel").exists()
            return AdviceProgress(
                "cancelled" if is_asked else "failed",
                reason="" if is_asked else "the worker died; try again",
            )
        state, reason = future.result()
        return AdviceProgress(state, reason=reason)

    def cancel(self, audit_id: str, node: str) -> None:
        """Stop looking for this node's links; what was found so far is dropped."""
        folder = self._find_folder(audit_id, node)
        with self._lock:
            future = self._futures.get(folder)
            if future is not None and not future.done():
                (folder / "cancel").touch()
                if not (folder / "progress").exists():  # it still waits for a worker
                    future.cancel()

    def list_done(self, audit_id: str) -> list[Advice]:
        """All advice that the audit has, in the order of the nodes' ids."""
        parent = files.cancel_path(self._store.home, audit_id).parent / "advice"
        found = [
            Advice.model_validate_json(path.read_text(encoding="utf-8"))
            for path in parent.glob(f"*/{RESULT}")
        ]
        return sorted(found, key=lambda advice: advice.request.node)

    def _find_folder(self, audit_id: str, node: str) -> Path:
        name = hashlib.sha256(node.encode()).hexdigest()[:16]
        return files.cancel_path(self._store.home, audit_id).parent / "advice" / name


def _advise_on_worker(home: str, spec: str, request: str, folder: str) -> tuple[State, str]:
    """State and reason; the advice itself goes to `folder`."""
    import torch

    torch.set_num_threads(1)  # as many workers as cores
    checked = AdviceRequest.model_validate_json(request)
    audited = AuditSpec.model_validate_json(spec)
    uses_gpu = checked.attack.make("attribute_attack").info.uses_gpu
    device = find_device() if uses_gpu else cpu_device()
    context = Context(
        seed=Seed(audited.root_seed),
        device=device,
        progress=FileProgress(Path(folder)),
        memory_budget=compute_memory_budget(device),
    )
    try:
        graph = files.load_graph(Path(home), audited.graph_hash)
        advice = compute_advice(audited, graph, checked, context)
        temporary = Path(folder) / f".{RESULT}"
        temporary.write_text(advice.model_dump_json(indent=1), encoding="utf-8")
        temporary.replace(Path(folder) / RESULT)
    except RunCancelled as error:
        return "cancelled", str(error)
    except AuditError as error:
        return "failed", str(error)
    except Exception as error:
        return "failed", describe_unexpected(error)
    return "done", ""
