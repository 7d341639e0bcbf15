"""The parts of a page that come from a result: each stands between <!-- NAME --> and <!-- end -->."""

import re

from chart import text

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
    waiting, dashboards = ([each for each in result["rows"] if each["part"] == part] for part in ("waiting", "dashboards"))
    lines = [f"- {each['unit']}: {each['operation']}: {text(each['ours'])}" for each in waiting]
    known = {(each["operation"], each["unit"]): text(each["ours"]) for each in dashboards}
    units = list(dict.fromkeys(each["unit"] for each in dashboards))
    rows = []
    for name in dict.fromkeys(name for name, unit in known if unit == units[0]):
        whole = name.rpartition(", ")[0]  # the memory is told of what is shown, whatever changes there
        rows.append([name, *(known.get((name, unit), known.get((whole, unit), "-")) for unit in units)])
    if rows:
        lines += ["", table(["", *units], rows)]
    return "\n".join(lines) if lines else NOT_MEASURED


def figure(which, result, link, description):
    """The bars bear their numbers."""
    return NOT_MEASURED if which.table(result) is None else f"![{description}]({link})"
