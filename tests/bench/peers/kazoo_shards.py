"""Members that share partitions by kazoo's SetPartitioner: for how long is a partition without an owner?"""

import threading
import time

from kazoo_support import Connection, PeerFailure

PARTITIONS = 12
STEP_SECONDS = 0.01
PATIENCE_SECONDS = 150


class Log:
    """When each partition had no owner."""

    def __init__(self):
        self.lock = threading.Lock()
        self.owners = {each: None for each in range(PARTITIONS)}
        self.without_since = {each: None for each in range(PARTITIONS)}
        self.longest = 0.0

    def acquired(self, member, partitions):
        with self.lock:
            for each in partitions:
                self.owners[each] = member
                if self.without_since[each] is not None:
                    self.longest = max(self.longest, time.monotonic() - self.without_since[each])
                    self.without_since[each] = None

    def released(self, member):
        with self.lock:
            for each, owner in self.owners.items():
                if owner == member:
                    self.owners[each] = None
                    self.without_since[each] = time.monotonic()

    def owned_by(self, members):
        with self.lock:
            return set(self.owners.values()) == set(members)

    def begin(self):
        with self.lock:
            self.longest = 0.0


class Member:
    """One client, with a thread that follows its partitioner."""

    def __init__(self, hosts, base, log, name):
        self.connection = Connection(hosts)
        self.client = self.connection.__enter__()
        self.log, self.name, self.stopped = log, name, False
        self.partitioner = self.client.SetPartitioner(base, tuple(range(PARTITIONS)), identifier=name)
        self.thread = threading.Thread(target=self.follow, daemon=True)
        self.thread.start()

    def follow(self):
        holds = False
        while not self.stopped and not self.partitioner.failed:
            if self.partitioner.release:
                if holds:
                    self.log.released(self.name)
                holds = False
                self.partitioner.release_set()
            elif self.partitioner.acquired:
                if not holds:
                    self.log.acquired(self.name, list(self.partitioner))
                holds = True
                time.sleep(STEP_SECONDS)
            else:
                self.partitioner.wait_for_acquire(STEP_SECONDS)

    def crash(self):
        """The session ends at once, as if the servers had just noticed that the process is gone."""
        self.stopped = True
        self.thread.join()
        self.log.released(self.name)
        self.connection.__exit__(None, None, None)

    def end(self):
        self.stopped = True
        self.thread.join()
        self.partitioner.finish()
        self.connection.__exit__(None, None, None)


class Shards:
    def __init__(self, hosts, base):
        self.hosts, self.base = hosts, base

    def wait(self, log, members):
        until = time.monotonic() + PATIENCE_SECONDS
        while not log.owned_by([each.name for each in members]):
            if time.monotonic() > until:
                raise PeerFailure("the partitions are not owned in time")
            time.sleep(STEP_SECONDS)

    def run(self):
        log = Log()
        members = [Member(self.hosts, self.base + "/partitions", log, name) for name in ("a", "b")]
        self.wait(log, members)
        log.begin()
        members.append(Member(self.hosts, self.base + "/partitions", log, "c"))
        self.wait(log, members)
        join = log.longest
        log.begin()
        members.pop(0).crash()
        self.wait(log, members)
        crash = log.longest
        for each in members:
            each.end()
        return {"join": join * 1000, "crash": crash * 1000}
