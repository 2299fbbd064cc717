"""What a telegraph keeps of cards as people write them, and that nothing is made up for a gap."""

from __future__ import annotations

import json
import re
import tomllib
from datetime import date
from importlib.resources import files
from pathlib import Path
from unicodedata import normalize

import pytest

from memory_palace.embedding.llm_models import estimate_tokens
from memory_palace.errors import CheckFailedError, UsageError
from memory_palace.metabolism.condensing import is_foam
from memory_palace.metabolism.cycle import distill, promote
from memory_palace.metabolism.distill import (
    NAMES,
    condense,
    distill_card,
    limit_of,
    render_statements,
)
from memory_palace.metabolism.gates import is_ripe, reflection_gates
from memory_palace.metabolism.phrasing import LANGUAGES, phrasing_of, tell_languages
from memory_palace.metabolism.reporting import take_report
from memory_palace.notes.document import parse_document
from memory_palace.palace import Palace

PEOPLE = Path(__file__).parents[1] / "people"
CARDS = sorted((PEOPLE / "cards_dev").glob("*.md"))
OTHERS = sorted(p for p in PEOPLE.glob("cards_[fs]*/*.md") if p.stem != "README")
TODAY = date(2026, 11, 21)
FILLER = "Not written down in the card or what it links to."
DATA = files("memory_palace.metabolism").joinpath("telegraph.toml").read_text("utf-8")


def parts_of(body):
    kept, _ = condense(body)
    sorted_ = {name: [s for s, own in kept if own == part] for part, name in NAMES.items()}
    return {name: render_statements(found) for name, found in sorted_.items() if found}


def squeeze(text):
    return re.sub(r"[\s|*_>-]+", "", normalize("NFKC", text)).casefold()


def test_every_list_of_phrases_has_every_language():
    for table in tomllib.loads(DATA).values():
        for lists in table.values():
            assert tuple(lists) == LANGUAGES == tuple(sorted(lists, key=LANGUAGES.index))


@pytest.mark.parametrize("path", OTHERS, ids=lambda path: path.stem)
def test_a_telegraph_of_any_hand_has_the_sentences_of_its_card_and_is_half_as_long(path):
    body = parse_document("x.md", path.read_bytes()).body
    parts = parts_of(body)
    for line in "\n".join(parts.values()).split("\n"):
        for sentence in re.split(r"(?<=[.!?]) |(?<=。)", line):
            assert squeeze(sentence) in squeeze(body)
    size, kept = estimate_tokens(body), sum(map(estimate_tokens, parts.values()))
    assert "Working solution" in parts and kept <= limit_of(size)
    assert size <= 200 or kept <= size / 2


@pytest.mark.parametrize("path", CARDS, ids=lambda path: path.stem)
def test_a_telegraph_of_a_card_says_nothing_else_and_puts_no_failure_under_the_solution(path):
    body = parse_document("x.md", path.read_bytes()).body
    gold = json.loads(path.with_name(f"{path.stem}.gold.json").read_text("utf-8"))
    parts = parts_of(body)
    for line in "\n".join(parts.values()).split("\n"):
        for sentence in re.split(r"(?<=[.!?。]) ", line):
            assert squeeze(sentence) in squeeze(body)
    size, kept = estimate_tokens(body), sum(map(estimate_tokens, parts.values()))
    assert kept <= limit_of(size) and (size <= 200 or 0.8 * limit_of(size) < kept <= size / 2)
    solution, failed = (squeeze(parts.get(n, "")) for n in ("Working solution", "Failed attempts"))
    assert not any(squeeze(text) in solution for text in gold["failed_attempts"])
    assert not any(squeeze(text) in failed for text in gold["solution"])
    others = [text for part in ("background", "filler") for text in gold[part]]
    assert not any(squeeze(text) in squeeze(parts.get("Principle", "")) for text in others)


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("Lesson", "Principle"), ("Lehre", "Principle"), ("Leçon", "Principle"),
        ("Lección", "Principle"), ("教訓", "Principle"), ("Урок", "Principle"),
        ("교훈", "Principle"), ("Lezione", "Principle"), ("Lição", "Principle"),
        ("Les", "Principle"), ("Ursache", "Background"), ("Lösung", "Working solution"),
        ("Tried", "Failed attempts"), ("Versucht", "Failed attempts"), ("解決", "Working solution"),
        ("2. **What did not work**", "Failed attempts"), ("Root cause", "Background"),
    ],
)  # fmt: skip
def test_a_label_or_a_heading_in_a_language_of_the_card_says_the_part(label, name):
    word = label.split("**")[1] if "**" in label else label
    tongue = {
        "Les": "de klep van het dak is en was op het",
        "Lezione": "il tetto di una casa che",
        "Lição": "o telhado da casa que não é",
        "Урок": "крыша в доме и на ней было",
    }
    said = f"{tongue.get(label, 'der die das und ist. le la les des. el los las y')} tin roof"
    said = {
        "教訓": "屋根の板を先に見る",
        "解決": "屋根の板を替えた",
        "교훈": "지붕을 먼저 본다",
    }.get(label, said)
    assert parts_of(f"# T\n\n## {label}\n\n{said} 7 a.\n") == {name: f"{said} 7 a."}
    assert parts_of(f"# T\n\n- {word}: {said} 7 a.\n") == {name: f"- {said} 7 a."}


