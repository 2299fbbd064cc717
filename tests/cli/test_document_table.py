"""Each row of references/documents.md is typed, in a copy of the sample palace."""

import json
import os
import re
import runpy
import shlex
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from copying_palaces import copy_sample
from evaluation_data import haystack
from running import run_main

from memory_palace.embedding.registry import cache_folder, is_available

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "references" / "documents.md").read_text("utf-8")
ROWS = [
    (document, cells[0], re.findall(r"`([^`]+)`", cells[2]))
    for document, table in re.findall(r"^## (\d{3}).*?\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S)
    for line in table.splitlines()
    if line.startswith("| ") and "how to call it" not in line
    for cells in [[cell.strip() for cell in line.strip("|").split(" | ")]]
]
CALLS = [pytest.param(calls, id=f"{document} {name[:40]}") for document, name, calls in ROWS]
STANDS = {"role": "user", "content": "The rain gauge stands on the ridge.", "has_answer": True}
HAYSTACK = haystack(
    question_id="q1",
    question="where is the rain gauge?",
    haystack_sessions=[[{"role": "user", "content": "Hello there."}], [STANDS]],
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A palace with an index, anchors, and the files that rows name."""
    made = tmp_path_factory.mktemp("documents")
    palace = copy_sample(made, embedder="hashing")
    palace.anchors.build()
    palace.searches.start("green umbrella")
    (made / "longmemeval.json").write_text(json.dumps([HAYSTACK]))
    (made / "questions.tsv").write_text("rain gauge\tproject_rooms/rain-gauge/index.md\t1\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PALACE_CACHE", str(cache_folder(os.environ)))  # where minilm is
        patch.setenv("XDG_CACHE_HOME", str(made / "cache"))
        yield made


def test_no_file_of_the_documents_is_missing() -> None:
    """The files and commands that the five documents name, by hand."""
    named = """
        ollama_benchmark.py gemini_benchmark.py visualize_results.py sota_comparison.py
        paper/results/ run_red_queen HierarchicalIndex VerificationChecker calculate_retrieval_score
        bench_v2.py logic_engine.py nlp_extract.py bench.py prolog_kb.py ablation.py
        build_index_bge.py query_bge.py graph_router.py cold_zone_blinding_patch.py
        watchdog_manifest_v1.jsonl references/memory_metabolism.md grand_hall/ chambers/
        project_rooms/ reflection_wing/ dispatch_corridor/ conflict_room/ archive_basement/
        build-index.py incremental-update.py lookup.py rerank.py embed.py config.py
        test_hippocampus.py benchmark.py hippocampus-index.json -embeds.npz -meta.json
        memory/types.py memory/store.py memory/embedding.py memory/utils.py memory/retrieval.py
        runtime/memory_bridge.py runtime.loop test_memory_retrieval.py test_memory_bridge.py
    """.split()
    first = "\n".join(name for _, name, _ in ROWS)
    assert [name for name in named if name not in first] == []
    assert all(calls for _, _, calls in ROWS), "a row without a call"


@pytest.mark.parametrize("calls", CALLS)
def test_the_calls_of_a_row_run(
    calls: list[str],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(folder)
    if "bench" in "".join(calls) and not is_available("minilm"):
        pytest.skip("the weights of minilm are not here; run `palace models fetch minilm`")
    for call in calls:
        type_call(call, monkeypatch, capsys)


def type_call(
    call: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = shlex.split(call)
    if words[0] == "palace":
        status, _, err = run_main(capsys, *words[1:])
        is_without_model = "MODEL" in words and status == 9 and "llm" in err
        assert status == 0 or is_without_model, err
    elif words[0] == "python3":
        assert run_script(ROOT / words[1], words[2:], monkeypatch) == 0, capsys.readouterr().err
    elif words[:3] == ["python", "-m", "pytest"]:
        assert all((ROOT / path).exists() for path in words[3:])
        assert all("def test_" in source.read_text() for source in sources(words[3:]))
    elif words[0] == "python":
        monkeypatch.setattr(sys, "argv", words[2:])
        with pytest.raises(SystemExit) as ended:
            for name in (words[2], f"{words[2]}.__main__"):  # another test imported them
                monkeypatch.delitem(sys.modules, name, raising=False)
            runpy.run_module(words[2], run_name="__main__")
        assert not ended.value.code or ("MODEL" in words and ended.value.code == 9)
    elif words[:2] == ["pip", "install"]:
        project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
        assert words[2].strip(".[]") in project["optional-dependencies"]
    else:
        exec(compile(call, "documents.md", "exec"), {})


def sources(paths: list[str]) -> Iterator[Path]:
    for path in map(ROOT.joinpath, paths):
        yield from path.glob("test_*.py") if path.is_dir() else [path]


def run_script(path: Path, arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> int:
    assert os.access(path, os.X_OK)
    monkeypatch.setattr(sys, "argv", [str(path), *arguments])
    monkeypatch.setattr(sys, "path", [*sys.path])
    try:
        runpy.run_path(str(path), run_name="__main__")
    except SystemExit as error:
        return int(error.code or 0)
    return 0
