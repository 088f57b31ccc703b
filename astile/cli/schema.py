"""What ``--json`` prints: every object says which version of this schema it follows."""

from __future__ import annotations

from typing import Any

from astile.diagnostics import SCHEMA


def document(command: str, **fields: object) -> dict[str, Any]:
    """What a command found.

    Args:
        command: its name.
        **fields: what it found, of types that JSON knows.
    """
    return {"schema": SCHEMA, "command": command, **fields}
