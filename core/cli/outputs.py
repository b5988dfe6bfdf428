"""Files that a command writes: named and checked before it computes, removes or charges anything,
and moved to their place when all are whole."""

from __future__ import annotations

import argparse
import os
import shlex
import stat
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from core.cli.terminal import make_folder, refuse_folder
from core.errors import InputError

OUTPUTS = ("out", "backup")
"""Options that name what is written; the files that others name are inputs."""

Outputs = Mapping[Path, Iterable[Path]]
"""Record → the files that it will list. The record is written too."""


def add_overwrite(parser: argparse.ArgumentParser) -> None:
    """Add the option that lets other files be replaced."""
    parser.add_argument(
        "--overwrite",
        action="store_true",
        help="replace existing files even if this program did not write them, or they were edited "
        "since; files that the command reads are never replaced",
    )


def add_out(
    parser: argparse.ArgumentParser, metavar: str, about: str, required: bool = True
) -> None:
    """Add the option that names what is written, and the one that lets it replace other files."""
    parser.add_argument("--out", type=Path, required=required, metavar=metavar, help=about)
    add_overwrite(parser)


def check_outputs(
    options: argparse.Namespace, outputs: Outputs, *, are_charged: bool = False
) -> None:
    """Raise InputError if a file that will be written exists and may not be replaced.

    A file that the command reads never may; another one only if it is as the record beside it
    says, or with --overwrite.

    are_charged  whether what is written is drawn anew and charged to the ledger: no such command
                 is resumed, and an earlier release, in whatever format it shares its record and
                 node table with this one, is replaced with --overwrite only
    """
    from core.records import hash_file, load_recorded

    inputs = _list_inputs(options)
    flag = "--backup" if getattr(options, "out", None) is None else "--out"
    for record, files in outputs.items():
        recorded: dict[Path, str] | None = None
        for path in (record, *files):
            status = _find_status(path)
            if status is None or not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
                continue  # a terminal or a pipe loses nothing
            what, other = f"output file '{path.name}'", f"name another {flag}"
            if stat.S_ISDIR(status.st_mode):
                raise InputError(what, "must not be a folder", str(path), other)
            if (status.st_dev, status.st_ino) in inputs or _is_stored(path):
                raise InputError(
                    what, "must not be a file that the command reads", str(path), other
                )
            if options.overwrite:
                continue
            if are_charged:
                rule = "exists, and a publishing run replaces none"
                raise InputError(what, rule, str(path), f"{other}, or add --overwrite")
            recorded = load_recorded(record) if recorded is None else recorded
            if path not in recorded or recorded[path] != hash_file(path):
                rule = "exists, and not as this program wrote it"
                raise InputError(what, rule, str(path), f"add --overwrite, or {other}")


def prepare_output(options: argparse.Namespace) -> None:
    """Check --out, a single file or not given, and create its folder."""
    if options.out is not None:
        check_outputs(options, {options.out: ()})
        make_folder(options.out.parent)


@contextmanager
def stage_outputs(folder: Path) -> Iterator[Path]:
    """A temporary folder, whose files are moved to `folder` if the block ends without an error: a
    cancelled command leaves the earlier ones."""
    try:
        made = tempfile.TemporaryDirectory(prefix=".writing-", dir=folder)
    except OSError as error:
        raise refuse_folder(folder, error) from None
    with made as name:
        yield Path(name)
        for path in list_files(Path(name)):
            target = folder / path.relative_to(name)
            target.parent.mkdir(parents=True, exist_ok=True)
            path.replace(target)


def list_files(folder: Path) -> list[Path]:
    """All files in a folder and below."""
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _list_inputs(options: argparse.Namespace) -> set[tuple[int, int]]:
    """Device and inode of every file that the command may read: those that its options name,
    catalogue's raw files and the database."""
    from core.data.catalogue import list_raw_files
    from core.home import DATABASE, locate_home

    named = [value for name, value in vars(options).items() if name not in OUTPUTS]
    paths = [*_list_named(named), *list_raw_files(), *locate_home().glob(f"{DATABASE}*")]
    found = set()
    for path in paths:
        status = _find_status(path)
        inside = _list_inside(path) if status and stat.S_ISDIR(status.st_mode) else [path]
        for file in inside:
            status = _find_status(file)
            if status is not None:
                found.add((status.st_dev, status.st_ino))
    return found


def _list_named(value: Any) -> Iterator[Path]:
    """Paths that an option's value may name: FILE, FILE,FILE, map:FILE, sqlite:///FILE#TABLE, or
    words of a command line."""
    if isinstance(value, Path):
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _list_named(item)
    elif isinstance(value, str):
        _, _, rest = value.partition(":")
        texts = [value, rest, *value.split(","), value.partition(":///")[2].partition("#")[0]]
        try:
            words = shlex.split(rest)
        except ValueError:
            words = []
        texts += [part for word in words for part in (word, word.partition("=")[2])]
        yield from (Path(text) for text in texts if text)


def _list_inside(folder: Path) -> list[Path]:
    """Files that are read of a dataset's folder, of OGB or PyG."""
    patterns = ("*.csv.gz", "raw/*.csv.gz", "processed/data.pt")
    return [path for pattern in patterns for path in folder.glob(pattern)]


def _is_stored(path: Path) -> bool:
    """Whether the file belongs to the stored graphs and results."""
    from core.audit.store.files import FOLDERS
    from core.home import locate_home

    home, target = locate_home(), path.resolve()
    return any(target.is_relative_to(home / name) for name in FOLDERS)


def _find_status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except (OSError, ValueError):  # not there, or no name of a file
        return None
