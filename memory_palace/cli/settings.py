"""``palace config``."""

from __future__ import annotations

from typer import Context, Typer

from memory_palace.cli.options import Json, open_palace
from memory_palace.cli.printing import print_answer, to_record

app = Typer(no_args_is_help=True, help="Show the settings.")


@app.command("show")
def show_settings(ctx: Context, as_json: Json = False) -> None:
    """Print every setting with its value.

    Example: palace config show
    """
    values = to_record(open_palace(ctx).config)
    del values["anchors"]["ignored"]
    shown = {name: "" if value is None else str(value).lower() for name, value in values.items()}
    lines = (f"{name}: {value}".rstrip() for name, value in shown.items())
    print_answer({"settings": values}, lines, as_json=as_json)


@app.command("path")
def show_path(ctx: Context) -> None:
    """Print the path of the settings file, whether it exists or not.

    Example: palace config path
    """
    print(open_palace(ctx).paths.settings)
