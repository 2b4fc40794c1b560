"""Run the command line as ``python -m retold``."""

from retold.cli import main

if __name__ == "__main__":
    main()
