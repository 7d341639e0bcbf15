"""Helpers for programs that use kazoo: waiting with a time limit, and clients that report which reads were answered."""

import logging
import queue
import threading

from kazoo.client import KazooClient
from kazoo.handlers.threading import KazooTimeoutError

WAIT_SECONDS = 10


class PeerFailure(Exception):
    """An error that is reported to the user in one line."""


class Background:
    """Work on a daemon thread: many of kazoo's calls have no timeout, and must not keep the process from ending."""

    def __init__(self, work):
        self._outcome = queue.SimpleQueue()
        threading.Thread(target=self._run, args=(work,), daemon=True).start()

    def _run(self, work):
        try:
            self._outcome.put((work(), None))
        except BaseException as error:  # result() raises it again
            self._outcome.put((None, error))

    def abort(self, error):
        """Makes this error the result, unless the work has ended before."""
        self._outcome.put((None, error))

    def result(self, seconds=WAIT_SECONDS):
        try:
            value, error = self._outcome.get(timeout=seconds)
        except queue.Empty:
            raise PeerFailure(f"gave up after {seconds} s") from None
        if error:
            raise error
        return value


class ObservedClient(KazooClient):
    """A client that reports which reads of its recipes have been answered."""

    def __init__(self, hosts, **options):
        self._answered = queue.SimpleQueue()
        super().__init__(hosts=hosts, timeout=WAIT_SECONDS, **options)

    def get(self, path, watch=None):
        answer = super().get(path, watch)
        self._answered.put("get")
        return answer

    def get_children(self, path, watch=None, include_data=False):
        answer = super().get_children(path, watch, include_data)
        self._answered.put("get_children")
        return answer

    def forget_answers(self):
        while not self._answered.empty():
            self._answered.get()

    def await_answer(self, kind):
        """Waits until a read of this kind was answered since forget_answers()."""
        try:
            while self._answered.get(timeout=WAIT_SECONDS) != kind:
                pass
        except queue.Empty:
            raise PeerFailure(f"the waiting client got no answer to {kind}") from None


class Connection:
    """A connected client for the duration of a `with` block."""

    def __init__(self, hosts, **options):
        self._hosts = hosts
        self._client = ObservedClient(hosts, **options)

    def __enter__(self):
        try:
            self._client.start(timeout=WAIT_SECONDS)
        except KazooTimeoutError:
            self._client.close()
            raise PeerFailure(
                f"cannot reach ZooKeeper at {self._hosts} within {WAIT_SECONDS} s;"
                " check --hosts and that the ensemble is up"
            ) from None
        return self._client

    def __exit__(self, *_):
        self._client.stop()
        self._client.close()


logging.disable(logging.CRITICAL)
