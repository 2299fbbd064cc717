"""The library that the page of ``palace view`` holds is the one that its manifest names."""

import json
import tomllib
from fnmatch import fnmatch
from hashlib import sha256
from importlib import resources
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = resources.files("memory_palace.features.view") / "vendor"
MANIFEST = json.loads((FOLDER / "markdown-it.json").read_text("utf-8"))
CONTENT = (FOLDER / MANIFEST["file"]).read_bytes()


def test_the_library_is_what_the_manifest_says() -> None:
    assert sha256(CONTENT).hexdigest() == MANIFEST["sha256"]
    assert MANIFEST["version"] in CONTENT.decode("utf-8").splitlines()[0]


def test_a_copy_of_the_library_carries_the_licences_of_all_its_parts() -> None:
    head = CONTENT.decode("utf-8").split("*/")[0]
    assert {*MANIFEST["licences"].values()} == {"MIT", "BSD-2-Clause"}
    assert "Permission is hereby granted" in head
    assert "Redistribution and use" in head
    for part in MANIFEST["licences"]:
        assert f"\n{part}: Copyright" in head


def test_the_library_loads_nothing_and_fits_into_a_script() -> None:
    # After "<!--", which the library looks for, "<script" would keep the element open.
    for never in ("</script", "<script", "sourceMappingURL", "eval(", "new Function", "innerHTML"):
        assert never.lower() not in CONTENT.decode("utf-8").lower(), never


def test_the_wheel_holds_the_library_and_says_its_licences() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["packages"] == ["memory_palace"]
    assert "exclude" not in wheel
    ignored = (ROOT / ".gitignore").read_text("utf-8").split()
    paths = (
        "memory_palace/features/view/vendor/markdown-it.min.js",
        "memory_palace/features/view/vendor/markdown-it.json",
    )
    assert not [rule for rule in ignored for path in paths if fnmatch(path, f"*{rule.strip('/')}*")]
    assert {*project["project"]["license"].split(" AND ")} == {*MANIFEST["licences"].values()}
    assert (ROOT / "memory_palace/features/view/vendor/markdown-it.min.js").is_file()
