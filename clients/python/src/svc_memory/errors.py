"""Errors of calls. Branch on ``code``; docs/errors.md of the product explains each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class SvcError(Exception):
    """A call failed.

    ``code`` says why, ``detail`` which value and how to mend it, ``status`` is that of HTTP (None: no answer), and ``data`` has
    what else the answer holds.
    """

    def __init__(
        self,
        code: str,
        detail: str,
        *,
        status: int | None = None,
        data: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(f"{detail} ({code})")
        self.code = code
        self.detail = detail
        self.status = status
        self.data: Mapping[str, Any] = data or {}

    def __reduce__(self) -> tuple[Any, ...]:
        return _made_again, (type(self), self.code, self.detail, self.status, dict(self.data))


def _made_again(kind: type[SvcError], code: str, detail: str, status: int | None, data: Mapping[str, Any]) -> SvcError:
    return kind(code, detail, status=status, data=data)


class InvalidArgument(SvcError):
    """A value breaks a documented rule. Nothing was changed."""


class Unauthenticated(SvcError):
    """No key, or a wrong one."""


class Forbidden(SvcError):
    """The key belongs to another owner."""


class NotFound(SvcError):
    """Unknown, or of another owner."""


class Conflict(SvcError):
    """The request id was used with other inputs, or the memory is in another state."""


class TooLarge(SvcError):
    """The request is larger than 10 MiB."""


class Unavailable(SvcError):
    """The memory cannot be reached, is busy, or did not answer in time. With ``data["accepted"]`` the text is safe."""


class NoProgram(SvcError):
    """The program that serves a pack is missing, or of a version with which this client does not work."""


_BY_STATUS: Mapping[int, type[SvcError]] = {
    400: InvalidArgument,
    401: Unauthenticated,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    413: TooLarge,
    422: InvalidArgument,
    502: Unavailable,
    503: Unavailable,
    504: Unavailable,
}


def error_of(status: int, body: object, where: str) -> SvcError:
    """The error that an answer of HTTP means."""
    if isinstance(body, dict) and isinstance(body.get("code"), str):
        data = {name: value for name, value in body.items() if name not in ("code", "detail")}
        detail = str(body.get("detail", body["code"]))
        return _BY_STATUS.get(status, SvcError)(body["code"], detail, status=status, data=data)
    code = "storage_unavailable" if status >= 500 else "unsupported"
    detail = f"{where} answered {status}, but not as svc does; is this its address?"
    return _BY_STATUS.get(status, SvcError)(code, detail, status=status)


def invalid(detail: str) -> InvalidArgument:
    """An argument that is refused before it is sent."""
    return InvalidArgument("invalid_argument", detail)
