"""Loggers for operators. Facts go into ``extra``; memory content goes nowhere."""

from __future__ import annotations

import logging


def logger_for(module: str) -> logging.Logger:
    """Return the logger of one of our modules; the host configures handlers and levels."""
    return logging.getLogger(module)


logging.getLogger("retold").addHandler(logging.NullHandler())
