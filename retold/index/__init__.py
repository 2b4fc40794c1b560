"""What is kept in memory beside the store, with the models that fill it."""
