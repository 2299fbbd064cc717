"""Structure as evidence: on the scale of words and meaning, whatever a filter leaves out."""

import pytest

from memory_palace.features.structure.signals import LOW_PRECISION, WEIGHTS
from memory_palace.palace import Palace
from memory_palace.retrieval.signals import get_profile

TEXTS = [
    "Anna bought the old boat on Tuesday, before the storm.",
    "Boris recommends green tea to everybody who comes to the hut.",
    "The boiler was repaired in the spring.",
    "Anna bought a barometer.",
    *(f"Anna walked to the hut in week {week} and read the rain gauge." for week in range(30)),
]


@pytest.fixture(scope="module")
def palace(tmp_path_factory):
    root = tmp_path_factory.mktemp("structured")
    (root / ".palace").mkdir()
    for place, text in enumerate(TEXTS):
        folder = root / ("boats" if "boat" in text else "rest")
        folder.mkdir(exist_ok=True)
        (folder / f"{place:02}.md").write_text(f"# Note {place}\n\n{text}\n")
    palace = Palace(root)
    palace.index(embedder="hashing", structure=True)
    return palace


def values(palace, question, **options):
    found = palace.query(question, profile="structured", neighbors=0, limit=40, **options)
    return {hit.path: {p.signal: p.value for p in hit.contributions} for hit in found.hits}


def test_a_match_that_few_passages_have_counts_for_more(palace):
    rare = values(palace, "what does Boris recommend?")["rest/01.md"]
    common = values(palace, "what does Anna read?")["rest/10.md"]
    assert rare["name"] > 2 * common["name"] > 0


def test_a_filter_changes_no_value_of_structure(palace):
    question = "who bought the old boat?"
    everywhere, within = values(palace, question), values(palace, question, folder="boats")
    assert list(within) == ["boats/00.md"]
    for signal in WEIGHTS:
        assert within["boats/00.md"][signal] == everywhere["boats/00.md"][signal], signal


def test_what_is_capped_is_a_line_and_the_lines_add_up(palace):
    found = palace.query("would Boris recommend green tea?", profile="structured")
    for hit in found.hits:
        parts = {part.signal: part.contribution for part in hit.contributions}
        low = sum(parts[name] for name in {*LOW_PRECISION} & parts.keys())
        assert low + parts["cap"] <= get_profile("structured").cap + 1e-6
        assert round(sum(parts.values()), 6) == hit.score
