"""Locks of writers, against cleaners that come between making a lock file and holding it."""

from __future__ import annotations

import errno
import fcntl
import threading

from pipeline.store.versions import locks
from pipeline.store.versions.locks import claim_abandoned, hold_for_writing, hold_with_others


def test_a_lock_file_that_a_cleaner_removed_is_made_again(tmp_path, monkeypatch):
    path, flock, calls = tmp_path / "lock", fcntl.flock, []

    def late(descriptor, operation):
        if not calls:
            path.unlink()
        calls.append(operation)
        flock(descriptor, operation)

    monkeypatch.setattr(locks.fcntl, "flock", late)
    lock = hold_for_writing(path)
    assert len(calls) == 2
    with claim_abandoned(path) as is_free:
        assert not is_free
    lock.release()
    with claim_abandoned(path) as is_free:
        assert is_free


def test_who_only_looks_whether_a_lock_is_free_does_not_take_it_from_its_writer(tmp_path):
    path = tmp_path / "lock"
    path.touch()
    looking, looked = threading.Event(), threading.Event()

    def look():
        with claim_abandoned(path) as is_free:
            assert is_free
            looking.set()
            looked.wait(0.2)

    looker = threading.Thread(target=look)
    looker.start()
    assert looking.wait(10)
    lock = hold_for_writing(path)
    looker.join()
    with claim_abandoned(path) as is_free:
        assert not is_free
    lock.release()


def test_a_lock_file_that_vanishes_or_is_replaced_meanwhile_is_not_claimed(tmp_path, monkeypatch):
    path, flock = tmp_path / "lock", fcntl.flock
    path.touch()

    def gone(descriptor, operation):
        flock(descriptor, operation)
        path.unlink()

    with monkeypatch.context() as patched:
        patched.setattr(locks.fcntl, "flock", gone)
        with claim_abandoned(path) as is_free:
            assert not is_free
    for if_missing in (True, False):
        with claim_abandoned(path, if_missing=if_missing) as is_free:
            assert is_free == if_missing


def test_where_none_can_be_held_alone_nobody_is_known_to_hold_it(tmp_path, monkeypatch):
    """As on NFS, of a file that was opened to read."""
    flock = fcntl.flock

    def refuse(descriptor, operation):
        if operation & fcntl.LOCK_EX:
            raise OSError(errno.EBADF, "Bad file descriptor")
        flock(descriptor, operation)

    monkeypatch.setattr(locks.fcntl, "flock", refuse)
    lock = hold_with_others(tmp_path / "lock")
    assert lock is not None
    assert lock.release_of_all()
