"""Whether tests notice faults: small changes of modules, each judged by the tests of its room.

    python -m tests.oracles.mutants [ROOM...] --seed N --count N [--minutes M] [--json FILE]

A mutant is a copy of the project in which one place of one module differs: another comparison, a
constant off by one, ``and`` for ``or``, a statement that is left out. First the tests that mirror
its module judge every mutant; then, while time is left, those of the folders above it, up to its
room, judge the survivors. One failed test notices a mutant, and so does taking far longer than
without the change. A survivor either changes no answer, or shows a test that is missing; a reader
decides.

Not changed: annotations, decorators, messages, what is logged and modules that run on GPUs alone.

Functions stay compiled, although ``NUMBA_DISABLE_JIT`` would save the time to compile: integers of
64 bits that wrap, reads outside of arrays and threads are as in use only then, and some tests count
what the interpreter does. What numba keeps is filed by the content of the sources that decide it,
so only callers of the changed function are compiled again; see ``kernels.compiled``.
"""
