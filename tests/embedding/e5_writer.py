"""A made-up model in the format E5S1, small enough for a test to write."""

import struct

import numpy as np
from numpy.typing import NDArray

WIDTH, HEADS, LAYERS, WIDE, POSITIONS = 64, 2, 2, 128, 520
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>"]
PIECES = [
    ("\u2581", -3.0),
    ("\u2581st", -4.0),
    ("\u2581storm", -6.0),
    ("or", -5.0),
    ("m", -5.0),
    ("o", -5.5),
    ("r", -5.5),
    ("s", -5.0),
    ("\u2581a", -4.5),
    ("aa", -7.0),
    ("a", -5.0),
    (":", -3.0),
    ("\u2581query", -5.0),
    ("\u2581passage", -5.0),
    ("\u5b57", -6.0),
    ("\u00e9", -6.0),
    ("caf", -6.0),
]
RULES = [("\t", " "), ("\n", " "), ("\x01", ""), ("\uff41", "a"), ("\u33ab", "ma")]


def quantise(values):
    """Return the blocks of rows of numbers, and the numbers that the blocks stand for."""
    blocks = values.reshape(len(values), -1, 32)
    scales = (np.abs(blocks).max(-1, keepdims=True) / 7).astype("<f2")
    whole = np.clip(np.rint(blocks / scales.astype("f4")), -8, 7).astype(int) + 8
    packed = (whole[..., :16] | whole[..., 16:] << 4).astype("u1")
    data = np.concatenate([scales.view("u1"), packed], -1).tobytes()
    return data, ((whole - 8) * scales.astype("f4")).reshape(values.shape).astype("f4")


def write_e5(path, pieces=PIECES):
    """Write a model of small random numbers; return them by their names in the file."""
    random = np.random.default_rng(13)
    entries: list[tuple[str, int, int, bytes]] = []
    numbers: dict[str, NDArray[np.float32]] = {}

    def add(name, *shape, is_packed=False):
        values = random.normal(0, 0.3, shape).astype("f4")
        data, numbers[name] = quantise(values) if is_packed else (values.tobytes(), values)
        entries.append((name, int(is_packed), values.size, data))

    names = SPECIAL + [piece for piece, _ in pieces]
    add("emb.word", len(names), WIDTH, is_packed=True)
    add("emb.pos", POSITIONS, WIDTH)
    add("emb.type", 2, WIDTH)
    add("emb.ln.w", WIDTH)
    add("emb.ln.b", WIDTH)
    for layer in range(LAYERS):
        for part, size, read in (
            *((part, WIDTH, WIDTH) for part in ("q", "k", "v", "ao")),
            ("fi", WIDE, WIDTH),
            ("fo", WIDTH, WIDE),
        ):
            add(f"l{layer}.{part}.w", size, read, is_packed=True)
            add(f"l{layer}.{part}.b", size)
        for part in ("aln.w", "aln.b", "oln.w", "oln.b"):
            add(f"l{layer}.{part}", WIDTH)
    _write(path, names, [0.0] * len(SPECIAL) + [score for _, score in pieces], entries)
    return numbers


def _write(path, names, scores, entries):
    texts = [name.encode() for name in names]
    places = np.cumsum([0, *map(len, texts)])
    rules = b"".join(
        struct.pack(f"<IB{len(to)}I", ord(char), len(to), *map(ord, to)) for char, to in RULES
    )
    header = b"E5S1\x01\0\0\0" + struct.pack(
        "<7if4x", WIDTH, LAYERS, HEADS, WIDE, len(names), POSITIONS, 2, 1e-12
    )
    header += struct.pack("<5iQ", len(names), 0, 2, 1, 3, int(places[-1]))
    header += places.astype("<u4").tobytes() + np.array(scores, "<f4").tobytes()
    header += b"".join(texts) + struct.pack("<iI", len(RULES), len(rules)) + rules
    header += struct.pack("<i", len(entries))
    at = len(header) + sum(23 + len(name) for name, *_ in entries)
    listed, data = b"", b""
    for name, kind, size, values in entries:
        data += b"\0" * (-(at + len(data)) % 64)
        listed += struct.pack("<H", len(name)) + name.encode()
        listed += struct.pack("<BIQQ", kind, size, at + len(data), len(values))
        data += values
    path.write_bytes(header + listed + data)
