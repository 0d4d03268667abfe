"""The cache as users see it.

Takes nothing; gives what the cache holds, and empties it.
"""

from __future__ import annotations

from quadrants import config
from quadrants.cache.store import Info, current, default_folder


def cache_info() -> Info:
    """Where compiled code is kept on disk, how much of it there is, and how much there may be."""
    store = current()
    if store is not None:
        return store.info()
    folder = config.get(config.Config.CACHE_DIR) or default_folder()
    return Info(folder, False, 0, 0, config.get(config.Config.CACHE_SIZE))


def clear_cache() -> None:
    """Remove all compiled code from the disk."""
    store = current()
    if store is not None:
        store.clear()
