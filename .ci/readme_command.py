"""Print the one command of the README's bash blocks that ends with the given word."""

import re
import sys
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"
BASH_BLOCK = re.compile(r"^```bash\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def commands_ending_with(text: str, word: str) -> list[str]:
    """Return the lines of bash blocks whose last word is this one, in order."""
    lines = (line for block in BASH_BLOCK.findall(text) for line in block.splitlines())
    return [line for line in lines if line.split()[-1:] == [word]]


def main() -> int:
    """Print the command, or say that there is not exactly one."""
    word = sys.argv[1]
    commands = commands_ending_with(README.read_text(encoding="utf-8"), word)
    if len(commands) != 1:
        print(f"README.md: one command ends with {word!r}, found {commands}", file=sys.stderr)
        return 1
    print(commands[0])
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
