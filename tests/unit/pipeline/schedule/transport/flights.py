"""A flight without a cluster, and its instructions in words."""

from pipeline.errors import OutOfMemoryError
from pipeline.model.search.tasks import TaskRun
from pipeline.schedule.transport.events import (
    Ask,
    Cancel,
    Failed,
    Fetch,
    Looked,
    Ready,
    Restart,
    Send,
    Sent,
    Split,
    Submitted,
    Warn,
    WorkerLost,
    Yield,
)
from pipeline.schedule.transport.limits import Limits
from pipeline.schedule.transport.state import FlightState

LIMITS = Limits(no_worker_s=60, paused_s=60, lost_s=30, task_s=600)
A, B = "tcp://a:1", "tcp://b:1"
RUN = TaskRun(A, "cpu", 2.0, 3.0)


def flight(max_attempts=3, limits=LIMITS):
    return FlightState(lambda task: f"{task}-run", max_attempts, limits)


def words(instruction):
    """An instruction in a few words: what it is about, with the number of the attempt."""
    match instruction:
        case Send(key, task, pin, avoid, is_urgent):
            how = [f"to {pin}"] if pin else []
            how += [f"not to {worker}" for worker in sorted(avoid)] + ["first"] * is_urgent
            return " ".join([f"send {task} {key[2]}", *how])
        case Fetch(key) | Split(key):
            return f"{type(instruction).__name__.lower()} {of(key)}"
        case Cancel(keys):
            return "cancel " + " ".join(map(of, keys))
        case Ask(worker, keys):
            return f"ask {worker} " + " ".join(map(of, keys))
        case Restart(worker):
            return f"restart {worker}"
        case Warn():
            return "warn"
        case Yield(outcome):
            return f"yield {outcome.task} {outcome.attempts}: {outcome.error or outcome.result}"


def of(key):
    return f"{key[0].removesuffix('-run')} {key[2]}"


def said(instructions):
    return "; ".join(words(instruction) for instruction in instructions)


class Played:
    """A flight and its instructions so far: events are about a task's present attempt, by name."""

    def __init__(self, state=None):
        self.state, self.lines, self.outcomes = state or flight(), [], []

    def handle(self, event):
        instructions = self.state.handle(event)
        self.lines += [words(i) for i in instructions if not isinstance(i, Warn)]
        self.outcomes += [i.outcome for i in instructions if isinstance(i, Yield)]
        return instructions

    def key(self, task):
        return next(key for key, flying in self.state.tasks.items() if flying.task == task)

    def submit(self, *tasks, **options):
        for task in tasks:
            self.handle(Submitted(task, 0.5, **options))
        self.sent()
        return self

    def sent(self):
        waiting = [key for key, task in self.state.tasks.items() if task.state == "waiting"]
        self.handle(Sent(tuple(waiting), 1.0))

    def look(self, now, status=None, processing=None, threads=None):
        status = status or {A: "running", B: "running"}
        processing = {w: [self.key(t) for t in there] for w, there in (processing or {}).items()}
        threads = threads or dict.fromkeys(status, 1)
        return self.handle(Looked(threads, status, processing, now))


def in_state(state):
    """A flight whose task ``a`` is in one state."""
    played = Played()
    if state == "waiting":
        played.handle(Submitted("a", 0.5))
        return played
    played.submit("a")
    key = played.key("a")
    if state == "fetching":
        played.handle(Ready(key))
    if state == "splitting":
        played.handle(Failed(key, OutOfMemoryError("too large"), 3.0))
    if state == "suspect":
        played.handle(WorkerLost(key, "died"))
        played.sent()
    if state == "quarantined":
        played.submit("other")
        played.handle(WorkerLost(played.key("other"), "died"))
        played.sent()
        played.handle(WorkerLost(key, "died"))
    return played
