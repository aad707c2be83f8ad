"""Files made from the sources: ``make generated`` writes them, tests compare them.

Whole files are the pages of options, rules and columns, and the --help of every command. Of the
pages in ``PARTS`` only what is between two comments is made, from the tables of formats and of
metrics, and from what was recorded.
"""

from __future__ import annotations

import inspect
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from benchmarks.pages.named_networks_page import recorded_figures, recorded_networks
from pipeline.generate.networks.planting.kinds import KINDS as KINDS_OF_PLANTS
from pipeline.generate.networks.planting.orders import PLANTS
from pipeline.ingest import FORMATS, Format
from pipeline.metrics import METRICS
from pipeline.metrics.columns import WEIGHTED
from pipeline.terminal import reference, rules
from pipeline.writers import EVERYTHING, WRITERS
from tests import columns_page
from tests.oracles.ablation.page import recorded_comparison, recorded_part
from tests.oracles.truth.confidence_page import recorded_classes, recorded_kinds
from tests.oracles.truth.widths_page import recorded_widths
from tests.real_data import REPOSITORY

DOCS = REPOSITORY / "docs"
GOLDEN = REPOSITORY / "tests" / "unit" / "pipeline" / "cli" / "golden"
COMMANDS = (
    *("ingest", "analyze", "run", "compare", "generate", "search", "explore", "doctor"),
    *(
        "list",
        "show",
        "lookup",
        "traces",
        "why",
        "judge",
        "status",
        "export",
        "convert",
        "remove",
        "rename",
        "restore",
    ),
)
FLOWS = ("nightly", "notify", "serve")
HELPS = """
import contextlib, importlib, io, json, sys

calls, texts = json.loads(sys.argv[1]), {}
sys.argv[:] = ["hopscope"]
for name, (module, words) in calls.items():
    main = importlib.import_module(module).main
    with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()) as said:
        main([*words, "--help"])
    texts[name] = said.getvalue()
print(json.dumps(texts))
"""


