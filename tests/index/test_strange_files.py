"""Files that hold no notes beside ordinary ones: each is named, and none is in the way."""

import os
import signal
from random import Random

import pytest

from memory_palace.config import Config
from memory_palace.index.segment import Segment
from memory_palace.notes.note import is_text
from memory_palace.notes.parsing import parse_note
from memory_palace.palace import Palace

_RANDOM = Random(7)
WORDS = [
    "".join(_RANDOM.choice("bcdfglmnprst") + _RANDOM.choice("aeiou") for _ in range(syllables))
    for syllables in _RANDOM.choices((2, 3, 4), k=3000)
]
TOO_LARGE, NO_TEXT = "more than max_note_bytes (1,048,576); it is not indexed", "is no text"
LONG_LINE = "more than max_line_bytes (262,144), is not indexed"


def prose(words):
    return " ".join(_RANDOM.choices(WORDS, k=words)).capitalize() + ".\n\n"


def strange_files():
    """Return each file with what is said of it; nothing is of what is read like any note."""
    nest = "".join("  " * min(depth, 500) + "- item\n" for depth in range(800))
    texts = {
        "huge.md": ("# Huge\n\n" + prose(60) * 45_000, TOO_LARGE),
        "line.md": ("# Line\n\nBefore a quokka.\n\n" + "word " * 1_000_000, LONG_LINE),
        "links.md": ("# Links\n\nBefore a numbat.\n\n" + "[[a]]" * 1_000_000, LONG_LINE),
        "links in lines.md": ("[[a]]\n" * 1_000_000, TOO_LARGE),
        "table.md": ("| a | b |\n|---|---|\n" + "| 1 | x |\n" * 200_000, TOO_LARGE),
        "code.md": ("```\n" + "let x = 1;\n" * 200_000 + "```\n", TOO_LARGE),
        "picture.md": ("A zorilla.\n\n![](data:image/png;base64," + "QUJD" * 99_999, LONG_LINE),
        "headings.md": ("".join(f"## Heading {n}\n\n" for n in range(100_000)), TOO_LARGE),
        "matter.md": ("---\n" + "".join(f"k{n}: v\n" for n in range(200_000)) + "---\n", TOO_LARGE),
        "nest.md": (f"{nest}\n{'>' * 5000} quote\n", ""),
        "old mac.md": ("# Old\r\rThe saiga ran.\r" * 50, ""),
        "signs.md": ("\u202e\u200b\u2066\u2069\ufeff\u200d\n" * 9_000, ""),
    }
    files = {name: (text.encode(), said) for name, (text, said) in texts.items()}
    files["random.md"] = (_RANDOM.randbytes(300_000), NO_TEXT)
    files["database.md"] = (b"SQLite format 3\0\x10\0\x01\x01\0" + bytes(9_000), NO_TEXT)
    files["wide.md"] = ("# Wide\n\nThe tamandua spoke.\n".encode("utf-16"), "is UTF-16")
    return files


def write(root, *, notes, files):
    for number in range(notes):
        named = f"{WORDS[number]} {WORDS[number + 1000]}"
        body = "".join(prose(100) for _ in range(5))
        text = f"# Topic {named}\n\nOn 3 May 2024 the {named} was sold.\n\n{body}"
        (root / f"note {number}.md").write_text(text, "utf-8")
    for name, (data, _) in files.items():
        (root / name).write_bytes(data)
    (root / ".palace").mkdir()
    return Palace(root)


