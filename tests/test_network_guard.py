import re
import socket
import subprocess
import sys

import pytest

from tests.network_guard import outside_guard

# TEST-NET-1 of RFC 5737: an address that belongs to nobody.
NOBODY = "192.0.2.1"


def test_guard_refuses_a_connection_to_another_machine():
    """Without the `install()` line of conftest.py this test fails."""
    with (
        socket.socket() as sock,
        pytest.raises(outside_guard.OutsideConnectionError, match=re.escape(NOBODY)),
    ):
        sock.connect((NOBODY, 80))

    assert outside_guard.refused == ["socket.connect 192.0.2.1"]
    outside_guard.refused.clear()


def test_guard_refuses_a_datagram_to_another_machine():
    with (
        socket.socket(type=socket.SOCK_DGRAM) as sock,
        pytest.raises(outside_guard.OutsideConnectionError),
    ):
        sock.sendto(b"x", (NOBODY, 9))

    outside_guard.refused.clear()


def test_guard_refuses_to_look_up_a_name():
    with pytest.raises(outside_guard.OutsideConnectionError, match=r"models\.example"):
        socket.getaddrinfo("models.example", 443)

    outside_guard.refused.clear()


def test_guard_lets_a_process_talk_to_itself():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with socket.create_connection(("localhost", port)):
            pass

    assert outside_guard.refused == []


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        (b"localhost", True),
        (None, True),
        ("10.0.0.1", False),
        ("fe80::1%eth0", False),
        ("localhost.example", False),
    ],
)
def test_is_local_knows_this_machine(host, local):
    assert outside_guard.is_local(host) is local


CHILD = """
import socket
try:
    {attempt}
except Exception as error:
    print(type(error).__name__)
else:
    print("went through")
"""


def run_guarded(attempt, tmp_path, **options):
    log = tmp_path / "refused"
    environment = outside_guard.guarded_environment({}, log=log, **options)
    child = CHILD.format(attempt=attempt)
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    done = subprocess.run(
        [sys.executable, "-c", parent],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip(), log.read_text() if log.exists() else ""


def test_guard_reaches_grandchildren_and_writes_a_swallowed_attempt_down(tmp_path):
    printed, log = run_guarded(f"socket.create_connection(('{NOBODY}', 80))", tmp_path)

    assert printed == "OutsideConnectionError"
    assert NOBODY in log


def test_guard_of_everything_refuses_a_socket_to_this_machine(tmp_path):
    printed, log = run_guarded("socket.socket()", tmp_path, everything=True)

    assert printed == "OutsideConnectionError"
    assert "socket.__new__" in log


def test_guard_of_the_outside_lets_a_child_open_a_socket(tmp_path):
    assert run_guarded("socket.socket()", tmp_path) == ("went through", "")
