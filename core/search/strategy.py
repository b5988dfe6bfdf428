"""How a search proceeds: which releases are tried next, given what was measured.

1. Screening narrows each ladder by bisection to its weakest setting within the limits, with cheap
   attackers and one repeat; one that is far from them tries its strongest next. A ladder ends once
   what it can still keep is no more than what enough others keep already.
2. The race does the same with the attackers and repeats that the policy requires, from the settings
   found; the costliest attackers meet only what the others let through.
3. Confirmation draws new splits for at most three releases. Only its verdict counts: the figures of
   the first two stages flatter what was chosen by them.

Pure: no audit is run here, so that a search told the same figures takes the same steps.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterable
from dataclasses import dataclass, field
from typing import Literal

from core.audit.asked.method_choice import MethodChoice
from core.release import ORIGINAL
from core.search.ladders import Ladder
from core.search.measured import Measured

Stage = Literal["screening", "race", "confirmation"]
State = Literal["confirmed", "none_passes", "undecided"]
Found = dict[str, Measured]

MAX_CONFIRMED = 3
"""Releases confirmed at once, which share the error."""

FINALISTS = 2
"""Ladders that releases to confirm are taken from; the race ends when none can beat so many."""

CONFIRMATIONS = 2
"""Confirmations of one search; the second tries stronger settings."""

NOT_MADE = "cannot be made"
EXCEEDS = "exceeds a limit"
TAKES_LONG = "takes longer than the time to spend"

RELEASES = 30
"""Releases of a ladder that a search makes, about, in repeats of all its stages."""

WIDTH = 4
"""Ladders tried at once; what they show ends others."""

FAR = 2.0
"""Multiple of a limit from which a setting is far from it."""

COSTLY_S = 10.0
"""Typical seconds of one release above which a ladder waits until no cheaper one is open: what
those keep by then may end it."""


@dataclass(frozen=True)
class Trial:
    """Releases to audit next.

    number      of the trial within its stage, from 0
    has_costly  whether the costliest attackers of its stage take part
    """

    stage: Stage
    number: int
    choices: tuple[MethodChoice, ...]
    has_costly: bool = True


@dataclass
class Candidate:
    """State of one ladder in the current stage.

    failed, passed  places on the ladder of the strongest setting that exceeds a limit, and of the
                    weakest that exceeds none: those between them are open
    guess           place to try first; None: the middle
    bound           what any open setting keeps at most, as a share of the original's
    borrowed        place at which the same settings with columns are within the limits
    is_far          whether a setting was far from the limits: perhaps none is within
    best            what the setting at `passed` keeps; nan: nothing acceptable was found yet
    dropped         reason why it is out, or ""
    """

    ladder: Ladder
    stage: Stage = "screening"
    failed: int = -1
    passed: int = 0
    guess: int | None = None
    borrowed: int | None = None
    bound: float = 1.0
    is_far: bool = False
    best: float = math.nan
    dropped: str = ""

    def __post_init__(self) -> None:
        self.passed = len(self.ladder.rungs)

    @property
    def is_open(self) -> bool:
        """Whether a setting of it should still be tried."""
        return not self.dropped and self.passed - self.failed > 1

    @property
    def is_acceptable(self) -> bool:
        """Whether a setting within the limits keeps enough."""
        return not self.dropped and not math.isnan(self.best)

    @property
    def place(self) -> int:
        """Place of the setting to try next."""
        if self.guess is not None and self.failed < self.guess < self.passed:
            return self.guess
        if self.is_far and self.passed in (len(self.ladder.rungs), self.borrowed):
            return self.passed - 1
        return (self.failed + self.passed) // 2

    def note(self, place: int, found: Measured, asked: dict[str, float]) -> None:
        """Take account of a setting that was measured."""
        if found.not_made:
            self.dropped = f"{NOT_MADE}: {found.not_made}"
        elif not found.tested:
            self.dropped = "no attack measured anything on it"
        elif math.isnan(found.score):
            self.dropped = "what must stay useful could not be measured on it"
        elif found.is_within:
            self.passed = place
            self.best = found.score if found.keeps(asked) else math.nan
        else:
            self.failed, self.bound = place, min(self.bound, found.score)
            self.is_far |= found.binding is not None and found.binding.severity >= FAR
            if not found.keeps(asked):
                self.dropped = "keeps too little where it still exceeds a limit"
        if not self.dropped and not self.is_open and math.isnan(self.best):
            if self.passed == self.borrowed:
                self.dropped = f"{EXCEEDS} where it is weaker than with its columns"
            elif self.passed < len(self.ladder.rungs):
                self.dropped = "keeps too little"
            else:
                several = len(self.ladder.rungs) > 1
                self.dropped = EXCEEDS + " at every strength" * several

    def start_race(self) -> None:
        """Open the settings from the one that screening found on: stronger attackers refuse what
        weaker ones do."""
        self.stage, self.guess, self.is_far = "race", self.passed, False
        self.failed, self.bound = self.passed - 1, self.best
        self.passed, self.borrowed, self.best = len(self.ladder.rungs), None, math.nan


@dataclass
class Search:
    """A search and what it knows so far.

    asked       measure of usefulness → share of the original's that must stay
    within      seconds to spend; None: as many as it takes
    has_costly  whether some attackers of the race are so costly that the others go first
    measured    (stage, release) → figures, the latest of a stage
    trials      those that were audited, in order
    """

    ladders: Iterable[Ladder]
    asked: dict[str, float]
    within: float | None = None
    has_costly: bool = False
    measured: dict[tuple[Stage, str], Measured] = field(default_factory=dict)
    trials: list[Trial] = field(default_factory=list)
    is_over: bool = False

    def __post_init__(self) -> None:
        self.candidates = [Candidate(ladder) for ladder in self.ladders]
        for one in self.candidates:
            if self.within is not None and one.ladder.seconds * RELEASES > self.within:
                one.dropped = TAKES_LONG
            if one.ladder.is_synthesis:
                one.guess = 0  # often the weakest setting keeps too little already
        self.stage: Stage = "screening"
        known = {id(one.ladder): one for one in self.candidates}
        self._bases = {id(c): known[id(c.ladder.base)] for c in self.candidates if c.ladder.base}

    def run(self) -> Generator[Trial, Found, None]:
        """Yields what to audit next and takes what was measured, until the search is over."""
        yield from self._narrow("screening", self.candidates)
        racers = [one for one in self.candidates if one.is_acceptable]
        for one in racers:
            one.start_race()
        self.stage = "race"
        yield from self._narrow("race", racers)
        self.stage = "confirmation"
        confirmed: set[str] = set()
        for number in range(CONFIRMATIONS):
            choices = self._choose_finalists(racers, confirmed)
            if not choices:
                break
            yield from self._try(Trial("confirmation", number, choices))
            confirmed |= {choice.id for choice in choices}
            if self.list_confirmed():
                break
        self.is_over = True

    def _try(self, trial: Trial) -> Generator[Trial, Found, Found]:
        found = yield trial
        # New objects: a page may read the ones before meanwhile.
        self.trials = [*self.trials, trial]
        # What the costliest attackers have yet to meet has no figures of the stage.
        told = [c.id for c in trial.choices if trial.has_costly or not found[c.id].is_open]
        names = (ORIGINAL, *told)
        self.measured = self.measured | {(trial.stage, name): found[name] for name in names}
        return found

    def _narrow(self, stage: Stage, among: list[Candidate]) -> Generator[Trial, Found, None]:
        while True:
            if stage == "screening":
                self._start_without_columns()
            self._drop_beaten(among)
            open_ = [one for one in among if one.is_open and id(one) not in self._bases]
            open_ = [one for one in open_ if one.ladder.seconds <= COSTLY_S] or open_
            waiting = sorted(open_, key=lambda one: -one.bound)[:WIDTH]
            if not waiting:
                return
            places = [one.place for one in waiting]
            choices = [c.ladder.rungs[place] for c, place in zip(waiting, places, strict=True)]
            found = yield from self._meet(stage, choices)
            for one, place, choice in zip(waiting, places, choices, strict=True):
                one.note(place, found[choice.id], self.asked)
            self._bound_by_columns(among, found)
            self._refuse_columns(among, found)

    def _meet(self, stage: Stage, choices: list[MethodChoice]) -> Generator[Trial, Found, Found]:
        """Figures of releases by the attackers of a stage; in the race the costliest ones meet only
        what the others let through."""
        found: Found = {}
        for has_costly in (False, True) if stage == "race" and self.has_costly else (True,):
            left = [c for c in choices if c.id not in found or found[c.id].is_open]
            if left:
                number = sum(trial.stage == stage for trial in self.trials)
                trial = Trial(stage, number, tuple(left), has_costly)
                found |= yield from self._try(trial)
        return found

    def _start_without_columns(self) -> None:
        """Open ladders without columns once those with columns are closed: only at weaker settings,
        for at the one found, columns do no harm."""
        for one in self.candidates:
            base = self._bases.get(id(one))
            if base is None or base.is_open:
                continue
            del self._bases[id(one)]
            if base.passed < one.passed:
                one.passed = one.borrowed = base.passed
            if base.dropped.startswith((NOT_MADE, TAKES_LONG)):
                one.dropped = base.dropped
            elif one.passed == 0:
                one.dropped = "with its columns it is within the limits too"

    def _bound_by_columns(self, among: list[Candidate], found: Found) -> None:
        """No release without columns keeps more than all links without them."""
        for made in found.values():
            if made.made.withholds_columns_alone and not math.isnan(made.score):
                for one in among:
                    if not one.ladder.has_columns:
                        one.bound = min(one.bound, made.score)

    def _refuse_columns(self, among: list[Candidate], found: Found) -> None:
        """No release with the columns tells less than the columns without any link."""
        for one in among:
            alone = found.get(one.ladder.rungs[0].id)
            if one.ladder.has_links or alone is None or not alone.tested or alone.is_within:
                continue
            for other in among:
                if other.ladder.has_columns and other.is_open and not other.is_acceptable:
                    other.dropped = "the columns alone exceed a limit"

    def _drop_beaten(self, among: list[Candidate]) -> None:
        """End open ladders that can keep no more than as many others as the next stage takes, with
        one in reserve for the race, whose attackers refuse some."""
        count = FINALISTS + (self.stage == "screening")
        kept = sorted((c.best for c in among if c.is_acceptable), reverse=True)
        if len(kept) < count:
            return
        for one in among:
            if one.is_open and one.bound <= kept[count - 1]:
                if one.is_acceptable:
                    one.failed = one.passed - 1  # it stays at the setting found
                else:
                    one.dropped = "others within the limits keep more"

    def _choose_finalists(
        self, racers: list[Candidate], done: set[str]
    ) -> tuple[MethodChoice, ...]:
        """The best release of the race, its next stronger setting, in case that it lies too near a
        limit to be proven, then the next best. Later the next stronger settings of these, and of
        the best the one half way to the strongest: few people prove only what is far from a limit.
        """
        ranked = sorted((c for c in racers if c.is_acceptable), key=lambda c: -c.best)[:FINALISTS]
        chosen: list[MethodChoice] = []
        for depth, one in enumerate(ranked):
            stronger = one.ladder.rungs[one.passed :]
            left = [choice for choice in stronger if choice.id not in done]
            far = len(left) // 2 if done else 1
            places = {0, far} if depth == 0 else {0}
            chosen += [left[place] for place in sorted(places) if place < len(left)]
        return tuple(chosen[:MAX_CONFIRMED])

    def list_confirmed(self) -> list[Measured]:
        """Releases whose confirmed verdict is to publish and that keep what was asked, the most
        useful first."""
        found = [
            one
            for (stage, _), one in self.measured.items()
            if stage == "confirmation" and one.decision == "publish" and one.made.is_defended
        ]
        return sorted((m for m in found if m.keeps(self.asked)), key=lambda m: -m.score)

    def list_unproven(self) -> list[Measured]:
        """Releases that keep what was asked, and that splits were too few to clear or refuse."""
        last = [m for (stage, _), m in self.measured.items() if stage == "confirmation"]
        open_ = [m for m in last if m.made.is_defended and m.decision == "review"]
        return [m for m in open_ if m.keeps(self.asked)]

    def list_left_out(self) -> list[Ladder]:
        """Ladders that take longer than the time to spend."""
        return [one.ladder for one in self.candidates if one.dropped == TAKES_LONG]

    @property
    def state(self) -> State:
        """confirmed; none_passes where every candidate exceeds a limit or keeps too little;
        undecided where the search was stopped, a defense takes too long, or splits were too few to
        prove a limit."""
        if self.list_confirmed():
            return "confirmed"
        if not self.is_over or self.list_left_out():
            return "undecided"
        return "undecided" if self.list_unproven() else "none_passes"
