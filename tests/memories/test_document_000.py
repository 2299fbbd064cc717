"""The example of source document 000, called as it calls it: everything by its names."""

import asyncio

import numpy as np
import pytest

from memory_palace.documents import (
    HierarchicalIndex,
    Memory,
    Strategy,
    VerificationChecker,
    calculate_retrieval_score,
    cosine_similarity,
    run_red_queen,
)
from memory_palace.palace import Palace

IMAGE = "You strike a gong and twins in wet slippers answer. [Verify: teapot wearing galoshes]"
COMMIT = Memory(
    id="1",
    subject="Two-phase commit",
    image=IMAGE,
    content="Everyone votes before anyone commits. A single no aborts the transaction.",
    verify_token="teapot wearing galoshes",
    smashin_score=9,
    embedding=[0.6, 0.8],
)
RAFT = Memory(
    "2",
    "Raft",
    "Boats elect a captain. [Verify: mustard waltz umbrella]",
    "Followers vote for one leader in each term; a log entry counts once most have stored it.",
    "mustard waltz umbrella",
    6,
    [0.8, 0.6],
)


def test_the_document_s_own_example_runs(tmp_path):
    palace = {memory.id: memory for memory in (COMMIT, RAFT)}

    checker = VerificationChecker(strict_mode=True)
    token = checker.extract_token(COMMIT.image)
    answer = "One no aborts it all; I see a Teapot wearing galoshes."
    assert token == COMMIT.verify_token
    assert checker.check_response(answer, token) == (True, f"Verification token '{token}' found")
    is_valid, why = checker.check_response("One no aborts it all.", token)
    assert not is_valid and "HALLUCINATION SUSPECTED" in why
    assert checker.check_response(answer, "") == (True, "No verification token required")

    question = np.array([0.6, 0.8])
    assert cosine_similarity(COMMIT.embedding, question.tolist()) == pytest.approx(1)
    asked = (COMMIT, "what aborts a commit?", question.tolist())
    assert calculate_retrieval_score(*asked, answer) == pytest.approx(0.5 + 0.3 + 0.2 * 9 / 12)
    assert calculate_retrieval_score(*asked, "No idea.", alpha=0.5, beta=0.3, gamma=0.2) < 0.7

    files = Palace.init(tmp_path)
    for memory, domain in ((COMMIT, "databases"), (RAFT, "clusters")):
        files.memories.new(
            memory.subject, image=memory.image, content=memory.content, domain=domain
        )
    index = HierarchicalIndex(root_path=str(tmp_path))
    memories, context_bytes = index.retrieve("who votes for a leader in each term?", k=1)
    assert [memory.subject for memory in memories] == ["Raft"]
    assert context_bytes >= len(memories[0].content)
    assert [domain.rpartition("/")[2] for domain in index.domains] == ["clusters", "databases"]

    evaluations = asyncio.run(
        run_red_queen(palace, strategy=Strategy.WEAK_SPOTS, question_count=10)
    )
    assert {evaluation.memory_id for evaluation in evaluations} == set(palace)
    for evaluation in evaluations:
        assert 0 <= evaluation.score <= 1
        assert all(isinstance(gap, str) for gap in evaluation.gaps)
        assert evaluation.should_evolve in (True, False)
