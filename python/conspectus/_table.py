"""Tables for notebooks."""

from __future__ import annotations

import html
from collections.abc import Iterable

__all__ = ["table"]


def table(title: str, rows: Iterable[tuple[str, object]]) -> str:
    cells = "".join(
        f"<tr><th style='text-align:left'>{html.escape(str(name))}</th><td>{html.escape(str(value))}</td></tr>"
        for name, value in rows
    )
    return f"<table><caption>{html.escape(title)}</caption>{cells}</table>"
