#!/usr/bin/env python3
"""What pages say in words, and numbers as the text answers write them: verdicts of runs that may fit, of searches that were
stopped, of comparisons; prices; notes of models. Usage: words_test.py PATH_OF_SHARDPLAN FOLDER
Exit status 77: skipped, there is no Chromium."""
import json
import math
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from browser import judge  # noqa: E402
from pages import answer_of, data  # noqa: E402

scripts = pathlib.Path(__file__).resolve().parents[2] / "planner/report/html/page"
place = re.compile(r'(<script type="application/json" id="answer">)(.*?)(</script>)', re.S)
small = "--rules default --remat full --per-device-batch 2".split()
mixtral = "plan --model mixtral-8x7b --chips 8 --rules default --moe dropping --remat full".split()
llama = "explain --model llama2-7b --hardware h100 attention=cudnn_flash_te --mesh".split()


class Pages:
    def __init__(self, browser, binary, folder):
        self.browser, self.binary, self.folder, self.count = browser, binary, folder, 0

    def json(self, words):
        return json.loads(answer_of(self.binary, words, "json"))

    def open(self, words, change=None):
        """The answer of a page that is open then, after `change` where there is one."""
        page = answer_of(self.binary, words, "html")
        answer = json.loads(place.search(page)[2])
        if change:
            change(answer)
            text = json.dumps(answer).replace("<", "\\u003c")
            page = place.sub(lambda found: found[1] + text + found[3], page)
        self.count += 1
        path = self.folder / f"words-{self.count}.html"
        path.write_text(page)
        self.browser.open(path, 1440, 900)
        self.browser.unfold()
        assert self.browser.complaints() == [], (words, self.browser.complaints())
        return answer

    def texts(self, selector):
        return self.browser.evaluate(f"[...document.querySelectorAll({json.dumps(selector)})].map((one) => one.textContent)")

    def text(self, selector="main"):
        return next(iter(self.texts(selector)), "")

    def saved(self, name, words):
        path = self.folder / f"{name}.json"
        path.write_text(answer_of(self.binary, words, "json"))
        return str(path)


def marginal_verdict(low, high, capacity, reserved):
    if reserved == 0:
        return "may fit or not"
    if high <= capacity:
        return f"fits, but {'leaves' if low > capacity - reserved else 'may leave'} less free than asked"
    return "may fit or not, and leaves less free than asked" if low > capacity - reserved else "may fit or not"


def check_numbers(pages):
    """As C++ writes them (tests/unit/report/humanize_test.cpp), but for the letter of a micro."""
    rows = json.loads((data / "html/numbers.json").read_text())
    forms = {"number": "numberText", "memory": "memoryText", "traffic": "trafficText", "time": "timeText",
             "share": "shareText", "dollars": "dollarsOfMillionText", "count": "countText"}
    calls = ", ".join(f"{forms[row['form']]}({row['value']!r})" for row in rows)
    shown = pages.browser.evaluate(f"(() => {{ {(scripts / 'format.js').read_text()}\nreturn [{calls}]; }})()")
    wrong = [(row, text) for row, text in zip(rows, shown) if text.replace("µ", "u") != row["text"]]
    assert len(shown) == len(rows) and not wrong, wrong


def check_nothing_found(pages):
    """A search that was stopped doesn't know that nothing fits."""
    result, = pages.open("plan --model llama2-7b --chips 8 --hardware h100 --time-limit 0.001s".split())["results"]
    stopped, every = result["unfinished"], result["unfinished"]["shardings"]
    assert result["recommended"] is None and stopped["limit"] == "time", stopped
    assert pages.text("h1") == "llama2-7b on 8 chips: nothing found", pages.text("h1")
    assert pages.text(".head .badge") == "Nothing found" and "h100: nothing found" in pages.texts("h2"), pages.texts("h2")
    note = f"h100: stopped at --time-limit: {stopped['left']:,} of {every:,} shardings were not costed to the end"
    assert note in pages.text("[data-unfinished]"), pages.text("[data-unfinished]")
    assert "othing fits" not in pages.text()


def check_partly_searched(pages):
    """What is shown of a search that was stopped is not the whole answer: that stands above the figures."""
    def stop(answer):
        answer["results"][0]["unfinished"] = {"limit": "memory", "left": 1203, "shardings": 14473}
    pages.open([*mixtral, "--hardware", "mi355x", "--per-device-batch", "2"], stop)
    told = "mi355x: stopped at --memory-limit: 1,203 of 14,473 shardings were not costed to the end"
    assert told in pages.text("[data-unfinished]")
    assert pages.browser.evaluate("""Boolean(document.querySelector("[data-unfinished]")
      .compareDocumentPosition(document.querySelector(".tiles")) & Node.DOCUMENT_POSITION_FOLLOWING)""")


