"""What comes to mind unasked: silence for small talk, whole sentences within a budget else."""

from pathlib import Path

import pytest
from copying_palaces import copy_sample

from memory_palace import Palace
from memory_palace.index.chance import SmallTalk, read_lines
from memory_palace.language.sentences import split_sentences
from memory_palace.retrieval.excerpts import drop_marks

HERE = Path(__file__).parent
SMALL_TALK = (HERE / "small_talk.txt").read_text("utf-8").splitlines()
OTHER_MATTERS = (HERE / "other_matters.txt").read_text("utf-8").splitlines()
REFERRING = {
    "The broker lost its sessions again after the power cut, I never want MQTT back": "MQTT",
    "We should charge the lithium packs on the ridge even when it freezes": "freezing",
    "The tipping bucket of the rain gauge undercounts whenever the rain is intense": "bucket",
    "Somebody saw a thread in the funnel of the gauge, and the bucket sticks at half": "thread",
}


@pytest.fixture(scope="module", params=["none", "minilm"])
def palace(request, tmp_path_factory):
    return copy_sample(tmp_path_factory.mktemp("recalling"), embedder=request.param)


def test_small_talk_is_not_spoken_to(palace):
    spoken = [line for line in SMALL_TALK if palace.recall(line).spoken]
    assert len(spoken) <= 1, spoken
    assert not set(SMALL_TALK) & set(read_lines("chat"))


def test_talk_on_other_matters_is_not_spoken_to(palace):
    spoken = [line for line in OTHER_MATTERS if palace.recall(line).spoken]
    assert len(spoken) <= 2, spoken
    assert not set(OTHER_MATTERS) & set(read_lines("talk"))


@pytest.mark.parametrize("line", REFERRING)
def test_what_refers_without_asking_is_spoken_to(palace, line):
    found = palace.recall(line)
    assert found.spoken and found.confidence >= 0.5
    assert REFERRING[line] in found.text


@pytest.mark.parametrize("line", ["it works now", "I think so", "we did it", "that thing again"])
def test_a_pronoun_alone_brings_nothing(palace, line):
    assert not palace.recall(line).spoken


def test_turns_before_do_not_make_small_talk_speak(palace):
    turns = ["The tipping bucket of the rain gauge was stuck", "I cleaned the funnel of the gauge"]
    spoken = [line for line in SMALL_TALK if palace.recall(line, context=turns).spoken]
    assert len(spoken) <= 1, spoken


def test_the_text_stays_within_its_budget_and_holds_whole_sentences(palace):
    line = next(iter(REFERRING))
    for budget in (1, 60, 200, 700, 1500, 5000):
        found = palace.recall(line, budget_bytes=budget)
        assert len(f"{found.text}\n".encode()) <= budget or not found.text
        for hit in found.hits:
            note = drop_marks((palace.paths.root / hit.path).read_text("utf-8"))
            for piece in hit.pieces:
                assert " ".join(piece.text.split()) in note


def test_few_lines_are_told_whatever_the_budget(palace):
    for line in REFERRING:
        pieces = [
            piece for hit in palace.recall(line, budget_bytes=5000).hits for piece in hit.pieces
        ]
        assert 1 <= len(pieces) <= 3


@pytest.mark.parametrize(
    "text", ["", " \n", "🙂🙃", "\x00\x1b[31m\u202e", "gauge " * 200_000, "?!…", "\ud800"]
)
def test_whatever_is_said_nothing_breaks(palace, text):
    found = palace.recall(text)
    assert len(found.text.encode()) <= 1500
    assert "\x1b" not in found.text and "\u202e" not in found.text


def test_what_small_talk_reaches_is_kept_with_the_index(palace):
    commit = palace.snapshot().commit
    assert commit.calibration["chat_bar"] > 0 and commit.calibration["talk_bar"] > 0
    assert ("talk_near" in commit.calibration) == bool(commit.dimension)
    assert SmallTalk(palace.snapshot()).bar >= 4.5


def test_there_are_two_hundred_lines_of_small_talk_and_no_two_are_alike():
    lines = read_lines("chat")
    assert len(lines) >= 200 and len({line.casefold() for line in lines}) == len(lines)
    assert all(len(split_sentences(line)) <= 3 for line in lines)


def test_a_label_does_not_stand_for_a_note_that_says_more(tmp_path):
    text = "# Willow\n\nBurette readings:\n\nThe kitchen burette reads two drops too few.\n"
    (tmp_path / "willow.md").write_text(text, "utf-8")
    palace = Palace.init(tmp_path, here=True)
    palace.index(embedder="none")
    (hit, *_) = palace.recall("burette readings", min_confidence=0).hits
    assert "two drops" in hit.text


SCRAPS = {
    "headings": "# Burette\n\n## Burette readings of the kitchen burette\n",
    "tags": "#burette #burette/readings #kitchen #two-drops\n",
    "labels": "Readings of the kitchen burette, in drops:\n",
    "links": "- [[Burette]]\n- [[Kitchen burette readings, two drops]]\n",
    "tables": "| Burette | Readings | Drops |\n|---|---|---|\n| kitchen | two | 2 |\n",
    "names": "burette-readings.csv\n",
}


@pytest.mark.parametrize("embedder", ["none", "minilm"])
@pytest.mark.parametrize("scrap", SCRAPS)
def test_a_scrap_is_not_told(tmp_path, scrap, embedder):
    (tmp_path / "willow.md").write_text(SCRAPS[scrap], "utf-8")
    palace = Palace.init(tmp_path, here=True)
    palace.index(embedder=embedder)
    found = palace.recall("burette readings of the kitchen, two drops", min_confidence=0)
    assert not found.spoken and not found.text


MARKED = """# Bilge pump

The bilge pump of the Kestrel is [wired](https://boats.example/wiring?id=1) to the \
[[places/Fuse box|second fuse]] since May.

> The bilge pump hums when
> the [float](<switch.md>) sticks.

<iframe src="https://video.example/bilge-pump" width="100%"></iframe>

```sh
bilge-pump --test [all](now)
```
"""


@pytest.mark.parametrize("embedder", ["none", "minilm"])
def test_links_are_told_as_the_words_they_show(tmp_path, embedder):
    for name, text in {"pump": MARKED, "sails": "# Sails\n\nThe jib was mended.\n"}.items():
        (tmp_path / f"{name}.md").write_text(text, "utf-8")
    (tmp_path / ".palace").mkdir()
    palace = Palace(tmp_path)
    palace.index(embedder=embedder)
    told = palace.recall("the bilge pump of the Kestrel is humming again", min_confidence=0).text
    assert "The bilge pump of the Kestrel is wired to the second fuse since May." in told
    assert "https://" not in told and "iframe" not in told
    assert "```" not in told
