"""What can go wrong. Every exception of the package is a :class:`ConspectusError`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conspectus.report import Report

__all__ = ["CompactionError", "ConspectusError", "PolicyError", "ReadError", "StateError"]


class ConspectusError(Exception):
    """The base of all."""


class PolicyError(ConspectusError, ValueError):
    """The options cannot work; the message names the option, what was found and what is allowed."""


class ReadError(ConspectusError, ValueError):
    """That is no message or document that can be read."""


class StateError(ConspectusError, RuntimeError):
    """What was asked for does not fit the state: a saved one of a newer version, a message for a closed document."""


class CompactionError(ConspectusError, RuntimeError):
    """A compaction that was to be made was not; ``report`` and ``outcome`` say how it ended.

    Raised only where the policy says ``on_failure: error``, or by ``raise_on_failure=True``.
    The conversation is as it was.
    """

    def __init__(self, report: Report) -> None:
        self.report = report
        self.outcome = report.outcome
        cause = f": {report.failure}" if report.failure else ""
        super().__init__(f"the conversation was not compacted ({report.outcome}){cause}")

    def __reduce__(self) -> tuple[type[CompactionError], tuple[Report]]:
        return type(self), (self.report,)