def check_marginal_plan(pages):
    """Title, badge and card of a machine on which nothing surely fits are of one mind."""
    result, = pages.open([*mixtral, "--hardware", "tpu-v5p"])["results"]
    assert result["closest"]["fit"] == "marginal"
    assert pages.text("h1") == "mixtral-8x7b on 8 chips: nothing surely fits", pages.text("h1")
    assert pages.text(".head .badge") == "May fit or not", pages.text(".head .badge")
    assert "tpu-v5p: nothing surely fits" in pages.texts("h2"), pages.texts("h2")


def check_reserve(pages):
    """What surely fits, but leaves less free than asked, is not said to fit or not."""
    words = [*llama, "fsdp=8", "--chips", "8", "per_device_batch_size=4"]
    memory = pages.json(words)["memory"]
    low, high, capacity = memory["range"]["low_bytes"], memory["range"]["high_bytes"], memory["capacity_bytes"]
    assert high < capacity
    said = """[...document.querySelectorAll(".change-row")]
      .map((row) => [row.querySelector("b").textContent, row.textContent])"""
    for free, verb in [(low, "leaves"), (high, "may leave")]:
        verdict = f"fits, but {verb} less free than asked"
        percent = math.floor(100 * (1 - free / capacity)) + 1
        answer = pages.open([*words, "--reserve-hbm", f"{percent}%"])
        reserved = answer["memory"]["reserved_bytes"]
        assert answer["fit"] == "marginal" and marginal_verdict(low, high, capacity, reserved) == verdict, percent
        assert pages.text(".head .badge") == verdict.capitalize(), pages.text(".head .badge")
        assert f"It {verdict}" in pages.text(".lead") and "may not fit" not in pages.text(), pages.text(".lead")
        rows = dict(pages.browser.evaluate(said))
        for row in answer["what_if"]:
            if row["fit"] == "marginal":
                peak = row["peak_range"]
                told = marginal_verdict(peak["low_bytes"], peak["high_bytes"], row["capacity_bytes"], row["reserved_bytes"])
                assert told in rows[row["change"]], (told, rows[row["change"]])
    one, other = pages.saved("free", words), pages.saved("reserved", [*words, "--reserve-hbm", f"{percent}%"])
    pages.open(["compare", one, "--against", other])
    assert pages.text("h1") == f"free.json fits, reserved.json {verdict}", pages.text("h1")
    pages.open([*mixtral, "--hardware", "mi355x", "--per-device-batch", "2", "--reserve-hbm", "90%"])
    assert pages.text("h1").startswith("mixtral-8x7b on 8 chips: nothing "), pages.text("h1")


def check_compared_runs(pages):
    """Runs that differ in chips or model say so, and the title claims neither for both."""
    small_run = pages.saved("eight", [*llama, "fsdp=8", "--chips", "8", "per_device_batch_size=1"])
    large_run = pages.saved("sixteen", [*llama, "fsdp=16", "--chips", "16", "per_device_batch_size=1"])
    other = [word.replace("llama2-7b", "mistral-7b") for word in llama]
    other_model = pages.saved("mistral", [*other, "fsdp=8", "--chips", "8", "per_device_batch_size=1"])
    pages.open(["compare", small_run, "--against", large_run])
    assert pages.text(".kicker") == "shardplan compare · llama2-7b on h100", pages.text(".kicker")
    assert "8 chips" in pages.text(".lead") and "16 chips" in pages.text(".lead"), pages.text(".lead")
    pages.open(["compare", small_run, "--against", other_model])
    assert pages.text(".kicker") == "shardplan compare · 8 chips of h100", pages.text(".kicker")
    assert "llama2-7b" in pages.text(".lead") and "mistral-7b" in pages.text(".lead"), pages.text(".lead")


def check_many_compared(pages):
    """What is the same in all is the same in all, not in those of the charts, which say where they stop."""
    answer = pages.open("compare --model llama2-7b --chips 8 --hardware h100,b200 --rules default --remat full,minimal "
                        "--per-device-batch 1 --top 9".split())
    rows = answer["rows"]
    same = re.search(r"The same in all: ([^.]*)\.", pages.text()).group(1)
    assert len(rows) > 12 and f"the first 12 of {len(rows)}" in pages.text("figure[data-chart=time] figcaption"), len(rows)
    for key, text in [("remat", "remat {}"), ("rules", "{} rules"), ("hardware", "{}")]:
        shared = len({row[key] for row in rows}) == 1
        assert not any(text.format(row[key]) in same for row in rows) or shared, (key, same)
    names = " ".join(pages.texts("figure[data-chart=time] .label b"))
    assert "remat_policy=" in names and " remat " not in names, names


