"""The one kind of error a user sees: where, what was found, what is allowed, what to do."""

from __future__ import annotations


class RgeError(Exception):
    """The work failed or a check did not hold (exit code 1).

    Parameters
    ----------
    where
        File, file:line, record key or parameter the problem is in.
    found
        What was found there.
    allowed
        What would have been accepted.
    do
        The next step for the user.
    """

    exit_code = 1

    def __init__(self, where: object, found: str, *, allowed: str = "", do: str = "") -> None:
        self.where, self.found, self.allowed, self.do = str(where), found, allowed, do
        super().__init__("; ".join(part for part in (f"{where}: {found}", allowed, do) if part))


class UsageError(RgeError):
    """Wrong usage or configuration (exit code 2)."""

    exit_code = 2
