"""Help of a command that is several stages: common options in full, the rest by name."""

from __future__ import annotations

import textwrap
from typing import Any

from pipeline.config import AnalyzeConfig, IngestConfig, NotifyConfig
from pipeline.options import options_of
from pipeline.terminal.arguments import HELP, PlainCommand

_USUAL = {
    *("inputs", "store", "out", "snapshot", "ip2as", "as_names"),
    *("metrics", "device", "workers", "scheduler", "keep_nights", "notify"),
}
_STAGES = {"ingest": IngestConfig, "analyze": AnalyzeConfig, "notify": NotifyConfig}
_IS_ASKED = "pipeline.terminal.help_of_stages"  # in the context's notes


def _rest() -> dict[str, set[str]]:
    """Options of each stage that help only names, by field."""
    rest: dict[str, set[str]] = {}
    for stage, config in _STAGES.items():
        before = set().union(*rest.values())
        rest[stage] = {each.name for each in options_of(config)} - _USUAL - before
    return rest


class HelpOfStages(PlainCommand):
    """``run`` and the nightly program: help fits a screen, and says where the rest is described."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        ctx.meta[_IS_ASKED] = bool(HELP & {*args})
        return super().parse_args(ctx, args)

    def get_params(self, ctx: Any) -> list[Any]:
        params = super().get_params(ctx)
        if not ctx.meta.get(_IS_ASKED):
            return params
        named = set().union(*_rest().values())
        return [param for param in params if param.name not in named]

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        super().format_epilog(ctx, formatter)
        for stage, names in _rest().items():
            words = [
                max(param.opts, key=len) for param in super().get_params(ctx) if param.name in names
            ]
            if not words:
                continue
            formatter.write_paragraph()
            text = (
                f"Also the options of {stage}, described by 'hopscope {stage} --help': "
                f"{', '.join(words)}."
            )
            formatter.write(textwrap.fill(text, formatter.width, break_on_hyphens=False) + "\n")
