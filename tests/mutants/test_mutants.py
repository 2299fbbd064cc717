import pytest
from mutants.mutating import ROOT, Mutant, find_places, read_mutants

MUTANTS = read_mutants()


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_every_mutant_still_applies_exactly_once(mutant: Mutant) -> None:
    places = find_places(mutant)
    found = [*map(str, places)] or "no file"
    assert len(places) == 1, (
        f"the text that the mutant {mutant.name!r} replaces stands in {found}.\n"
        f"It means: {mutant.means}\nFind the line that now prevents this, and in "
        f"tests/mutants/mutants.toml give `old` a piece of it that stands once in the package, and "
        f"`new` the fault. Then run: python -m tests.mutants {mutant.name}\nThe text was:\n"
        f"{mutant.old}"
    )
    compile(places[0].read_text("utf-8").replace(mutant.old, mutant.new), mutant.name, "exec")


def test_names_are_unique_and_every_mutant_names_tests_that_exist() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)
    for mutant in MUTANTS:
        assert mutant.tests and mutant.old != mutant.new
        for test in mutant.tests:
            file, _, function = test.partition("::")
            assert (ROOT / file).exists(), f"{mutant.name}: there is no {file}"
            text = (ROOT / file).read_text("utf-8") if function else ""
            assert f"def {function.partition('[')[0]}(" in text or not function, test
