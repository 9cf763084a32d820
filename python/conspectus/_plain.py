"""Values of any kind as JSON."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["plain", "to_json"]


def to_json(value: Any) -> str:
    """The value as JSON in ASCII, so that lone surrogates survive. What JSON does not know is as Python prints it."""
    try:
        return json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return json.dumps(plain(value))


def plain(value: Any) -> Any:
    """The value with what JSON does not know as Python prints it."""
    if isinstance(value, dict):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(inner) for inner in value]
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float) and value == value and abs(value) != float("inf"):
        return value
    return repr(value)
