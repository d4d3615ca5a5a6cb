#!/usr/bin/env python3
"""Opens the pages of --format html in headless Chromium: every chart shows the answer's numbers, nothing is logged or
fetched, nothing overflows. Screenshots stay in the folder. Usage: report_test.py PATH_OF_SHARDPLAN FOLDER
Exit status 77: skipped, there is no Chromium."""
import json
import math
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from browser import judge  # noqa: E402
from charts import charts_expected, charts_shown  # noqa: E402
from pages import answer_of, pages  # noqa: E402
from sweep_pages import check_keyboard, check_map, check_overview, check_scaling  # noqa: E402

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


def rate_of(row):
    return row["global_batch_tokens"] / (row["step_seconds"] + row["all_token_routing_seconds"])


def check_verdict(browser, answer):
    """The title and the first lines of a comparison: how many fit, who is faster and by how much, what is missing, and the batch."""
    rows = answer["rows"]
    able = sorted((r for r in rows if r["fit"] == "fits" and "infeasible" not in r), key=lambda r: -rate_of(r))
    title, badge, lead = browser.evaluate("['h1', '.head .badge', '.lead'].map((one) => document.querySelector(one)?.textContent ?? '')")
    assert browser.evaluate("document.title").startswith(title), title
    surely = "surely " if any(r["fit"] == "marginal" for r in rows) else ""
    none = ["Does not fit", f"Neither {surely}fits", f"None {surely}fits"]
    assert badge in ({True: ["Fits", "Both fit", "All fit"], False: none}[bool(able)]
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
    said = {"marginal": "May fit or not", "does_not_fit": "Nothing fits"}
    expected = {r["hardware"]: said[r["closest"]["fit"]] for r in answer["results"] if "closest" in r}
    shown = browser.evaluate("""Object.fromEntries([...document.querySelectorAll("figure[data-chart=machines] p .badge")].map((badge) =>
      [badge.parentElement.querySelector("b").textContent, badge.textContent]))""")
    assert shown == {hardware: text for hardware, text in expected.items() if len(answer["results"]) > 1}, (shown, expected)
    if len(expected) == len(answer["results"]):
        head = browser.evaluate("document.querySelector('.head .badge').textContent")
        assert head == ("May fit or not" if "May fit or not" in expected.values() else "Nothing fits"), head


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
        check_map(browser, binary, answer)
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
    def check(browser):
        for name, words in pages.items():
            check_page(browser, binary, folder, name, words)
            check_phone(browser, folder / f"{name}.html")
            check_paper(browser, folder / f"{name}.html")
            print(f"{name}: ok")
        check_hostile_names(browser, binary, folder)
        return [], f"screenshots in {folder}"

    return judge(folder, check)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], pathlib.Path(sys.argv[2]).resolve()))
