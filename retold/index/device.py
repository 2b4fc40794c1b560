"""Where torch runs and on how many threads; shared by every model that torch loads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Device = Literal["auto", "cpu", "cuda", "mps"]


@dataclass(frozen=True, slots=True)
class Placement:
    """What the settings say. ``threads`` None leaves torch's own choice, and the process, alone."""

    device: Device = "auto"
    threads: int | None = None

    def apply(self) -> str:
        """Return the device to load on; ``auto`` takes mps, then cuda, then cpu. Loads torch.

        Torch has one number of threads for the whole process, so a number that was set counts for
        everything that torch does in it.
        """
        import torch

        if self.threads is not None:
            torch.set_num_threads(self.threads)
        if self.device != "auto":
            return self.device
        if torch.backends.mps.is_available():
            return "mps"
        return "cuda" if torch.cuda.is_available() else "cpu"
