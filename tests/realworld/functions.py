"""All functions of this corpus, by field."""

from __future__ import annotations

from tests.cases.forms import Subject
from tests.realworld import (
    finance,
    geometry,
    graphs,
    habits,
    image,
    layers,
    letters,
    mixtures,
    physics,
    sequences,
    signals,
    statistics,
)

FIELDS: dict[str, list[Subject]] = {
    module.__name__.rpartition(".")[2]: module.CASES
    for module in (
        finance,
        geometry,
        graphs,
        habits,
        image,
        layers,
        letters,
        mixtures,
        physics,
        sequences,
        signals,
        statistics,
    )
}


def subjects() -> list[Subject]:
    """Every function, fields in order of their names."""
    return [each for field in sorted(FIELDS) for each in FIELDS[field]]
