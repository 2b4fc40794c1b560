"""A conversation that shows on a real store, in real processes, what Retold promises."""
