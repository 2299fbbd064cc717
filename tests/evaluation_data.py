"""Where question sets and vaults lie that are no part of the repository."""

import os
from pathlib import Path

ROOT = Path(__file__).parent.parent
DATA = Path(os.environ.get("PALACE_BENCH_DATA", ROOT.parent / "shared" / "data"))
GARDEN = DATA / "vaults" / "jackyzha0-garden"


def haystack(**changes):
    """Return an item of LongMemEval in its official schema."""
    return {
        "question_id": "q1_abs", "question": "where?", "question_type": "single",
        "question_date": "2023/05/30 (Tue) 23:40", "answer_session_ids": ["s2"],
        "haystack_session_ids": ["s1", "s2"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 10:00"],
        "haystack_sessions": [[{"role": "user", "content": "hi"}], []],
        **changes,
    }  # fmt: skip
