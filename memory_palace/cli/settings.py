"""``palace config``."""

from __future__ import annotations

from dataclasses import asdict

import typer

from memory_palace.cli.options import SCHEMA, Json, open_palace
from memory_palace.cli.printing import print_json

app = typer.Typer(no_args_is_help=True, help="Settings in palace/palace.yaml.")


@app.command("show")
def show_settings(ctx: typer.Context, as_json: Json = False) -> None:
    """Print every setting with its value.

    Example: palace config show
    """
    values = asdict(open_palace(ctx).config)
    if as_json:
        print_json({"schema": SCHEMA, "settings": values})
        return
    for name, value in values.items():
        print(f"{name}: {'' if value is None else str(value).lower()}".rstrip())


@app.command("path")
def show_path(ctx: typer.Context) -> None:
    """Print where the settings file is, or would be.

    Example: palace config path
    """
    print(open_palace(ctx).paths.settings)
