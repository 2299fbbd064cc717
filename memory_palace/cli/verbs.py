"""What a verb and a group of verbs are to Typer: how they are read, and the look of their help."""

from __future__ import annotations

import re
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from memory_palace.errors import UsageError


class _Formatter(typer.Context.formatter_class):  # type: ignore[misc,valid-type]
    """Plain text within 80 columns; headings are bold on a terminal that may show it."""

    def write_heading(self, heading: str) -> None:
        from memory_palace.cli.helping import embolden  # delayed: only help needs it

        self.write(f"{embolden(heading)}\n")


class _Context(TyperGroup.context_class):  # type: ignore[misc,valid-type]
    """What all verbs share: the look of their help."""

    formatter_class = _Formatter


def _is_text(word: str) -> bool:
    """Whether a word that begins like an option has a form that no option has."""
    is_long = word.startswith("--")
    return any(map(str.isspace, word.partition("=")[0])) if is_long else not word[1].isalpha()


class VerbCommand(TyperCommand):
    """A verb."""

    context_class = _Context

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return what the usage line shows, with arguments as they are named below it."""
        return [re.sub("[{}]", "", piece) for piece in super().collect_usage_pieces(ctx)]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read what is typed. An ``--open`` with a number may stand without it: it is 1 then."""
        takes_number = any(
            "--open" in p.opts and not getattr(p, "is_flag", True) for p in self.params
        )
        place = args.index("--open") + 1 if takes_number and "--open" in args else 0
        if place and not "".join(args[place : place + 1]).isdecimal() and "--" not in args[:place]:
            args = [*args[:place], "1", *args[place:]]
        return super().parse_args(ctx, args)

    def make_parser(self, ctx: Any) -> Any:
        """Return a parser for which ``- an item`` and ``-5 at night`` are text, not options."""
        parser: Any = super().make_parser(ctx)
        read_option = parser._process_opts

        def read(word: str, state: Any) -> None:
            if _is_text(word):
                state.largs.append(word)
            else:
                read_option(word, state)

        parser._process_opts = read
        return parser

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments and the options."""
        from memory_palace.cli.helping import write_parameters  # delayed: only help needs it

        write_parameters(self, ctx, formatter)


class VerbGroup(TyperGroup):
    """A group that suggests verbs for one that it does not have."""

    context_class = _Context

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the verb that is typed first; raise ``UsageError`` where there is none."""
        known = self.list_commands(ctx)
        if args[0] not in known and not args[0].startswith("-") and not ctx.resilient_parsing:
            from memory_palace.cli.helping import explain_verb  # delayed: only a mistake needs it

            raise UsageError(explain_verb(args[0], known, ctx.command_path))
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Print the help on stderr and exit 2 where a verb is missing."""
        if not args and self.no_args_is_help and not ctx.resilient_parsing:
            typer.echo(ctx.get_help(), err=True, color=ctx.color)
            raise typer.Exit(UsageError.exit_code)
        return super().parse_args(ctx, args)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the verbs, with the first sentence of their help, and the options."""
        from memory_palace.cli.helping import write_verbs

        write_verbs(self, ctx, formatter)
