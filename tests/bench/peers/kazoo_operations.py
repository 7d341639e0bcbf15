"""Every measured operation, in the steady state.

The parents exist, and a first round does not count. Recipe objects are used again where kazoo allows it, because a
service does so, and because it is the cheapest way for kazoo.
"""

import statistics
import threading
import time

from kazoo_support import WAIT_SECONDS, Background, PeerFailure


class Operations:
    def __init__(self, owner, waiter, base, options):
        self._owner = owner
        self._waiter = waiter
        self._base = base
        self._options = options
        self._round_trips = {}

    def measure_all(self):
        self._measure_locks()
        self._measure("acquire a free semaphore", self._semaphore())
        self._measure("win a free election", self._win_election)
        self._measure("resign to successor", self._resign)
        self._measure_queues()
        self._measure("double barrier enter, last one in", self._enter_barrier)
        self._measure("group join", self._group())
        return self._round_trips

    def _measure_locks(self):
        lock = self._owner.Lock(self._make("lock"))
        following = self._waiter.Lock(self._base + "/lock")
        read_lock = self._owner.ReadLock(self._make("read-write-lock"))

        def release(_):
            acquire(lock)
            return elapsed(lock.release)

        self._measure("acquire a free lock", lambda _: acquire_and_release(lock))
        self._measure("release a lock", release)
        self._measure("lock hand-off", lambda _: self._hand_off(lock, following))
        self._measure("acquire a free read lock", lambda _: acquire_and_release(read_lock))

    def _hand_off(self, lock, following):
        def follow():
            acquire(following)
            now = time.monotonic()
            following.release()
            return now

        acquire(lock)
        self._waiter.forget_answers()
        owned_at = Background(follow)
        self._waiter.await_answer("get")  # it has set the watch on its predecessor: from here on it only waits
        start = time.monotonic()
        lock.release()
        return owned_at.result() - start

    def _semaphore(self):
        semaphore = self._owner.Semaphore(self._make("semaphore"), max_leases=2)

        def acquire_and_return(_):
            time_taken = elapsed(lambda: require(semaphore.acquire(timeout=WAIT_SECONDS), "no lease"))
            semaphore.release()
            return time_taken

        return acquire_and_return

    def _win_election(self, number):
        path = self._make(f"election-{number}")
        led_at = []

        def lead():
            start = time.monotonic()
            self._owner.Election(path).run(lambda: led_at.append(time.monotonic()))
            return led_at[0] - start

        return Background(lead).result()

    def _resign(self, number):
        path = self._make(f"resignation-{number}")
        leading = threading.Event()
        resigning = threading.Event()
        resigned_at = []
        led_at = []

        def lead_until_told():
            leading.set()
            resigning.wait(WAIT_SECONDS)
            resigned_at.append(time.monotonic())

        leader = Background(lambda: self._owner.Election(path).run(lead_until_told))
        require(leading.wait(WAIT_SECONDS), "no leader")
        self._waiter.forget_answers()
        successor = Background(
            lambda: self._waiter.Election(path).run(lambda: led_at.append(time.monotonic()))
        )
        self._waiter.await_answer("get")
        resigning.set()
        leader.result()
        successor.result()
        return led_at[0] - resigned_at[0]

    def _measure_queues(self):
        plain = self._owner.Queue(self._make("queue"))
        locking = self._owner.LockingQueue(self._make("locking-queue"))

        def take_and_consume():
            require(locking.get(timeout=WAIT_SECONDS) is not None, "no item")
            require(locking.consume(), "item not consumed")

        def put_take_and_consume(_):
            locking.put(b"x")
            return elapsed(take_and_consume)

        self._measure("queue put", lambda _: elapsed(lambda: plain.put(b"x")))
        # kazoo lists the queue only when the items of its last list are used up. So the first take (the round that does
        # not count) costs one round trip more.
        self._measure("queue take", lambda _: elapsed(lambda: require(plain.get() is not None, "no item")))
        self._measure("queue take and acknowledge", put_take_and_consume)

    def _enter_barrier(self, number):
        path = self._make(f"barrier-{number}")
        first = self._waiter.DoubleBarrier(path, 2)
        last = self._owner.DoubleBarrier(path, 2)
        self._waiter.forget_answers()
        entering = Background(first.enter)
        self._waiter.await_answer("get_children")  # the first member has counted only itself, and waits
        time_taken = elapsed(last.enter)
        entering.result()
        # enter() does not report its errors
        require(first.participating and last.participating, "barrier not entered")
        return time_taken

    def _group(self):
        party = self._owner.Party(self._make("group"))

        def join(_):
            time_taken = elapsed(party.join)
            party.leave()
            return time_taken

        return join

    def _make(self, name):
        return self._owner.create(f"{self._base}/{name}")

    def _measure(self, name, run_round):
        try:
            run_round(0)
            times = [run_round(number) for number in range(1, self._options.repeat + 1)]
        except Exception as error:
            raise PeerFailure(f'"{name}" failed: {error!r}') from error
        milliseconds = statistics.median(times) * 1000
        self._round_trips[name] = round(milliseconds / self._options.round_trip_ms, 3)


def acquire(lock):
    require(lock.acquire(timeout=WAIT_SECONDS), "lock not acquired")


def acquire_and_release(lock):
    time_taken = elapsed(lambda: acquire(lock))
    lock.release()
    return time_taken


def elapsed(action):
    start = time.monotonic()
    action()
    return time.monotonic() - start


def require(condition, otherwise):
    if not condition:
        raise PeerFailure(f"{otherwise} within {WAIT_SECONDS} s")
