"""The face for applications: an opened store and one session on it."""

from retold.memory.asynchronous import AsyncMemorySession
from retold.memory.opened import Retold
from retold.memory.session import MemorySession, RevisionAction

__all__ = ["AsyncMemorySession", "MemorySession", "Retold", "RevisionAction"]
