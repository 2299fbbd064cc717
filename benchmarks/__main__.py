"""``python -m benchmarks``: measure the palace, as ratios within one run."""

from __future__ import annotations

import sys
from collections.abc import Callable

from typer import Typer

from benchmarks.verbs import sets, systems
from memory_palace.cli.app import report_errors

app = Typer(no_args_is_help=True, add_completion=False)


@app.callback()
def benchmarks() -> None:
    """Measure the palace, as ratios within one run; see references/measurements.md."""


VERBS: dict[str, Callable[..., None]] = {
    "promises": systems.run_promises,
    "scale": systems.run_scale,
    "serve": systems.run_serve,
    "store": systems.run_store,
    "seek": systems.run_seek,
    "longmemeval": sets.longmemeval,
    "locomo": sets.locomo,
    "beir": sets.beir,
    "qmsum": sets.qmsum,
    "pages": sets.pages,
    "lmeb": sets.lmeb,
    "notes": sets.notes,
    "ablate": sets.ablate,
    "known": systems.run_known,
    "confidence": systems.run_confidence,
    "recall": systems.run_recall,
    "verify": systems.run_verify,
    "llm": systems.run_llm,
}
for name, verb in VERBS.items():
    app.command(name)(verb)


def main(arguments: list[str] | None = None) -> None:
    """Run a verb; errors are one line and an exit status, as those of ``palace``."""
    given = sys.argv[1:] if arguments is None else arguments
    sys.exit(report_errors(_run, given))


def _run(given: list[str]) -> int:
    try:
        app(given, prog_name="python -m benchmarks")
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0


if __name__ == "__main__":
    main()
