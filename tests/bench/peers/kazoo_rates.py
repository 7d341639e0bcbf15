"""Measures rates without a delay, one round at a time."""

import json
import sys
import time

from kazoo_support import Background, Connection, PeerFailure

WAIT_SECONDS = 60
CONTENDERS = 4
LOCKS = 400
ITEMS = 400
MANY_ITEMS = 1000
BATCH = 100


class Rates:
    """Reads names of lines, does a round of each, and prints the operations per second (null: no such operation)."""

    def __init__(self, client, hosts, base):
        self._client = client
        self._hosts = hosts
        self._base = base
        self._number = 0

    def serve(self):
        with Connection(self._hosts) as one, Connection(self._hosts) as two:
            with Connection(self._hosts) as three, Connection(self._hosts) as four:
                self._contenders = [client.Lock(self._base + "/contended") for client in (one, two, three, four)]
                print("ready", flush=True)
                for line in iter(sys.stdin.readline, ""):
                    if not line.strip():
                        break
                    print(json.dumps(self._round(line.strip())), flush=True)
        return {}

    def _round(self, line):
        lock = self._client.Lock(self._base + "/lock")
        queue = self._client.Queue(self._base + "/queue")
        known = {
            "locks, free": (LOCKS, lambda: lock_many(lock, LOCKS)),
            "locks, contended by four clients": (LOCKS, lambda: contend(self._contenders)),
            "queue items put one by one": (ITEMS, lambda: put_many(queue, ITEMS)),
            "queue items taken one by one": (ITEMS, lambda: take_many(queue, ITEMS)),
            "queue items put in batches": (MANY_ITEMS, self._put_batches),
        }
        if line not in known:
            return None  # in kazoo every put waits for its answer
        count, run = known[line]
        start = time.monotonic()
        run()
        return round(count / (time.monotonic() - start), 1)

    def _put_batches(self):
        self._number += 1
        queue = self._client.LockingQueue(f"{self._base}/batches-{self._number}")
        for _ in range(MANY_ITEMS // BATCH):
            queue.put_all([b"x"] * BATCH)


def contend(locks):
    contenders = [Background(lambda lock=lock: lock_many(lock, LOCKS // CONTENDERS)) for lock in locks]
    for each in contenders:
        each.result(WAIT_SECONDS)


def lock_many(lock, count):
    for _ in range(count):
        lock.acquire()
        lock.release()


def put_many(queue, count):
    for _ in range(count):
        queue.put(b"x")


def take_many(queue, count):
    for _ in range(count):
        if queue.get() is None:
            raise PeerFailure("no item")
