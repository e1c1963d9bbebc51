# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled programs kept on disk: one file an entry.

The folder is ``FT_CACHE_DIR``, else ``$XDG_CACHE_HOME/fractaltensor``, else ``~/.cache/fractaltensor``; it
is shared with the other tools. An entry is believed only if its checksum and its whole key agree; a
damaged one is removed and made again. A folder that belongs to another one, is a link, or can be
written by others is not used: its entries are code. ``FT_CACHE=0`` switches the cache off.

``FT_CACHE_SIZE`` is the size in bytes beyond which the least recently used entries go (1 GiB).
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import time
from typing import Callable, Iterator, List, NamedTuple, Optional, Set

from .errors import CacheError
from .names import counted

_MAGIC = b"FTCACHE1"
_SUFFIX = ".entry"
_HEAD = 8 + 32 + 8


class Entry(NamedTuple):
    """One entry of :func:`entries`."""

    name: str
    size: int
    used: float
    sound: bool


def folder() -> Optional[str]:
    """The path of the cache, or None where there is none."""
    own = os.environ.get("FT_CACHE_DIR")
    if own:
        return own
    base = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(base):
        return os.path.join(base, "fractaltensor")
    home = os.environ.get("HOME", "")
    return os.path.join(home, ".cache", "fractaltensor") if os.path.isabs(home) else None


def enabled() -> bool:
    """Whether compiled programs are looked up and stored."""
    return os.environ.get("FT_CACHE", "1") not in ("0", "off", "no") and folder() is not None


def max_bytes() -> int:
    """The size that the cache is trimmed to."""
    try:
        return int(os.environ.get("FT_CACHE_SIZE", ""))
    except ValueError:
        return 1 << 30


def _open() -> str:
    """The folder, made and found to be ours."""
    path = folder()
    if path is None:
        raise CacheError("the cache has no folder: set FT_CACHE_DIR")
    try:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        try:
            os.mkdir(path, 0o700)
        except FileExistsError:
            pass
        info = os.lstat(path)
    except OSError as error:
        raise CacheError(f"the cache {path} cannot be made: {error.strerror}; set FT_CACHE_DIR to another folder") from None
    if stat.S_ISLNK(info.st_mode):
        raise CacheError(f"the cache {path} is a symbolic link: set FT_CACHE_DIR to a folder")
    if not stat.S_ISDIR(info.st_mode):
        raise CacheError(f"the cache {path} is no folder: set FT_CACHE_DIR to one")
    if info.st_uid != os.geteuid():
        raise CacheError(f"the cache {path} belongs to user {info.st_uid}: set FT_CACHE_DIR to a folder of yours")
    if info.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise CacheError(f"the cache {path} can be written by others: chmod 700 it")
    return path


def _file(path: str, key: bytes) -> str:
    return os.path.join(path, hashlib.sha256(key).hexdigest() + _SUFFIX)


def _read(file: str) -> Optional[bytes]:
    try:
        handle = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        with os.fdopen(handle, "rb") as stream:
            if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                return None
            return stream.read()
    except OSError:
        return None


def _digest(size: bytes, rest: bytes) -> bytes:
    return hashlib.sha256(size + rest).digest()


def _value(content: bytes, key: Optional[bytes]) -> Optional[bytes]:
    """The value of a sound entry. With no key any sound entry will do."""
    if len(content) < _HEAD or content[:8] != _MAGIC:
        return None
    size = content[40:48]
    length = int.from_bytes(size, "little")
    if length > len(content) - _HEAD or content[8:40] != _digest(size, content[_HEAD:]):
        return None
    if key is not None and content[_HEAD : _HEAD + length] != key:
        return None
    return content[_HEAD + length :]


def get(key: bytes) -> Optional[bytes]:
    """The value of a key, or None. A damaged entry is removed."""
    try:
        file = _file(_open(), key)
    except CacheError:
        return None
    content = _read(file)
    if content is None:
        return None
    value = _value(content, key)
    if value is None:
        with contextlib.suppress(OSError):
            os.unlink(file)
        return None
    with contextlib.suppress(OSError):
        os.utime(file, follow_symlinks=False)
    return value


def put(key: bytes, value: bytes) -> bool:
    """Stores a value; False where the folder cannot be written."""
    try:
        path = _open()
    except CacheError:
        return False
    size = len(key).to_bytes(8, "little")
    file = _file(path, key)
    temporary = f"{file}.tmp{os.getpid()}-{time.monotonic_ns()}"
    try:
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(_MAGIC + _digest(size, key + value) + size + key + value)
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(temporary, file)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
    except OSError:
        return False
    trim()
    return True


