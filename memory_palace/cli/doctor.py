"""``palace doctor``."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from memory_palace.cli.options import SCHEMA, Json, open_palace
from memory_palace.cli.printing import print_json
from memory_palace.errors import CheckFailedError
from memory_palace.language.visible import visible


def run_doctor(
    ctx: typer.Context,
    fix: Annotated[bool, typer.Option("--fix", help="Build again what does not agree.")] = False,
    as_json: Json = False,
) -> None:
    """Prove that notes, manifest, vectors and digests agree; exit 8 where they do not.

    Every note and index file is hashed, every note is cut into chunks again, and a sample of
    vectors is made again. Example: palace doctor --fix
    """
    found = open_palace(ctx).doctor(fix=fix)
    if as_json:
        print_json({"schema": SCHEMA, **asdict(found)})
    else:
        for finding in found.fixed:
            print(visible(f"fixed    {finding.what}: {finding.where}: {finding.message}"))
        for finding in found.findings:
            print(visible(f"problem  {finding.what}: {finding.where}: {finding.message}"))
        print("checked  " + ", ".join(f"{count} {what}" for what, count in found.checked.items()))
    if found.findings:
        hint = "" if fix else "; `palace doctor --fix` mends what is derived"
        raise CheckFailedError(f"{len(found.findings)} things do not agree{hint}")
