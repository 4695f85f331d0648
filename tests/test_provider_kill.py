"""Runs that are killed with signal 9 at random points; `kill_points.py` does it 200 times."""

import numpy as np
import pytest

from kill_points import points


@pytest.mark.parametrize("batch", [True, False], ids=["batch", "synchronous"])
def test_a_killed_run_loses_nothing_stored_and_the_ledger_is_exact(batch: bool, monkeypatch):
    monkeypatch.setenv("LOOPBACK_KEY", "sk-planted")
    found = points(9, batch=batch, rng=np.random.default_rng(20240331))
    assert sum(point.killed for point in found) >= 5
    assert [point.lost for point in found] == [0] * 9
    assert [point.twice for point in found] == [0] * 9
    assert [point.off_by for point in found] == [0] * 9
    assert [point.below for point in found] == [0] * 9
    if batch:
        assert [point.in_flight for point in found] == [0] * 9