def test_a_ticked_box_is_no_solution_and_a_gap_stays_a_gap():
    body = "# T\n\nProblem: the pump stopped at 40 degrees.\n\n- [x] pump runs\n- [x] told Jo\n"
    assert parts_of(body) == {"Background": "the pump stopped at 40 degrees."}


def test_a_completed_card_of_one_statement_says_what_was_done():
    body = "# T\n\nLabelled all nine valves with engraved plates.\n\n- [x] nine plates\n"
    assert parts_of(body) == {"Working solution": "Labelled all nine valves with engraved plates."}


def test_an_attempt_is_kept_with_what_became_of_it():
    rest = " ".join(f"In week {n} the mill stood for {n} days at the river." for n in range(30))
    tried = "We greased the shaft. It held for a day."
    body = f"## Problem\n\n{rest}\n\n## What did not work\n\n{tried}\n"
    assert parts_of(body)["Failed attempts"] == tried


@pytest.mark.parametrize(
    "body",
    [
        "- Problem\n  - lamp flickers\n- Fix\n  - tightened the wire\n- Lesson\n  - look there\n",
        "**Problem.** lamp flickers\n\n**Fix.** tightened the wire\n\n**Lesson.** look there\n",
        "Problem\n-------\nlamp flickers\n\n![](wire.png)\n\nFix:\n- tightened the wire\n\n"
        "Lesson\n------\nlook there\n",
    ],
)
def test_labels_are_read_in_whatever_form_they_stand(body):
    assert {name: text.removeprefix("- ") for name, text in parts_of(body).items()} == {
        "Background": "lamp flickers",
        "Working solution": "tightened the wire",
        "Principle": "look there",
    }


def test_a_row_that_worked_leaves_the_table_of_what_did_not():
    head = "| Tried | Outcome |\n|---|---|"
    rows = ("| new fuse | blew again, no change |", "| new belt | worked at once |")
    parts = parts_of("## Attempts\n\n" + "\n".join((head, *rows)))
    assert parts == {
        "Failed attempts": f"{head}\n{rows[0]}",
        "Working solution": f"{head}\n{rows[1]}",
    }


def test_hours_and_speakers_of_a_log_are_left_out_and_every_line_is_a_statement():
    log = (
        "10:02 Ada: The gate opened at night by itself.\n10:05 Bo: ok\n"
        "10:09 Bo: Tried a new remote, but it opened again.\n"
        "10:40 Ada: Finally moved the aerial away from the tram line, and that worked.\n"
        "10:41 Bo: Lesson: look at what runs at the same hour.\n"
    )
    assert parts_of(f"# T\n\n{log}") == {
        "Background": "- The gate opened at night by itself.",
        "Failed attempts": "- Tried a new remote, but it opened again.",
        "Working solution": (
            "- Finally moved the aerial away from the tram line, and that worked."
        ),
        "Principle": "- look at what runs at the same hour.",
    }


def test_prose_without_headings_is_told_in_the_order_in_which_people_tell_it():
    parts = parts_of(
        "Seit Mai tropfte der Hahn im Keller. Zuerst haben wir die Dichtung getauscht, aber das "
        "half nicht. Schließlich haben wir das Ventil ersetzt, seitdem ist es trocken. Beim "
        "nächsten Mal messen wir erst den Druck."
    )
    assert list(parts) == list(NAMES.values())
    assert parts["Failed attempts"].endswith("das half nicht.")
    assert parts["Principle"] == "Beim nächsten Mal messen wir erst den Druck."


def test_cause_and_fix_under_one_heading_come_apart():
    said = "The valve was shut since May.", "We opened it a quarter turn."
    assert parts_of(f"## Cause and fix\n\n{said[0]}\n\n{said[1]}\n") == {
        "Background": said[0],
        "Working solution": said[1],
    }


