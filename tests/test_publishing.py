"""What a release takes from the repository agrees with the package; ``make dist`` builds it."""

import json
import re
import tomllib
from pathlib import Path

import yaml

import memory_palace
from memory_palace.table import TOOLS

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
SERVER = json.loads((ROOT / "server.json").read_text("utf-8"))
BUNDLE = json.loads((ROOT / "packaging" / "manifest.json").read_text("utf-8"))
(PACKAGE,) = SERVER["packages"]
DOCKERFILE = (ROOT / "Dockerfile").read_text("utf-8")
COMMAND = ["memory-palace", "mcp"]


def test_every_file_of_a_release_names_one_version():
    (source,) = (argument["value"] for argument in PACKAGE["runtimeArguments"])
    named = {SERVER["version"], PACKAGE["version"], BUNDLE["version"], source.split("==")[1]}
    assert named == {PROJECT["version"]} == {memory_palace.__version__}


def test_the_registry_finds_its_name_in_the_readme_and_in_the_image():
    (in_readme,) = re.findall(r"<!-- mcp-name: (\S+) -->", (ROOT / "README.md").read_text("utf-8"))
    (in_image,) = re.findall(r'io\.modelcontextprotocol\.server\.name="(\S+)"', DOCKERFILE)
    assert in_readme == in_image == SERVER["name"]
    assert len(SERVER["description"]) <= 100  # what the registry takes


def test_every_door_starts_the_same_server():
    scripts = PROJECT["scripts"]
    assert scripts["palace"] == scripts["memory-palace"]
    assert PACKAGE["identifier"] == PROJECT["name"] == BUNDLE["name"] == COMMAND[0]
    assert [
        PACKAGE["identifier"],
        *(one["value"] for one in PACKAGE["packageArguments"]),
    ] == COMMAND
    image = re.findall(r"^(?:ENTRYPOINT|CMD) (\[.*\])$", DOCKERFILE, re.M)
    assert [word for words in image for word in json.loads(words)] == COMMAND
    assert {tool["name"] for tool in BUNDLE["tools"]} == set(TOOLS)


def test_the_image_copies_what_the_build_reads():
    copied = re.search(r"^COPY (.*) \./$", DOCKERFILE, re.M)[1].split()
    assert {"pyproject.toml", PROJECT["readme"], *PROJECT["license-files"]} == set(copied)


def test_the_workflow_runs_the_steps_of_make_test():
    workflow = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text("utf-8"))
    test = workflow["jobs"]["test"]
    install, *steps = [step["run"] for step in test["steps"] if "run" in step]
    makefile = (ROOT / "Makefile").read_text("utf-8")
    (parallel,) = re.findall(r"^IN_PARALLEL = (.*)$", makefile, re.M)
    (target,) = re.findall(r"^test: .*\n((?:\t.*\n)+)", makefile, re.M)
    lines = target.replace("$(BIN)/", "").replace("$(IN_PARALLEL)", parallel)
    assert [line.strip() for line in lines.splitlines()] == steps
    assert install.endswith("--editable '.[test]'")
    assert {"ubuntu", "macos", "windows"} == {
        name.partition("-")[0] for name in test["strategy"]["matrix"]["os"]
    }


def test_only_the_job_that_publishes_may_prove_who_it_is_and_no_token_is_kept():
    text = (ROOT / ".github/workflows/release.yml").read_text("utf-8")
    workflow = yaml.safe_load(text)
    jobs = workflow["jobs"]
    proving = {name for name, job in jobs.items() if "id-token" in job["permissions"]}
    assert proving == {"publish"} and workflow["permissions"] == {} and "secrets." not in text
