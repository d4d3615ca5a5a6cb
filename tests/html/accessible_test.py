#!/usr/bin/env python3
"""Every kind of page before axe-core (WCAG and best practice): no violation, at phone and desktop width, light and dark,
with everything unfolded. Usage: accessible_test.py PATH_OF_SHARDPLAN FOLDER AXE_MIN_JS
Exit status 77: skipped, there is no Chromium or no axe-core (tests/fetch_tools.py gets it)."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from browser import judge  # noqa: E402
from pages import answer_of, pages  # noqa: E402

run_axe = """axe.run().then((found) => found.violations.map((v) => [v.id, v.nodes.length, v.nodes[0].html.slice(0, 200)]))"""


def violations(browser, axe, path, width, dark):
    browser.open(path, width, 900, dark)
    browser.unfold()
    browser.evaluate(f"{axe}; 0")
    return browser.evaluate(run_axe)


def check_that_it_can_fail(browser, axe, folder):
    path = folder / "inaccessible.html"
    path.write_text("<!doctype html><html><body><img src='data:,'><button></button></body></html>")
    found = {rule for rule, *_ in violations(browser, axe, path, 360, False)}
    assert {"image-alt", "button-name", "html-has-lang"} <= found, found


def main(binary, folder, axe_path):
    def check(browser):
        axe, failures = axe_path.read_text(), []
        check_that_it_can_fail(browser, axe, folder)
        for name, words in pages.items():
            path = folder / f"{name}.html"
            path.write_text(answer_of(binary, words, "html"))
            for width in (360, 1440):
                for dark in (False, True):
                    found = violations(browser, axe, path, width, dark)
                    failures += [f"{name}, {width} pixels, {'dark' if dark else 'light'}: {one}" for one in found]
        return failures, f"{len(pages)} pages"

    return judge(folder, check, axe_path, "axe-core")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], pathlib.Path(sys.argv[2]).resolve(), pathlib.Path(sys.argv[3])))