def test_a_subsection_belongs_to_what_the_section_above_it_names():
    body = "## Tried\n\n### Monday\n\nA new fuse.\n\n## Fix\n\n### Tuesday\n\nA new belt.\n"
    assert parts_of(body) == {"Failed attempts": "A new fuse.", "Working solution": "A new belt."}


def test_a_table_of_labels_is_read_row_by_row_and_one_of_measurements_is_left_out():
    body = (
        "| | |\n|---|---|\n| **Problem** | The lamp flickers. |\n"
        "| **Second attempt** | A new bulb, no change. |\n| **Fix** | A tightened wire. |\n\n"
        "### Values\n\n| hour | volts |\n|---|---|\n| 9:00 | 211 |\n"
    )
    assert parts_of(body) == {
        "Background": "- The lamp flickers.",
        "Failed attempts": "- A new bulb, no change.",
        "Working solution": "- A tightened wire.",
    }


def test_speakers_in_bold_are_left_out_and_a_question_names_what_the_next_one_says():
    log = (
        "9:02 **ada** The gate opened at night.\n9:05 **bo** any news?\n"
        "9:40 **ada** Finally moved the aerial, and that worked.\n9:41 **bo** lesson?\n"
        "9:42 **ada** Look at what runs at the same hour.\n9:43 **bo** :)\n"
    )
    assert parts_of(f"# T\n\n{log}") == {
        "Background": "- The gate opened at night.",
        "Working solution": "- Finally moved the aerial, and that worked.",
        "Principle": "- Look at what runs at the same hour.",
    }


@pytest.mark.parametrize("aside", ["It was quite a month for all of us.", "PS: bring tea."])
def test_what_stands_outside_of_the_labels_of_a_card_is_left_out(aside):
    labels = "- Problem: it rained in.\n- Fix: new tiles on the north side.\n"
    lesson = "- Lesson: look from inside.\n"
    assert aside not in str(parts_of(f"{aside}\n\n{labels}{lesson}\n{aside}\n"))
    last = parts_of(f"{labels}\nNext time we look from inside first.\n")
    assert last["Principle"] == "Next time we look from inside first."


def test_the_answer_above_the_headings_is_a_solution():
    done = "We moved the cable away from the heater"
    body = f"{done}, and that was it.\n\n## Problem\n\nNoise.\n\n## Fix\n\n{done} on Monday.\n"
    assert parts_of(body)["Background"] == "Noise."


def test_a_closing_paragraph_of_thanks_is_no_lesson_and_neither_is_a_question():
    body = "## Fix\n\nA new belt.\n\n## Takeaway\n\nMeasure first.\n\n"
    body += "Thanks all, it rained anyway. The ladder is in the shed. Who has the key?\n"
    assert parts_of(body)["Principle"] == "Measure first."
    assert "key" not in str(parts_of(body.replace("Thanks all, it rained anyway. ", "")))


def test_headings_may_be_questions():
    body = (
        "**O que aconteceu?** O forno parou aos 900 °C.\n\n**O que resolveu?** Um contactor novo."
        "\n\n**O que aprendemos?** Mede a rede antes de trocar uma peça.\n"
    )
    assert parts_of(body) == {
        "Background": "O forno parou aos 900 °C.",
        "Working solution": "Um contactor novo.",
        "Principle": "Mede a rede antes de trocar uma peça.",
    }


def test_a_labelled_lesson_does_not_hang_on_the_line_above_it():
    more = "".join(f"情况：第{n}号鱼缸每天凌晨水温从二十六度降到二十{n}度。\n" for n in range(9))
    body = (
        f"{more}解决：{'加热棒改接到墙上插座并贴上标签，' * 9}。\n教训：先问那个时间谁在做什么。\n"
    )
    assert parts_of(body)["Principle"] == "先问那个时间谁在做什么。"


def test_an_attempt_that_worked_for_a_while_stays_an_attempt():
    tried = "Typing the hours by hand worked for two days, until the night job wiped them."
    body = f"## Tried\n\n{tried}\n\n## Fix\n\nThe job waits.\n"
    assert parts_of(body)["Failed attempts"] == tried


def test_headings_of_the_highest_level_count_below_the_title():
    body = "# Folders\n\nProblem\n===\n\nThey go.\n\nTried\n===\n\nA list.\n\nFix\n===\n\nBands.\n"
    assert parts_of(body) == {
        "Background": "They go.",
        "Failed attempts": "A list.",
        "Working solution": "Bands.",
    }


