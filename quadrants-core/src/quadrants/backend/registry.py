"""Finding backends.

Takes a backend's name; gives its one instance. A first-party backend is resolved through the entry point of its own
distribution, so the environment is not scanned; the whole environment is scanned only by `backends()` and for names that are
not first-party. Package metadata is imported on first use: it costs more than all of `import quadrants`.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from quadrants._frozen import frozen
from quadrants.backend.contract import Availability, Backend, missing_members
from quadrants.diagnostics.codes import Code
from quadrants.diagnostics.errors import BackendUnavailable

if TYPE_CHECKING:
    import importlib.metadata as metadata_module

GROUP = "quadrants.backends"

# name -> (distribution, what to install)
FIRST_PARTY = {
    "cpu": ("quadrants-cpu", "quadrants"),
    "cuda": ("quadrants-cuda", "quadrants[cuda]"),
    "amdgpu": ("quadrants-amdgpu", "quadrants[amdgpu]"),
    "metal": ("quadrants-metal", "quadrants[metal]"),
    "vulkan": ("quadrants-vulkan", "quadrants[vulkan]"),
}


@frozen
class BackendInfo:
    """One row of `backends()`: a backend that is installed, or a first-party one that is not."""

    name: str
    installed: bool
    distribution: str
    version: str
    availability: Availability

    def __str__(self) -> str:
        state = "available" if self.availability.ok else "not available" if self.installed else "not installed"
        version = f" {self.version}" if self.version else ""
        lines = [f"{self.name}: {state} ({self.distribution}{version})"]
        if self.availability.reason:
            lines.append(f"    {'note' if self.availability.ok else 'reason'}: {self.availability.reason}")
        if self.availability.fix:
            lines.append(f"    fix: {self.availability.fix}")
        return "\n".join(lines)


class Registry:
    """Backends by name, each made once. The lock is held while a backend is made, so two threads get the same one."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._instances: dict[str, Backend] = {}

    def get(self, name: str) -> Backend:
        """The backend called `name`; `BackendUnavailable` with the reason and the fix where it cannot be had."""
        found = self._instances.get(name)
        if found is not None:
            return found
        with self._lock:
            if name not in self._instances:
                self._instances[name] = _make(name, _entry_point(name))
            return self._instances[name]

    def infos(self) -> list[BackendInfo]:
        """Every installed backend and every first-party one, first-party ones first."""
        installed = {point.name: point for point in _scan()}
        names = [*FIRST_PARTY, *sorted(set(installed) - set(FIRST_PARTY))]
        return [self._info(name, installed.get(name)) for name in names]

    def _info(self, name: str, point: metadata_module.EntryPoint | None) -> BackendInfo:
        if point is None:
            distribution, requirement = FIRST_PARTY[name]
            away = Availability(False, f"{distribution} is not installed", f"pip install '{requirement}'")
            return BackendInfo(name, False, distribution, "", away)
        distribution, version = _distribution_of(point)
        try:
            availability = self.get(name).availability()
        except BackendUnavailable as problem:
            availability = Availability(False, problem.message, problem.hint or "")
        return BackendInfo(name, True, distribution, version, availability)


_REGISTRY = Registry()


def get_backend(name: str) -> Backend:
    """The backend called `name`. It need not be available on this machine: ask `availability()`."""
    return _REGISTRY.get(name)


def backends() -> list[BackendInfo]:
    """What is installed and what is available, with the reason where not."""
    return _REGISTRY.infos()


def _metadata() -> Any:
    """The package-metadata module, imported when first needed."""
    import importlib_metadata

    return importlib_metadata


def _scan() -> list[metadata_module.EntryPoint]:
    """Every entry point of the group, in the whole environment."""
    return list(_metadata().entry_points(group=GROUP))


def _entry_point(name: str) -> metadata_module.EntryPoint:
    """The entry point of a backend: first-party ones from their own distribution, others by a scan."""
    if name in FIRST_PARTY:
        return _first_party(name)
    matches = [point for point in _scan() if point.name == name]
    if not matches:
        raise BackendUnavailable(
            Code.BACKEND_MISSING,
            f"no installed package provides a backend called {name!r}",
            hint=f"first-party backends are {', '.join(FIRST_PARTY)}; `python -m quadrants doctor` lists what is installed",
        )
    if len(matches) > 1:
        owners = ", ".join(sorted(_distribution_of(point)[0] for point in matches))
        raise BackendUnavailable(
            Code.BACKEND_BROKEN,
            f"several packages provide a backend called {name!r}: {owners}",
            hint="uninstall all but one of them",
        )
    return matches[0]


def _first_party(name: str) -> metadata_module.EntryPoint:
    """The entry point of a first-party backend, found without scanning the environment."""
    distribution, requirement = FIRST_PARTY[name]
    metadata = _metadata()
    try:
        points: Iterator[metadata_module.EntryPoint] = iter(metadata.distribution(distribution).entry_points)
    except metadata.PackageNotFoundError:
        raise BackendUnavailable(
            Code.BACKEND_MISSING, f"the backend {name!r} is not installed", hint=f"pip install '{requirement}'"
        ) from None
    for point in points:
        if point.group == GROUP and point.name == name:
            return point
    raise BackendUnavailable(
        Code.BACKEND_BROKEN,
        f"{distribution} is installed but does not name its backend",
        hint=f"reinstall it: pip install --force-reinstall --no-deps '{distribution}'",
    )


def _distribution_of(point: metadata_module.EntryPoint) -> tuple[str, str]:
    """The name and the version of the distribution that provides an entry point."""
    owner: Any = point.dist
    return ("an unknown package", "") if owner is None else (owner.metadata["Name"], owner.version)


def _make(name: str, point: metadata_module.EntryPoint) -> Backend:
    """Load and construct a backend; whatever goes wrong there is reported as the backend's fault, with its cause."""
    owner, version = _distribution_of(point)
    _check_version(name, owner, version)
    try:
        backend = point.load()()
    except Exception as problem:
        raise BackendUnavailable(
            Code.BACKEND_BROKEN,
            f"the backend {name!r} of {owner} {version} cannot be loaded: {type(problem).__name__}: {problem}",
            hint=f"reinstall {owner}, or report this to its maintainers",
        ) from problem
    missing = missing_members(backend)
    if missing or backend.name != name:
        problem_text = f"it lacks {', '.join(missing)}" if missing else f"it calls itself {backend.name!r}"
        raise BackendUnavailable(
            Code.BACKEND_BROKEN,
            f"{point.value} of {owner} {version} is not a backend called {name!r}: {problem_text}",
            hint="see quadrants.backend.contract.Backend",
        )
    made: Backend = backend
    return made


def _check_version(name: str, owner: str, version: str) -> None:
    """A first-party backend has to be of core's own version: they share the IR."""
    from quadrants._version import __version__

    if name in FIRST_PARTY and owner == FIRST_PARTY[name][0] and version != __version__:
        raise BackendUnavailable(
            Code.BACKEND_VERSION,
            f"{owner} is version {version}, quadrants-core is version {__version__}",
            hint=f"install the same version of both: pip install '{owner}=={__version__}'",
        )
