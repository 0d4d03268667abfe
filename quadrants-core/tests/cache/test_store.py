from __future__ import annotations

import os
import stat
import subprocess
import sys
import textwrap
import warnings
from pathlib import Path

import pytest

from quadrants.cache import store as store_module
from quadrants.cache.store import Store, current
from quadrants.diagnostics import QuadrantsWarning


def make(path: Path, limit: int = 1 << 20) -> Store:
    return Store(str(path / "cache"), limit)


def test_round_trip(tmp_path: Path) -> None:
    store = make(tmp_path)
    assert store.read("abcd") is None
    assert store.write("abcd", b"content")
    assert store.write("empty", b"")
    assert make(tmp_path).read("abcd") == b"content"
    assert store.read("empty") == b""
    assert store.write("abcd", b"other") and store.read("abcd") == b"other"
    store.remove("abcd")
    assert store.read("abcd") is None
    store.remove("abcd")


def test_every_damage_is_noticed(tmp_path: Path) -> None:
    store = make(tmp_path)
    store.write("abcd", bytes(range(40)))
    path = store._path("abcd")
    whole = Path(path).read_bytes()
    for position in range(len(whole)):
        damaged = bytearray(whole)
        damaged[position] ^= 1
        Path(path).write_bytes(damaged)
        assert store.read("abcd") is None, position
    for length in range(len(whole)):
        Path(path).write_bytes(whole[:length])
        assert store.read("abcd") is None, length
    Path(path).write_bytes(whole + b"x")
    assert store.read("abcd") is None
    assert store.write("abcd", b"new") and store.read("abcd") == b"new"


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_the_folder_is_private(tmp_path: Path) -> None:
    store = make(tmp_path)
    store.write("abcd", b"x")
    for path in (store.folder, os.path.dirname(store._path("abcd"))):
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o700
    assert stat.S_IMODE(os.stat(store._path("abcd")).st_mode) == 0o600
    os.chmod(store.folder, 0o777)
    with pytest.warns(QuadrantsWarning, match="QD502|QD503"):
        assert not make(tmp_path).usable()
    make(tmp_path).write("efgh", b"x")
    assert stat.S_IMODE(os.stat(store.folder).st_mode) == 0o700


def test_a_folder_of_another_user_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = make(tmp_path)
    store.write("abcd", b"x")
    monkeypatch.setattr(os, "getuid", lambda: 12345, raising=False)
    with pytest.warns(QuadrantsWarning, match="QD503"):
        assert store.read("abcd") is None
    other = make(tmp_path)
    with pytest.warns(QuadrantsWarning, match="another user"):
        assert not other.write("efgh", b"x")


def test_a_link_in_place_of_the_folder_is_not_used(tmp_path: Path) -> None:
    target = tmp_path / "elsewhere"
    target.mkdir(mode=0o777)
    os.chmod(target, 0o777)
    store = make(tmp_path)
    os.makedirs(store.root)
    os.symlink(target, store.folder)
    with pytest.warns(QuadrantsWarning):
        assert not store.usable()


def test_no_place_to_write_gives_one_warning(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where the folder should be")
    store = make(tmp_path)
    with pytest.warns(QuadrantsWarning, match="QUADRANTS_CACHE_DIR") as caught:
        assert not store.write("abcd", b"x")
        assert not store.write("abcd", b"x")
    assert [warning.filename for warning in caught] == [__file__]
    assert store.read("abcd") is None and not store.usable()


def test_eviction_by_size_keeps_what_was_used_last(tmp_path: Path) -> None:
    store = make(tmp_path, limit=20_000)
    for number in range(19):
        store.write(f"{number:02}", b"x" * 900)
        os.utime(store._path(f"{number:02}"), (number, number))
    store.read("00")  # used now: it stays, though it is the oldest
    for number in range(19, 25):
        store.write(f"{number:02}", b"x" * 900)
    left = {f"{number:02}" for number in range(25) if store.read(f"{number:02}") is not None}
    assert store.info().bytes <= 20_000
    assert "00" in left and "24" in left and "01" not in left


def test_a_limit_of_nothing(tmp_path: Path) -> None:
    store = make(tmp_path, limit=0)
    store.write("abcd", b"x" * 5000)
    assert store.info().bytes == 0


def test_temporary_files_left_behind_go(tmp_path: Path) -> None:
    store = make(tmp_path)
    store.write("abcd", b"x")
    left = Path(store.folder) / "tmp-1-1-1"
    left.write_bytes(b"x")
    store.evict()
    assert left.exists()  # it may be in use
    os.utime(left, (0, 0))
    store.evict()
    assert not left.exists() and store.read("abcd") == b"x"


def test_clear(tmp_path: Path) -> None:
    store = make(tmp_path)
    for number in range(5):
        store.write(f"{number}xyz", b"x")
    assert store.info().files == 5
    store.clear()
    assert store.info().files == 0


def test_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUADRANTS_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("QUADRANTS_CACHE_SIZE", "5M")
    found = current()
    assert found is not None and found.root == str(tmp_path) and found.limit == 5 << 20 and current() is found
    monkeypatch.setenv("QUADRANTS_CACHE", "0")
    assert current() is None
    monkeypatch.setenv("QUADRANTS_CACHE", "1")
    monkeypatch.delenv("QUADRANTS_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    found = current()
    assert found is not None
    if sys.platform == "linux":
        assert found.root == str(tmp_path / "xdg" / "quadrants")


def test_processes_that_write_and_read_the_same_files(tmp_path: Path) -> None:
    """Readers see one whole content or another, never a mixture."""
    program = textwrap.dedent("""
        import sys
        from quadrants.cache.store import Store
        store, mark = Store(sys.argv[1], 1 << 14), sys.argv[2].encode()
        for turn in range(150):
            name = f"{turn % 5}-file"
            store.write(name, mark * 2000)
            found = store.read(name)
            assert found is None or (len(found) == 2000 and len(set(found)) == 1), found[:50]
    """)
    command = [sys.executable, "-c", program, str(tmp_path / "cache")]
    running = [subprocess.Popen([*command, mark]) for mark in "abcd"]
    assert [process.wait(timeout=120) for process in running] == [0, 0, 0, 0]


def test_warnings_are_those_of_the_project(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make(tmp_path).write("abcd", b"x")
    assert issubclass(QuadrantsWarning, UserWarning)
    assert store_module.default_folder()
