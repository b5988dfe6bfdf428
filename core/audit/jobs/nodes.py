"""Dask's scheduler and worker without their HTTP servers, which would expose logs and jobs.

They listen on the cluster's authenticated protocol only.
"""

from __future__ import annotations

from typing import Any

import distributed
from distributed.protocol import pickle


class _WithoutHTTP:
    """Mixin for cluster nodes; Dask would listen even without configured routes."""

    def start_http_server(self, *_: Any, **__: Any) -> None:
        """Do not listen."""


class Scheduler(_WithoutHTTP, distributed.Scheduler):
    """Scheduler without HTTP."""


class Worker(_WithoutHTTP, distributed.Worker):
    """Worker without HTTP, inside the process that a nanny starts."""


def call(payload: bytes, *_: Any) -> Any:
    """Result of a pickled function and its arguments; what else is given only orders the work.

    The scheduler unpickles what it passes on: of a function it would import the module, a second
    of work before the first cell. Like every task the bytes come from the cluster's own clients,
    who alone have its credentials.
    """
    function, arguments = pickle.loads(payload)
    return function(*arguments)
