"""A short table on stdout, fitted to the terminal."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import accumulate

from rich.console import Console, JustifyMethod
from rich.table import Table
from rich.text import Text

from pipeline.model.words import amount, printable
from pipeline.terminal.lines import print_line, to_stdout

# A figure, an interval, or nothing; an address is a text.
_FIGURE = re.compile(r"-|<?{0}(\u2013{0})?".format(r"\d[\d,]*(\.\d+)?(e[+-]\d+)?"))
NOTHING = "-"
MOST_WHOLE = 24  # columns of a text that all others give way to
MIN_TEXT = 8  # columns of a table's text, however narrow the terminal


def print_table(
    title: str,
    header: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    whole_text: bool = False,
) -> None:
    """Print a table on stdout: an AS number, text, then figures; the text gets what is left.

    Figures stand on the right of their columns, all else on the left.
    Last columns that a narrow terminal has no room for are left out, and named below. With
    ``whole_text`` the text is never shortened: columns give way to it up to half of the width,
    beyond that it is folded.
    Without any text its column is left out.
    """
    console = Console()
    cells = [[str(row[0]), *(_cell(value) for value in row[1:])] for row in rows]
    text_at = 1 if any(row[1] != NOTHING for row in cells) else None
    if text_at is None:
        header = [header[0], *header[2:]]
        cells = [[row[0], *row[2:]] for row in cells]
    widths = [
        max(len(text) for text in (*name.split(), *(row[i] for row in cells)))
        for i, name in enumerate(header)
    ]
    figures = [width + 2 for i, width in enumerate(widths) if i != text_at]  # border and padding
    whole = widths[1] if widths[1] <= max(MOST_WHOLE, console.width // 2) else console.width // 3
    least = 0 if text_at is None else 2 + (max(MIN_TEXT, whole) if whole_text else MIN_TEXT)
    room = console.width - 1 - least
    n_texts = int(text_at is not None)
    n_shown = max(2, n_texts + sum(used <= room for used in accumulate(figures)))
    left = console.width - 3 - sum(figures[: n_shown - 1])
    table = Table(title=title, title_justify="left", title_style="bold", padding=(0, 0, 0, 1))
    for i, name in enumerate(header[:n_shown]):
        if i == text_at:
            table.add_column(
                name,
                max_width=left,
                overflow="fold" if whole_text else "ellipsis",
                no_wrap=not whole_text,
            )
        else:
            is_text = any(not _FIGURE.fullmatch(row[i]) for row in cells)
            justify: JustifyMethod = "left" if is_text else "right"
            table.add_column(name, justify=justify, width=widths[i], overflow="fold")
    for row in cells:
        table.add_row(*(Text(cell) for cell in row[:n_shown]))
    with to_stdout():
        console.print(table)
    if n_shown < len(header):
        print_line(f"Not shown because the terminal is too narrow: {', '.join(header[n_shown:])}")


def _cell(value: object) -> str:
    if value is None:
        return NOTHING
    if isinstance(value, float):
        return amount(value, 2)
    return printable(f"{value:,}" if isinstance(value, int) else str(value))
