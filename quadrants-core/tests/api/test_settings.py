from __future__ import annotations

from typing import Any

import pytest

from quadrants.api.settings import OPTIONS, parse_options
from quadrants.diagnostics import Code, QuadrantsError


@pytest.mark.parametrize(
    ("given", "field", "value"),
    [
        ({}, "fp", "default"),
        ({"fastmath": True}, "fp", "fast"),
        ({"fastmath": {"nnan", "contract"}}, "fp", "fast"),
        ({"fastmath": False}, "fp", "default"),
        ({"fp": "strict"}, "fp", "strict"),
        ({"fp": "fast", "fastmath": True}, "fp", "fast"),
        ({"boundscheck": False}, "boundscheck", False),
        ({"boundscheck": None}, "boundscheck", True),
        ({"nogil": True}, "nogil", True),
        ({"parallel": True}, "parallel", True),
        ({"parallel": {"prange": True}}, "parallel", True),
        ({"debug": True}, "debug", True),
        ({"inline": "always"}, "inline", "always"),
        ({"cache": False}, "cache", False),
        ({"nopython": True}, "debug", False),
    ],
)
def test_options(given: dict[str, Any], field: str, value: object) -> None:
    assert getattr(parse_options(given), field) == value


def test_error_model() -> None:
    assert parse_options({"error_model": "numpy"}).numerics.division == "ieee"
    assert parse_options({"error_model": "python"}).numerics.division == "python"


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"fast_math": True}, "did you mean fastmath?"),
        ({"frobnicate": 1}, "boundscheck, cache"),
        ({"fp": "quick"}, "'default', 'strict', 'fast'"),
        ({"fp": None}, "it is one of"),
        ({"nogil": "yes"}, "True or False"),
        ({"inline": "perhaps"}, "'auto', 'never', 'always'"),
        ({"fp": "strict", "fastmath": True}, "contradicts"),
        ({"error_model": "c"}, "'python', 'numpy'"),
        ({"parallel": 3}, "True or False"),
    ],
)
def test_mistakes(given: dict[str, Any], text: str) -> None:
    with pytest.raises(QuadrantsError) as caught:
        parse_options(given)
    assert caught.value.code is Code.BAD_OPTION
    assert text in str(caught.value)


def test_every_option_has_a_parser() -> None:
    for name in OPTIONS:
        with pytest.raises(QuadrantsError, match=name):
            parse_options({name: object()})


def test_the_cache_is_not_part_of_what_code_means() -> None:
    assert parse_options({"cache": False}).key() == parse_options({}).key()
    assert parse_options({"fp": "strict"}).key() != parse_options({}).key()


def test_settings_of_the_environment_are_the_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUADRANTS_DEBUG", "1")
    monkeypatch.setenv("QUADRANTS_BOUNDS_CHECK", "0")
    assert parse_options({}).debug and not parse_options({}).boundscheck
    assert not parse_options({"debug": False}).debug
