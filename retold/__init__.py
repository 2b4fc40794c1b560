"""Long-term memory that a person can trust an AI agent with."""

from __future__ import annotations

__version__ = "0.1.0"

__all__ = ["__version__"]
