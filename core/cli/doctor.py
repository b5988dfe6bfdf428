"""`doctor`: check and repair a home."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import closing
from pathlib import Path

from core.cli.outputs import add_overwrite, check_outputs
from core.cli.team import open_person
from core.cli.terminal import say
from core.errors import AccessError


def add_doctor(doctor: argparse.ArgumentParser) -> None:
    """Options of `doctor`."""
    doctor.add_argument(
        "--repair",
        action="store_true",
        help="set damaged parts aside, remove what belongs to nothing, close permissions",
    )
    which = doctor.add_mutually_exclusive_group()
    which.add_argument("--backup", type=Path, metavar="FILE", help="all of it as a tar archive")
    which.add_argument("--restore", type=Path, metavar="FILE", help="a backup into an empty home")
    add_overwrite(doctor)
    doctor.set_defaults(run=run_doctor)


def run_doctor(options: argparse.Namespace) -> int:
    """Print one line per finding, then sizes; 1 if something remains to be done."""
    from core.audit.store.checkup import (
        check_database,
        check_home,
        check_own_database,
        measure_home,
        restore_backup,
        write_backup,
    )
    from core.audit.store.database import Store
    from core.audit.store.ledger import list_all_entries
    from core.audit.store.team import Team
    from core.findings.ledger import describe_restored
    from core.home import find_home
    from core.words import count_noun

    home = find_home()
    if options.restore is not None:
        if os.environ.get("AUDIT_TOKEN"):  # an empty home knows nobody's
            raise AccessError("doctor --restore: whose token this is cannot be told; unset it")
        restore_backup(options.restore, home)
    if options.backup is not None:
        check_outputs(options, {options.backup: ()})
        check_own_database(home)
    findings = check_database(home)
    if not findings:
        with closing(Store(home)) as store:
            if not open_person(Team(store)).has("administrator"):
                raise AccessError("doctor is for people with the role administrator only")
            if options.restore is not None:
                say(describe_restored(list_all_entries(store)))
            if options.backup is None:
                findings += check_home(store, options.repair)
    if options.backup is not None:
        say(f"{write_backup(home, options.backup):,} bytes in {options.backup}")
        return 0
    for finding in findings:
        sys.stdout.write(f"{finding.kind}: {finding.what}; {finding.remedy}\n")
    sizes = measure_home(home)
    shown = ", ".join(f"{name} {size:,}" for name, size in sizes.items())
    sys.stdout.write(f"bytes: {shown}\n")
    left = sum(not finding.is_mended for finding in findings)
    say(f"{count_noun(len(findings), 'finding')}, {len(findings) - left} mended; {home}")
    return 1 if left else 0
