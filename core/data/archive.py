"""Untrusted zip archives of arrays (.npz, .pt), checked before anything is unpacked."""

from __future__ import annotations

import math
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

import numpy as np

from core.data.text_input import check_file
from core.errors import FormatError, ResourceError

MAX_UNPACKED_BYTES = 2 << 30
MAX_MEMBERS = 10_000
MAX_RATIO = 500
_END_BYTES, _MANY_MEMBERS = 22 + 0xFFFF, 0xFFFF
"""Of the record at a zip file's end: the longest, and the number that stands for larger ones."""

_SMALL = 32 << 20
_CHUNK = 1 << 20
_BROKEN = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    NotImplementedError,
    EOFError,
    zlib.error,
    UnicodeDecodeError,
    struct.error,
)


@contextmanager
def open_archive(path: str | Path) -> Iterator[zipfile.ZipFile]:
    """Open a zip file with distinct members, safe paths and a bounded unpacked size."""
    path = check_file(path)
    file = f"file '{path.name}'"
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            if len(members) > MAX_MEMBERS:
                raise ResourceError(file, f"must have at most {MAX_MEMBERS} members", len(members))
            if len(members) != _count_listed(path, len(members)):
                remedy = "it is damaged: save it again"
                raise FormatError(file, "must list all of its members", remedy=remedy)
            names = [member.filename for member in members]
            for name in names:
                if _leaves_archive(name):
                    raise FormatError(file, "must not name members outside itself", name)
            if len(set(names)) != len(names):
                raise FormatError(file, "must have distinct member names")
            if any(member.flag_bits & 1 for member in members):
                raise FormatError(file, "must not be encrypted")
            total = sum(member.file_size for member in members)
            if total > MAX_UNPACKED_BYTES or total > max(_SMALL, MAX_RATIO * path.stat().st_size):
                raise ResourceError(
                    file,
                    f"must unpack to at most {MAX_UNPACKED_BYTES >> 30} GiB and "
                    f"{MAX_RATIO} times its size",
                    f"{total / 1e6:,.0f} MB",
                    "save it as sparse arrays",
                )
            yield archive
    except (*_BROKEN, OSError):
        raise FormatError(file, "must be a complete zip archive", remedy="save it again") from None


def _count_listed(path: Path, unknown: int) -> int:
    """Number of members by the record at the file's end, which zipfile does not compare: a length
    that a byte changed lets an entry swallow those after it. `unknown` where it is too large."""
    with path.open("rb") as file:
        file.seek(max(path.stat().st_size - _END_BYTES, 0))
        end = file.read()
    (count,) = struct.unpack_from("<H", end, end.rindex(b"PK\x05\x06") + 10)
    return unknown if count == _MANY_MEMBERS else int(count)


def check_contents(archive: zipfile.ZipFile) -> None:
    """Raise FormatError if a member does not match its checksum, which torch does not check."""
    file = f"file '{Path(str(archive.filename)).name}'"
    for name in archive.namelist():
        try:
            with archive.open(name) as stream:
                while stream.read(_CHUNK):
                    pass
        except (*_BROKEN, OSError, KeyError, ValueError):
            raise FormatError(
                file, "must match its checksums", name, "it is damaged: save it again"
            ) from None


def load_array(archive: zipfile.ZipFile, name: str) -> np.ndarray:
    """The array `name` of an npz, in native number types.

    Rejects objects (pickles), headers larger than the data, and data that fail their checksum.
    """
    file = f"file '{Path(str(archive.filename)).name}'"
    what = f"{file}: array '{name}'"
    member = f"{name}.npy"
    try:
        with archive.open(member) as stream:
            version = np.lib.format.read_magic(stream)
            if version == (1, 0):
                header = np.lib.format.read_array_header_1_0(stream)
            elif version == (2, 0):
                header = np.lib.format.read_array_header_2_0(stream)
            else:
                raise FormatError(what, "must be of npy version 1 or 2", version)
            shape, is_fortran, dtype = header
            if dtype.hasobject:
                raise FormatError(
                    what,
                    "must not hold Python objects (they are pickled, and pickles can run code)",
                    str(dtype),
                    "save it as numbers or fixed-length text",
                )
            if any(type(length) is not int or length < 0 for length in shape):
                raise FormatError(what, "must have a shape of whole numbers ≥ 0", str(shape))
            count = math.prod(shape)
            size = archive.getinfo(member).file_size
            if count * dtype.itemsize > size:
                raise FormatError(
                    what,
                    "must hold as much as its header says",
                    f"{count * dtype.itemsize:,} bytes in {size:,}",
                )
            content = stream.read(count * dtype.itemsize)
            if stream.read(1):  # the checksum is looked at where the member ends
                raise FormatError(what, "must hold as much as its header says", "more bytes")
            array = np.frombuffer(content, dtype, count)
    except FormatError:
        raise
    except (*_BROKEN, OSError, ValueError, TypeError, KeyError, SyntaxError) as error:
        raise FormatError(what, "must be a valid array", str(error).split("\n")[0]) from None
    return _to_native(array.reshape(shape, order="F" if is_fortran else "C"))


def _to_native(array: np.ndarray) -> np.ndarray:
    """Convert to the machine's byte order and to types supported by SciPy."""
    dtype = array.dtype.newbyteorder("=")
    if dtype.kind == "f" and dtype.itemsize not in (4, 8):
        dtype = np.dtype(np.float32 if dtype.itemsize == 2 else np.float64)
    return array.astype(dtype, copy=False)


def _leaves_archive(name: str) -> bool:
    parts = PurePosixPath(name.replace("\\", "/")).parts
    return not parts or parts[0] == "/" or ":" in parts[0] or ".." in parts or "\0" in name
