"""Where results go."""

from __future__ import annotations

from pathlib import Path

from core.errors import InputError


def make_folder(folder: Path) -> None:
    """The folder, made where it is not there; InputError where it cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            "output folder", "must be one that can be written", str(folder), error.strerror or ""
        ) from None
