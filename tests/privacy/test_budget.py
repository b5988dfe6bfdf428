"""The account: what is asked for is what is left less, and the guarantee is what was spent."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.context import Context
from core.privacy.budget import Account
from core.privacy.guarantees import EDGE, LINK_TWICE
from core.seeding import Seed


def open_account(epsilon=4.0, kind=EDGE, delta=0.0):
    return Account(kind, epsilon, Context(Seed(0)), delta)


def test_scales_follow_share_and_sensitivity():
    account = open_account()
    assert account.spend(0.25, 3.0) == 3.0  # 3 / (4 / 4)
    assert account.spend_choice(0.25, 2.0) == 0.5
    assert account.spend_either(0.25, (2.0, 1.0), "tables") == (2.0, 1.0)
    assert account.spend_bits(0.25).epsilon == 1.0
    assert account.share_left == 0


def test_a_budget_cannot_be_overdrawn_and_nothing_is_free():
    account = open_account()
    account.spend(0.7)
    for share in (0.4, 0.0, -0.1):
        with pytest.raises(ValueError, match="left"):
            account.spend(share, label="more")


def test_the_guarantee_is_what_was_spent_not_what_was_there():
    account = open_account(kind=LINK_TWICE)
    account.spend(0.25)
    guarantee = account.make_guarantee()
    assert (guarantee.epsilon, guarantee.epsilon_received) == (1.0, 2.0)
    assert guarantee.label == "link-local DP, ε = 2"


@given(st.floats(0.01, 100.0), st.floats(0.001, 0.999))
def test_a_share_and_the_rest_are_exactly_the_whole(epsilon, share):
    account = open_account(epsilon)
    account.spend(share)
    account.spend(account.share_left)
    assert account.make_guarantee().epsilon == epsilon


def test_three_thirds_are_exactly_the_whole():
    account = open_account(5.0)
    for _ in range(3):
        assert account.spend(Fraction(1, 3)) == 3.0 / 5.0
    assert account.make_guarantee().epsilon == 5.0
