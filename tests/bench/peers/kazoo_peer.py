"""Measures kazoo's recipes and prints the figures as one JSON object.

Everything it does has a time limit, and its nodes are removed before it ends, also after an error.
CuratorPeer.java does the same for Curator.
"""

import argparse
import json
import math
import re
import signal
import sys
import uuid

from kazoo.exceptions import NoNodeError
from kazoo.protocol.states import KazooState

from kazoo_crowd import Crowd
from kazoo_deliveries import Deliveries
from kazoo_leader import Leader
from kazoo_operations import Operations
from kazoo_rates import Rates
from kazoo_shards import Shards
from kazoo_support import WAIT_SECONDS, Background, Connection, PeerFailure

BASE_PREFIX = "/zkrecipes-bench-kazoo-"
PATH = re.compile(r"/[a-z-]+")
HOSTS = re.compile(r"[^,:/\s]+:\d{1,5}(,[^,:/\s]+:\d{1,5})*")
PARTS = ["round-trips", "rates", "wake-ups", "leaders", "deliveries", "shards"]
MAX_REPEAT = 1000
MAX_WAITING = 10_000


def hosts(text):
    if not HOSTS.fullmatch(text) or any(int(host.rpartition(":")[2]) > 65535 for host in text.split(",")):
        raise argparse.ArgumentTypeError("must be host:port[,host:port...]")
    return text


def path(text):
    if not PATH.fullmatch(text):
        raise argparse.ArgumentTypeError("must be a slash and small letters")
    return text


def round_trip_ms(text):
    value = float(text)
    if not 0 < value <= 1000:
        raise argparse.ArgumentTypeError("must be above 0 and at most 1000")
    return value


def number_up_to(most):
    def number(text):
        value = int(text)
        if not 1 <= value <= most:
            raise argparse.ArgumentTypeError(f"must be from 1 to {most}")
        return value

    return number


def parse_options():
    parser = argparse.ArgumentParser(prog="kazoo peer", allow_abbrev=False)
    parser.add_argument("--part", choices=PARTS, default=PARTS[0])
    parser.add_argument("--hosts", type=hosts, required=True)
    parser.add_argument("--round-trip-ms", type=round_trip_ms, default=1.0)
    parser.add_argument("--repeat", type=number_up_to(MAX_REPEAT), default=5)
    parser.add_argument("--waiting", type=number_up_to(MAX_WAITING), default=1000)
    parser.add_argument("--path", type=path, help="default: one of its own")
    return parser.parse_args()


def limit_seconds(options):
    """One repeat of the round-trips part takes about 100 round trips. After four times that, something is stuck."""
    if options.part in ("rates", "deliveries", "shards"):
        return 900  # it also waits while the others do their rounds
    if options.part != "round-trips":
        return 180
    return 30 + math.ceil((options.repeat + 1) * 400 * options.round_trip_ms / 1000)


def measure(options, owner, waiter, base):
    owner.ensure_path(base)  # another candidate may have made it
    if options.part == "rates":
        return Rates(owner, options.hosts, base).serve()
    if options.part == "deliveries":
        return Deliveries(owner, base).serve()
    if options.part == "wake-ups":
        return Crowd(owner, base).run(options.waiting)
    if options.part == "leaders":
        return Leader(options.hosts, base).run()
    if options.part == "shards":
        return Shards(options.hosts, base).run()
    return Operations(owner, waiter, base, options).measure_all()


def remove(options, base):
    """Uses a new session: the measuring ones are closed by now, so they can not make nodes again."""
    with Connection(options.hosts) as remover:
        try:
            remover.delete(base, recursive=True)
        except NoNodeError:
            pass  # the path was never made


def interrupted(_signal, _frame):
    on_signals(signal.SIG_IGN)  # ignore further signals, so that the clean-up can end
    raise PeerFailure("interrupted")


def on_signals(handler):
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, handler)


def run(options):
    """Returns the round trips of every operation, or None after printing the reason why there are none."""
    base = options.path or BASE_PREFIX + str(uuid.uuid4())
    connected = False
    operations = None
    on_signals(interrupted)
    try:
        with Connection(options.hosts) as owner, Connection(options.hosts) as waiter:
            connected = True
            work = Background(lambda: measure(options, owner, waiter, base))
            for client in (owner, waiter):
                client.add_listener(lambda state: abort_when_lost(work, state))
            operations = work.result(limit_seconds(options))
            on_signals(signal.SIG_IGN)
    except Exception as error:
        tell(error)
    on_signals(signal.SIG_IGN)
    if connected and not removed(options, base):
        return None
    return operations


def abort_when_lost(work, state):
    # Otherwise kazoo would wait for the servers until the time limit, and its figures would be useless.
    if state != KazooState.CONNECTED:
        work.abort(PeerFailure("lost the connection while measuring"))


def removed(options, base):
    try:
        Background(lambda: remove(options, base)).result(3 * WAIT_SECONDS)
        return True
    except Exception as error:
        tell(error)
        print(f"kazoo peer: {base} is left behind", file=sys.stderr)
        return False


def tell(error):
    print(f"kazoo peer: {error if isinstance(error, PeerFailure) else repr(error)}", file=sys.stderr)


def main():
    operations = run(parse_options())
    if operations is None:
        return 1
    print(json.dumps({"peer": "kazoo", "operations": operations}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
