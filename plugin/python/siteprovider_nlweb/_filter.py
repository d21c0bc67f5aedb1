"""The conditions that NLWeb's own code passes as `date_filter`."""

from __future__ import annotations

import re
from typing import Any

from ._wire import operator

_OPERATORS = {
    "eq": "EQUAL",
    "ne": "NOT_EQUAL",
    "lt": "LESS",
    "le": "LESS_EQUAL",
    "gt": "GREATER",
    "ge": "GREATER_EQUAL",
}
_CONDITION = re.compile(r"\s*([A-Za-z@][\w.]*)\s+(eq|ne|lt|le|gt|ge)\s+'?([0-9][0-9T:.+Zz-]*)'?\s*\Z", re.ASCII)


def add_conditions(filter: Any, date_filter: str) -> None:
    """Add the conditions of a text such as `datePublished ge 2026-01-31T00:00:00+00:00`
    to the filter of a SearchRequest; several are joined by `and`.

    Raises ValueError for any other text: a search is never wider than asked for.
    """
    for text in re.split(r"\sand\s", date_filter):
        match = _CONDITION.match(text)
        if match is None:
            raise ValueError("date_filter: want PROPERTY ge DATE (or gt, le, lt, eq, ne), joined by and")
        path, op, date = match.groups()
        condition = filter.add(path=path, op=operator(_OPERATORS[op]))
        condition.value.text = date
