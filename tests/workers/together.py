"""``retold worker all`` with the scripted extraction; its words are those of a consumer."""

import os
import sys

from retold.cli.supervision import run_together

if __name__ == "__main__":
    flags = sys.argv[1:]
    seconds = float(flags[flags.index("--grace") + 1])
    commands = [["tests.workers.scripted", *flags], ["workers", "maintenance", *flags]]
    sys.exit(
        run_together(
            [[sys.executable, "-m", *each] for each in commands], os.environ, grace_seconds=seconds
        )
    )
