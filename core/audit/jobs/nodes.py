"""Dask's scheduler and worker without their HTTP: no logs, no lists of jobs, for anybody to read.

What they listen on is the protocol of the cluster alone, which lets in who has its credentials.
"""

from __future__ import annotations

from typing import Any

import distributed


class _WithoutHTTP:
    """For a node of a cluster; Dask would listen even where no route is configured."""

    def start_http_server(self, *_: Any, **__: Any) -> None:
        """Listen nowhere."""


class Scheduler(_WithoutHTTP, distributed.Scheduler):
    """The meeting point of a cluster."""


class Worker(_WithoutHTTP, distributed.Worker):
    """What computes, inside the process that a nanny starts."""
