"""What the page of a sweep shows beside its charts: the cells to take and what starts them, its maps and how they are walked."""
import json
import math
import shlex
import subprocess

from charts import charts_shown


def repeats(binary, command, cell):
    """Whether the command says all of the very plan of the cell."""
    words = [binary, *shlex.split(command)[1:], "--format", "json"]
    run = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    return (run["hardware"], run["chips"], run["memory"]["peak_bytes"], run["time"]["step_seconds"]) == (
        cell["hardware"], cell["chips"], cell["plan"]["peak_bytes"], cell["step_seconds"])


def check_map(browser, binary, answer):
    """The answers stand first and are marked in the maps; the other measures are drawn from the cells too."""
    tiles = browser.evaluate("[...document.querySelectorAll('.answers dd')].map((d) => d.firstChild.textContent)")
    choices = [answer["answers"]["by_model"][model][key] for model in answer["answers"]["by_model"] for key in ("smallest", "cheapest", "fastest")]
    assert tiles == [f"{c['chips']} chips of {c['hardware']}" for c in choices if c], tiles
    marked = browser.evaluate("[...document.querySelectorAll('.map .named')].map((cell) => cell.dataset.tip.split('\\n')[0])")
    assert set(marked) == {f"{c['model']} on {c['chips']} chips of {c['hardware']}" for c in choices if c}, marked
    commands = browser.evaluate("[...document.querySelectorAll('.command pre')].map((pre) => pre.textContent)")
    for c in choices:
        if c:
            words = {f"{key}={value}" for key, value in c["plan"]["maxtext_arguments"].items()}
            words |= {f"{flag}={answer['request'][flag]}" for flag in ("--xla-flags", "--reserve-hbm") if flag in answer["request"]}
            machine = answer["machine_files"].get(c["hardware"], c["hardware"])
            of_cell = [line for line in commands if f"--hardware {machine} --chips {c['chips']} " in line and words <= set(shlex.split(line))]
            assert of_cell and all(repeats(binary, line, c) for line in of_cell), (c, commands)
    late = browser.evaluate("document.querySelectorAll('.map .late').length")
    assert late == sum(c["feasible"] and answer["within_seconds"] is not None and c["days"] * 86400 > answer["within_seconds"] for c in answer["cells"]), late
    impossible = browser.evaluate("document.querySelectorAll('.map .no').length")
    assert impossible == sum(not c["feasible"] for c in answer["cells"]), impossible
    browser.evaluate("[...document.querySelectorAll('figure[data-chart]')].forEach((f) => [...f.parentElement.querySelectorAll('.buttons button')].at(-1)?.click())")
    drawn = browser.evaluate(charts_shown)
    for c in answer["cells"]:
        if c["feasible"]:
            assert math.isclose(drawn[f"map {c['model']}"][c["hardware"]][str(c["chips"])], c["tokens_per_second"] / c["chips"]), c


def check_overview(browser, answer, path):
    """Several models: first what to take of each, as the answer has it, with a link that opens the model's details."""
    choices = answer["answers"]["by_model"]
    if len(choices) == 1:
        return
    browser.open(path, 1440, 900)
    rows = browser.evaluate("[...document.querySelector('section').querySelectorAll('tbody tr')].map((row) => row.innerText)")
    assert len(rows) == len(choices), rows
    for row, (model, choice) in zip(rows, choices.items()):
        taken = [choice[key] for key in ("smallest", "cheapest", "fastest") if choice[key]]
        assert row.startswith(model) and all(f"{c['chips']} chips of {c['hardware']}" in row for c in taken), (row, taken)
    folded = browser.evaluate("[...document.querySelectorAll('details.fold')].filter((fold) => !fold.open).length")
    assert folded == (0 if len(choices) < 4 else len(choices)), folded
    last = "[...document.querySelectorAll('details.fold')].at(-1)"
    browser.evaluate(f"{last}.open = false; [...document.querySelectorAll('section a')].at(-1).click()")
    browser.settle()
    assert browser.evaluate(f"{last}.open"), "a link leads to a fold that stays shut"


def check_scaling(browser, answer):
    """A machine looks the same in all charts and unlike any other; each tick of the sizes has its number."""
    looks = browser.evaluate("""[...document.querySelectorAll("figure[data-chart^=scaling] [data-row]")].map((point) =>
      [point.dataset.row, `${point.getAttribute("fill")} ${point.getAttribute("d")}`])""")
    of_machine = {machine: {look for one, look in looks if one == machine} for machine, _ in looks}
    assert all(len(found) == 1 for found in of_machine.values()), of_machine
    assert len(set.union(set(), *of_machine.values())) == len(of_machine), of_machine
    labels = browser.evaluate("[...document.querySelectorAll('figure[data-chart^=scaling] svg')].map((svg) => [...svg.querySelectorAll('text')].map((text) => text.textContent))")
    sizes = {f"{c['chips']:,}" for c in answer["cells"]}
    assert all(len(sizes & set(texts)) in (0, len(sizes)) for texts in labels), labels


def check_keyboard(browser, answer):
    """The map is one stop of the Tab key; arrows go from cell to cell, each with a ring, its tip, and all of it said."""
    model = next(model for model in answer["answers"]["by_model"] if any(c["feasible"] for c in answer["cells"] if c["model"] == model))
    cells = [c for c in answer["cells"] if c["model"] == model]
    rows = [[c for c in cells if c["hardware"] == machine] for machine in dict.fromkeys(c["hardware"] for c in cells)]

    def expect(cell, what):
        role, name = browser.focused()
        assert role == "gridcell" and f"{cell['model']} on {cell['chips']} chip" in name and cell["hardware"] in name, (what, role, name)
        assert (cell["plan"] is None) or f"limited by {cell['limited_by'].replace('-', ' ')}" in name, (what, name)
        assert browser.evaluate("!document.getElementById('tip').hidden"), what
        style = browser.evaluate("(({ outlineStyle, outlineWidth }) => [outlineStyle, parseFloat(outlineWidth)])(getComputedStyle(document.activeElement))")
        assert style[0] == "solid" and style[1] >= 2, (what, style)

    browser.evaluate("[...document.querySelector('.map').closest('section').querySelectorAll('.buttons button')].at(-1).focus()")
    browser.press("Tab")
    for key, control, cell in [("Home", True, rows[0][0]), ("ArrowLeft", False, rows[0][0]), ("ArrowRight", False, rows[0][min(1, len(rows[0]) - 1)]),
                               ("End", True, rows[-1][-1]), ("Home", False, rows[-1][0]), ("ArrowUp", False, rows[max(0, len(rows) - 2)][0])]:
        browser.press(key, control)
        expect(cell, key)
    browser.press("Tab")
    assert browser.focused()[0] != "gridcell", browser.focused()
