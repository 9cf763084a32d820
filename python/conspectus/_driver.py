"""The loops that perform what an attempt wants.

``_wants`` is the one loop over an attempt: it handles what needs no waiting, and yields calls, aborted calls and
waits. :func:`drive` performs these one by one, :func:`adrive` beside each other.

:func:`perform` and :func:`aperform` drive any generator of things to do by one function, which may be async.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import time
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from conspectus.model import Model, Reply, ask, failure
from conspectus.report import Report

if TYPE_CHECKING:
    from conspectus.conversation import Conversation

__all__ = ["Hook", "Listener", "adrive", "aperform", "drive", "now", "perform"]

#: Told of the engine's events, one start and one end a compaction.
Listener: TypeAlias = "Callable[[Mapping[str, Any]], None]"
#: Called with the positions that are about to be folded. What it raises is logged and ignored.
Hook: TypeAlias = "Callable[[Sequence[int]], None]"

_Want = TypeVar("_Want")
_Got = TypeVar("_Got")
_End = TypeVar("_End")


def now() -> int:
    """Milliseconds; only differences matter."""
    return time.monotonic_ns() // 1_000_000


def perform(wants: Generator[_Want, _Got, _End], act: Callable[[_Want], _Got]) -> _End:
    """Does what is wanted until nothing is. What ``act`` raises, is raised where it was wanted."""
    try:
        want = next(wants)
        while True:
            try:
                got = act(want)
            except BaseException as error:
                want = wants.throw(error)
            else:
                want = wants.send(got)
    except StopIteration as end:
        made: _End = end.value
        return made


async def aperform(wants: Generator[_Want, _Got, _End], act: Callable[[_Want], Awaitable[_Got]]) -> _End:
    """The same, with an async function."""
    try:
        want = next(wants)
        while True:
            try:
                got = await act(want)
            except BaseException as error:
                want = wants.throw(error)
            else:
                want = wants.send(got)
    except StopIteration as end:
        made: _End = end.value
        return made


def _wants(
    talk: Conversation, on_event: Listener | None, hook: Hook | None
) -> Generator[Mapping[str, Any], None, Report]:
    """What the attempt that is under way cannot do without waiting: ``call``, ``abort``, ``idle``."""
    while True:
        want = json.loads(talk.native.poll(now()))
        kind = want["kind"]
        if kind == "done":
            return Report.of(want["report"])
        if kind == "none":
            raise RuntimeError("no attempt is under way")
        if kind in ("call", "abort", "idle"):
            yield want
        elif kind == "event" and on_event is not None:
            on_event(want["event"])
        elif kind == "hook":
            try:
                if hook is not None:
                    hook(want["removed"])
            except Exception as error:
                talk.errors.append(error)
            talk.native.hooked(now())


def drive(
    talk: Conversation, model: Model | None, *, on_event: Listener | None = None, hook: Hook | None = None
) -> Report:
    """Drives the attempt that is under way to its end, one call after the other."""

    def act(want: Mapping[str, Any]) -> None:
        if want["kind"] == "call":
            try:
                answer = ask(model, want)
            except Exception as error:
                return _failed(talk, want["call"], error)
            if not isinstance(answer, (str, Reply)):
                if inspect.iscoroutine(answer):
                    answer.close()
                raise TypeError("an async model needs the async loop: acompact, arun")
            _replied(talk, want["call"], answer)
        elif want["kind"] == "idle":
            if want["wake_at"] is None:
                talk.native.cancel(now())
            else:
                time.sleep(max(want["wake_at"] - now(), 0) / 1000)
        return None

    try:
        return perform(_wants(talk, on_event, hook), act)
    except BaseException:
        abandon(talk)
        raise


async def adrive(
    talk: Conversation, model: Model | None, *, on_event: Listener | None = None, hook: Hook | None = None
) -> Report:
    """Drives the attempt that is under way to its end; as many calls at a time as the policy allows."""
    calls: dict[asyncio.Task[str | Reply], int] = {}

    async def act(want: Mapping[str, Any]) -> None:
        if want["kind"] == "call":
            calls[asyncio.ensure_future(_asked(model, want))] = want["call"]
        elif want["kind"] == "abort":
            for task in [task for task, call in calls.items() if call == want["call"]]:
                del calls[task]
                task.cancel()
        elif calls:
            await _first(talk, calls, want["wake_at"])
        elif want["wake_at"] is None:
            talk.native.cancel(now())
        else:
            await asyncio.sleep(max(want["wake_at"] - now(), 0) / 1000)

    try:
        return await aperform(_wants(talk, on_event, hook), act)
    except BaseException:
        abandon(talk)
        raise
    finally:
        for task in calls:
            task.cancel()


def abandon(talk: Conversation) -> None:
    """Stops the attempt: the next one can begin."""
    talk.native.cancel(now())
    while (kind := json.loads(talk.native.poll(now()))["kind"]) not in ("done", "none", "idle"):
        if kind == "hook":
            talk.native.hooked(now())


async def _asked(model: Model | None, want: Mapping[str, Any]) -> str | Reply:
    answer = ask(model, want)
    made: str | Reply = await answer if isinstance(answer, Awaitable) else answer
    return made


async def _first(talk: Conversation, calls: dict[asyncio.Task[str | Reply], int], wake_at: int | None) -> None:
    """Waits for the first of the calls, or for the time that is waited for."""
    timeout = None if wake_at is None else max(wake_at - now(), 0) / 1000
    done, _ = await asyncio.wait(calls, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
    for task in sorted(done, key=lambda task: calls[task]):
        call = calls.pop(task)
        error = task.exception()
        if error is not None:
            _failed(talk, call, error)
        else:
            _replied(talk, call, task.result())


def _replied(talk: Conversation, call: int, answer: str | Reply) -> None:
    reply = Reply(answer) if isinstance(answer, str) else answer
    talk.native.replied(now(), call, reply.text, reply.finish, reply.usage)


def _failed(talk: Conversation, call: int, error: BaseException) -> None:
    talk.errors.append(error)
    kind, message = failure(error)
    talk.native.failed(now(), call, kind, message)
