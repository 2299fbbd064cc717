"""How an answer that was checked looks: in JSON, and on a terminal."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memory_palace.checking.judging import Judgement
from memory_palace.checking.verdicts import Passage, Verdict, write_place
from memory_palace.cli.printing import to_record
from memory_palace.language.visible import visible
from memory_palace.mnemonics.verified_lines import MARKS, say_verdict, write_sentence, write_tokens
from memory_palace.mnemonics.verify import CheckedSentence, Verified

_STYLES = {
    MARKS[Verdict.CONTRADICTED]: "bold red",
    MARKS[Verdict.NOT_FOUND]: "bold yellow",
    MARKS[Verdict.SUPPORTED]: "bold cyan",
    MARKS[Verdict.QUOTED]: "bold green",
    MARKS[Verdict.NOT_APPLICABLE]: "dim",
}


def verified_record(done: Verified) -> dict[str, Any]:
    """Return the JSON of an answer that was checked."""
    return {
        "verdict": done.verdict,
        "by_meaning": done.by_meaning,
        "searched": done.is_searched,
        "sentences": [_sentence_record(sentence) for sentence in done.sentences],
        "model": None
        if done.judged_by is None
        else {"name": done.judged_by, "verdict": done.model_verdict, "spent": done.spent},
        "token": done.token_verdict,
        "tokens": [
            {"path": check.memory_id, "outcome": check.outcome, "near": list(check.near)}
            for check in done.tokens
        ],
        "flaws": to_record(done.flaws),
    }


def _sentence_record(sentence: CheckedSentence) -> dict[str, Any]:
    check = sentence.check
    return {
        "text": check.text,
        "verdict": check.verdict,
        "basis": sentence.basis,
        "reason": check.reason,
        "score": round(check.score, 6),
        **_place_record(check.passage),
        "passage": check.passage.text if check.passage else None,
        "differences": to_record(check.differences),
        "compared": [_place_record(passage) for passage in sentence.compared],
        "model": None if sentence.model is None else _judgement_record(sentence.model),
    }


def _judgement_record(judgement: Judgement) -> dict[str, Any]:
    return {
        "verdict": judgement.verdict,
        "reason": judgement.reason,
        **_place_record(judgement.passage),
    }


def _place_record(passage: Passage | None) -> dict[str, Any]:
    return {
        "note": passage.note if passage else None,
        "first_line": passage.first_line if passage else None,
        "last_line": passage.last_line if passage else None,
    }


def show_verified(done: Verified, root: Path, environ: Mapping[str, str]) -> None:
    """Print an answer that was checked on this terminal; a click on a place opens it."""
    from rich.style import Style  # delayed: a pipe needs no rich
    from rich.text import Text

    from memory_palace.cli.screen import INDENT, NARROWEST, WIDEST, link_to, print_rows, wrap

    width = max(NARROWEST, min(shutil.get_terminal_size().columns, WIDEST)) - INDENT
    rows = [Text(say_verdict(done), "bold")]
    rows += [Text(visible(line)) for line in write_tokens(done)]
    for sentence in done.sentences:
        lines = write_sentence(sentence)
        mark = Text(f"{lines.mark:<{INDENT}}", _STYLES[lines.mark])
        texts = [Text(visible(lines.text))]
        for finding in lines.findings:
            texts.append(text := Text(visible(finding), "dim"))
            for place in lines.places:
                where = visible(write_place(place))
                if (start := text.plain.find(where)) >= 0:
                    address = link_to(root / place.note, place.first_line, environ)
                    text.stylize(Style(link=address), start, start + len(where))
        for row in (row for text in texts for row in wrap(text, width)):
            rows.append(Text.assemble(mark, row))
            mark = Text(" " * INDENT)
    print_rows(rows, environ)
