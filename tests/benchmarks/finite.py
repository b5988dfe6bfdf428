"""Every script's last line: what it prints is checked while it is printed."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Callable
from typing import TextIO

NOT_FINITE = re.compile(r"(?<![A-Za-z_])(?:nan|inf)(?![A-Za-z_])", re.IGNORECASE)


class _Checked(io.TextIOBase):
    """Passes text on; remembers whether it had figures, and lines with one that is not finite."""

    def __init__(self, shown: TextIO) -> None:
        self._shown, self._line = shown, ""
        self.has_figures, self.broken = False, ""

    def write(self, text: str) -> int:
        *ended, self._line = (self._line + text).split("\n")
        for line in ended:
            self.check(line)
        return self._shown.write(text)

    def flush(self) -> None:
        self._shown.flush()

    def check(self, line: str = "") -> None:
        line = line or self._line
        self.has_figures |= any(map(str.isdigit, line))
        if NOT_FINITE.search(line):
            self.broken = self.broken or line


def print_finite(main: Callable[..., object], *arguments: object) -> None:
    """Call a script's `main`; exits with a message where it printed `nan`, `inf` or no figure, and
    with the number that it returns."""
    checked = _Checked(sys.stdout)
    sys.stdout = checked  # type: ignore[assignment]
    try:
        code = main(*arguments)
    finally:
        sys.stdout = checked._shown
    checked.check()
    if checked.broken:
        sys.exit(f"not a finite figure: {checked.broken.strip()}")
    if not checked.has_figures:
        sys.exit("no figure was printed")
    if code:
        sys.exit(int(code))  # type: ignore[call-overload]
