"""Takes part in a recipe beside C++'s and Java's workers: the commands are those of worker/main.cpp."""

import sys
import time

from kazoo.retry import RetryFailedError

from kazoo_support import Connection

from turns import KINDS
from witness import Witness


class Worker:
    def open(self, hosts, kind, path, witnessed, name):
        self._connection = Connection(hosts)
        client = self._connection.__enter__()
        if kind == "priority-queue":
            self._queue = client.Queue(path)
        else:
            self._turn = KINDS[kind](client, path, name)
            self._witness = Witness(client, witnessed, name, kind == "read")

    def enter(self):
        self._turn.acquire()
        self._witness.enter()

    def leave(self):
        self._witness.leave()
        self._turn.release()

    def until(self, hand_offs):
        while True:
            self.enter()
            self.leave()
            if self._witness.hand_offs >= int(hand_offs):
                return

    def put(self, data, priority="100"):
        self._queue.put(data.encode(), int(priority))

    def take(self, count):
        items = []
        while len(items) < int(count):
            try:
                item = self._queue.get()
            except RetryFailedError:
                continue  # others were quicker twice: it has removed nothing
            if item is None:
                time.sleep(0.01)  # kazoo's Queue does not wait
            else:
                items.append(item.decode())
        return " ".join(items)

    def close(self):
        self._connection.__exit__()


def main():
    worker = Worker()
    for line in sys.stdin:
        command, *words = line.split()
        try:
            result = getattr(worker, command)(*words)
            answer = "ok" if result is None else f"ok {result}"
        except Exception as error:
            answer = str(error) or repr(error)
        print(answer, flush=True)


if __name__ == "__main__":
    main()
