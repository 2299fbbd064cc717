"""``palace doctor``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from typer import Context, Option

from memory_palace.cli.options import Json, open_palace
from memory_palace.errors import CheckFailedError
from memory_palace.index.doctor import Examination
from memory_palace.shown import plural, print_answer, to_record


def run_doctor(
    ctx: Context,
    fix: Annotated[bool, Option("--fix", help="Rebuild what does not match.")] = False,
    as_json: Json = False,
) -> None:
    """Check that notes, manifest, vectors and digests match; exit 8 if they do not.

    Every note and index file is hashed, every note is cut into chunks again, and a sample of
    vectors is computed again. `palace config store verify` does the same for a store.

    Example: palace doctor --fix
    """
    found = open_palace(ctx).doctor(fix=fix)
    print_answer(to_record(found), _lines(found), as_json=as_json)
    if found.findings:
        can_mend = not fix and any(finding.is_derived for finding in found.findings)
        hint = "; `palace doctor --fix` rebuilds what is derived" if can_mend else ""
        things = plural(len(found.findings), "thing")
        verb = "does" if len(found.findings) == 1 else "do"
        raise CheckFailedError(f"{things} {verb} not match{hint}")


def _lines(found: Examination) -> Iterator[str]:
    for mark, findings in (("fixed", found.fixed), ("problem", found.findings)):
        for finding in findings:
            yield f"{mark:<8} {finding.what}: {finding.where}: {finding.message}"
    counts = {what: f"{count:,} {what}" for what, count in found.checked.items()}
    if found.checked.get("vectors", 0) < found.checked.get("chunks", 0):
        counts["vectors"] = f"a sample of {counts['vectors']}"
    if counts:
        yield "checked  " + ", ".join(counts.values())
