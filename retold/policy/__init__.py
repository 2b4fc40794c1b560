"""Who may do what, and which claim prevails."""
