"""Which texts English patterns may look at."""

import pytest

from memory_palace.language.words import tell_tongue

ENGLISH = "The gauge was read at noon and the rain had stopped by then."


@pytest.mark.parametrize(
    "text",
    [
        "Die Pumpe ist nicht für den Winter gemacht.",
        "La pompe est dans le garage, mais elle fuit.",
        "La bomba está en el garaje y no funciona.",
        "A bomba não funciona quando está frio.",
        "La pompa è nella rimessa e non funziona più.",
        "De pomp staat in de schuur en het is niet nieuw.",
        "Pumpen står i boden och är inte ny.",
        "Pompa jest w garażu i nie działa.",
        "Pumpa je ve stodole, ale není nová.",
        "Pumppu on vajassa, mutta se ei ole uusi.",
        "Pompa garajda ve çok eski bir model.",
        "Pompa ini tidak bekerja dengan baik di musim dingin.",
        "Cái máy bơm này không hoạt động.",
        "Насос стоит в сарае.",
        "Η αντλία είναι παλιά.",
        "ポンプは納屋にあります。",
        "Obsidian の Sync を使う",
        "水泵在车库里。",
        "펌프는 창고에 있다.",
        "המשאבה ישנה",
        "पंप पुराना है",
        "Kafka を使うのをやめた",
        "Perché abbiamo lasciato il progetto per Redis?",
        "Мы любим чай",
        "เราชอบชา",
    ],
)
def test_prose_of_another_language_is_told_from_english(text):
    assert tell_tongue(text) == "other"


@pytest.mark.parametrize(
    "text",
    [
        ENGLISH,
        "We met Zoë at the café in Curaçao.",
        "Their word for it is 道, which means the way.",
        f"# Насос\n\n{ENGLISH}",
        f"{ENGLISH}\n```\n# насос стоит в сарае\n```",
        "See [the pump](насос-стоит-в-сарае.md) and [[насос|what it is for]].",
    ],
)
def test_english_is_told_whatever_it_names(text):
    assert tell_tongue(text) == "english"


@pytest.mark.parametrize(
    "text",
    [
        "Anna Müller, José, Kraków",
        "| name | size |\n|---|---|\n| pump | 12 |",
        "```python\nfor x in the_list: print(x)\n```",
        "kubectl rollout restart deployment/web",
        "https://example.com/the/of/and",
    ],
)
def test_names_tables_and_code_tell_no_language(text):
    assert tell_tongue(text) == "unclear"
