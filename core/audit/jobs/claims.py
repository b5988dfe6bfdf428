"""Claim checks of releases, as jobs of their audit.

A check plays the distinguishing game (core.privacy.claim_check) with the settings of a release's
defense. A guarantee must hold for every pair of neighbouring graphs, so the game uses a tiny pair
and no part of the audited graph. Audit, release and number of trials determine the outcome.
"""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict
from sqlalchemy.engine import Row

from core.audit.asked.method_choice import MethodChoice
from core.audit.asked.spec import AuditSpec
from core.audit.jobs.job import JobContext, Jobs, read_progress
from core.audit.jobs.publish import describe_publishing
from core.audit.results.view import ClaimRun
from core.audit.store.states import State
from core.context import Context
from core.errors import InputError
from core.privacy.claim_check import MIN_TRIALS, ClaimCheck, check_claim
from core.progress import Progress
from core.seeding import Seed

MAX_TRIALS = 100_000


class ClaimRequest(BaseModel):
    """choice: configured defense of the release; root_seed: the audit's."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    release: str
    choice: MethodChoice
    trials: int
    root_seed: int = 0
    num_claims: int = 1


class ClaimJobs(Jobs[ClaimRequest, ClaimRun]):
    """Claim checks; a finished one is not repeated."""

    name: ClassVar[str] = "claim"
    request: ClassVar[type[BaseModel]] = ClaimRequest
    is_kept: ClassVar[bool] = True

    def start(self, audit_id: str, release: str, trials: int) -> str:
        """Check the guarantee of a release in the background; returns the check's id.

        A finished or running check with as many trials is reused. Raises InputError if the release
        is not a defended one of the audit.
        """
        check_trials(trials)
        spec = AuditSpec.model_validate(self._store.find_audit(audit_id).spec)
        choices = {choice.id: choice for choice in spec.defenses}
        if release not in choices:
            raise InputError(
                "release",
                "must be a defended one of the audit",
                release,
                "known: " + (", ".join(choices) or "none"),
            )
        request = ClaimRequest(
            release=release,
            choice=choices[release],
            trials=trials,
            root_seed=spec.root_seed,
            num_claims=count_claims(spec),
        )
        return self.submit(request, audit_id, release=release)

    @classmethod
    def format_parts(cls, request: ClaimRequest) -> tuple[Any, ...]:
        return request.release, request.trials

    @classmethod
    def compute(cls, request: ClaimRequest, job: JobContext) -> dict[str, Any]:
        check = run_claim_check(
            request.choice, request.trials, request.root_seed, job.progress, request.num_claims
        )
        return check.describe()

    @classmethod
    def read(cls, row: Row[Any], state: State) -> ClaimRun:
        return ClaimRun(
            **read_progress(row, state),
            release=row.release,
            trials=row.request["trials"],
            check=ClaimCheck.restore(row.result) if row.result else None,
        )


def check_trials(trials: int) -> None:
    """Raise InputError for too few trials to refute anything, or too many to run."""
    if not MIN_TRIALS <= trials <= MAX_TRIALS:
        raise InputError("number of trials", f"must be {MIN_TRIALS} to {MAX_TRIALS:,}", trials)


def count_claims(spec: AuditSpec) -> int:
    """Number of checkable claims of an audit; their checks share one error rate."""
    kinds = (choice.make("defense") for choice in spec.defenses)
    return max(sum(method.info.group.endswith("DP") for method in kinds), 1)


def run_claim_check(
    choice: MethodChoice,
    trials: int | None,
    root_seed: int = 0,
    progress: Progress | None = None,
    num_claims: int = 1,
) -> ClaimCheck:
    """Run the check in this process; raises UnsupportedError for a defense without guarantee.

    trials  None: as many as needed to refute the claim
    """
    defense = choice.make_defense()
    seed = Seed(root_seed).child("claim", choice.id, trials)
    context = Context(seed=seed, progress=progress or Progress())
    return check_claim(
        defense, context, trials=trials, describe=describe_publishing, num_claims=num_claims
    )
