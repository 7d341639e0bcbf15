"""Many threads that wait for one lock.

The program that runs this one counts at the servers what a release costs. We print "ready", hand the lock on as many
times as a line on standard input says, and print "done".
"""

import queue
import sys
import threading

from kazoo.exceptions import KazooException

from kazoo_support import PeerFailure

PATIENCE_SECONDS = 60


class Crowd:
    def __init__(self, client, path):
        self._client = client
        self._path = path
        self._owners = queue.SimpleQueue()

    def run(self, waiting):
        owner = self._gather(waiting)
        print("ready", flush=True)
        for _ in range(int(sys.stdin.readline())):
            owner.set()
            owner = self._next()
        print("done", flush=True)
        sys.stdin.readline()
        return {}

    def _gather(self, waiting):
        threading.stack_size(1 << 18)
        self._client.forget_answers()
        self._join()
        owner = self._next()
        for _ in range(waiting):
            self._join()
        for _ in range(waiting):
            self._client.await_answer("get")  # it has set the watch on its predecessor: from here on it only waits
        return owner

    def _next(self):
        try:
            return self._owners.get(timeout=PATIENCE_SECONDS)
        except queue.Empty:
            raise PeerFailure(f"nobody got the lock within {PATIENCE_SECONDS} s") from None

    def _join(self):
        threading.Thread(target=self._take_turn, daemon=True).start()

    def _take_turn(self):
        lock = self._client.Lock(self._path)
        try:
            lock.acquire()
            release = threading.Event()
            self._owners.put(release)
            release.wait()
            lock.release()
        except KazooException:
            pass  # the measurement is over and the client closed, or _next() reports that an owner is missing
