"""When to compact, what stays, and how."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeAlias

from conspectus import _native
from conspectus._table import table

__all__ = ["Policy"]

Size: TypeAlias = "tuple[str, float] | Mapping[str, float]"


def _size(size: Any) -> Any:
    """A pair as the configuration writes it."""
    if isinstance(size, tuple) and len(size) == 2 and isinstance(size[0], str):
        return {"type": size[0], "value": size[1]}
    if isinstance(size, (list, tuple)):
        return [_size(item) for item in size]
    return size


class Policy:
    """When to compact, what stays, and how: the options of the configuration file, by their names there.

    ``Policy(trigger=("tokens", 100_000), keep=("messages", 20), model="gpt-4.1")``. Options that are not given are
    those of ``preset``. ``model`` and ``window`` say what the conversation runs on.
    """

    def __init__(
        self,
        preset: str = "default",
        *,
        trigger: Any = ...,
        keep: Any = ...,
        model: str | None = None,
        window: int | None = None,
        max_output: int | None = None,
        provider: str | None = None,
        **options: Any,
    ) -> None:
        if trigger is not ...:
            options["trigger"] = _size(trigger)
        if keep is not ...:
            options["keep"] = _size(keep)
        section = {"preset": preset, **options}
        self._native = _native.Policy(
            json.dumps({"summarization": section}),
            model=model,
            window=window,
            max_output=max_output,
            provider=provider,
        )

    @classmethod
    def from_yaml(cls, text: str, **model: Any) -> Policy:
        """The policy of a configuration file's text."""
        return cls._of(_native.Policy(text, **model))

    @classmethod
    def _of(cls, native: _native.Policy) -> Policy:
        made = cls.__new__(cls)
        made._native = native
        return made

    @property
    def warnings(self) -> list[str]:
        """What its owner should know."""
        return self._native.warnings

    @property
    def window(self) -> int:
        """The model's window in tokens."""
        return self._native.window

    @property
    def trigger_tokens(self) -> int | None:
        """The lowest trigger in tokens."""
        return self._native.trigger_tokens

    def numbers(self) -> dict[str, Any]:
        """Everything that decides, in numbers."""
        found: dict[str, Any] = json.loads(self._native.numbers())
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        return _policy_again, self._native.made_of

    def __repr__(self) -> str:
        return f"Policy(window={self.window}, trigger_tokens={self.trigger_tokens})"

    def _repr_html_(self) -> str:
        shown = ("preset", "window", "output_reserve", "triggers", "keep", "placement", "counter")
        numbers = self.numbers()
        return table("Policy", [(name, numbers.get(name)) for name in shown])


def _policy_again(
    text: str, model: str | None, window: int | None, max_output: int | None, provider: str | None
) -> Policy:
    return Policy._of(
        _native.Policy(text, model=model, window=window, max_output=max_output, provider=provider)
    )
