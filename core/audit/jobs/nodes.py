"""Dask's scheduler and worker without their HTTP servers, which would expose logs and jobs.

They listen on the cluster's authenticated protocol only.
"""

from __future__ import annotations

from typing import Any

import distributed


class _WithoutHTTP:
    """Mixin for cluster nodes; Dask would listen even without configured routes."""

    def start_http_server(self, *_: Any, **__: Any) -> None:
        """Do not listen."""


class Scheduler(_WithoutHTTP, distributed.Scheduler):
    """Scheduler without HTTP."""


class Worker(_WithoutHTTP, distributed.Worker):
    """Worker without HTTP, inside the process that a nanny starts."""
