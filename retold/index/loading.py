"""Load a model on its first use, once, whatever the number of threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

Model = TypeVar("Model")


class LoadedOnce(Generic[Model]):
    """A model that the first caller loads while the others wait for it.

    A load that raises leaves nothing behind, and the next caller tries again.
    """

    def __init__(self, load: Callable[[], Model]) -> None:
        """Keep the function; nothing is loaded yet."""
        self._load = load
        self._lock = threading.Lock()
        self._model: Model | None = None

    @property
    def is_loaded(self) -> bool:
        """Return whether ``get`` answers without loading anything."""
        return self._model is not None

    def get(self) -> Model:
        """Return the model."""
        model = self._model
        if model is not None:
            return model
        with self._lock:
            if self._model is None:
                self._model = self._load()
            return self._model
