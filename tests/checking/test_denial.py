"""A denial belongs to the word that it governs."""

from __future__ import annotations

import pytest

from memory_palace.checking.alignment import align
from memory_palace.checking.denial import find_denied_words
from memory_palace.checking.partners import Partners
from memory_palace.checking.wording import Wording
from tests.checking.finding import find

SYNC = "The sync service does not upload files that are larger than the quota."
LEAVES = "Water is allowed in the pit, leaves are not."


@pytest.mark.parametrize(
    ("note", "claim"),
    [
        (SYNC, "The sync service uploads files that are larger than the quota."),
        (SYNC, "Files that are larger than the quota are uploaded by the sync service."),
        ("You can drag a tab to the left sidebar.", "You cannot drag a tab to the left sidebar."),
        ("The committee was unable to agree on a date.", "The committee agreed on a date."),
        ("All users can edit the page.", "No users can edit the page."),
        ("The editor must approve each article.", "The editor need not approve each article."),
        (
            "The drug reduced mortality without increasing side effects.",
            "The drug reduced mortality while increasing side effects.",
        ),
        ("The drill failed at step nine.", "The drill did not fail at step nine."),
        ("Without jitter all clients came back at once.", "With jitter all clients came back."),
        ("Boiling water kills germs.", "Boiling water no longer kills germs."),
        ("Stop words are kept in the index.", "Stop words are not kept in the index."),
    ],
)
def test_what_only_one_of_both_denies_is_a_difference(note, claim):
    assert [each.kind for each in find(note, claim, "denied words")] == ["negation"]


@pytest.mark.parametrize(
    ("note", "claim"),
    [
        (SYNC, "Files bigger than the quota are not uploaded by the sync service."),
        (SYNC, "The sync service refuses to upload files above the quota."),
        ("The lid was left open.", "The lid had not been shut."),
        ("The committee was unable to agree on it.", "The committee could not agree on it."),
        ("Stop words are kept in the index.", "No stop words are removed from the index."),
        ("The worker holds at most nine jobs.", "The worker holds not more than nine jobs."),
        ("The lamp must be off before the fuse is changed.", "Not only the lamp must be off."),
        ("There is no evidence that oil helps the bearing.", "Oil does not help the bearing."),
        ("Nothing was deleted for two days.", "For two days nothing was deleted."),
        ("The gate cannot fail to close.", "The gate closes."),
    ],
)
def test_what_both_deny_or_an_opposite_makes_up_for_is_none(note, claim):
    assert find(note, claim, "denied words") == []


def test_the_reason_names_the_word_and_both_places():
    (found,) = find(LEAVES, "Leaves are allowed in the pit.", "denied words")
    assert found.reason == "“Leaves” is said, and the passage denies it"
    assert (found.mine, found.theirs) == ("Leaves are allowed in the pit", "leaves are not")


@pytest.mark.parametrize(
    ("note", "claim"),
    [
        ("It stores notes locally, not in the cloud.", "It stores notes in the cloud."),
        ("When the fair ends, they leave.", "When the fair ends, they never leave."),
        ("Cans cannot be bent once filled.", "Cans can be bent once filled."),
        ("The old pumps are not so easy to use.", "The old pumps are quite easy to use."),
    ],
)
def test_a_denial_that_has_a_clause_to_itself_counts(note, claim):
    assert find(note, claim, "denied words")


def test_of_several_places_the_one_that_says_the_same_is_compared():
    note = "Tours start at noon and last an hour; on Sundays there is no tour."
    assert find(note, "There are tours on Sundays.", "denied words")
    assert not find(note, "Tours last an hour.", "denied words")


def test_a_clause_that_has_a_word_often_is_compared_once(monkeypatch):
    compared = []
    share = Partners.share

    def count(both, mine, theirs):
        compared.append(theirs)
        return share(both, mine, theirs)

    monkeypatch.setattr(Partners, "share", count)
    text = Wording("gate " * 60)
    assert not list(find_denied_words(text, text, align(text, text)))
    assert len(compared) <= 60