@pytest.mark.parametrize(
    ("label", "said"),
    [
        ("Was rein gar nichts gebracht hat", "Ein neuer Riemen auf den Rollen und der Welle."),
        ("What never helped us", "A new belt on both wheels of the mill."),
    ],
)
def test_a_label_in_words_of_its_own_says_what_helped_or_did_not(label, said):
    assert parts_of(f"# T\n\n## {label}\n\n{said}\n") == {"Failed attempts": said}


def test_the_last_paragraph_may_be_the_lesson_without_a_word_for_it():
    body = (
        "Depuis mai, un lecteur sur trois refusait les cartes. On a réimprimé cent cartes : même "
        "taux de refus.\n\nNous sommes passés à des codes-barres. Depuis juin, 3 refus.\n\nQuand "
        "une panne suit les gens, il faut regarder ce que les gens ont en poche.\n"
    )
    assert parts_of(body)["Principle"].startswith("Quand une panne suit les gens")


def test_a_german_ordinal_ends_no_sentence():
    said = "Am 3. Oktober hat Jo die 2. Rinne gefärbt. Das Wasser im Keller war grün."
    assert parts_of(f"## Befund\n\n{said}\n") == {"Background": said}
    long = " ".join(f"In Woche {n} war der Keller an {n} Tagen nass und kalt." for n in range(30))
    assert (
        "Am 3. Oktober hat Jo die 2. Rinne ersetzt."
        in parts_of(
            f"## Problem\n\n{long}\n\n## Lösung\n\nAm 3. Oktober hat Jo die 2. Rinne ersetzt.\n"
        )["Working solution"]
    )


def test_what_hangs_on_a_sentence_is_not_kept_without_it():
    rest = " ".join(f"In week {n} the mill stood for {n} days at the river." for n in range(30))
    body = (
        f"## Problem\n\n{rest}\n\n## Fix\n\nA new shaft of 40 mm. This holds because it is steel.\n"
    )
    found = parts_of(body)["Working solution"]
    assert found == "A new shaft of 40 mm. This holds because it is steel."


def test_foam_goes_in_every_language_and_insight_stays():
    foam = (
        "Thanks to everyone!", "Still working on it.", "Great job", "OK.", "Status: green",
        "Danke!",
        "Keep it up!", "Tried again, no luck.", "Merci à tous", "Gracias!", "Спасибо!",
        "お疲れさまでした。", "感谢大家", "감사합니다", FILLER,
        "As I said above, the cell froze.", "Wie schon gesagt, die Zelle war kalt.", "Dear all,",
        "Writing this down while it is fresh.", "Hallo zusammen, kurz für die Akten.",
        "PS: the kettle works.", "Zwischenstand vom 8. Juni: wir sind dran.", "まだ調査中です。",
    )  # fmt: skip
    assert all(map(is_foam, foam))
    kept = ("The cell froze at −6 °C.", "The thanks of the keeper were a cake.", "Nur 3 V.")
    assert not any(map(is_foam, kept))


def test_the_language_of_a_card_is_told():
    assert (
        tell_languages("Wir haben die Pumpe und das Ventil ersetzt, weil es nicht ging.")[0] == "de"
    )
    assert tell_languages("屋根の板を替えた。")[0] == "ja"
    assert tell_languages("12 34") == ("en",)
    assert phrasing_of(("fr",)).part_of("Les faits") is None  # not the Dutch "les"


def test_a_short_card_is_accepted_and_an_empty_or_open_one_is_not(tmp_path):
    palace = Palace.init(tmp_path)
    for state, slug, text in (
        ("completed", "short", "The tent leaked at the ridge. Two coats of sealer solved it."),
        ("completed", "empty", "- [x] done\n"),
        ("active", "open", "The tent leaked."),
    ):
        file = palace.paths.notes / f"dispatch_corridor/{state}/2026-11-01_{slug}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"---\nstatus: {state}\nproject: camp\n---\n# Tent\n\n{text}\n")
    outcome = distill(palace, "short", apply=True, today=TODAY)
    text = (tmp_path / outcome.paths[0]).read_text()
    assert "## Background\n\nThe tent leaked at the ridge.\n" in text and text.endswith("it.\n")
    assert "## Failed" not in text and "## Principle" not in text
    assert "nothing found for Principle" in outcome.evidence
    with pytest.raises(CheckFailedError, match="says nothing of what was wrong"):
        distill(palace, "empty", apply=True)
    with pytest.raises(UsageError, match="only completed"):
        distill(palace, "open", apply=True)


