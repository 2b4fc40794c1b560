"""The run of an extraction: from an ended session to what is remembered of it."""

from retold.operations.extraction.run import ExtractionRun

__all__ = ["ExtractionRun"]
