"""One screen says how a palace is, whatever is wrong with it, and what to type next."""

import pytest
from copying_palaces import copy_sample
from running import run_main
from writing_notes import write_notes

from memory_palace.cli.app import main
from memory_palace.palace import Palace


@pytest.fixture
def screen(tmp_path, monkeypatch, capsys):
    """Run ``palace status``, which fits 24 lines, and return what it says."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("PALACE_CACHE", str(tmp_path / "models"))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))

    def run(root, *options):
        main(("-C", str(root), "status", *options))
        out = capsys.readouterr().out
        if not options:
            assert len(out.splitlines()) <= 24
            assert "segment" not in out and "KiB" not in out
        return out

    return run


def next_to_type(out):
    head, _, steps = out.rpartition("\n\n")
    return [line.split("  ")[1].strip() for line in steps.splitlines()] if head else []


def test_palace_alone_is_its_status_and_outside_of_all_palaces_its_help(
    screen, tmp_path, monkeypatch, capsys
):
    monkeypatch.delenv("PALACE_ROOT", raising=False)
    monkeypatch.chdir(tmp_path)
    status, out, _ = run_main(capsys)
    assert status == 0 and "Usage: palace" in out and "init" in out
    palace = Palace.init(tmp_path)
    assert "run `palace index`" in run_main(capsys)[2]
    write_notes(palace.paths.notes, {"chambers/frost.md": "# Frost\n\nThe gauge drifts.\n"})
    palace.index(embedder="none")
    said = screen(tmp_path)
    assert run_main(capsys) == (0, said, "")
    assert "up to date" in said and "1, in 1 passage\n" in said and "words only" in said


def test_the_sample_palace_fits_and_nothing_is_to_be_done(screen, tmp_path):
    copy_sample(tmp_path).index(embedder="hashing")
    out = screen(tmp_path)
    assert "  reflection_wing " in out and "up to date" in out
    assert next_to_type(out) == []
    assert "dead row" in screen(tmp_path, "--details")


def test_an_empty_palace_is_told_to_write_and_what_has_changed_is_to_be_taken_in(screen, tmp_path):
    palace = Palace.init(tmp_path)
    palace.index()
    assert next_to_type(screen(tmp_path)) == ['palace new "A title"', "palace models fetch minilm"]
    palace.index(embedder="hashing", force=True)
    write_notes(palace.paths.notes, {"chambers/frost.md": "# Frost\n\nThe gauge drifts.\n"})
    out = screen(tmp_path)
    assert "1 note behind" in out and "model      hashing" in out and "models fetch" not in out
    assert next_to_type(out) == ['palace new "A title"', "palace index"]


def test_of_many_troubles_the_worst_come_first_and_the_rest_is_one_step_away(screen, tmp_path):
    palace = Palace.init(tmp_path)
    for number in range(9):
        name = f"{'山' * 40} {number} \u202e.md"
        (tmp_path / "palace" / "chambers" / name).write_text("---\na: [\n---\nText.\n")
    (tmp_path / "palace" / "chambers" / "torn.md").write_bytes(b"\xff\xfe\x00")
    palace.index(embedder="hashing")
    out = screen(tmp_path)
    count = len(palace.status().problems)
    assert "problems   palace/chambers/torn.md" in out
    assert f"and {count - 3} more: `palace status --details`" in out
    assert screen(tmp_path, "--details").count("山 8") == 1
    assert "\u202e" not in out


def test_what_is_left_out_is_counted_by_the_build(screen, tmp_path, capsys):
    forms = "Forms"
    palace = Palace.init(tmp_path, here=True)
    (tmp_path / ".obsidian").mkdir()
    (tmp_path / ".obsidian" / "templates.json").write_text(f'{{"folder": "{forms}"}}')
    (tmp_path / forms / "sub").mkdir(parents=True)
    for name in ("Day.md", "sub/Week.md", "sub/picture.png"):
        (tmp_path / forms / name).write_text("x")
    main(("-C", str(tmp_path), "index", "--embedder", "hashing"))
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == "2 notes are left out: `palace status --details`"
    (line,) = (line for line in screen(tmp_path).splitlines() if line.startswith("left out"))
    assert line.endswith("Forms/: `palace status --details`")
    assert f"a line `!{forms}` in .palaceignore takes it in" in screen(tmp_path, "--details")
    assert palace.status().left_out == (f"{forms}/",)
