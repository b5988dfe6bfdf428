"""Retries while the database or the disk is unavailable."""

from __future__ import annotations

import errno
import logging
import math
import os
import sqlite3
import time
from collections.abc import Callable
from typing import TypeVar

import sqlalchemy as sa

from core.errors import AuditError, InputError

T = TypeVar("T")
Notify = Callable[[str], object]

log = logging.getLogger(__name__)

RETRY_S = 600.0
"""Seconds an audit waits before it ends as interrupted; AUDIT_RETRY_S overrides."""

FIRST_WAIT_S, LONGEST_WAIT_S = 0.5, 10.0

DAMAGE = ("malformed", "not a database")
"""SQLite's messages for files that are not databases."""

_SQLITE = ("locked", "busy", "full", "I/O", "unable to open", "readonly")
_DISK = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.ESTALE}


class StoreError(AuditError):
    """The database or the disk was unavailable for too long."""


def keep_trying(
    action: Callable[[], T],
    notify: Notify = log.warning,
    check: Callable[[], None] = lambda: None,
    retry_s: float | None = None,
) -> T:
    """Result of `action`, retried while the disk is full or the database lost or locked.

    action      atomic: a transaction, or a file put in place
    notify      called with one line for each new cause
    check       raises to stop waiting, for example after a cancel
    retry_s     then StoreError; find_retry_limit() by default
    """
    limit = find_retry_limit() if retry_s is None else retry_s
    started, wait, reported = time.monotonic(), FIRST_WAIT_S, ""
    while True:
        try:
            return action()
        except (sa.exc.DBAPIError, OSError) as error:
            problem = describe_trouble(error)
            if problem is None:
                if any(word in str(error) for word in DAMAGE):
                    reason = "the database is damaged; python -m core doctor says what is left"
                    raise StoreError(f"{reason}: {getattr(error, 'orig', error)}") from error
                raise
            if time.monotonic() - started >= limit:
                raise StoreError(f"{problem}; gave up after {limit:g} s") from error
            if problem != reported:
                reported = problem
                notify(f"paused: {problem}; trying again")
        check()
        time.sleep(wait)
        wait = min(2 * wait, LONGEST_WAIT_S)


def find_retry_limit() -> float:
    """AUDIT_RETRY_S, else RETRY_S; raises InputError unless it is a number of seconds."""
    given = os.environ.get("AUDIT_RETRY_S") or str(RETRY_S)
    try:
        limit = float(given)
    except ValueError:
        limit = math.nan
    if not limit >= 0:
        raise InputError("AUDIT_RETRY_S", "must be a number of seconds, 0 or more", given)
    return limit


def describe_trouble(error: BaseException) -> str | None:
    """One line on a temporary cause; None for all others."""
    if isinstance(error, sa.exc.OperationalError | sa.exc.InterfaceError) or (
        isinstance(error, sa.exc.DBAPIError) and error.connection_invalidated
    ):
        text = (str(error.orig).strip().splitlines() or ["no connection"])[0]
        if isinstance(error.orig, sqlite3.Error) and not any(word in text for word in _SQLITE):
            return None
        return f"the database: {text}"
    if isinstance(error, OSError) and error.errno in _DISK:
        return f"the disk: {error.strerror}"
    return None
