import json
import struct
from pathlib import Path

import numpy as np
import pytest

from memory_palace.embedding.minilm import TensorFile

VALUES = np.arange(6, dtype=np.float32).reshape(2, 3)
ENTRY = {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}


def test_a_tensor_has_the_stored_values_is_read_only_and_of_its_kind(tmp_path: Path) -> None:
    encoded = json.dumps({"__metadata__": {"format": "pt"}, "weights": ENTRY}).encode()
    path = tmp_path / "m"
    path.write_bytes(struct.pack("<Q", len(encoded)) + encoded + VALUES.tobytes())
    file = TensorFile(path)
    assert np.array_equal(file["weights"], VALUES)
    with pytest.raises(ValueError, match="read-only"):
        file["weights"][0, 0] = 1
    with pytest.raises(ValueError, match="not I32"):
        file.read("weights", "I32")
