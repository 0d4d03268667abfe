"""Files of the cache: written whole or not at all, checked when read, evicted by size.

Takes a folder and names; gives bytes. Works without a cache where the folder cannot be used (one warning says why). Safe for
concurrent processes: a file is written under another name and renamed, so that a reader sees the old one, the new one or none;
a file that is damaged counts as absent and is replaced.
"""

from __future__ import annotations

import functools
import itertools
import os
import sys
import threading
import time
from collections.abc import Iterator

from quadrants import config
from quadrants._frozen import frozen
from quadrants.cache.fingerprint import FORMAT, blake2b
from quadrants.diagnostics.codes import Code

_MAGIC = b"QDC%d\n" % FORMAT
_DIGEST_SIZE = 32
_TOUCH_AFTER = 3600  # seconds: a file used again within them keeps its time, which saves a write
_KEEP = 0.75  # share of the limit that is left after an eviction
_STALE = 600  # seconds after which a temporary file was left behind by a process that ended

_counter = itertools.count()


def default_folder() -> str:
    """The user's cache folder for Quadrants."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or os.path.expanduser("~\\AppData\\Local")
        return os.path.join(base, "quadrants", "cache")
    if sys.platform == "darwin":
        return os.path.expanduser("~/Library/Caches/quadrants")
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(base, "quadrants")


@frozen
class Info:
    """What the cache holds."""

    folder: str
    enabled: bool
    files: int
    bytes: int
    limit: int


class Store:
    """The files in one folder."""

    def __init__(self, folder: str, limit: int) -> None:
        self.root = folder
        self.folder = os.path.join(folder, f"v{FORMAT}")
        self.limit = limit
        self._ready = False
        self._warned = False

    # Reading and writing

    def read(self, name: str) -> bytes | None:
        """The contents of a file, or None where there is none or it is damaged."""
        path = self._path(name)
        try:
            with open(path, "rb") as file:
                data = file.read()
                stat = os.fstat(file.fileno())
        except OSError:
            return None
        if not _is_own(stat):
            self._warn(Code.CACHE_OWNER, "a file in it belongs to another user")
            return None
        content = _unwrap(data)
        if content is not None and time.time() - stat.st_mtime > _TOUCH_AFTER:
            _ignore_os_error(os.utime, path)
        return content

    def write(self, name: str, content: bytes) -> bool:
        """Write a file; whether that was possible."""
        if not self._ready and not self._prepare():
            return False
        path = self._path(name)
        temporary = os.path.join(self.folder, f"tmp-{os.getpid()}-{threading.get_ident()}-{next(_counter)}")
        data = _wrap(content)
        try:
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
            handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
            with open(handle, "wb") as file:
                file.write(data)
            os.replace(temporary, path)
        except OSError as problem:
            _ignore_os_error(os.unlink, temporary)
            self._warn(Code.CACHE_FOLDER, f"it cannot be written: {problem.strerror or problem}")
            return False
        self._account(len(data))
        return True

    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""
        _ignore_os_error(os.unlink, self._path(name))

    def _path(self, name: str) -> str:
        return os.path.join(self.folder, name[:2], name)

    # The folder

    def _prepare(self) -> bool:
        """Make the folder, for this user alone, or warn."""
        try:
            os.makedirs(self.root, mode=0o700, exist_ok=True)
            os.makedirs(self.folder, mode=0o700, exist_ok=True)
            stat = os.lstat(self.folder)
            if not _is_own(stat):
                self._warn(Code.CACHE_OWNER, "it belongs to another user")
                return False
            if os.name == "posix" and stat.st_mode & 0o077:
                os.chmod(self.folder, 0o700)
        except OSError as problem:
            self._warn(Code.CACHE_FOLDER, f"it cannot be made: {problem.strerror or problem}")
            return False
        self._ready = True
        return True

    def usable(self) -> bool:
        """Whether the folder exists, belongs to this user and is no link: what is in it may then be read."""
        try:
            stat = os.lstat(self.folder)
        except OSError:
            return False
        if not _is_own(stat) or (os.name == "posix" and stat.st_mode & 0o022):
            self._warn(Code.CACHE_OWNER, "other users can write to it")
            return False
        return True

    def can_be_made(self) -> bool:
        """Whether there is no folder yet, and the nearest one above that exists lets this user make it."""
        above = self.folder
        while above and not os.path.lexists(above):
            above = os.path.dirname(above)
        return above != self.folder and os.path.isdir(above) and os.access(above, os.W_OK | os.X_OK)

    def _warn(self, code: Code, reason: str) -> None:
        """One warning for each folder and process."""
        from quadrants.diagnostics.warning import warn

        if self._warned:
            return
        self._warned = True
        warn(f"{code}: the cache folder {self.folder} is not used: {reason}; set QUADRANTS_CACHE_DIR to another folder")

    # Size

    def _account(self, size: int) -> None:
        """Add to the estimate of the total; evict when it passes the limit.

        The estimate is the length of a file: appending to it is atomic between processes, and its size costs one call.
        """
        usage = os.path.join(self.folder, "usage")
        try:
            with open(usage, "ab") as file:
                file.write(b"\0" * ((size + 1023) // 1024))
                estimate = file.tell() * 1024
        except OSError:
            return
        if estimate > self.limit:
            self.evict()

    def evict(self) -> None:
        """Remove the files used longest ago until the total is well below the limit."""
        found = sorted(self._files())
        total = sum(size for _, size, _ in found)
        goal = self.limit if total <= self.limit else int(self.limit * _KEEP)
        for _, size, path in found:
            if total <= goal:
                break
            _ignore_os_error(os.unlink, path)
            total -= size
        self._reset_usage(total)

    def _reset_usage(self, total: int) -> None:
        _ignore_os_error(os.truncate, os.path.join(self.folder, "usage"), (total + 1023) // 1024)

    def _files(self) -> Iterator[tuple[float, int, str]]:
        """(time of use, size, path) of each file; temporary files left behind are removed on the way."""
        for entry in _scan(self.folder):
            if entry.is_dir(follow_symlinks=False):
                yield from (found for inner in _scan(entry.path) if (found := _stat(inner)) is not None)
            elif (
                entry.name.startswith("tmp-")
                and (found := _stat(entry)) is not None
                and time.time() - found[0] > _STALE
            ):
                _ignore_os_error(os.unlink, entry.path)

    def info(self) -> Info:
        """How much is here."""
        sizes = [size for _, size, _ in self._files()]
        return Info(self.folder, True, len(sizes), sum(sizes), self.limit)

    def clear(self) -> None:
        """Remove every file."""
        for _, _, path in list(self._files()):
            _ignore_os_error(os.unlink, path)
        self._reset_usage(0)


_store = functools.lru_cache(maxsize=8)(Store)


def current() -> Store | None:
    """The store that the settings name now; None where the cache is off."""
    if not config.get(config.Config.CACHE):
        return None
    folder = config.get(config.Config.CACHE_DIR) or default_folder()
    return _store(folder, config.get(config.Config.CACHE_SIZE))


def _wrap(content: bytes) -> bytes:
    return _MAGIC + blake2b(content, digest_size=_DIGEST_SIZE).digest() + content


def _unwrap(data: bytes) -> bytes | None:
    """The content of a file, None if any of its bytes is not as it was written."""
    start = len(_MAGIC) + _DIGEST_SIZE
    if not data.startswith(_MAGIC) or len(data) < start:
        return None
    content = data[start:]
    return content if blake2b(content, digest_size=_DIGEST_SIZE).digest() == data[len(_MAGIC) : start] else None


def _is_own(stat: os.stat_result) -> bool:
    """Whether this user is the owner, on systems that have owners."""
    return not hasattr(os, "getuid") or stat.st_uid == os.getuid()


def _scan(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _stat(entry: os.DirEntry[str]) -> tuple[float, int, str] | None:
    """(time of use, size, path); None if another process has removed it."""
    try:
        stat = entry.stat(follow_symlinks=False)
    except OSError:
        return None
    return stat.st_mtime, stat.st_size, entry.path


def _ignore_os_error(call: object, *args: object) -> None:
    """Housekeeping that may lose a race against another process."""
    try:
        call(*args)  # type: ignore[operator]
    except OSError:
        pass