def remove(key: bytes) -> None:
    """Removes one entry."""
    with contextlib.suppress(OSError, CacheError):
        os.unlink(_file(_open(), key))


@contextlib.contextmanager
def _locked(key: bytes) -> Iterator[None]:
    """Holds a key's lock: of several processes that want one entry, the first makes it.

    Locks are shared by keys with the same first digits, so there are at most 256 files. Where no lock can be
    had, the work is done twice, which is slower and not wrong.
    """
    handle = None
    try:
        import fcntl

        path = _open()
        handle = os.open(
            os.path.join(path, f"lock-{hashlib.sha256(key).hexdigest()[:2]}"),
            os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600,
        )
        _held.add(handle)
        fcntl.flock(handle, fcntl.LOCK_EX)
    except (ImportError, OSError, CacheError):
        pass
    try:
        yield
    finally:
        if handle in _held:
            _held.discard(handle)
            # A child that was forked meanwhile has the file open, too: closing it here would not unlock it.
            with contextlib.suppress(OSError):
                fcntl.flock(handle, fcntl.LOCK_UN)
            os.close(handle)


#: Locks that threads of this process hold or wait for.
_held: Set[int] = set()


def _close_after_fork() -> None:
    """What the parent's threads lock is theirs: a child that kept it open would wait for itself."""
    for handle in _held:
        with contextlib.suppress(OSError):
            os.close(handle)
    _held.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_after_fork)


def get_or_make(key: bytes, make: Callable[[], Optional[bytes]]) -> Optional[bytes]:
    """The entry, or what `make` gives, stored. `make` may give None: something that cannot be stored."""
    value = get(key)
    if value is not None:
        return value
    with _locked(key):
        value = get(key)
        if value is None:
            value = make()
            if value is not None:
                put(key, value)
    return value


def _files(path: str) -> List[os.DirEntry]:
    try:
        with os.scandir(path) as items:
            return [item for item in items if item.name.endswith(_SUFFIX) and item.is_file(follow_symlinks=False)]
    except OSError:
        return []


def trim(limit: Optional[int] = None) -> None:
    """Removes the least recently used entries beyond a size, and what killed processes left."""
    try:
        path = _open()
    except CacheError:
        return
    limit = max_bytes() if limit is None else limit
    old = time.time() - 3600
    with contextlib.suppress(OSError), os.scandir(path) as items:
        for item in items:
            if f"{_SUFFIX}.tmp" in item.name:
                with contextlib.suppress(OSError):
                    if item.stat(follow_symlinks=False).st_mtime < old:
                        os.unlink(item.path)
    found = []
    for item in _files(path):
        with contextlib.suppress(OSError):
            info = item.stat(follow_symlinks=False)
            found.append((info.st_mtime_ns, info.st_size, item.path))
    total = sum(size for _, size, _ in found)
    for _, size, file in sorted(found):
        if total <= limit:
            return
        with contextlib.suppress(OSError):
            os.unlink(file)
            total -= size


def entries() -> List[Entry]:
    """What the cache holds, the most recently used first."""
    try:
        path = _open()
    except CacheError:
        return []
    found = []
    for item in _files(path):
        with contextlib.suppress(OSError):
            info = item.stat(follow_symlinks=False)
            content = _read(item.path)
            value = None if content is None else _value(content, None)
            name = ""
            if value is not None:
                length = int.from_bytes(content[40:48], "little")
                text = content[_HEAD : _HEAD + length].decode(errors="replace")
                at = text.find("func.func @")
                name = text[at + 11 :].split("(", 1)[0] if at >= 0 else ""
            found.append(Entry(name, info.st_size, info.st_mtime, value is not None))
    return sorted(found, key=lambda e: -e.used)


def clear() -> int:
    """Removes all entries; gives how many there were."""
    try:
        path = _open()
    except CacheError:
        return 0
    count = 0
    for item in _files(path):
        with contextlib.suppress(OSError):
            os.unlink(item.path)
            count += 1
    return count


def info() -> str:
    """The cache in a few lines."""
    if not enabled():
        return "the cache is off"
    try:
        path = _open()
    except CacheError as error:
        return error.reason
    found = entries()
    total = sum(e.size for e in found)
    lines = [f"{path}: {counted(len(found), 'entry', 'entries')}, {total} bytes of at most {max_bytes()}"]
    lines += [f"  {e.name or '(damaged)'}: {e.size} bytes, used {time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(e.used))}" for e in found]
    return "\n".join(lines)
