"""A server of this machine for a pack: started by its first user, shared by the others, ended with the last."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from ._line import Line, connect
from .errors import NoProgram, Unavailable, error_of

#: Programs that this client works with.
SERIES = (0, 1)
RANGE = "0.1.0 or newer, below 0.2"
_IS_WINDOWS = sys.platform == "win32"
#: Bytes of a path that a socket can have on every system.
_SOCKET_PATH_MAX = 100


@dataclass(frozen=True)
class Address:
    """Where a server listens, and the key that opens it."""

    url: str
    key: str | None


def find_program(named: str | os.PathLike[str] | None) -> str:
    """The executable: the named one, that of ``SVC_PROGRAM``, of the package ``svc-memory-bin``, or ``svc`` on the PATH."""
    choice = named or os.environ.get("SVC_PROGRAM")
    if choice:
        found = shutil.which(os.fspath(choice))
        if found is None:
            _refuse(f"{os.fspath(choice)} is no program that can be started")
        return os.path.abspath(found)
    try:
        from svc_memory_bin import program  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        pass
    else:
        return str(program())
    found = shutil.which("svc")
    if found is None:
        _refuse('no svc is installed; pip install "svc-memory[local]", or name one with program=')
    return os.path.abspath(found)


def _refuse(detail: str) -> NoReturn:
    raise NoProgram("no_program", f"{detail}. This client works with svc {RANGE}")


def require_version(version: str, of: str) -> None:
    """Refuses a program of a version that this client does not know."""
    parts = version.split("-")[0].split(".")
    if tuple(int(part) if part.isdigit() else -1 for part in parts[:2]) != SERIES:
        _refuse(f"{of} is svc {version}")


class LocalServer:
    """A share in the server of one pack. Threads may use it together; a forked child joins anew."""

    def __init__(
        self,
        pack: str | os.PathLike[str],
        *,
        program: str | os.PathLike[str] | None,
        encryption_key: str | None,
        settings: Mapping[str, str],
        start_timeout: float,
    ) -> None:
        self._pack = os.path.realpath(pack)
        self._named = program
        self._settings = dict(settings)
        if encryption_key is not None:
            self._settings |= {"SVC_ENCRYPTION_ENABLED": "true"} if encryption_key else {}
            self._settings["SVC_ENCRYPTION_KEY"] = encryption_key
        self._timeout = start_timeout
        self._lock = threading.Lock()
        self._line: Line | None = None
        self._address: Address | None = None
        _ALL.add(self)

    def address(self) -> Address:
        """Where the server is; starts it if nobody has. Blocks until it serves."""
        with self._lock:
            if self._address is None:
                self._address = self._join()
            return self._address

    def known(self) -> Address | None:
        """Where the server is, if this share has joined it."""
        return self._address

    def lost(self, address: Address) -> None:
        """The server at that address does not answer: the next caller of ``address`` joins another."""
        with self._lock:
            if self._address == address:
                self._drop()

    def close(self) -> None:
        """Leaves the server, and waits until it has closed the pack if nobody else uses it."""
        with self._lock:
            line, self._line, self._address = self._line, None, None
        if line is not None:
            line.leave(self._timeout)

    def forget(self) -> None:
        """In a forked child: the share is that of the parent."""
        self._lock = threading.Lock()
        self._drop()

    def _drop(self) -> None:
        line, self._line, self._address = self._line, None, None
        if line is not None:
            line.close()

    def _join(self) -> Address:
        program = find_program(self._named)
        environment = {**os.environ, **self._settings}
        meeting = _meeting_place(program, self._pack, environment)
        deadline = time.monotonic() + self._timeout
        child: subprocess.Popen[bytes] | None = None
        log = f"{meeting.log}.{os.getpid()}.{threading.get_ident()}"
        try:
            while time.monotonic() < deadline:
                line = connect(meeting.address)
                if line is not None:
                    address = self._read(line, program, deadline)
                    if address is not None:
                        return address
                if child is None:
                    child = _start(program, self._pack, meeting.address, environment, log)
                elif child.poll() is not None:
                    # A server that found the address taken has ended well, too.
                    said = _failure(log)
                    if said.get("code") != "bind_failed":
                        self._fail(program, child.returncode, said)
                    child = None
                time.sleep(0.01)
        finally:
            if child is not None:
                threading.Thread(target=child.wait, daemon=True, name="svc-reaper").start()
            _remove(log)
        raise Unavailable("storage_unavailable", f"{program} did not serve {self._pack} within {self._timeout:g} s")

    def _read(self, line: Line, program: str, deadline: float) -> Address | None:
        told = line.read(deadline)
        if not told:
            line.close()
            return None
        news = json.loads(told)
        try:
            require_version(news["version"], program)
        except NoProgram:
            line.close()
            raise
        self._line = line
        return Address(news["url"], news["key"])

    def _fail(self, program: str, status: int, said: Mapping[str, str]) -> NoReturn:
        if "code" in said:
            code = said["code"]
            statuses = {"not_found": 404, "invalid_argument": 422, "invalid_config": 422}
            raise error_of(statuses.get(code, 503), said, program)
        version = _version(program)
        if version is not None:
            require_version(version, program)
        _refuse(f"{program} ended with {status}: {said.get('last', 'it said nothing')}")


#: Those of this process, for its forked children.
_ALL: weakref.WeakSet[LocalServer] = weakref.WeakSet()


def _after_fork() -> None:
    for server in list(_ALL):
        server.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


@dataclass(frozen=True)
class _Meeting:
    address: str
    log: str


def _meeting_place(program: str, pack: str, environment: Mapping[str, str]) -> _Meeting:
    """Where the users of one pack meet: those with the same program, settings and key."""
    settings = sorted(f"{k}={v}" for k, v in environment.items() if k.upper().startswith("SVC_"))
    folder = _private_folder(environment)
    parts = [os.path.realpath(program), pack, *settings]
    if _IS_WINDOWS:
        # Any user may listen under any name there, so nobody else can guess this one.
        parts.append(_secret(folder / "secret"))
    text = json.dumps(parts, ensure_ascii=False, separators=(",", ":"))
    name = hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:24]
    log = str(folder / f"{name}.log")
    return _Meeting(rf"\\.\pipe\svc-{name}" if _IS_WINDOWS else str(folder / f"{name}.sock"), log)


def _private_folder(environment: Mapping[str, str]) -> Path:
    if _IS_WINDOWS:
        base = environment.get("LOCALAPPDATA") or os.path.expanduser("~")
        folder = Path(base, "svc-memory")
        folder.mkdir(parents=True, exist_ok=True)
        return folder
    runtime = environment.get("XDG_RUNTIME_DIR")
    cache = environment.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    choices = [Path(base, "svc-memory") for base in (runtime, cache) if base and os.path.isabs(base)]
    choices.append(Path(tempfile.gettempdir(), f"svc-memory-{os.getuid()}"))
    for folder in choices:
        if len(os.fsencode(folder / ("0" * 29 + ".00000000"))) > _SOCKET_PATH_MAX:
            continue
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            state = folder.lstat()
        except OSError:
            continue
        if state.st_uid == os.getuid() and state.st_mode & 0o077 == 0:
            return folder
    raise Unavailable("storage_unavailable", f"none of {', '.join(map(str, choices))} is a private folder")


def _secret(path: Path) -> str:
    try:
        with path.open("x", encoding="ascii") as file:
            file.write(os.urandom(32).hex())
    except FileExistsError:
        pass
    return path.read_text(encoding="ascii")


def _start(program: str, pack: str, meeting: str, environment: Mapping[str, str], log: str) -> subprocess.Popen[bytes]:
    command = [program, "serve", "--db-path", pack, "--port", "0", "--log-level", "warn"]
    folder = os.path.dirname(pack)
    if not os.path.isdir(folder):
        raise error_of(404, {"code": "not_found", "detail": f"{folder}: no such folder"}, program)
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        return subprocess.Popen(
            [*command, "--while-used", meeting],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=descriptor,
            cwd=folder,
            env=dict(environment),
            # Ctrl-C is for the user, not for the server that others may share.
            start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )
    except OSError as error:
        _refuse(f"{program} cannot be started ({error.strerror or error})")
    finally:
        os.close(descriptor)


def _failure(log: str) -> dict[str, str]:
    """What a server said before it ended: its line of JSON, else its last words."""
    try:
        lines = Path(log).read_text("utf-8", "replace").splitlines()
    except OSError:
        return {}
    for line in lines:
        try:
            said = json.loads(line)
        except ValueError:
            continue
        if isinstance(said, dict) and {"code", "detail"} <= said.keys():
            return {"code": str(said["code"]), "detail": str(said["detail"])}
    return {"last": lines[-1]} if lines else {}


def _version(program: str) -> str | None:
    try:
        run = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return run.stdout.strip()


def _remove(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)
