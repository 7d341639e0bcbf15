"""The recipes at which a worker takes turns, by the names that the tests give them."""

import threading

from kazoo.recipe.lock import Lock

from kazoo_support import Background

PATIENCE_SECONDS = 30


class CuratorLock(Lock):
    """A lock with the names of Curator's locks, by which Curator sees it."""

    _NODE_NAME = "-lock-"
    _EXCLUDE_NAMES = ["-lock-"]


class Locked:
    def __init__(self, lock):
        self._lock = lock

    def acquire(self):
        if not self._lock.acquire(timeout=PATIENCE_SECONDS):
            raise TimeoutError(f"no turn within {PATIENCE_SECONDS} s")

    def release(self):
        self._lock.release()


class Elected:
    """kazoo leads until a function of ours returns."""

    def __init__(self, election):
        self._election = election

    def acquire(self):
        self._leading = threading.Event()
        self._done = threading.Event()
        self._run = Background(lambda: self._election.run(self._lead))
        if not self._leading.wait(PATIENCE_SECONDS):
            raise TimeoutError(f"no turn within {PATIENCE_SECONDS} s")

    def _lead(self):
        self._leading.set()
        self._done.wait()

    def release(self):
        self._done.set()
        self._run.result()


def election(client, path, name):
    """kazoo's Election can not tell its lock of other names, so the lock is replaced."""
    chosen = client.Election(path, name)
    chosen.lock = client.Lock(path, name, extra_lock_patterns=["-latch-"])
    return Elected(chosen)


KINDS = {
    "mutex": lambda client, path, name: Locked(CuratorLock(client, path, name)),
    "plain-mutex": lambda client, path, name: Locked(client.Lock(path, name)),
    "own-mutex": lambda client, path, name: Locked(client.Lock(path, name, extra_lock_patterns=["-lock-"])),
    "election": election,
    "read": lambda client, path, name: Locked(client.ReadLock(path, name, extra_lock_patterns=["__WRIT__"])),
    "write": lambda client, path, name: Locked(
        client.WriteLock(path, name, extra_lock_patterns=["__WRIT__", "__READ__"])
    ),
}
