"""Options: one field of a stage's config each, with everything that users need to know.

A config is a frozen dataclass. Each field made by ``option`` is a word of the command line, a
parameter of flow runs, a ``HOPSCOPE_*`` variable and a row of ``docs/options.md``; its type, its
default and its texts are defined only there. Other fields are for programs only.

``Option.parse`` turns what users give (words, variables, JSON) into the field's value.

Every command imports this first: nothing heavy is imported here.
"""

from pipeline.options.configs import config_of, merged, option, options_of, values
from pipeline.options.parsing import FALSE, TRUE, Option

__all__ = [
    "FALSE",
    "TRUE",
    "Option",
    "config_of",
    "merged",
    "option",
    "options_of",
    "values",
]
