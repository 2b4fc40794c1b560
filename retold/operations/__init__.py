"""What an operator does with a store, whichever door the order came through."""
