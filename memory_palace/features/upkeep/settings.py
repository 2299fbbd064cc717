"""``palace config``."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

from typer import Argument, Context, Typer

from memory_palace.cli.options import Json, open_palace
from memory_palace.cli.registry import read_registry, write_registry
from memory_palace.features.upkeep.register import register_palace
from memory_palace.shown import print_answer, say, to_record

app = Typer(no_args_is_help=True, help="Show the settings, name palaces, keep them in stores.")
app.command("register")(register_palace)


@app.command("show")
def show_settings(ctx: Context, as_json: Json = False) -> None:
    """Print every setting with its value, and the file that has yours.

    Example: palace config show
    """
    palace = open_palace(ctx)
    values, file = to_record(palace.config), palace.paths.settings
    del values["anchors"]["ignored"]
    shown = {name: "" if value is None else str(value) for name, value in values.items()}
    shown |= {name: str(value).lower() for name, value in values.items() if value in (True, False)}
    lines = (f"{name}: {value}".rstrip() for name, value in shown.items())
    print_answer({"settings": values, "file": str(file)}, lines, as_json=as_json)
    if not as_json:
        say(f"settings are read from {file}")


@app.command("serve")
def set_serve(
    mode: Annotated[
        Literal["auto", "off"] | None, Argument(help="auto or off; without it, say which.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Let a question start the server of its palace; yours to say, for all your palaces.

    Example: palace config serve auto
    """
    registry = read_registry()
    if mode is not None:
        registry = replace(registry, serve=None if mode == "off" else mode)
        write_registry(registry)
    record = {"serve": registry.serve or "off"}
    print_answer(record, [f"serve: {record['serve']}"], as_json=as_json)


@app.command("capture")
def set_capture(
    mode: Annotated[
        Literal["on", "off"] | None, Argument(help="on or off; without it, say which.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Let the hooks of agents keep what you decide in a conversation; yours to say, off at first.

    Example: palace config capture on
    """
    registry = read_registry()
    if mode is not None:
        registry = replace(registry, capture=None if mode == "off" else mode)
        write_registry(registry)
    record = {"capture": registry.capture or "off"}
    print_answer(record, [f"capture: {record['capture']}"], as_json=as_json)
