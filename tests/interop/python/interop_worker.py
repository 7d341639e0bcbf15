"""Takes part in a recipe beside the C++ and Java workers: worker/main.cpp lists the commands."""

import sys
import time

from kazoo.retry import RetryFailedError

from kazoo_support import Connection

from turns import KINDS
from witness import Witness


class Worker:
    def __init__(self):
        self._tls = {}

    def secure(self, authority, certificate, key, _both):
        self._tls = {"use_ssl": True, "ca": authority, "certfile": certificate, "keyfile": key}

    def open(self, hosts, kind, path, witnessed, name):
        self._connection = Connection(hosts, **self._tls)
        client = self._connection.__enter__()
        if kind == "priority-queue":
            self._queue = client.Queue(path)
        elif kind == "nodes":
            self._gate = client.Barrier(path + "/gate")
            self._sum = client.Counter(path + "/sum")
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
                continue  # other takers were quicker twice: this call has removed nothing
            if item is None:
                time.sleep(0.01)  # kazoo's Queue does not wait
            else:
                items.append(item.decode())
        return " ".join(items)

    def raise_gate(self):
        self._gate.create()

    def pass_gate(self):
        self._gate.wait()

    def lift(self):
        self._gate.remove()

    def add(self, number, times):
        for _ in range(int(times)):
            while True:
                try:
                    self._sum += int(number)
                    break
                except RetryFailedError:
                    pass  # others wrote in between several times in a row: this call has added nothing

    def close(self):
        self._connection.__exit__()


NAMES = {"raise": "raise_gate", "pass": "pass_gate"}  # reserved words of Python


def main():
    worker = Worker()
    for line in sys.stdin:
        command, *words = line.split()
        try:
            result = getattr(worker, NAMES.get(command, command))(*words)
            answer = "ok" if result is None else f"ok {result}"
        except Exception as error:
            answer = str(error) or repr(error)
        print(answer, flush=True)


if __name__ == "__main__":
    main()