def check_rates_at_most(pages):
    """A machine whose steps lack what isn't known there."""
    asked = ["plan", "--model", "gpt-oss-20b", "--chips", "8", "--hardware", "mi355x,h100", "--rules", "default"]
    results = pages.open(asked)["results"]
    rates = {row[0]: row[2] for row in pages.browser.evaluate("""[...document
      .querySelector("figure[data-chart=machines]").querySelectorAll("tbody tr")]
      .map((row) => [...row.children].map((cell) => cell.textContent))""")}
    for result in results:
        lacks = any(f["id"] == "bias-gradients-unpriced" for f in result["recommended"]["findings"])
        assert lacks == (result["hardware"] == "mi355x"), result["hardware"]
        assert rates[result["hardware"]].startswith("at most ") == lacks, rates
    asked = ["compare", *asked[1:], "--mesh", "fsdp=8"]
    for row in pages.open(asked)["rows"]:
        assert row["lacks_bias_gradients"] == (row["hardware"] == "mi355x"), row["hardware"]
    cells = pages.texts("td[data-title='tokens/s']")
    assert [cell.startswith("at most ") for cell in cells] == [True, False], cells


def check_prices(pages):
    """What tokens cost, and by what a plan and a comparison rank."""
    asked = "--model llama2-7b --chips 8 --hardware h100,v5p --objective cost --price h100=20,v5p=3".split()
    results = pages.open(["plan", *asked, *small])["results"]
    assert "cheapest first" in pages.text(".kicker"), pages.text(".kicker")
    assert "Machines, cheapest first" in pages.texts("h2"), pages.texts("h2")
    dollars = [f"{r['dollars_per_million_tokens']:.3g}" for r in results]
    assert f"${dollars[0]}" in pages.text(".tiles"), pages.text(".tiles")
    shown = pages.texts("figure[data-chart=machines] td[data-title='$/M tokens']")
    assert shown == dollars, (shown, dollars)
    assert f"${dollars[1]} a million tokens" in pages.text("figure[data-chart=machines]")
    rows = pages.open(["compare", *asked, *small])["rows"]
    assert f"is the cheapest of {len(rows)}" in pages.text("h1") and "fastest" not in pages.text("h1"), pages.text("h1")
    assert f"${rows[0]['dollars_per_million_tokens']:.3g} a million tokens" in pages.text(".lead"), pages.text(".lead")
    assert rows[0]["hardware"] in pages.text("h1"), (rows[0]["hardware"], pages.text("h1"))
    pages.open(["plan", "--model", "llama2-7b", "--chips", "8", "--hardware", "h100", "--objective", "memory", *small])
    assert "least memory first" in pages.text(".kicker"), pages.text(".kicker")


def check_model_notes(pages):
    """What was left out of a model's file."""
    words = [*llama, "fsdp=8", "--chips", "8", "per_device_batch_size=1"]
    words[words.index("llama2-7b")] = str(data / "html/long_rope.json")
    notes = pages.open(words)["model_notes"]
    assert notes and pages.texts("[data-notes=model] li") == [f"{n['field']}: {n['reason']}" for n in notes], notes
    assert "About the model" in pages.texts("h2")
    pages.open([*llama, "fsdp=8", "--chips", "8", "per_device_batch_size=1"])
    assert "About the model" not in pages.texts("h2")


def check_host_lane(pages):
    """Copies to and from the host have a colour and an entry of their own."""
    run = "explain --model qwen3-30b-a3b --hardware tpu-7x --chips 16 --mesh fsdp=8,expert=4 per_device_batch_size=4".split()
    pages.open([*run, "remat_policy=minimal_offloaded"])
    colours = dict(pages.browser.evaluate("""[...document.querySelectorAll("figure[data-chart=timeline] .key li")]
      .map((li) => [li.textContent, li.querySelector("i").style.backgroundColor])"""))
    host = pages.browser.evaluate(
        "[...document.querySelectorAll('[data-lane=host]')].map((bar) => bar.getAttribute('fill'))")
    assert set(host) == {colours["copies to and from the host"]}, (host, colours)
    assert len(set(colours.values())) == len(colours), colours
    pages.open(run)
    assert not any("host" in text for text in pages.texts("figure[data-chart=timeline] .key li"))


checks = [check_numbers, check_nothing_found, check_partly_searched, check_marginal_plan, check_reserve, check_compared_runs,
          check_many_compared, check_rates_at_most, check_prices, check_model_notes, check_host_lane]


def main(binary, folder):
    def run(browser):
        failures = []
        for check in checks:
            try:
                check(Pages(browser, binary, folder))
            except (AssertionError, LookupError, RuntimeError) as failure:
                failures.append(f"{check.__name__}: {failure!r} at line {failure.__traceback__.tb_next.tb_lineno}")
        return failures, f"{len(checks)} checks"

    return judge(folder, run)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], pathlib.Path(sys.argv[2]).resolve()))
