"""The table of settings."""

from __future__ import annotations

import warnings

import pytest

from quadrants import config
from quadrants.config import Config
from quadrants.diagnostics import Code, QuadrantsWarning, SettingError


def test_defaults() -> None:
    assert config.snapshot({}) == {
        "CACHE": True,
        "CACHE_DIR": None,
        "CACHE_SIZE": 1 << 30,
        "NATIVE_CALL": True,
        "ISA": "",
        "NUM_THREADS": None,
        "PARALLEL_WORK": 20_000,
        "PERF": False,
        "BOUNDS_CHECK": True,
        "DEBUG": False,
        "LOG": "warning",
    }


@pytest.mark.parametrize(
    ("which", "text", "value"),
    [
        (Config.CACHE, "0", False),
        (Config.CACHE, "No", False),
        (Config.DEBUG, " TRUE ", True),
        (Config.CACHE_SIZE, "1048576", 1 << 20),
        (Config.PARALLEL_WORK, " 0 ", 0),
        (Config.CACHE_SIZE, "500M", 500 << 20),
        (Config.CACHE_SIZE, "500mb", 500 << 20),
        (Config.CACHE_SIZE, "1.5GiB", 3 << 29),
        (Config.CACHE_SIZE, "0", 0),
        (Config.NUM_THREADS, "3", 3),
        (Config.ISA, " x86-64-v3 ", "x86-64-v3"),
        (Config.CACHE_DIR, "/tmp/../tmp/q", "/tmp/q"),
        (Config.CACHE_DIR, "", None),
        (Config.LOG, "Debug", "debug"),
    ],
)
def test_parse(which: Config, text: str, value: object) -> None:
    assert config.get(which, {which.setting.variable: text}) == value
    assert config.get(which, {which.setting.alias: text}) == value


def test_the_canonical_name_wins() -> None:
    assert config.get(Config.CACHE, {"QUADRANTS_CACHE": "1", "QD_CACHE": "0"}) is True


def test_home_is_expanded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/somewhere")
    assert config.get(Config.CACHE_DIR, {"QUADRANTS_CACHE_DIR": "~/c"}) == "/somewhere/c"


@pytest.mark.parametrize(
    ("which", "text"),
    [
        (Config.CACHE, "maybe"),
        (Config.CACHE, ""),
        (Config.CACHE_SIZE, "-1"),
        (Config.CACHE_SIZE, "12Q"),
        (Config.CACHE_SIZE, "nan"),
        (Config.CACHE_SIZE, "inf"),
        (Config.CACHE_SIZE, ""),
        (Config.NUM_THREADS, "0"),
        (Config.NUM_THREADS, "many"),
        (Config.CACHE_DIR, " "),
        (Config.LOG, "loud"),
    ],
)
def test_bad_values_name_the_variable(which: Config, text: str) -> None:
    with pytest.raises(SettingError, match=which.setting.alias) as caught:
        config.get(which, {which.setting.alias: text})
    assert caught.value.code is Code.BAD_SETTING
    assert caught.value.hint


def test_the_environment_is_read_every_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUADRANTS_CACHE", "0")
    assert config.get(Config.CACHE) is False
    monkeypatch.setenv("QUADRANTS_CACHE", "1")
    assert config.get(Config.CACHE) is True


def test_unknown_variables_warn() -> None:
    with pytest.warns(QuadrantsWarning, match="QUADRANTS_CAHCE: did you mean QUADRANTS_CACHE"):
        config.warn_unknown({"QUADRANTS_CAHCE": "0", "QUADRANTS_CACHE": "0"})
    with pytest.warns(QuadrantsWarning, match="the settings are QUADRANTS_CACHE, "):
        config.warn_unknown({"QUADRANTS_XYZZY": "0"})


def test_other_variables_do_not_warn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        config.warn_unknown({"QD_SOMETHING": "1", "PATH": "", "QUADRANTS_CACHE": "0"})
