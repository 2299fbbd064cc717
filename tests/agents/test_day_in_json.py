"""An agent's day by ``--json`` alone: each answer gives the next command what it needs."""

import json

import pytest
from running import commit_all, run_main
from writing_notes import write_notes

FACT = "The battery at Saddle hut fails below -15 degrees."
VAULT = {
    "Projects/Rain gauge at the hut.md": "The funnel is wrapped in felt since May.\n",
    "Daily/2026-03-01.md": "Walked up to the lake. It was windy.\n",
    "Ideas.md": "- a bell for the door\n- pears in the garden",
}


@pytest.fixture(params=["classic", "as it stands", "in git"])
def ask(request, tmp_path, monkeypatch, capsys):
    """Run a command with ``--json``; it has to succeed at the first try, on stdout alone."""
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "PALACE_CACHE"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    root = tmp_path / "my notes"
    is_classic = request.param == "classic"
    write_notes(root / ("palace/project_rooms" if is_classic else "."), VAULT)
    monkeypatch.chdir(root)
    assert run_main(capsys, "init", *([] if is_classic else ["--here"]))[0] == 0
    if request.param == "in git":
        commit_all(root)

    def ask(*line):
        status, out, err = run_main(capsys, *line, "--json")
        assert status == 0, (line, out, err)
        return json.loads(out)

    return ask


def test_a_day_is_done_by_json_alone_and_without_a_second_try(ask):
    kept = ask("remember", FACT, "--agent", "wren")
    assert kept["indexed"]
    assert ask("remember", FACT, "--agent", "wren")["count"] == 2

    hit = ask("query", "when does the battery at the hut fail")["hits"][0]
    assert hit["path"] == kept["path"] and kept["line"] <= hit["line"] <= kept["last_line"]
    cited = ask("show", f"{hit['path']}:{hit['line']}-{hit['last_line']}")
    assert FACT in cited["text"]

    gauge = ask("query", "what is the funnel wrapped in")["hits"][0]
    place = f"{gauge['path']}:{gauge['line']}"
    added = ask("remember", "- renewed in November", "--to", place, "--under", "Log")
    added = ask("remember", "- and once more", "--to", added["path"], "--under", added["made"])
    assert ask("show", f"{added['path']}:{added['line'] - 1}-{added['last_line']}")["text"] == (
        "- renewed in November\n- and once more"
    )

    said = ["--owner", "wren", "--project", "saddle", "--goal", "A battery that holds.", "--apply"]
    checks = ["--check", "swapped", "--check", "noted in the log", "--output", added["path"]]
    made = ask("task", "new", "Swap the battery at the hut", *said, *checks)
    card = made["paths"][0]
    for check in ask("task", "show", card)["card"]["checks"]:
        assert ask("task", "tick", card, str(check["number"]), "--apply")["applied"]
    (done,) = ask("task", "complete", card, "--apply")["paths"]
    assert ask("task", "show", done)["card"]["state"] == "completed"

    answer = "The battery at Saddle hut fails below -15 degrees."
    checked = ask("verify", "--against", place, "--against", hit["path"], "--text", answer)
    assert checked["verdict"] in ("quoted", "supported") and not checked["searched"]
    found = ask("verify", "--text", answer)
    assert found["searched"] and found["sentences"][0]["note"] in (hit["path"], kept["path"])

    reminded = ask("recall", "the battery at Saddle hut failed again")
    assert reminded["spoken"] and kept["path"] in [hit["path"] for hit in reminded["hits"]]


def test_a_note_of_its_own_is_written_and_found_under_every_name_it_is_given(ask):
    ask("remember", FACT)
    made = ask("new", "Felt: what holds", "--body", "- wool felt\n- no tape", "--tag", "felt")
    assert made["indexed"]
    names = (made["path"], f"./{made['path']}", "Felt: what holds", f"{made['path']}:1-9")
    for name in names:
        added = ask("remember", "- no glue", "--to", name)
        assert ask("show", f"{added['path']}:{added['line']}")["text"] == "- no glue"
    assert ask("query", "no glue")["hits"][0]["path"] == made["path"]
    assert ask("list", "--tag", "felt")["notes"][0]["path"] == made["path"]


def test_what_is_only_shown_says_what_to_type(ask):
    ask("remember", FACT)
    said = ["--owner", "wren", "--project", "saddle", "--goal", "A battery that holds."]
    shown = ask("task", "new", "Swap", *said, "--check", "swapped", "--apply")
    shown = ask("task", "tick", shown["paths"][0], "1")
    assert (shown["applied"], shown["remark"]) == (False, "nothing was changed; add --apply")


def test_a_path_is_one_from_the_working_folder_and_never_one_outside(tmp_path, monkeypatch, capsys):
    root = tmp_path / "root"
    (root / "Projects").mkdir(parents=True)
    for file in (root / "Projects" / "Rain.md", tmp_path / "Out.md"):
        file.write_text("# Rain\n", "utf-8")
    monkeypatch.chdir(root / "Projects")
    assert run_main(capsys, "init", str(root), "--here")[0] == 0
    assert run_main(capsys, "index", "--embedder", "hashing")[0] == 0
    for name in ("./Rain.md", "../Projects/Rain.md", str(root / "Projects" / "Rain.md:1")):
        assert run_main(capsys, "remember", "more", "--to", name)[1].startswith("Projects/Rain.md:")
        assert run_main(capsys, "show", name)[0] == 0
    for name in ("../../Out.md", str(tmp_path / "Out.md"), "~/Out.md", "/etc/passwd", "./"):
        for verb in (["remember", "more", "--to", name], ["show", name]):
            assert run_main(capsys, *verb)[0] == 2, verb
    assert (tmp_path / "Out.md").read_text() == "# Rain\n"
