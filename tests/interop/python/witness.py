"""The witness of which workers are inside: see worker/turns.cpp, which does the same."""

import json

from kazoo.exceptions import BadVersionError


class Overlap(Exception):
    def __init__(self, what):
        super().__init__(f"overlap: {what}")


class Witness:
    def __init__(self, client, path, name, shared):
        self._client = client
        self._path = path
        self._name = name
        self.enter = self._enter_shared if shared else self._enter_alone
        self.leave = self._leave_shared if shared else self._leave_alone
        self._version = 0
        self.hand_offs = 0

    def _enter_alone(self):
        record, version = self._read()
        require_no_writer(record)
        if record["readers"]:
            raise Overlap("readers are inside")
        self._note_turn(record)
        record["writer"] = self._name
        self._version = self._write(record, version, "entering")
        self.hand_offs = record["hand_offs"]

    def _leave_alone(self):
        record, _ = self._read()
        record["writer"] = None
        self._write(record, self._version, "inside")

    def _enter_shared(self):
        self._count_reader(+1)

    def _leave_shared(self):
        self._count_reader(-1)

    def _count_reader(self, change):
        while True:
            record, version = self._read()
            require_no_writer(record)
            record["readers"] += change
            record["max_readers"] = max(record["readers"], record["max_readers"])
            if change > 0:
                self._note_turn(record)
            try:
                self._client.set(self._path, json.dumps(record).encode(), version)
            except BadVersionError:
                continue  # another reader was quicker
            self.hand_offs = record["hand_offs"]
            return

    def _note_turn(self, record):
        if record["last"] not in (None, self._name):
            record["hand_offs"] += 1
        record["last"] = self._name
        record["turns"][self._name] = record["turns"].get(self._name, 0) + 1

    def _read(self):
        data, stat = self._client.get(self._path)
        return json.loads(data), stat.version

    def _write(self, record, expected, when):
        try:
            return self._client.set(self._path, json.dumps(record).encode(), expected).version
        except BadVersionError:
            raise Overlap(f"while {when}") from None


def require_no_writer(record):
    if record["writer"]:
        raise Overlap(f"{record['writer']} is inside")