def test_strange_files_are_named_and_none_is_among_the_first_five_hits(tmp_path):
    files = strange_files()
    palace = write(tmp_path, notes=60, files=files)
    report = palace.index(embedder="none")
    told = {problem.path: str(problem) for problem in report.problems}
    for name, (_, said) in files.items():
        assert (said in told[name]) if said else (name not in told), (name, told.get(name))
    left_out = {name for name, (_, said) in files.items() if said in (TOO_LARGE, NO_TEXT)}
    assert set(report.failed) == left_out and not left_out & {*palace.snapshot().paths}
    for number in range(50):
        asked = f"when was the {WORDS[number]} {WORDS[number + 1000]} sold"
        hits = [hit.path for hit in palace.query(asked).hits]
        assert hits[0] == f"note {number}.md" and not files.keys() & set(hits[:5])
    assert {finding.where for finding in palace.doctor().findings} == left_out


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("quokka", "line.md"),
        ("numbat", "links.md"),
        ("zorilla", "picture.md"),
        ("saiga", "old mac.md"),
        ("tamandua", "wide.md"),
    ],
)
def test_what_is_readable_beside_a_line_of_megabytes_is_found(tmp_path, word, name):
    palace = write(tmp_path, notes=3, files={name: strange_files()[name]})
    palace.index(embedder="none")
    (hit,) = palace.query(word).hits
    assert hit.path == name and word in hit.text and len(hit.text) < 1000


def test_both_limits_are_settings(tmp_path):
    data = b"# Short\n\n" + b"a long line " * 20 + b"\n\nThe end.\n"
    (tmp_path / "note.md").write_bytes(data)
    (tmp_path / ".palace").mkdir()
    palace = Palace(tmp_path, config=Config(max_line_bytes=100))
    (problem,) = palace.index(embedder="none").problems
    assert (problem.path, problem.line, problem.is_failure) == ("note.md", 3, False)
    assert not palace.query("long line").is_answered and palace.query("the end").hits
    assert palace.doctor().findings == ()
    small = Palace(tmp_path, config=Config(max_note_bytes=100))
    (problem,) = small.index(embedder="none", force=True).problems
    assert problem.kind == "too large" and problem.is_failure


def test_a_long_line_keeps_the_lines_below_it_where_they_were():
    text = "one\n\n" + "x" * 300_000 + "\n\nfive\n"
    note = parse_note("a.md", text.encode(), count_tokens=len, token_limit=64)
    (chunk,) = note.chunks
    assert (chunk.first_line, chunk.last_line, chunk.text) == (1, 5, "one\n\nfive")


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", True),
        ("naïve café, déjà vu, où".encode("cp1252"), True),
        ("Ünïcödé 二〇二四年 🐘".encode(), True),
        ("wide cranes".encode("utf-16"), True),
        (b"one \0 in a sentence of words", True),
        (b"\x1b[31mred\x1b[0m\r\n", True),
        ("заметка о пеликанах".encode("cp1251"), False),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\0\0\0\1\0\x08", False),
        (b"PK\3\4\x14\0\0\0\x08\0", False),
        (bytes(100), False),
    ],
)
def test_bytes_are_text_where_few_are_controls_or_no_utf8(data, expected):
    assert is_text(data) is expected


def test_doctor_reads_each_line_of_a_long_note_without_headings_once(tmp_path, monkeypatch):
    (tmp_path / "long.md").write_text("# Only\n\n" + "".join(prose(90) for _ in range(300)))
    (tmp_path / ".palace").mkdir()
    palace = Palace(tmp_path)
    palace.index(embedder="none")
    read, calls = Segment.read_line, []

    def count(self, kind, place):
        calls.append(place)
        return read(self, kind, place)

    monkeypatch.setattr(Segment, "read_line", count)
    assert palace.doctor().findings == ()
    assert 300 <= len(calls) <= 3 * len(palace.snapshot().row_note)


def test_a_pipe_named_like_a_note_waits_for_nobody(tmp_path):
    os.mkfifo(tmp_path / "pipe.md")
    signal.alarm(60)  # ends a run that waits for a writer
    palace = Palace.init(tmp_path, here=True)
    palace.awaited_model()
    assert [problem.path for problem in palace.index(embedder="hashing").problems] == ["pipe.md"]
    signal.alarm(0)
