"""A door on a port of this machine that says what it was asked."""

import json
import threading
from collections.abc import Iterator

import pytest

from memory_palace.features.view.live import ENDPOINTS
from memory_palace.server.loopback import Door, PageReply, Unwanted

TOKEN = "a-token-of-thirty-two-characters"


def tell(visit, has_gone):
    """Reply with what was let in; some questions are not answered."""
    if visit.values.get("q") == "unwanted":
        raise Unwanted(503)
    if visit.values.get("q") == "defect":
        raise ZeroDivisionError("a defect")
    record = {"endpoint": visit.endpoint, "values": dict(visit.values), "known": visit.known}
    return PageReply(json.dumps(record).encode(), "application/json", tag="one")


@pytest.fixture
def door() -> Iterator[Door]:
    """A server that is slow to nobody: half a second for a request."""
    with Door(0, TOKEN, ENDPOINTS, tell, arrival_seconds=0.5) as door:
        thread = threading.Thread(target=door.serve_forever, args=(0.01,))
        thread.start()
        yield door
        door.shutdown()
        thread.join()
