"""The parts of a page that come from a result: each stands between <!-- NAME --> and <!-- end -->."""

import re

from chart import NAMES, text

NOT_MEASURED = "*Not measured in this run. Renew on an idle machine with `docs/renew_results`.*"
BLOCK = re.compile(r"(<!-- (run|facts|figure ([\w-]+): ([^\n]*?)) -->\n).*?(<!-- end -->)", re.DOTALL)


def renewed(page, result, figures, images):
    """The page with the blocks of this result; `images`: the folder of the figures, as links of the page name it."""
    known = {each.name: each for each in figures}

    def block(found):
        kind, name, description = found[2], found[3], found[4]
        if kind == "run":
            body = run(result)
        elif kind == "facts":
            body = facts(result)
        else:
            body = figure(known[name], result, f"{images}/{name}.svg", description)
        return f"{found[1]}{body}\n{found[5]}"

    return BLOCK.sub(block, page)


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(each) + " |" for each in lines)


def run(result):
    machine = result["machine"]
    facts_of_run = [("date", result["date"]), *result["versions"].items(),
                    ("machine", f"{machine['cores']} cores, {machine['memory_gib']} GiB of memory; "
                                "servers and clients share it"),
                    ("round trip with the injected delay", f"{result['round_trip_ms']} ms"),
                    ("rounds of what is measured in turns", str(result["rounds"])),
                    ("samples of each number of round trips", str(result["repeat"]))]
    if "note" in result:  # written by hand into the saved result; the next run is without it
        facts_of_run.append(("note", result["note"]))
    return table(["run", ""], facts_of_run)


def facts(result):
    """Single numbers of ours, which need no figure."""
    rows = [[each["unit"], each["operation"], text(each["ours"])] for each in result["rows"]
            if each["part"] in ("waiting", "dashboards")]
    return table(["", "", "zkrecipes"], rows) if rows else NOT_MEASURED


def figure(which, result, link, description):
    data = which.table(result)
    if data is None:
        return NOT_MEASURED
    axis, labels, series = data
    rows = [[label, *("-" if values[i] is None else text(values[i]) for _, values in series)]
            for i, label in enumerate(labels)]
    head = [axis, *(NAMES.get(name, name) for name, _ in series)]
    return f"![{description}]({link})\n\n" + table(head, rows)
