"""The connection of a user to the server of a pack: a socket, or a named pipe of Windows."""

from __future__ import annotations

import socket
import sys
import time
from typing import BinaryIO, Protocol


class Line(Protocol):
    """As long as it is open, the server goes on."""

    def read(self, deadline: float) -> bytes:
        """What the server says first, up to the end of the line; empty if it ends or is late."""

    def leave(self, timeout: float) -> None:
        """Ends it. If no other user is left, waits until the server has ended."""

    def close(self) -> None:
        """Ends it at once."""


def connect(address: str) -> Line | None:
    """A connection to the server at an address; None if nobody listens there."""
    if sys.platform == "win32":
        try:
            return _Pipe(open(address, "r+b", buffering=0))
        except OSError:
            return None
    line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        line.connect(address)
    except OSError:
        line.close()
        return None
    return _Socket(line)


class _Socket:
    def __init__(self, line: socket.socket) -> None:
        self._line = line

    def read(self, deadline: float) -> bytes:
        told = b""
        try:
            while not told.endswith(b"\n"):
                self._line.settimeout(max(deadline - time.monotonic(), 0.001))
                part = self._line.recv(65536)
                if not part:
                    return b""
                told += part
        except OSError:
            return b""
        self._line.settimeout(None)
        return told

    def leave(self, timeout: float) -> None:
        try:
            self._line.settimeout(timeout)
            self._line.shutdown(socket.SHUT_WR)
            while self._line.recv(65536):
                pass
        except OSError:
            pass
        finally:
            self._line.close()

    def close(self) -> None:
        self._line.close()


class _Pipe:
    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def read(self, deadline: float) -> bytes:
        del deadline  # The system ends the pipe with the server.
        try:
            return self._file.readline()
        except OSError:
            return b""

    def leave(self, timeout: float) -> None:
        del timeout
        self._file.close()

    def close(self) -> None:
        self._file.close()
