"""The Vulkan driver: the part of its interface that computing needs, and what is built on that. Knows nothing of QIR."""

from __future__ import annotations
