import contextlib
import io
import re
import shutil
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
BLOCK = re.compile(r"```python\n(.*?)```(?:\s*```text\n(.*?)```)?", re.DOTALL)


def test_the_examples_of_the_python_page_run_and_print_what_it_says(tmp_path, monkeypatch):
    shutil.copytree(
        ROOT / "palace", tmp_path / "notes" / "palace", ignore=shutil.ignore_patterns(".index")
    )
    monkeypatch.chdir(tmp_path)
    blocks = BLOCK.findall((ROOT / "references" / "python.md").read_text("utf-8"))
    assert len(blocks) > 5
    names: dict[str, object] = {}
    for code, expected in blocks:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "python.md", "exec"), names)
        assert printed.getvalue() == expected, code
