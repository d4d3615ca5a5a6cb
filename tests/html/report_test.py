#!/usr/bin/env python3
"""Opens the pages of --format html in headless Chromium: every chart shows the answer's numbers, nothing is logged or
fetched, nothing overflows. Screenshots stay in the folder. Usage: report_test.py PATH_OF_SHARDPLAN FOLDER
Exit status 77: skipped, there is no Chromium."""
import json
import math
import os
import pathlib
import re
import shlex
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from browser import Browser, find_chromium  # noqa: E402
from charts import charts_expected  # noqa: E402
from pages import answer_of, pages  # noqa: E402

# {chart: {row: {series: value}}} of everything that bars and points show.
charts_shown = """
(() => { const charts = {};
  for (const figure of document.querySelectorAll("figure[data-chart]")) {
    const rows = (charts[figure.dataset.chart] = {});
    for (const mark of figure.querySelectorAll("[data-value]")) {
      const row = mark.closest("[data-row]") ? mark.closest("[data-row]").dataset.row : "";
      (rows[row] = rows[row] || {})[mark.dataset.series + (row ? "" : Object.keys(rows[row]).length)] = Number(mark.dataset.value);
    }
  }
  return charts; })()
"""


def embedded(page):
    return json.loads(re.search(r'<script type="application/json" id="answer">(.*?)</script>', page, re.S).group(1))


def without_clock(value):
    if isinstance(value, dict):
        return {key: without_clock(inner) for key, inner in value.items() if key != "search_seconds"}
    return [without_clock(inner) for inner in value] if isinstance(value, list) else value


def same(one, other):
    if isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in other)
    return math.isclose(one, other, rel_tol=1e-9)


def check_charts(browser, answer):
    drawn = browser.evaluate(charts_shown)
    for chart, expected in charts_expected(answer).items():
        rows = list(drawn[chart].values()) if isinstance(expected, list) else drawn[chart]
        if isinstance(expected, list):
            assert len(rows) == len(expected) and all(map(same, rows, expected)), (chart, rows, expected)
        elif chart == "strategies":
            assert {row: list(parts.values()) for row, parts in rows.items()} == {row: list(parts.values()) for row, parts in expected.items()}
        else:
            assert same(rows, expected), (chart, rows, expected)
    tables = browser.evaluate("[...document.querySelectorAll('figure[data-chart]')].map((f) => [f.dataset.chart, f.querySelectorAll('details tbody tr').length])")
    assert all(rows > 0 for chart, rows in tables if chart != "machines"), tables


def check_lengths(browser):
    """Bars of a chart, and parts of a loop, are as long as what they say: so many pixels a unit, all of them."""
    drawn = browser.evaluate("""[...document.querySelectorAll("figure[data-chart]")].flatMap((figure) =>
      [["[data-value]", "value", [figure]], ["[data-seconds]", "seconds", [...figure.querySelectorAll(".body-row")]]].flatMap(([mark, name, groups]) => groups.map((group) =>
        [figure.dataset.chart, [...group.querySelectorAll(`rect${mark}`)].map((rect) => [Math.abs(Number(rect.dataset[name])), rect.getBBox().width])])))""")
    for chart, bars in drawn:
        long = [(value, width) for value, width in bars if width > 20 and (chart != "what-if" or value <= 1)]  # its bars end at the edge
        scales = [width / value for value, width in long]
        assert not scales or max(scales) < 1.08 * min(scales), (chart, long)  # a gap of at most a pixel stands beside each


