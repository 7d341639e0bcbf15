"""How many in a second, without a delay: the median of the rounds."""

import statistics
import time

from kazoo_support import Background, Connection, PeerFailure

WAIT_SECONDS = 60
ROUNDS = 3
CONTENDERS = 4
LOCKS = 400
ITEMS = 400
MANY_ITEMS = 1000
BATCH = 100


class Rates:
    def __init__(self, client, hosts, base):
        self._client = client
        self._hosts = hosts
        self._base = base
        self._rates = {}

    def measure_all(self):
        lock = self._client.Lock(self._base + "/lock")
        self._measure("locks, free", LOCKS, lambda _: lock_many(lock, LOCKS))
        self._measure_contended()
        queue = self._client.Queue(self._base + "/queue")
        self._measure("queue items put one by one", ITEMS, lambda _: put_many(queue, ITEMS))
        self._measure("queue items taken one by one", ITEMS, lambda _: take_many(queue, ITEMS))
        self._measure("queue items put in batches", MANY_ITEMS, self._put_batches)
        self._rates["queue items put without waiting"] = None  # every put waits
        return self._rates

    def _measure_contended(self):
        with Connection(self._hosts) as one, Connection(self._hosts) as two:
            with Connection(self._hosts) as three, Connection(self._hosts) as four:
                locks = [client.Lock(self._base + "/contended") for client in (one, two, three, four)]
                self._measure("locks, contended by four clients", LOCKS, lambda _: contend(locks))

    def _put_batches(self, number):
        queue = self._client.LockingQueue(f"{self._base}/batches-{number}")
        for _ in range(MANY_ITEMS // BATCH):
            queue.put_all([b"x"] * BATCH)

    def _measure(self, name, count, run_round):
        seconds = []
        for number in range(ROUNDS):
            start = time.monotonic()
            run_round(number)
            seconds.append(time.monotonic() - start)
        self._rates[name] = round(count / statistics.median(seconds), 1)


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
