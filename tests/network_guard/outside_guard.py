"""An audit hook that refuses connections to anything but this machine.

An audit hook cannot be removed and sees every socket of its process, whichever library opens it.
``tests/conftest.py`` installs it for the suite.
A child process gets it through ``guarded_environment``: Python imports ``sitecustomize`` from this
directory before anything else, and grandchildren inherit the variable.

A refused attempt raises, and is also written down, since the caller may swallow the exception:
in ``refused`` of this process, and in the file that ``NETWORK_GUARD_LOG`` names, if it is set.
With ``NETWORK_GUARD=all`` even a socket to this machine is refused (pipes and Unix sockets stay).
"""

import ipaddress
import os
import socket
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

DIRECTORY = Path(__file__).parent
INTERNET_FAMILIES = (socket.AF_INET, socket.AF_INET6)

refused: list[str] = []


class OutsideConnectionError(RuntimeError):
    """Something tried to talk to another machine during a test."""


def is_local(host: Any) -> bool:
    """Tell whether a host argument names this machine; None and the empty host do."""
    if isinstance(host, bytes | bytearray):
        host = bytes(host).decode("ascii", "replace")
    if host in (None, "", "localhost"):
        return True
    try:
        return ipaddress.ip_address(str(host).partition("%")[0]).is_loopback
    except ValueError:
        return False


def host_of(event: str, args: tuple[Any, ...]) -> Any:
    """Return the host that an audited socket call reaches for; None when it stays here."""
    if event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"):
        return args[0]
    sock, address = args[0], args[1]
    if sock.family not in INTERNET_FAMILIES:
        return None
    return address[0] if isinstance(address, tuple) else None


def hook(event: str, args: tuple[Any, ...]) -> None:
    """Raise for a socket call that would leave this machine."""
    if event == "socket.__new__":
        if os.environ.get("NETWORK_GUARD") == "all" and args[1] in INTERNET_FAMILIES:
            refuse(f"{event} family {args[1]}")
    elif event in AUDITED and not is_local(host := host_of(event, args)):
        refuse(f"{event} {host}")


AUDITED = frozenset(
    f"socket.{name}"
    for name in (
        "connect",
        "getaddrinfo",
        "gethostbyaddr",
        "gethostbyname",
        "sendmsg",
        "sendto",
    )
)


def refuse(attempt: str) -> None:
    """Write the attempt down and raise."""
    refused.append(attempt)
    if log := os.environ.get("NETWORK_GUARD_LOG"):
        descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.write(descriptor, f"{os.getpid()} {attempt}\n".encode())
        os.close(descriptor)
    raise OutsideConnectionError(f"tests reach no other machine: {attempt}")


def install() -> None:
    """Add the hook to this process, for good."""
    sys.addaudithook(hook)


def guarded_environment(
    environment: Mapping[str, str], *, log: Path | None = None, everything: bool = False
) -> dict[str, str]:
    """Return an environment whose Python processes, and all their children, carry the hook."""
    guarded = dict(environment)
    paths = [str(DIRECTORY), *filter(None, [guarded.get("PYTHONPATH")])]
    guarded["PYTHONPATH"] = os.pathsep.join(paths)
    if log is not None:
        guarded["NETWORK_GUARD_LOG"] = str(log)
    if everything:
        guarded["NETWORK_GUARD"] = "all"
    return guarded
