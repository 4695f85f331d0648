import socket
import subprocess
import sys

import pytest


def test_a_connection_beyond_loopback_is_refused():
    with pytest.raises(PermissionError, match="loopback only"):
        socket.create_connection(("192.0.2.1", 80), timeout=1)


def test_a_started_process_is_guarded_too():
    code = "import socket; socket.create_connection(('192.0.2.1', 80), timeout=1)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "loopback only" in done.stderr


def test_loopback_is_open():
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname(), timeout=1).close()
