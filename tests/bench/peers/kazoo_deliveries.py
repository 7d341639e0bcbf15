"""Messages that have an effect, one after the other, with kazoo's queue that has acknowledgements.

Reads numbers of messages from standard input, fills the queue with as many, works them off, and prints the messages a
second of the latter.
"""

import sys
import time

from kazoo_support import PeerFailure

BATCH = 100


class Deliveries:
    def __init__(self, client, base):
        self._client = client
        self._base = base
        self._number = 0

    def serve(self):
        print("ready", flush=True)
        for line in iter(sys.stdin.readline, ""):
            if not line.strip():
                break
            print(self._round(int(line)), flush=True)
        return {}

    def _round(self, count):
        self._number += 1
        path = f"{self._base}/deliveries-{self._number}"
        effects = f"{self._base}/effects-{self._number}/"
        self._client.ensure_path(effects[:-1])
        queue = self._client.LockingQueue(path)
        for done in range(0, count, BATCH):
            queue.put_all([b"account"] * min(BATCH, count - done))
        start = time.monotonic()
        for i in range(count):
            item = queue.get()
            # kazoo has no transaction for both: a message is done before or after its effect.
            if not queue.consume():
                raise PeerFailure("an item was lost")
            self._client.create(f"{effects}{i}", item)
        return count / (time.monotonic() - start)
