"""Objects as NLWeb's host survives them.

The host takes any JSON, but one odd value in one object fails the whole answer
(nlweb-core 0.7): a null or a number where it measures a text, a type that is no
text, a date without a time zone where it asks for an object's age, a number
that JSON cannot say. What is changed here is only what it cannot digest.
"""

from __future__ import annotations

import json
import math
import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

_SURROGATES = re.compile("[\ud800-\udfff]")
_MAX_DIGITS = 1000  # Python refuses to print integers of several thousand

_HOSTS_OWN = frozenset({"score", "site", "grounding"})
"""What the host says about a result; a property of that name would replace it."""


def clean(schema: bytes) -> list[dict[str, Any]]:
    """The objects of a document, one as a rule. Raises ValueError for what is no JSON."""
    try:
        value = json.loads(schema, parse_float=_float, parse_int=_int, parse_constant=lambda _: None)
    except RecursionError:
        raise ValueError("the object is nested too deeply") from None
    members = value if isinstance(value, list) else [value]
    objects = (_document(_object(m)) for m in members if isinstance(m, dict))
    return [o for o in objects if o]


def as_one(objects: list[dict[str, Any]]) -> dict[str, Any] | None:
    """One object that stands for all of a document's."""
    if len(objects) > 1:
        return {"@context": "https://schema.org", "@graph": objects}
    return objects[0] if objects else None


def _float(text: str) -> float | str:
    number = float(text)
    return number if math.isfinite(number) else text


def _int(text: str) -> int | str:
    return int(text) if len(text) <= _MAX_DIGITS else text


def _value(value: Any) -> Any:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, dict):
        return _object(value)
    if isinstance(value, list):
        return [_value(v) for v in value if v is not None]
    return value


def _text(text: str) -> str:
    """Half of a surrogate pair is no character, and cannot be encoded."""
    return text if text.isascii() else _SURROGATES.sub("\ufffd", text)


def _object(value: dict[str, Any]) -> dict[str, Any]:
    """An object of any depth, without nulls."""
    out = {_text(k): _value(v) for k, v in value.items() if v is not None}
    if "@type" in out:
        _set(out, "@type", _types(out["@type"]))
    if "@graph" in out:
        _set(out, "@graph", _graph(out["@graph"]))
    body = out.get("reviewBody")
    if isinstance(body, (int, float)):  # its length is taken
        out["reviewBody"] = json.dumps(body)
    return out


def _document(value: dict[str, Any]) -> dict[str, Any]:
    """An object that can become a result of its own."""
    for name in _HOSTS_OWN:
        value.pop(name, None)
    if "datePublished" in value:
        _set(value, "datePublished", _date(value["datePublished"]))
    for member in value.get("@graph", ()):
        _document(member)
    return value


def _set(value: dict[str, Any], name: str, content: Any) -> None:
    if content:
        value[name] = content
    else:
        del value[name]


def _types(types: Any) -> str | list[str] | None:
    """A type or a list of them; anything else is not hashable, or no type."""
    if isinstance(types, list):
        return [t for t in types if isinstance(t, str)]
    return types if isinstance(types, str) else None


def _graph(graph: Any) -> list[dict[str, Any]]:
    members = graph if isinstance(graph, list) else [graph]
    return [m for m in members if isinstance(m, dict) and m]


def _date(date: Any) -> str | None:
    """A publication date that can be compared with the present. One without a zone is
    taken as UTC; one that cannot be read is left to the host, which ignores it."""
    if isinstance(date, list):
        date = next((d for d in date if isinstance(d, str)), None)
    if not isinstance(date, str):
        return None
    try:
        parsed = _parse_date(date)
        if parsed is None:
            return date
        if parsed.utcoffset() is not None:
            parsed - datetime.now(UTC)  # may overflow
            return date
        return parsed.replace(tzinfo=UTC).isoformat()
    except OverflowError:
        return None


def _parse_date(date: str) -> datetime | None:
    """A date in the two spellings that the host reads, in its order."""
    for parse in (parsedate_to_datetime, datetime.fromisoformat):
        try:
            return parse(date)
        except (ValueError, TypeError, IndexError):
            pass
    return None
