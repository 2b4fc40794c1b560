"""The five tools that a model calls, over one path: parse, handle, answer."""
