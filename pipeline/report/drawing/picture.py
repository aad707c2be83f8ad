"""What a drawing of one graph shows, as SVG and as a table.

Layers are columns, hops from left to right. The SVG stretches with the screen; strokes do not, so a
dot is a stroke of no length with round ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from markupsafe import Markup

from pipeline.report.drawing.labels import classes, end_label, label
from pipeline.report.texts import next_number

_SLOT = 16  # pixels between two nodes of a layer, at most
_LEAST = 6  # and at least
_TALL = 420  # pixels: height that layers are squeezed into while they fit
_IN_COLUMN = 60  # nodes of a layer above which they stand in several columns
_UNIT = 10  # width of a layer in the drawing's own units

Place = tuple[int, int]


@dataclass(frozen=True)
class Picture:
    """Nodes of a drawing, in the order of its table.

    Attributes
    ----------
    names : sequence of str
        As HTML: addresses, or how many nodes are folded into one.
    layer, rank, of_layer : sequence of int
        As in ``layers.Places``.
    folded : sequence of int
        Nodes that are folded into it; 0: it is one node.
    links : sequence of (int, int)
        Places of both ends in the sequences above.
    group : sequence of int
        Of an ingress, the group of the neighbour from which most of its traces come, from 1;
        of other nodes 0.
    sides : sequence of (int, int)
        (group, ingress): neighbours and the ingresses that they enter by.
    n_groups : int
    path : sequence of int
        Nodes of the path that is marked.
    n_layers : int
        Without the unreached.
    step : int
        Hops that a layer stands for.
    beyond : str
        What the unreached are called.
    """

    names: Sequence[str]
    layer: Sequence[int]
    rank: Sequence[int]
    of_layer: Sequence[int]
    folded: Sequence[int]
    links: Sequence[tuple[int, int]]
    group: Sequence[int]
    sides: Sequence[tuple[int, int]]
    n_groups: int
    path: Sequence[int]
    n_layers: int
    step: int = 1
    beyond: str = "unreached"

    @property
    def all_layers(self) -> int:
        return max(self.layer, default=-1) + 1


def drawing(picture: Picture) -> Markup:
    """The SVG, and the hops below it."""
    most = max(picture.of_layer)
    n_columns = -(-most // _IN_COLUMN)
    slot = min(_SLOT, max(_LEAST, _TALL * n_columns / most))
    height = round(max(slot * max(-(-most // n_columns), picture.n_groups), 40))
    shift = 1 if picture.n_groups else 0
    places = []
    for layer, rank, n in zip(picture.layer, picture.rank, picture.of_layer, strict=True):
        aside = _aside(rank, n_columns) if n > _IN_COLUMN else 0
        places.append(
            (round(_UNIT * (layer + shift + 0.5) + aside), round((rank + 0.5) / n * height))
        )
    neighbors = _neighbors(picture, places, height)
    paths = _lines(picture, places, neighbors) + _dots(picture, places, neighbors)
    box = f"0 0 {_UNIT * (picture.all_layers + shift)} {height}"
    return Markup(
        '<svg class=layers role=img aria-label="The graph in layers by hops; a table follows" '
        f'height={height + 18}><svg width=100% height={height} viewBox="{box}" '
        f"preserveAspectRatio=none>{paths}</svg>{_hops(picture, shift, height)}</svg>"
    )


def _lines(picture: Picture, places: list[Place], neighbors: list[Place]) -> str:
    """Links, those from each group, and the path."""
    paths = [f'<path class=k d="{_strokes((places[i], places[j]) for i, j in picture.links)}"/>']
    for group, near in enumerate(neighbors, 1):
        lines = _strokes((near, places[i]) for g, i in picture.sides if g == group)
        paths.append(f'<path class="k c{group}" d="{lines}"/>')
    steps = _strokes((places[i], places[j]) for i, j in pairwise(picture.path))
    if steps:
        paths.append(f'<path class="k way" d="{steps}"/>')
    return "".join(paths)


def _dots(picture: Picture, places: list[Place], neighbors: list[Place]) -> str:
    dots: dict[str, list[str]] = {}
    for (x, y), folded, group in zip(places, picture.folded, picture.group, strict=True):
        kind = f" f{min(5, len(str(folded)))}" if folded else f" c{group}" if group else ""
        dots.setdefault(f"dot{kind}", []).append(f"M{x} {y}h0")
    for group, (x, y) in enumerate(neighbors, 1):
        dots.setdefault(f"dot c{group}", []).append(f"M{x} {y}h0")
    return "".join(f'<path class="{kind}" d="{"".join(some)}"/>' for kind, some in dots.items())


def table_rows(picture: Picture) -> Markup:
    """Every node that is drawn, its hops, and the nodes that it has a link to, by number."""
    near: list[list[int]] = [[] for _ in picture.names]
    for i, j in picture.links:
        near[i].append(j + 1)
        near[j].append(i + 1)
    rows = "".join(
        f"<tr><td>{i}<td>{name}<td>{_label(picture, layer)}<td>{' '.join(map(str, sorted(ends)))}\n"
        for i, (name, layer, ends) in enumerate(
            zip(picture.names, picture.layer, near, strict=True), 1
        )
    )
    return Markup(rows)


def _neighbors(picture: Picture, places: list[Place], height: int) -> list[Place]:
    """Places of the groups, in the order of the ingresses that they enter by."""
    heights: list[list[int]] = [[] for _ in range(picture.n_groups)]
    for group, i in picture.sides:
        heights[group - 1].append(places[i][1])
    mean = [sum(some) / len(some) if some else height for some in heights]
    rank = {group: i for i, group in enumerate(sorted(range(len(mean)), key=mean.__getitem__))}
    n = picture.n_groups
    return [(_UNIT // 2, round((rank[group] + 0.5) / n * height)) for group in range(n)]


def _strokes(links: Iterable[tuple[Place, Place]]) -> str:
    """Links as few strokes: one goes on where another ends, which is half of the text."""
    left: dict[Place, dict[Place, int]] = {}  # other end -> links
    for a, b in links:
        for one, other in ((a, b), (b, a)):
            ends = left.setdefault(one, {})
            ends[other] = ends.get(other, 0) + 1
    drawn = []
    # From ends with an odd number of links, at which a stroke has to begin or end.
    odd = [place for place, ends in left.items() if sum(ends.values()) % 2]
    for place in [*odd, *left]:
        while left[place]:
            drawn.append(f"M{place[0]} {place[1]}")
            here, letter = place, ""
            while left[here]:
                there = next(iter(left[here]))
                for one, other in ((here, there), (there, here)):
                    left[one][other] -= 1
                    if not left[one][other]:
                        del left[one][other]
                down = there[1] - here[1]
                if here[0] == there[0]:  # in one layer: beside what lies between
                    drawn.append(f"q4{next_number(down // 2)} 0{next_number(down)}")
                    letter = ""
                else:
                    drawn.append(f"{letter or 'L'}{there[0]} {there[1]}")
                    letter = " "
                here = there
    return "".join(drawn)


def _aside(rank: int, n_columns: int) -> float:
    """Where in its layer a node stands, if not in the middle."""
    return 6 * ((rank % n_columns) / max(n_columns - 1, 1) - 0.5)


def _label(picture: Picture, layer: int) -> str:
    if layer >= picture.n_layers:
        return picture.beyond
    first = layer * picture.step
    return f"{first}" if picture.step == 1 else f"{first}\u2013{first + picture.step - 1}"


def _hops(picture: Picture, shift: int, height: int) -> str:
    n_all = picture.all_layers
    n_slots = n_all + shift
    every = max(1, -(-n_all // 10))
    # Texts at the ends, which few layers have room for.
    ends = [(0, "ASes")] if shift else []
    ends += [(layer + shift, _label(picture, layer)) for layer in range(picture.n_layers, n_all)]
    always, texts = [], []
    for at, name in ends:
        place = end_label((at + 0.5) / n_slots, f"{name} ", 1 / n_slots)
        always.append(place)
        side = {0.0: " class=start", 1.0: " class=end"}.get(place[2], "")
        texts.append(f"<text x={100 * place[0]:.3g}% y={height + 13}{side}>{name}</text>")
    layers = range(0, picture.n_layers, every)
    places = [label((at + shift + 0.5) / n_slots, _label(picture, at)) for at in layers]
    for at, (x, *_), kind in zip(layers, places, classes(places, always), strict=True):
        if kind is not None:
            name = _label(picture, at)
            texts.append(f"<text x={100 * x:.3g}% y={height + 13}{kind}>{name}</text>")
    return "".join(texts)
