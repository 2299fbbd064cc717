"""A Ray cluster of this machine embeds: run on demand, with ``pytest -m ray``."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from memory_palace.palace import Palace

pytestmark = pytest.mark.ray

PASSAGES = 400


def find_free_port():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


@pytest.fixture(scope="module")
def address():
    """Give the address of a cluster with two cores, which ends with the tests."""
    port = find_free_port()
    line = f"start --head --block --num-cpus 2 --include-dashboard=false --port {port}"
    with tempfile.TemporaryDirectory(prefix="ray-", ignore_cleanup_errors=True) as folder:
        process = subprocess.Popen(
            [Path(sys.executable).with_name("ray"), *line.split(), "--temp-dir", folder],
            env={**os.environ, "RAY_USAGE_STATS_ENABLED": "0"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            yield f"127.0.0.1:{port}"
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait()


@pytest.fixture
def wide(tmp_path):
    palace = Palace.init(tmp_path)
    for number in range(PASSAGES):
        path = palace.paths.notes / "chambers" / f"w{number:03d}.md"
        path.write_text(f"# Note {number}\n\nThe {number}th lantern hangs in the orchard.\n")
    return palace


def start(palace, address):
    line = ["-C", str(palace.paths.root), "index", "--embedder", "hashing", "--workers", "ray"]
    return subprocess.Popen(
        [sys.executable, "-m", "memory_palace", *line],
        env={**os.environ, "RAY_ADDRESS": address},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def build(palace, address):
    """Build on a cluster that may still be starting."""
    for _ in range(60):
        process = start(palace, address)
        out, errors = process.communicate()
        if "no Ray cluster answers" not in errors:
            return process.returncode, out, errors
        time.sleep(1)
    raise AssertionError(errors)


def test_a_cluster_makes_the_same_bytes(wide, address):
    wide.index(embedder="hashing")
    expected = sorted(path.name for path in wide.paths.index.glob("seg-*"))
    for path in wide.paths.index.iterdir():
        path.unlink()
    status, out, errors = build(wide, address)
    assert status == 0, errors
    assert f"embedded   {PASSAGES} chunks" in out and "workers    2; " in out
    assert sorted(path.name for path in wide.paths.index.glob("seg-*")) == expected


def test_a_build_that_is_killed_leaves_the_cluster_to_the_next(wide, address):
    process = start(wide, address)
    time.sleep(2)
    process.kill()
    process.communicate()
    status, _, errors = build(wide, address)
    assert status == 0, errors
    assert Palace(wide.paths.root).doctor().findings == ()


def test_where_no_cluster_answers_one_line_says_so(wide):
    process = start(wide, f"127.0.0.1:{find_free_port()}")
    out, errors = process.communicate()
    assert process.returncode == 1 and out == ""
    assert errors.startswith("palace: no Ray cluster answers at '127.0.0.1:")
    assert errors.count("\n") == 1
