"""Measuring retrieval on files of questions whose answers are known."""
