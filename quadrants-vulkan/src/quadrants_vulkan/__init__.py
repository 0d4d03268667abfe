"""The Vulkan backend of Quadrants."""

from __future__ import annotations

from quadrants_vulkan.backend import VulkanBackend

__all__ = ["VulkanBackend"]
