"""What a call says on the wire, and what an answer means. No I/O."""

from __future__ import annotations

import asyncio
import ipaddress
import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import quote, urlsplit

import httpx

from .errors import SvcError, Unavailable, error_of, invalid

#: Codes of answers after which the same call may succeed in a moment.
PASSING = frozenset({"storage_busy", "not_ready", "shutting_down"})
#: Routes that change nothing though they are posted.
_QUESTIONS = frozenset(
    {
        "/v1/retrieve",
        "/v1/nodes/batch",
        "/v1/assertions/aggregate",
        "/v1/assertions/state",
        "/v1/quantities/aggregate",
        "/v1/quantities/aggregate-text",
    }
)


def base_of(url: str) -> str:
    """The address without a path's end, name or password."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise invalid("url: must be an address that begins with http")
    if parts.username is not None or parts.password is not None:
        raise invalid("url: must hold no name or password; give the key as key=")
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"


def is_loopback(url: str) -> bool:
    """Whether an address is of this machine, so that no proxy of the environment is asked."""
    name = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost" or name.endswith(".localhost")


def path_of(template: str, values: Mapping[str, str]) -> str:
    """A path with its parameters, each one segment."""
    return template.format_map({name: quote(str(value), safe="") for name, value in values.items()})


def query_of(values: Mapping[str, Any] | None) -> httpx.QueryParams | None:
    """Parameters of a query, without those that are None; lists are repeated."""
    pairs: list[tuple[str, str | int | float | bool | None]] = []
    for name, value in (values or {}).items():
        if value is None:
            continue
        many = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
        pairs += [(name, _text(item)) for item in many]
    return httpx.QueryParams(pairs) if pairs else None


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return instant(value) if isinstance(value, datetime) else str(value)


def instant(value: datetime | str) -> str:
    """An instant as the interface takes it. A datetime needs its time zone."""
    if isinstance(value, str):
        return value
    if value.utcoffset() is None:
        raise invalid(
            f"{value.isoformat()}: a datetime without a time zone means another moment in each zone; "
            "use datetime(..., tzinfo=timezone.utc), or value.astimezone() for the zone of this machine"
        )
    return value.isoformat()


def encode(body: object) -> bytes:
    """A body as JSON in UTF-8."""
    try:
        text = json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_plain)
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        half = ascii(error.object[error.start])
        raise invalid(f"a text holds half of a character ({half}), which UTF-8 cannot carry") from None
    except RecursionError:
        raise invalid("the lists and objects are too deep, or hold themselves") from None
    except ValueError as error:
        raise invalid(f"not a value of JSON: {error}") from None


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return instant(value)
    if isinstance(value, Mapping):
        return dict(value)
    raise invalid(f"{type(value).__name__} is no value of JSON")


def body(fields: Mapping[str, Any]) -> Any:
    """Members of a request, without those that are None. The server checks the rest, with the same words for every caller."""
    return {name: value for name, value in fields.items() if value is not None}


def headers_of(key: str | None) -> dict[str, str]:
    """The headers of every call."""
    named = {"svc-client": "svc-memory-python"}
    return named if key is None else {**named, "authorization": f"Bearer {key}"}


def event_loop() -> object:
    """The event loop that runs here; None outside of one."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def read(response: httpx.Response, where: str, *, raw: bool) -> Any:
    """What an answer says: its JSON, or its bytes if raw. Raises the error that it means."""
    if raw and response.is_success:
        return response.content
    try:
        answer: object = response.json()
    except ValueError:
        answer = None
    if response.is_success and answer is not None:
        return answer
    raise error_of(response.status_code, answer, where)


def is_repeatable(method: str, path: str, headers: Mapping[str, str]) -> bool:
    """Whether a call may be sent again when its answer was lost."""
    return method == "GET" or path in _QUESTIONS or "idempotency-key" in headers


def may_pass(error: SvcError) -> bool:
    """Whether the server did nothing, and may do so in a moment."""
    return error.code in PASSING and "accepted" not in error.data


def was_sent(error: httpx.TransportError) -> bool:
    """Whether the server may have got the call before it failed."""
    return not isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout))


def unreachable(where: str, error: httpx.TransportError, timeout: float) -> Unavailable:
    """The error of a call without an answer."""
    if isinstance(error, httpx.TimeoutException):
        reason = f"no answer within {timeout:g} s"
    else:
        reason = str(error) or type(error).__name__
    known = "; what was being stored may have been" if was_sent(error) else ""
    return Unavailable("storage_unavailable", f"the memory at {where}: {reason}{known}", data={"path": where})
