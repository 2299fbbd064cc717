"""What a page holds, read as ``memory_palace/features/view/page/data.js`` reads it."""

import base64
import json
import zlib
from typing import Any


def unpack(block: str) -> Any:
    """Return the value that a block of a page holds."""
    return json.loads(zlib.decompress(base64.b64decode(block)))
