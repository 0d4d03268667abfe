"""Every operation of QIR, control flow and what threads do together, on the stand-in device against the interpreters: the
programs of the Vulkan backend's tests.
"""

from __future__ import annotations

from test_vulkan_control import *  # noqa: F403
from test_vulkan_scalars import *  # noqa: F403
from test_vulkan_threads import *  # noqa: F403
