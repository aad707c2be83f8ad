"""To draw routers by exp(-distance / scale), as Waxman's law does, without looking at all of them.

The plane is cut into squares. A square is drawn first, by the number of routers in it times the
law at the least distance that its routers can have; then one of its routers, uniformly; it is taken
with the probability by which the law at its true distance is below that bound. What is refused is
drawn again, so what is taken follows the law exactly (von Neumann's rejection), after one or two
draws where a draw among all routers takes dozens. Squares are drawn in constant time from a table
of each square (Walker, Vose: A linear algorithm for generating random numbers with a given
distribution, IEEE Transactions on Software Engineering 17, 1991).
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from pipeline.model.borrowing import BORROWS
from pipeline.model.random_words import below, draw_unit

MOST_SQUARES = 32  # on a side of the plane; tables hold 8 bytes for each two squares

_S32, _LOW = np.uint64(32), np.uint64(0xFFFF_FFFF)
_S16, _COORDINATE = np.int64(16), np.int64(0xFFFF)


@njit(cache=True, nogil=True)
def exp_negative(x):
    """exp(-x) of x >= 0, by arithmetic alone: the same bits on every machine.

    To a relative error below 1e-15: x = k ln 2 + r with |r| <= ln(2) / 2, and Taylor's series.
    """
    if x > 700.0:
        return 0.0
    k = math.floor(x * 1.4426950408889634 + 0.5)
    r = (x - k * 0.6931471803691238) - k * 1.9082149292705877e-10
    term, total = 1.0, 1.0
    for i in range(1, 14):
        term *= -r / i
        total += term
    return math.ldexp(total, -int(k))


@njit(**BORROWS)
def distance(cells, a, b):
    """Straight line between two rows of cells, (n, 2) int32."""
    dx = np.float64(cells[a, 0]) - np.float64(cells[b, 0])
    dy = np.float64(cells[a, 1]) - np.float64(cells[b, 1])
    return math.sqrt(dx * dx + dy * dy)


@njit(cache=True, nogil=True)
def is_below(u, x):
    """Whether u < exp(-x); bounds of it decide nearly always."""
    if u < 1.0 - x:
        return True
    if u > 1.0 - x + 0.5 * x * x:
        return False
    return u < exp_negative(x)


@njit(cache=True, nogil=True)
def squares_on_a_side(n_nodes, side, decay):
    """Into how many rows of squares the plane is cut: finer for a steeper law and more nodes."""
    wanted = min(math.ceil(4.5 * side * decay), MOST_SQUARES)
    n = 1
    # A finer table would take longer to make than it saves.
    while n < wanted and (n + 1) ** 4 <= 2 * n_nodes:
        n += 1
    return n


@njit(**BORROWS)
def square_of(x, y, side, n_squares):
    """Number of the square of a cell, row after row."""
    return (np.int64(x) * n_squares // side) * n_squares + np.int64(y) * n_squares // side


@njit(cache=True, nogil=True)
def pack(node, x, y):
    """A node and its cell in one int64."""
    return (np.int64(node) << 32) | (np.int64(x) << _S16) | np.int64(y)


@njit(cache=True, nogil=True)
def least_distances(side, n_squares):
    """No pair of cells of two squares is nearer: (n_squares, n_squares), by rows and columns."""
    least = np.zeros((n_squares, n_squares))
    width = np.float64(side) / n_squares
    for i in range(n_squares):
        for j in range(n_squares):
            a, b = max(i - 1, 0) * width, max(j - 1, 0) * width
            least[i, j] = math.sqrt(a * a + b * b)
    return least


@njit(cache=True, nogil=True)
def fill_tables(counts, least, decay, tables):
    """For each square a table to draw one of all squares, by its count times the law.

    Parameters
    ----------
    counts : (n_squares ** 2,) int64
    least : (n_squares, n_squares) float64
    decay : float
        The law is exp(-decay * distance).
    tables : (n_squares ** 2, n_squares ** 2) uint64
        Filled: in the upper half of a word the other square, in the lower its threshold.
    """
    n_squares = len(least)
    n = n_squares * n_squares
    law = np.empty((n_squares, n_squares))
    for i in range(n_squares):
        for j in range(n_squares):
            law[i, j] = exp_negative(least[i, j] * decay)
    share, waiting = np.empty(n), np.empty(n, np.int64)
    for own in range(n):
        row, column = own // n_squares, own % n_squares
        total = 0.0
        for other in range(n):
            i, j = abs(other // n_squares - row), abs(other % n_squares - column)
            share[other] = counts[other] * law[i, j]
            total += share[other]
        if total == 0.0:  # all are so far that the law is 0: relative to the nearest
            nearest = np.inf
            for other in range(n):
                if counts[other] > 0:
                    i, j = abs(other // n_squares - row), abs(other % n_squares - column)
                    nearest = min(nearest, least[i, j])
            for other in range(n):
                if counts[other] > 0:
                    i, j = abs(other // n_squares - row), abs(other % n_squares - column)
                    share[other] = counts[other] * exp_negative((least[i, j] - nearest) * decay)
                    total += share[other]
        # Squares of less than the mean take the rest from one of more, which stand at the end.
        n_less, n_more = 0, n
        for other in range(n):
            share[other] *= n / total
            if share[other] < 1.0:
                waiting[n_less] = other
                n_less += 1
            else:
                n_more -= 1
                waiting[n_more] = other
        while n_less > 0 and n_more < n:
            n_less -= 1
            less, more = waiting[n_less], waiting[n_more]
            threshold = min(np.uint64(share[less] * 4294967296.0), _LOW)
            tables[own, less] = (np.uint64(more) << _S32) | threshold
            share[more] -= 1.0 - share[less]
            if share[more] < 1.0:
                n_more += 1
                waiting[n_less] = more
                n_less += 1
        while n_less > 0:
            n_less -= 1
            tables[own, waiting[n_less]] = (np.uint64(waiting[n_less]) << _S32) | _LOW
        while n_more < n:
            tables[own, waiting[n_more]] = (np.uint64(waiting[n_more]) << _S32) | _LOW
            n_more += 1


@njit(**BORROWS)
def square_at(table, word):
    """The one of all squares that a word draws by the table of a square; int64."""
    at = below(word, np.int64(len(table)))
    entry = table[at]
    return at if (word & _LOW) < (entry & _LOW) else np.int64(entry >> _S32)


@njit(cache=True, nogil=True)
def file_nodes(cells, first, side, n_squares, ptr, filed):
    """Nodes from ``first`` on by square, ascending in each.

    Parameters
    ----------
    ptr : (n_squares ** 2 + 1,) int64
        Zeros; filled with where each square begins.
    filed : (n_nodes,) int64
        Filled with numbers from 0 on and cells, as ``pack`` makes them.
    """
    n_nodes = len(filed)
    for i in range(n_nodes):
        x, y = cells[first + i, 0], cells[first + i, 1]
        ptr[square_of(x, y, side, n_squares) + 1] += 1
    for square in range(n_squares * n_squares):
        ptr[square + 1] += ptr[square]
    at = ptr[:-1].copy()
    for i in range(n_nodes):
        x, y = cells[first + i, 0], cells[first + i, 1]
        square = square_of(x, y, side, n_squares)
        filed[at[square]] = pack(i, x, y)
        at[square] += 1


def squares_of(
    cells: np.ndarray, first: int, n_nodes: int, side: np.int64, decay: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """What ``draw_near`` takes of nodes side by side: ptr and filed nodes, distances, tables.

    NumPy makes the large arrays, on huge pages where the system gives them: they are read at
    random, which takes half as long there.
    """
    n_squares = int(squares_on_a_side(n_nodes, side, decay))
    ptr, filed = np.zeros(n_squares * n_squares + 1, np.int64), np.empty(n_nodes, np.int64)
    file_nodes(cells, first, side, n_squares, ptr, filed)
    least = least_distances(side, n_squares)
    tables = np.empty((n_squares * n_squares, n_squares * n_squares), np.uint64)
    fill_tables(np.diff(ptr), least, decay, tables)
    return ptr, filed, least, tables


@njit(**BORROWS)
def entry_at(own, squares, words):
    """The square that two words draw for a cell of the square ``own``, and its filed node."""
    ptr, _, _, tables = squares
    square = square_at(tables[own], words[0])
    return square, ptr[square] + below(words[1], ptr[square + 1] - ptr[square])


@njit(**BORROWS)
def draw_near(x, y, own, stop, decay, squares, words, state):
    """One of the nodes below ``stop`` by its distance from a cell of the square ``own``; -1: none.

    ``words`` draw a node; a draw that was refused gives none.
    """
    square, at = entry_at(own, squares, words)
    return taken(squares[1][at], x, y, bound(own, square, squares[2]), stop, decay, state)


@njit(**BORROWS)
def bound(own, square, least):
    """No cells of two squares are nearer."""
    n_squares = len(least)
    return least[
        abs(own // n_squares - square // n_squares), abs(own % n_squares - square % n_squares)
    ]


@njit(**BORROWS)
def bounds(own, least, row):
    """``bound`` of one square and each other, into a row: divisions take longer than its use."""
    for square in range(len(row)):
        row[square] = bound(own, square, least)


@njit(**BORROWS)
def taken(entry, x, y, nearest, stop, decay, state):
    """The node of an entry of a square, if it is below ``stop`` and not refused; else -1.

    ``nearest``: the ``bound`` of its square and that of the cell x, y.
    """
    node = entry >> 32
    if node >= stop:
        return np.int64(-1)
    dx = np.float64((entry >> _S16) & _COORDINATE) - np.float64(x)
    dy = np.float64(entry & _COORDINATE) - np.float64(y)
    beyond = (math.sqrt(dx * dx + dy * dy) - nearest) * decay
    return node if is_below(draw_unit(state), beyond) else np.int64(-1)


@njit(**BORROWS)
def is_in(row, node):
    """Whether a row of nodes holds one."""
    for other in row:  # noqa: SIM110 - compiled code takes no generator
        if other == node:
            return True
    return False


@njit(**BORROWS)
def one_of_all(node, begin, stop, first, cells, decay, row, state):
    """One of the nodes begin .. stop - 1 that is not in a row, by its distance; -1: there is none.

    For laws by which hardly any is near enough. The cell of node i is cells[first + i].
    """
    nearest = np.inf
    for other in range(begin, stop):
        if other != node and not is_in(row, other):
            nearest = min(nearest, distance(cells, first + node, first + other))
    if nearest == np.inf:
        return np.int64(-1)
    total, chosen = 0.0, np.int64(-1)
    for other in range(begin, stop):
        if other != node and not is_in(row, other):
            beyond = distance(cells, first + node, first + other) - nearest
            weight = exp_negative(beyond * decay)
            total += weight
            if draw_unit(state) * total < weight:
                chosen = np.int64(other)
    return chosen
