"""Jobs that keep a store in order while it is in use; none of them asks a model."""
