"""A candidate that can be killed.

When it leads it prints how many threads its client has added to the process; it ends when it reads a line.
"""

import sys
import threading

from kazoo_support import Connection


class Leader:
    def __init__(self, hosts, path):
        self._hosts = hosts
        self._path = path

    def run(self):
        before = threading.active_count()
        with Connection(self._hosts) as client:
            client.Election(self._path).run(lambda: self._lead(before))
        return {}

    @staticmethod
    def _lead(before):
        print(threading.active_count() - before, flush=True)
        sys.stdin.readline()
