"""The figures, each from the rows of one part of the measurement."""

from chart import Chart

COLUMNS = (("ours", "ours"), ("Curator", "curator"), ("kazoo", "kazoo"), ("bare C", "bare"))


class Figure:
    """What to show of a part: `pick` chooses rows, `of` computes a cell from a row, a column and all
    chosen rows."""

    def __init__(self, name, part, axis, pick=lambda row: True, of=lambda row, column, rows: row[column], rename=None,
                 **style):
        self.name = name
        self._part = part
        self._axis = axis
        self._pick = pick
        self._of = of
        self._rename = rename or (lambda row: row["operation"])
        self._style = style

    def table(self, result):
        """The axis, the labels, and the values of each series that has any; none if the part was not measured."""
        rows = [row for row in result["rows"] if row["part"] == self._part and self._pick(row)]
        cells = [(title, [self._of(row, column, rows) for row in rows]) for title, column in COLUMNS]
        series = [(title, values) for title, values in cells if any(each is not None for each in values)]
        axis = self._axis.format(**result)
        return (axis, [self._rename(row) for row in rows], series) if series else None

    def draw(self, result, folder):
        """Whether there was something to draw."""
        table = self.table(result)
        if table:
            Chart(*table, **self._style).draw(folder / f"{self.name}.svg")
        return table is not None


def times(row, column, _rows):
    """How many times the rate of `column` ours is."""
    return None if column == "ours" else row.get(f"times_{column}")


def of_ours(row, column, _rows):
    """The value as a multiple of ours."""
    return None if row[column] is None else row[column] / row["ours"]


def of_bare(row, column, _rows):
    """Our value as a multiple of that of the bare loop."""
    return row["ours"] / row["bare"] if column == "ours" and row["bare"] else None


def of_first(row, column, rows):
    """The value as a multiple of that in the first row."""
    return None if row[column] is None else row[column] / rows[0][column]


def ending(words):
    return lambda row: row["operation"].endswith(words)


FIGURES = (
    Figure("round-trips", "round-trips", "round trips to the servers (fewer is better)"),
    Figure("wake-ups", "wake-ups", "per release of a lock for which 1 000 wait (fewer is better)"),
    Figure("queue-claims", "queues", "transactions that claim an item (1: no taker tries in vain)",
           pick=ending("claims an item"), rename=lambda row: row["operation"].split(",")[0], reference=1),
    Figure("queue-puts", "queues", "requests for a put into a queue with a limit", pick=ending("requests a put"),
           rename=lambda row: row["operation"].split(",")[0]),
    Figure("rates", "rates", "rate of zkrecipes as a multiple of theirs (logarithmic; more is better)", of=times,
           reference=1, logarithmic=True),
    Figure("deliveries", "deliveries",
           "messages a second of zkrecipes as a multiple of theirs (logarithmic; more is better)",
           pick=lambda row: row["unit"] == "per second", of=times, reference=1, logarithmic=True),
    Figure("topics", "topics", "messages a second of zkrecipes as a multiple of theirs (logarithmic; more is better)",
           pick=lambda row: row.get("times_curator") or row.get("times_bare"), of=times, reference=1, logarithmic=True),
    Figure("topic-team", "topics", "messages a second of 16 shards, as a multiple of one process",
           pick=lambda row: row["operation"].startswith("no delay, 16 shards") and row["unit"] == "per second", of=of_first,
           rename=lambda row: row["operation"].split(", ")[2], reference=1),
    Figure("topic-writes", "topics", "writes of the position for 1 000 messages (fewer is better)",
           pick=lambda row: row["unit"].startswith("writes")),
    Figure("shards", "shards", "time without an owner as a multiple of that of zkrecipes (fewer is better)",
           pick=lambda row: row["operation"].startswith("no owner"), of=of_ours, reference=1),
    Figure("cpu", "cpu", "processor time as a multiple of the bare C client's (less is better)", of=of_bare,
           reference=1),
    Figure("failover", "leaders", "time without a leader, in session timeouts of 10 s",
           pick=lambda row: row["unit"].startswith("seconds"),
           of=lambda row, column, _rows: None if row[column] is None else row[column] / 10, reference=1),
    Figure("commits", "commits", "time from begin to outcome, as a multiple of that beside the fewest", of=of_first,
           rename=lambda row: row["operation"].split(", ")[1], reference=1),
)