def test_what_the_card_lacks_is_read_below_headings_of_what_it_links_to_and_named(notes):
    path = notes.card("c", link="The mast swayed in June. See [[silent]].")
    notes["project_rooms/winter/silent.md"] = (
        "# Silent\n\nAlways trust the wind.\n\n## Cause\n\nOther.\n\n## Recovery\n\nA third stay.\n"
    )
    ledger = notes.ledger()
    found = distill_card(ledger, ledger.cards[path])
    assert found.parts == {
        "Background": "The mast swayed in June. See [[silent]].",
        "Working solution": "A third stay.",
    }
    assert found.sources == (path, "palace/project_rooms/winter/silent.md")


@pytest.mark.parametrize("size", [1, 8, 60])
def test_a_telegraph_never_grows_past_its_bound(size):
    long = " ".join(f"Row {i} of valve {i * 7} froze in night {i * 3}." for i in range(size))
    body = f"{long}\n\n## Result\n\n{long.replace('froze', 'works')}\n\n## Lesson\n\nWarm it.\n"
    kept = sum(map(estimate_tokens, parts_of(body).values()))
    assert 0 < kept <= limit_of(estimate_tokens(body)) <= 400


@pytest.fixture
def filled(notes):
    """A telegraph of an older version, with its filler for two parts, linked from two cards."""
    notes.card("one", link="[[old]]")
    notes.card("two", project="radio", link="[[old]]")
    notes["reflection_wing/telegrams/old.md"] = (
        "---\ntitle: Old\ndate: 2026-01-01\ncorridor_card: 2026-10-01_one\n---\n# Old\n\n"
        f"## Background\n\nx\n\n## Failed attempts\n\n{FILLER}\n\n## Working solution\n\ny\n\n"
        f"## Principle\n\n{FILLER}\n"
    )
    return notes


def test_a_telegraph_with_a_gap_is_not_ripe_and_says_which(filled):
    path = "palace/reflection_wing/telegrams/old.md"
    gates = reflection_gates(filled.ledger(), path)
    closed = [str(gate) for gate in gates if not gate.is_open]
    assert closed == ["tells what worked and what follows: no Principle"]
    text = filled["reflection_wing/telegrams/old.md"]
    filled["reflection_wing/telegrams/old.md"] = text.replace(
        f"Principle\n\n{FILLER}", "Principle\n\nz"
    )
    assert is_ripe(reflection_gates(filled.ledger(), path))


def test_filler_never_becomes_a_principle_a_candidate_or_a_rule(filled, tmp_path):
    palace = Palace.init(tmp_path)
    (palace.paths.notes / "palace.yaml").write_text("deciders: [Ilse Brandt]\n")
    palace = Palace(tmp_path)
    candidate = "reflection_wing/constitution_candidates/old_2026-11-21.md"
    filled[candidate] = (
        f"---\ntitle: Old\ndate: 2026-01-01\nsource: old\n---\n# Old\n\n## Rule\n\n{FILLER}\n\n## "
        f"Cost of deviation\n\nMuch.\n\nThe four tests\n\n[[2026-10-01_one]] "
        f'[[2026-10-01_two]]\n\n## Proposed wording\n\n"{FILLER}"\n'
    )
    for path, text in filled.items():
        file = palace.paths.notes / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    more = {"Rationale": "r", "When it applies, and when not": "w"}
    for kind, sections in (("principle", more), ("constitution", {"Cost of deviation": "Much."})):
        with pytest.raises(CheckFailedError, match=r"no (Principle|Rule)"):
            promote(palace, "palace/reflection_wing/telegrams/old.md", kind, sections=sections,
                    apply=True, today=TODAY)  # fmt: skip
    with pytest.raises(CheckFailedError, match=r"no Rule; .*\nno Proposed wording; "):
        promote(palace, f"palace/{candidate}", "constitution", decided_by="Ilse Brandt",
                apply=True, today=TODAY)  # fmt: skip
    assert not (palace.paths.notes / "grand_hall/constitution.md").exists()
    assert take_report(palace, today=TODAY).filled == (
        f"palace/{candidate}", "palace/reflection_wing/telegrams/old.md",
    )  # fmt: skip


def test_an_old_telegraph_with_filler_is_replaced_when_its_card_is_distilled_again(
    filled, tmp_path
):
    palace = Palace.init(tmp_path)
    filled["dispatch_corridor/completed/2026-10-01_one.md"] += "Lesson: warm it first.\n"
    for path, text in filled.items():
        file = palace.paths.notes / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    outcome = distill(palace, "one", apply=True, today=TODAY)
    assert outcome.paths == ("palace/reflection_wing/telegrams/old.md",)
    assert FILLER not in (tmp_path / outcome.paths[0]).read_text()
    assert take_report(palace, today=TODAY).filled == ()