def helps() -> dict[Path, str]:
    """What each command says with --help on a terminal of 80 columns; from one process."""
    calls: dict[str, tuple[str, list[str]]] = {"hopscope": ("pipeline.cli", [])}
    calls |= {f"hopscope_{command}": ("pipeline.cli", [command]) for command in COMMANDS}
    calls |= {name: (f"flows.{name}", []) for name in FLOWS}
    plain = {key: value for key, value in os.environ.items() if not key.startswith("HOPSCOPE_")}
    done = subprocess.run(
        [sys.executable, "-c", HELPS, json.dumps(calls)],
        cwd=REPOSITORY,
        env=plain | {"COLUMNS": "80"},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return {GOLDEN / f"{name}.txt": text for name, text in json.loads(done.stdout).items()}


def whole_pages() -> dict[Path, str]:
    """The pages of options and of rules."""
    return {DOCS / "options.md": reference.page(), DOCS / "rules.md": rules.page()}


def pages_of_columns() -> dict[Path, str]:
    """The page of columns, from a run and what the page says of them."""
    with tempfile.TemporaryDirectory() as made:
        columns_page.make_files(Path(made))
        return {DOCS / "columns.md": columns_page.page(Path(made))}


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A table of Markdown."""
    lines = [head, ("---",) * len(head), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


# Formats that are written under another name than the one by which they are read.
READ_AS = {"edges": "snap", "csv": "edge_list", "mtx": "matrix_market"}

# By which readers traces are read that are written: scamper's JSON from a store alone.
TRACES_AS = {
    "warts": "`warts`",
    "scamper_json": "`scamper` (`hopscope traces`)",
    "reply_rows": "`csv`, `parquet`",
}


def formats() -> str:
    """All formats: who writes them, in which direction they go, and what they lack."""
    head = ("format", "what", "kind", "in", "out", "who writes it", "what it lacks", "file names")
    written = {READ_AS.get(name, name): name for name in WRITERS}
    rows = []
    for name, read in FORMATS.items():
        out = written.pop(name, "")
        traces_out = TRACES_AS.get(name, "")
        rows.append(
            (
                f"`{name}`",
                read.description,
                read.kind,
                "yes",
                f"`{out}`" if out else traces_out,
                read.writers,
                "; ".join(filter(None, (read.lacks, _lost(out)))),
                _suffixes(read),
            )
        )
    for name in written.values():
        about = WRITERS[name]
        rows.append(
            (
                f"`{name}`",
                about.description,
                "topology",
                "",
                f"`{name}`",
                "`hopscope export`",
                _lost(name),
                f"`{about.suffix}`",
            )
        )
    return table(head, rows)


def _lost(name: str) -> str:
    """What a file that is written cannot hold."""
    if not name:
        return ""
    lost = ", ".join(what for what in EVERYTHING if what not in WRITERS[name].carries)
    return f"written: {lost}" if lost else ""


def _suffixes(format: Format) -> str:
    return " ".join(f"`{suffix}`" for suffix in format.suffixes)


def formats_in_a_line() -> str:
    """What can be read, in one line."""
    return "; ".join(format.description for format in FORMATS.values())


def least_records() -> str:
    """What a record must hold."""
    head = ("format", "a record", "may be missing")
    return table(head, ((f"`{name}`", f.least, f.optional) for name, f in FORMATS.items()))


def sections_of_readers() -> str:
    """Sections of the formats that the page does not describe by itself: their docstrings."""
    page = (DOCS / "formats.md").read_text()
    begin, end = marks("sections of readers")
    before, _, rest = page.partition(begin)
    by_hand = before + rest.partition(end)[2]
    made = ""
    for name, format in FORMATS.items():
        if f"## {name}:" not in by_hand:
            text = inspect.getdoc(format.load()) or ""
            first, _, rest = text.partition("\n")
            file = Path(inspect.getfile(format.load())).relative_to(REPOSITORY)
            made += f"\n## {name}: {format.description}\n\n{first}\n"
            made += f"Reader: `{file}`; samples: `data/samples/{name}/`.\n{rest}\n"
    made = re.sub(r"``(.+?)``", r"`\1`", made, flags=re.DOTALL)
    return re.sub(r"::$", ":", made, flags=re.MULTILINE)


def metrics() -> str:
    """The metrics, and which of them there are by weight."""
    names = [name for name in METRICS if not name.startswith(WEIGHTED)]
    by_weight = ", ".join(f"`{name}`" for name in names if WEIGHTED + name in METRICS)
    rows = ((f"`{name}`", METRICS[name].question) for name in names)
    more = f"\nWith the prefix `{WEIGHTED}` links are weighted: of {by_weight}.\n"
    return table(("metric", "question"), rows) + more


# Ways in docs/accuracy-tables.md -> how README and docs/accuracy.md call them.
SHORT_WAYS = {
    "elected, inferred routers": "hopscope, P / R",
    "elected, registries, inferred routers": "with registries",
    "bdrmapIT": "bdrmapIT",
}
SHORT_WAYS_OF_LABORATORIES = {
    "elected, inferred routers": "hopscope, P / R",
    "elected, registries": "with registries",
    "bdrmapIT": "bdrmapIT",
}


def accuracy_table(part: str) -> list[list[str]]:
    """Cells of the first table of a part of docs/accuracy-tables.md, without the line of dashes."""
    page = (DOCS / "accuracy-tables.md").read_text().partition(f"<!-- made: {part} -->")[2]
    lines = page.strip().partition("\n\n")[0].splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [cells[0], *cells[2:]]


def accuracy_in_short() -> str:
    """Means of unseen networks by kind."""
    by_way = {way: figures for way, *figures in accuracy_table("unseen")}
    kinds = by_way["owners"]
    columns = [by_way[way] for way in SHORT_WAYS]
    return table(
        ("kind of network (number)", *SHORT_WAYS.values()), zip(kinds, *columns, strict=True)
    )


def accuracy_in_ranges() -> str:
    """P and R of unseen networks, from the kind where they are lowest to that where highest."""
    by_way = {way: figures for way, *figures in accuracy_table("unseen")}
    rows = []
    for way, called in SHORT_WAYS.items():
        pairs = (figures.split(" / ") for figures in by_way[way])
        shares = (f"{min(share)} to {max(share)}" for share in zip(*pairs, strict=True))
        rows.append((called.partition(",")[0], *shares))
    return table(("means of six kinds of networks, lowest to highest", "P", "R"), rows)


def laboratories_in_short() -> str:
    """P and R of each laboratory by default, with registries and by bdrmapIT; hops by default."""
    head, *rows = accuracy_table("accuracy")
    columns = [head.index(name) for name in ("ingresses right (P)", "border routers found (R)")]
    found: dict[str, dict[str, list[str]]] = {}
    name = ""
    for row in rows:
        name = name if row[0] == "..." else row[0]
        found.setdefault(name, {})[row[1]] = row
    made = []
    for name, by_way in found.items():
        shares = [
            " / ".join(by_way[way][column].partition(" ")[0] for column in columns)
            if way in by_way
            else ""
            for way in SHORT_WAYS_OF_LABORATORIES
        ]
        hops = by_way["elected, inferred routers"][-1].partition(",")[0]
        made.append((name, *shares, hops))
    return table(("laboratory", *SHORT_WAYS_OF_LABORATORIES.values(), "hops equal"), made)


def kinds_of_plants() -> str:
    """What can be planted on a night, what it needs, and what comparing calls it."""
    rows = (
        (f"`{name}`", PLANTS[name].removesuffix("."), kind.needs, " or ".join(kind.events) or "-")
        for name, kind in KINDS_OF_PLANTS.items()
    )
    return table(("kind", "what", "needs", "events"), rows)


# Page -> what its comments name -> what is between them.
PARTS: dict[Path, dict[str, Callable[[], str]]] = {
    DOCS / "accuracy.md": {
        "accuracy in short": accuracy_in_short,
        "laboratories in short": laboratories_in_short,
        "confidence": recorded_classes,
        "widths": recorded_widths,
    },
    DOCS / "accuracy-tables.md": {"confidence by kind": recorded_kinds},
    DOCS / "named-networks.md": {
        "named networks": recorded_networks,
        "figures of named networks": recorded_figures,
    },
    DOCS / "howto" / "planted-nights.md": {"plants": kinds_of_plants},
    DOCS / "ablation.md": {"ablation": recorded_part, "subtracted": recorded_comparison},
    REPOSITORY / "README.md": {
        "formats": formats_in_a_line,
        "accuracy in ranges": accuracy_in_ranges,
    },
    DOCS / "formats.md": {
        "formats": formats,
        "least records": least_records,
        "sections of readers": sections_of_readers,
    },
    DOCS / "reports.md": {"metrics": metrics},
}


def marks(name: str) -> tuple[str, str]:
    """The comments around a part."""
    return f"<!-- made: {name} -->", f"<!-- end of {name} -->"


def pages_in_parts() -> dict[Path, str]:
    """Pages with their parts as they should be."""
    pages = {}
    for path, parts in PARTS.items():
        text = path.read_text()
        for name, make in parts.items():
            begin, end = marks(name)
            if text.count(begin) != 1 or text.count(end) != 1:
                raise LookupError(f"{path}: not once {begin} and {end}")
            before, _, rest = text.partition(begin)
            was, _, after = rest.partition(end)
            blank = "\n\n" if was.startswith("\n") else ""  # else it is inside a line
            text = f"{before}{begin}{blank}{make().strip()}{blank}{end}{after}"
        pages[path] = text
    return pages


MAKERS: tuple[Callable[[], dict[Path, str]], ...] = (
    whole_pages,
    pages_in_parts,
    helps,
    pages_of_columns,
)

if __name__ == "__main__":
    for make in MAKERS:
        for path, text in make().items():
            if not path.exists() or path.read_text() != text:
                path.write_text(text)
                sys.stdout.write(f"{path.relative_to(REPOSITORY)} is written\n")
