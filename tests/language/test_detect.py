"""Which texts English patterns may look at."""

from __future__ import annotations

import pytest

from memory_palace.language.detect import is_english


@pytest.mark.parametrize(
    "text",
    [
        "Why did we drop Kafka last week?",
        "Kafka migration",
        "I met Zoë at the café in Curaçao.",
        "kubernetes",
        "Anna: I bought a kayak.",
    ],
)
def test_english_is_english(text):
    assert is_english(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "12:30",
        "Warum haben wir Kafka aufgegeben?",
        "Pourquoi avons-nous abandonné Kafka dans le projet ?",
        "¿Por qué dejamos el proyecto?",
        "Perché abbiamo lasciato il progetto per Redis?",
        "Waarom hebben wij het project met Kafka gestopt?",
        "我们为什么放弃了 Kafka？",
        "Kafka を使うのをやめた",
        "Мы любим чай",
        "เราชอบชา",
        "alpha beta gamma delta epsilon zeta eta theta iota kappa",
    ],
)
def test_other_languages_are_not(text):
    assert not is_english(text)
