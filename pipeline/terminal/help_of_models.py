"""``hopscope generate MODEL --help``: only what that model takes."""

from __future__ import annotations

import copy
import re
from typing import Any

from pipeline.config import GenerateConfig
from pipeline.config.generate import model_in, options_of_model
from pipeline.generate import MODELS
from pipeline.options import options_of
from pipeline.terminal.arguments import HELP, PlainCommand

_MODEL = "pipeline.terminal.help_of_models"  # in the context's notes
_OTHER_NAME = f"{_MODEL}.other_name"
# The models that take an option, which say nothing in the help of one of them.
_TAKEN_BY = re.compile(rf" \((?:(?:{'|'.join(MODELS)})(?:, )?)+\)")


class HelpOfModels(PlainCommand):
    """The command ``generate``; in help and for shells a model has its own options only."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if HELP & {*args} or ctx.resilient_parsing:  # shells complete what is left
            ctx.meta[_MODEL], ctx.meta[_OTHER_NAME] = model_in(args)
        return super().parse_args(ctx, args)

    def get_params(self, ctx: Any) -> list[Any]:
        params = super().get_params(ctx)
        model = ctx.meta.get(_MODEL)
        if model is None:
            return params
        taken = {*options_of_model(model), *ctx.meta[_OTHER_NAME]}
        others = {each.name for each in options_of(GenerateConfig)} - taken
        return [_of_one_model(param) for param in params if param.name not in others]

    def format_usage(self, ctx: Any, formatter: Any) -> None:
        model = ctx.meta.get(_MODEL)
        if model is None:
            super().format_usage(ctx, formatter)
        else:
            formatter.write_usage(ctx.command_path, f"{model} [OPTIONS]")

    def format_help_text(self, ctx: Any, formatter: Any) -> None:
        model = ctx.meta.get(_MODEL)
        if model is None:
            super().format_help_text(ctx, formatter)
            return
        asn = " --asn 64496" if "asn" in options_of_model(model) else ""
        for text in (
            f"Example: hopscope generate {model} --routers 10000{asn} --store mystore",
            f"Make {MODELS[model].description}.",
        ):
            formatter.write_paragraph()
            with formatter.indentation():
                formatter.write_text(text)


def _of_one_model(param: Any) -> Any:
    """An option, with help that does not list models."""
    param = copy.copy(param)
    param.help = _TAKEN_BY.sub("", param.help or "")
    return param
