"""Run a server for somebody, and end it with them, whatever ends them.

``python keeping.py FOLDER COMMAND …`` starts the command at every line it reads, prints ``ready``
or ``failed``, and at the end of its input stops the command and removes the folder.
"""

import shutil
import signal
import subprocess
import sys
from pathlib import Path
from threading import Thread

READY = b"ready to accept connections"


def run(folder: Path, command: list[str]) -> subprocess.Popen[bytes]:
    """Start the server, and copy what it says into a log; say when it is ready."""
    server = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    Thread(target=follow, args=(server, folder / "log"), daemon=True).start()
    return server


def follow(server: subprocess.Popen[bytes], log: Path) -> None:
    is_ready = False
    assert server.stderr is not None
    with log.open("ab", buffering=0) as file:
        for line in server.stderr:
            file.write(line)
            if READY in line and not is_ready:
                is_ready = True
                print("ready", flush=True)  # noqa: T201
    if not is_ready:
        print("failed", flush=True)  # noqa: T201


def main() -> None:
    folder, command = Path(sys.argv[1]), sys.argv[2:]
    for mark in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(mark, signal.SIG_IGN)  # whoever started this may get them, and then ends
    server = None
    for _ in sys.stdin:
        if server is not None:
            server.wait()
        server = run(folder, command)
    if server is not None and server.poll() is None:
        server.send_signal(signal.SIGINT)
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:
            server.send_signal(signal.SIGQUIT)
            server.wait()
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