def check_fabric(browser, run):
    """Each axis lights up its links; the devices of a slice are all there."""
    network = run.get("network")
    if not network or not network["axes"]:
        return
    result = browser.evaluate("""(() => { const card = document.querySelector("figure[data-chart=fabric]");
      return [...card.querySelectorAll("button")].map((button) => { button.click();
        const axis = button.textContent.split("=")[0];
        return [axis, card.querySelectorAll(`[data-link="${axis}"]`).length, card.querySelectorAll("[data-device]").length,
                button.getAttribute("aria-pressed"), card.querySelector("[role=status]").textContent]; }); })()""")
    described = {axis["axis"]: axis["description"] for axis in network["axes"]}
    assert {row[0] for row in result} == set(described), result
    chips = {axis["axis"]: len({at // network["devices_per_chip"] for at in axis.get("first_group", [])}) for axis in network["axes"]}
    for axis, links, devices, pressed, said in result:
        assert links > 0 and devices == len(network.get("positions", [])) + chips[axis] and pressed == "true", result
        assert described[axis] in said, said


def check_habits(browser, run):
    """The command is there to copy; a bar shows its numbers to whoever reaches it by keyboard, and Escape hides them."""
    if run.get("commands"):
        assert run["commands"]["train"] in browser.evaluate("[...document.querySelectorAll('pre')].map((pre) => pre.textContent)")
    browser.evaluate("document.querySelector('.bar-row').focus()")
    assert browser.evaluate("!document.getElementById('tip').hidden && document.getElementById('tip').textContent.length > 3")
    browser.evaluate("document.dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape'}))")
    assert browser.evaluate("document.getElementById('tip').hidden")


def check_timeline(browser, run):
    """Each loop's lanes hold what its run takes: kernels and waits without a gap, collectives with the waits on top of them."""
    bodies = {body["name"]: body for body in run.get("time", {}).get("timeline", [])}
    rows = browser.evaluate("""[...document.querySelectorAll("figure[data-chart=timeline] .body-row")].map((row) => [row.querySelector("b").textContent,
      ...["compute", "network"].map((lane) => [...row.querySelectorAll(`[data-lane=${lane}]`)].map((s) => Number(s.dataset.seconds)))])""")
    assert bool(rows) == bool(bodies), rows
    for name, compute, network in rows:
        length = lambda spans: sum(s["end_seconds"] - s["begin_seconds"] for s in spans)  # noqa: E731
        body = bodies[name]
        assert math.isclose(sum(compute), body["run_seconds"], rel_tol=1e-9), (name, sum(compute), body["run_seconds"])
        waits = length(body["waits"]) if body["moves"] else 0
        assert math.isclose(sum(network), length(body["moves"]) + waits, rel_tol=1e-9, abs_tol=1e-15), (name, network)
    shown = sum(bodies[name]["run_seconds"] * bodies[name]["runs"] for name, *_ in rows)
    assert not rows or 0.95 < shown / run["time"]["step_seconds"] <= 1 + 1e-9, shown


def check_map(browser, answer):
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
            assert any(f"--hardware {machine} --chips {c['chips']} " in line and words <= set(shlex.split(line)) for line in commands), (c, commands)
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


def rate_of(row):
    return row["global_batch_tokens"] / (row["step_seconds"] + row["all_token_routing_seconds"])


def check_verdict(browser, answer):
    """The title and the first lines of a comparison: how many fit, who is faster and by how much, what is missing, and the batch."""
    rows = answer["rows"]
    able = sorted((r for r in rows if r["fit"] == "fits" and "infeasible" not in r), key=lambda r: -rate_of(r))
    title, badge, lead = browser.evaluate("['h1', '.head .badge', '.lead'].map((one) => document.querySelector(one)?.textContent ?? '')")
    assert browser.evaluate("document.title").startswith(title), title
    assert badge in ({True: ["Fits", "Both fit", "All fit"], False: ["Does not fit", "Neither fits", "None fits"]}[bool(able)]
                     if len(able) in (0, len(rows)) else [f"{len(able)} of {len(rows)} fit"]), badge
    for row in rows[:3]:
        if "infeasible" in row and row["infeasible"]["constraint"] == "hbm":
            assert f"{row['infeasible']['needed_bytes'] / 2**30:.1f} GiB of {row['infeasible']['available_bytes'] / 2**30:.1f} GiB" in lead, lead
    if len(able) == len(rows) == 2:
        rates = [rate_of(r) for r in able]
        ahead = rates[0] / rates[1] - 1
        words = "as fast" if ahead < 0.0005 else f"{100 * ahead:.1f}% faster than" if ahead < 1 else "× as fast as"
        assert words in title, (words, title)
    batches = {f"{r['per_device_batch_size']:g} sequence{'' if r['per_device_batch_size'] == 1 else 's'} a device" for r in rows}
    text = browser.evaluate("document.body.textContent")
    assert all(batch in text for batch in batches), batches


def check_outlooks(browser, answer):
    """Beside each machine without a plan, and of the page where none has one: whether what is closest may fit."""
    said = {"marginal": "May fit", "does_not_fit": "Nothing fits"}
    expected = {r["hardware"]: said[r["closest"]["fit"]] for r in answer["results"] if "closest" in r}
    shown = browser.evaluate("""Object.fromEntries([...document.querySelectorAll("figure[data-chart=machines] p .badge")].map((badge) =>
      [badge.parentElement.querySelector("b").textContent, badge.textContent]))""")
    assert shown == {hardware: text for hardware, text in expected.items() if len(answer["results"]) > 1}, (shown, expected)
    if len(expected) == len(answer["results"]):
        head = browser.evaluate("document.querySelector('.head .badge').textContent")
        assert head == ("May fit" if "May fit" in expected.values() else "Nothing fits"), head


def check_findings(browser, answer):
    run = answer if "findings" in answer else None
    if run:
        found = browser.evaluate("[...document.querySelectorAll('[data-finding]')].map((f) => f.dataset.finding)")
        assert sorted(found) == sorted(f["id"] for f in run["findings"]), found


def check_page(browser, binary, folder, name, words):
    page = answer_of(binary, words, "html")
    answer = embedded(page)
    assert without_clock(answer) == without_clock(json.loads(answer_of(binary, words, "json"))), "the page has another answer"
    path = folder / f"{name}.html"
    path.write_text(page)
    for width in (360, 1440):
        for dark in (False, True):
            browser.open(path, width, 900, dark)
            assert browser.complaints() == [], browser.complaints()
            assert browser.requests() == [f"file://{path}"], browser.requests()
            if answer.get("command") == "sweep":
                browser.evaluate("document.querySelectorAll('details.fold').forEach((fold) => { fold.open = true; })")
                browser.settle()
            wide = browser.evaluate("document.documentElement.scrollWidth")
            assert wide <= width, f"{wide} pixels wide at {width}"
            assert browser.evaluate("[...document.querySelectorAll('.scroll')].map((map) => map.querySelector('.map .named')).filter(Boolean)"
                                    ".every((cell) => cell.getBoundingClientRect().right <= innerWidth)"), "a cell to take is off the screen"
            check_charts(browser, answer)
            check_lengths(browser)
            browser.screenshot(folder / f"{name}-{width}{'-dark' if dark else ''}.png")
    able = [r["recommended"] for r in answer.get("results", []) if r["recommended"]]
    run = able[0] if able else answer
    check_fabric(browser, run)
    check_findings(browser, answer)
    if answer.get("command") == "plan":
        check_outlooks(browser, answer)
    check_timeline(browser, run)
    if answer.get("command") == "compare":
        check_verdict(browser, answer)
    if answer.get("command") == "sweep":
        check_map(browser, answer)
        check_scaling(browser, answer)
        check_keyboard(browser, answer)
        return check_overview(browser, answer, path)
    if answer.get("command") != "plan" or able:
        check_habits(browser, run)


cut_tables = """[...document.querySelectorAll(".scroll")].filter((place) => place.scrollWidth > place.clientWidth + 1)
  .map((place) => place.textContent.slice(0, 60))"""


def check_phone(browser, path):
    """Tables are stacked where they would be cut: all of their words are on the screen, behind the columns' titles. A map scrolls."""
    browser.open(path, 360, 900)
    browser.unfold()
    assert browser.complaints() == [], browser.complaints()
    cut = browser.evaluate(cut_tables.replace('".scroll"', '".scroll:not(:has(.map))"'))
    assert not cut, cut
    assert browser.evaluate("[...document.querySelectorAll('.scroll:has(.map)')].every((map) => map.scrollWidth <= map.clientWidth + 1"
                            " || map.classList.contains('more-right') || map.classList.contains('more-left'))"), "nothing says that a map goes on"
    untitled = browser.evaluate("[...document.querySelectorAll('.stacked td')].filter((cell) => !cell.dataset.title).length")
    assert untitled == 0, untitled


def check_paper(browser, path):
    """On A4, from a dark theme: nothing is cut, and the colours are those of the light one."""
    browser.open(path, 1440, 900)
    colours = "['blue', 'bad-back', 'page'].map((name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`))"
    blue, back, _ = browser.evaluate(colours)
    browser.open(path, 718, 1000, dark=True, media="print")
    browser.evaluate("dispatchEvent(new Event('beforeprint'))")
    undrawn = browser.evaluate("[...document.querySelectorAll('figure[data-chart^=scaling]')].filter((figure) => !figure.querySelector('[data-value]')).length")
    assert undrawn == 0, undrawn
    browser.settle()
    assert browser.evaluate(colours) == [blue, back, "#fff"], browser.evaluate(colours)
    cut = browser.evaluate(cut_tables)
    assert not cut and browser.evaluate("document.documentElement.scrollWidth") <= 718, cut


def check_hostile_names(browser, binary, folder):
    """A name that looks like markup is text."""
    name = "<!--<script>alert(1)</scr'ipt>.yml".replace("/", "")
    (folder / name).write_text(subprocess.run([binary, "rules", "show", "default"], capture_output=True, text=True).stdout)
    words = ["explain", "--model", "llama2-7b", "--hardware", "h100", "--chips", "8", "--mesh", "fsdp=8", "--rules", str(folder / name),
             "attention=cudnn_flash_te", "per_device_batch_size=1"]
    path = folder / "hostile.html"
    path.write_text(answer_of(binary, words, "html"))
    browser.open(path, 1440, 900)
    assert browser.complaints() == [], browser.complaints()
    assert name in browser.evaluate("document.querySelector('.chips').textContent")


def main(binary, folder):
    chromium = find_chromium()
    if not chromium:
        print("skipped: no chromium")
        return 77
    folder.mkdir(parents=True, exist_ok=True)
    browser = Browser(chromium)
    try:
        for name, words in pages.items():
            check_page(browser, binary, folder, name, words)
            check_phone(browser, folder / f"{name}.html")
            check_paper(browser, folder / f"{name}.html")
            print(f"{name}: ok")
        check_hostile_names(browser, binary, folder)
    finally:
        browser.close()
    print("screenshots in", os.fspath(folder))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], pathlib.Path(sys.argv[2]).resolve()))
