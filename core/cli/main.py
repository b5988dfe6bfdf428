"""The command line: `python -m core audit | judge | publish | …`; `--help` lists the commands.

Exit codes: 0 done; 1 done, but some parts failed (listed in the results) or a claim of differential
privacy was refuted; 2 invalid input, with one line `error: …`; 3 done, but the policy allows no
release; 130 cancelled.
"""

from __future__ import annotations

import argparse
import gc
import logging
import os
import signal
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from core.cli.advise import add_advise, add_check_claim
from core.cli.arguments import split_private
from core.cli.audit import add_audit
from core.cli.benchmark import add_benchmark
from core.cli.cluster import add_scheduler, add_worker
from core.cli.doctor import add_doctor
from core.cli.inspect import add_inspect
from core.cli.judge import add_judge
from core.cli.listing import add_methods
from core.cli.mistakes import explain_parsing, explain_unknown, find_first_mistake
from core.cli.publish import add_ledger, add_publish
from core.cli.search import add_search
from core.cli.team import add_people, add_share, add_token, add_trail
from core.cli.terminal import say
from core.errors import AuditError, InputError, RunCancelled

COMMANDS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None]]] = {
    "methods": ("list all attacks and defenses", add_methods),
    "inspect": ("how a file is read: the use of each column", add_inspect),
    "audit": ("attack a graph and defended releases of it", add_audit),
    "search": ("find a release that a policy lets leave", add_search),
    "judge": ("attack a release that was made elsewhere", add_judge),
    "benchmark": ("compare attacks and defenses on several graphs", add_benchmark),
    "check-claim": ("try to refute the guarantee of a defense", add_check_claim),
    "advise": ("which links of one person to hide", add_advise),
    "scheduler": ("the meeting point of a cluster", add_scheduler),
    "worker": ("computes for the scheduler at ADDRESS", add_worker),
    "doctor": ("check, repair, back up or restore AUDIT_HOME", add_doctor),
    "publish": ("make one release to be handed over", add_publish),
    "ledger": ("what the publishing runs of a graph have spent together", add_ledger),
    "trail": ("who did what, newest first", add_trail),
    "people": ("who has signed in, and their roles", add_people),
    "token": ("make, list or revoke tokens for commands", add_token),
    "share": ("let somebody read an audit", add_share),
}
"""Command → its help, and the function that adds its options when it is used: those generated from
a spec import the methods, which listing the commands need not wait for."""


class Parser(argparse.ArgumentParser):
    """Parser that reports errors on one line; `add_options` adds options on first use."""

    def __init__(
        self,
        *names: Any,
        add_options: Callable[[argparse.ArgumentParser], None] | None = None,
        **keywords: Any,
    ) -> None:
        super().__init__(*names, **keywords)
        self._add_options = add_options

    def complete(self) -> None:
        """Add the deferred options."""
        if self._add_options is not None:
            self._add_options(self)
            self._add_options = None

    def parse_known_args(self, *words: Any, **keywords: Any) -> Any:
        """As argparse, with all options added; `--out` may be missing, which `main` tells after
        other mistakes."""
        self.complete()
        out = next((a for a in self._actions if a.dest == "out" and a.required), None)
        if out is not None and not {"-h", "--help"} & set(words[0] or ()):
            out.required = False
        options, unknown = super().parse_known_args(*words, **keywords)
        if unknown:
            raise explain_unknown(unknown, self._option_string_actions, f"{self.prog} --help")
        if out is not None and options.out is None:
            options.missing = f"{self.prog} --help"
        return options, unknown

    def error(self, message: str) -> NoReturn:
        """Raise the message as an InputError, for uniform errors."""
        message = message.replace("the following arguments are required:", "needs")
        raise explain_parsing(message, f"{self.prog} --help")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; exit codes as in the module's docstring."""
    options = argparse.Namespace()
    try:
        options = build_parser().parse_args(arguments)
        check_texts(options)
        split_private(options)
        if hasattr(options, "missing"):
            raise InputError("command", "needs --out", remedy=f"see: {options.missing}")
        code: int = options.run(options)
        sys.stdout.flush()  # a reader that went away is noticed here
        return code
    except KeyboardInterrupt:
        return say("cancelled", code=130)
    except RunCancelled as error:
        return say(str(error), code=130)
    except AuditError as error:
        return say(f"error: {find_first_mistake(options, error)}", code=2)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        name = f" '{error.filename}'" if error.filename else ""
        return say(f"error: file{name} cannot be used; {error.strerror or error}", code=2)
    except Exception as error:
        if os.environ.get("AUDIT_DEBUG"):
            raise
        text = f"{type(error).__name__}: {error}"
        return say(f"error: internal error; {text}; AUDIT_DEBUG=1 shows where", code=1)


def check_texts(options: argparse.Namespace) -> None:
    """Raise InputError for an option whose bytes are not valid text."""
    for name, value in vars(options).items():
        for text in value if isinstance(value, list) else [value]:
            try:
                str(text).encode()
            except UnicodeEncodeError:
                shown = ascii(str(text))[1:-1]
                raise InputError(f"--{name.replace('_', '-')}", "must be UTF-8", shown) from None


def build_parser() -> Parser:
    """All commands and their options."""
    parser = Parser(prog="python -m core", description="Audits of graphs of people.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, (about, add_options) in COMMANDS.items():
        commands.add_parser(name, help=about, add_options=add_options)
    return parser


def accept_terminate() -> None:
    """Treat SIGTERM as Ctrl-C: exit code 130, finished work is kept.

    Inherited signal settings stay: a script's `&` ignores SIGINT, `nohup` and the like ignore or
    block signals.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})


def ensure_utf8() -> None:
    """Start again in UTF-8 mode where the locale would refuse the names of files in UTF-8."""
    if sys.getfilesystemencoding() != "utf-8" and os.environ.get("PYTHONUTF8") != "1":
        os.environ["PYTHONUTF8"] = "1"
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


def run() -> NoReturn:
    """The entry point of `python -m core` and `graph-audit`."""
    ensure_utf8()
    os.umask(0o077)  # what is written is about people
    gc.set_threshold(100_000)  # imports make many objects and hardly any garbage
    accept_terminate()
    if not os.environ.get("AUDIT_DEBUG"):
        logging.disable()  # what a user should know is said in one line
    code = main()
    sys.stdout.flush()
    os._exit(code)  # Python takes most of a second to take the libraries down
