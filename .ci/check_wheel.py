"""Compare the files of a wheel with the tracked files of the packages."""

import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent


def tracked() -> set[str]:
    """Return every committed file below the package folders."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--", "retold", "workers"],
        capture_output=True,
        check=True,
        cwd=ROOT,
        text=True,
    )
    return {name for name in listing.stdout.split("\0") if name}


def main() -> int:
    """Print what is missing or too much, and answer 1 when anything is."""
    with zipfile.ZipFile(sys.argv[1]) as wheel:
        names = {name for name in wheel.namelist() if not name.endswith("/")}
    packaged = {name for name in names if ".dist-info/" not in name}
    licences = {name for name in names if ".dist-info/licenses/" in name}
    missing, extra = tracked() - packaged, packaged - tracked()
    for name in sorted(missing):
        print(f"not in the wheel: {name}")
    for name in sorted(extra):
        print(f"in the wheel, but not committed: {name}")
    if not any(name.endswith("/LICENSE") for name in licences):
        print("the wheel has no LICENSE")
        return 1
    print(f"the wheel has {len(packaged)} files of the package and {len(licences)} licences")
    return 1 if missing or extra else 0


if __name__ == "__main__":
    raise SystemExit(main())
