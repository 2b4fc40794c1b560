"""From a question to the few records that answer it, with the reasons."""
