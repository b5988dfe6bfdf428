"""Release policies: limits that a release must meet, as data.

A limit belongs to a threat and a metric, so that any measured figure can be limited. The shipped
policies are starting points, not law; users set their own limits in a JSON file of the same fields.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from core.errors import InputError
from core.findings.limit_metrics import refuse_metric
from core.findings.required_knowledge import RequiredKnowledge
from core.findings.shipped_policies import SHIPPED

LimitThreat = Literal["link", "included", "attribute", "identity", "release"]
Effort = Literal["instant", "seconds", "minutes"]
EFFORTS: tuple[Effort, ...] = ("instant", "seconds", "minutes")


class Limit(BaseModel):
    """Largest value that one metric of one threat may have; it is safer where it is lower.

    threat   "release": a figure of the release itself, such as its ε
    methods  only these attacks count; empty: all, baseline attackers included
    weight   "stop": exceeding it forbids publication; "review": a person has to decide
    optional missing or unresolvable figures do not prevent publication
    source   paper or rule behind the number, or who set it
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    name: str = Field(min_length=1, max_length=80)
    threat: LimitThreat
    metric: str = Field(min_length=1, max_length=80)
    limit: float = Field(ge=0, allow_inf_nan=False)
    title: str = Field(min_length=1, max_length=200)
    source: str = Field(min_length=1, max_length=300)
    methods: tuple[str, ...] = ()
    weight: Literal["stop", "review"] = "stop"
    optional: bool = False


class Policy(BaseModel):
    """Limits for one kind of recipient.

    effort   attacks up to this cost must have run before a release is cleared; cheaper audits can
    only refuse
    repeats  number of splits required of every attack
    attackers  what they know at least
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    key: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,60}$")
    version: int = Field(ge=1)
    title: str = Field(min_length=1, max_length=120)
    summary: str = Field("", max_length=600)
    effort: Effort = "minutes"
    repeats: int = Field(3, ge=1, le=100)
    attackers: RequiredKnowledge = RequiredKnowledge()
    limits: tuple[Limit, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _check_names(self) -> Policy:
        names = [limit.name for limit in self.limits]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f"limit '{twice}' occurs twice")
        return self

    @model_validator(mode="after")
    def _check_metrics(self) -> Policy:
        for limit in self.limits:  # the largest value: at most 5-anonymous is met by 1
            if reason := refuse_metric(limit.threat, limit.metric):
                raise ValueError(f"limit '{limit.name}' {reason}")
        return self

    def find_limit(self, threat: str, metric: str) -> float | None:
        """Limit on one metric of one threat; None if the policy has none."""
        found = (x.limit for x in self.limits if (x.threat, x.metric) == (threat, metric))
        return next(found, None)

    @property
    def allowed_costs(self) -> tuple[Effort, ...]:
        """Costs of the attacks that must have run."""
        return EFFORTS[: EFFORTS.index(self.effort) + 1]


def list_policies() -> tuple[Policy, ...]:
    """The shipped policies, strictest first."""
    return tuple(Policy.model_validate(fields) for fields in SHIPPED)


def find_policy(key: str) -> Policy:
    """A shipped policy; raises InputError."""
    policies = {policy.key: policy for policy in list_policies()}
    if key not in policies:
        raise InputError("policy", "must be a known one", key, "known: " + ", ".join(policies))
    return policies[key]


def load_policy(text: str) -> Policy:
    """Policy of a shipped key or of a JSON file; raises InputError."""
    keys = [policy.key for policy in list_policies()]
    if text in keys:
        return find_policy(text)
    path = Path(text)
    if not path.is_file():
        raise InputError("policy", "must be a file or one of " + ", ".join(keys), text)
    try:
        fields = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())
        raise InputError("policy", "must be a readable JSON file", text, reason) from None
    return check_policy(fields)


def check_policy(fields: Any) -> Policy:
    """Policy of a JSON object; InputError names the first invalid field."""
    if not isinstance(fields, dict):
        raise InputError("policy", "must be a JSON object", fields)
    try:
        return Policy.model_validate(fields)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        what = f"policy field '{place}'" if place else "policy"
        value = first.get("input") if place else None
        message = first["msg"].removeprefix("Value error, ")
        raise InputError(what, message[0].lower() + message[1:], value) from None
