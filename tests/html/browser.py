"""A headless Chromium, driven over its debugging pipe: no package but Chromium itself is needed."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

key_codes = {"Tab": 9, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
names = ["chromium", "chromium-browser", "google-chrome", "chrome"]


def find_chromium():
    return next((path for path in map(shutil.which, names) if path), None)


class Browser:
    """One page at a time; what it logs, and every request that it makes, is kept."""

    def __init__(self, binary):
        self.profile = tempfile.TemporaryDirectory()
        self.next_id = 0
        self.buffer = b""
        self.events = []
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()
        arguments = [binary, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe",
                     "--disable-background-networking", "--no-first-run", f"--user-data-dir={self.profile.name}", "about:blank"]

        def fds():  # Chromium reads from 3 and writes to 4; copies first, in case a pipe is one of them
            source, target = os.dup(theirs_in), os.dup(theirs_out)
            while source in (3, 4):
                source = os.dup(source)
            while target in (3, 4):
                target = os.dup(target)
            os.dup2(source, 3)
            os.dup2(target, 4)

        self.process = subprocess.Popen(arguments, preexec_fn=fds, close_fds=False, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(theirs_in)
        os.close(theirs_out)
        self.reading, self.writing, self.session = ours_in, ours_out, None
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ["Page", "Runtime", "Log", "Network"]:
            self.call(f"{domain}.enable")
        # What is no exception, as of a ResizeObserver, reaches neither the log nor the console.
        self.call("Page.addScriptToEvaluateOnNewDocument",
                  source="window.errorsSeen = []; addEventListener('error', (event) => errorsSeen.push(event.message));")
        self.call("Emulation.setFocusEmulationEnabled", enabled=True)

    def close(self):
        self.session = None
        try:
            self.call("Browser.close")
        except EOFError:
            pass
        self.process.wait(30)
        os.close(self.reading)
        os.close(self.writing)
        self.profile.cleanup()

    def receive(self, deadline):
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.reading], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError("Chromium doesn't answer")
            chunk = os.read(self.reading, 1 << 16)
            if not chunk:
                raise EOFError("Chromium is gone")
            self.buffer += chunk
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **params):
        self.next_id += 1
        message = {"id": self.next_id, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.writing, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + 60
        while True:
            answer = self.receive(deadline)
            if answer.get("id") == self.next_id:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, path, width, height, dark=False, media=""):
        """Loads a file at this width, for the screen or `media`, and waits until it has drawn itself."""
        self.events = []
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", media=media, features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.call("Page.navigate", url=f"file://{path}")
        deadline = time.monotonic() + 60
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self.receive(deadline))
        self.settle()

    def settle(self):
        """Waits until what just changed is drawn."""
        self.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 50))))")

    def unfold(self):
        """Opens all that folds, and what folds in that."""
        for _ in range(2):
            self.evaluate("document.querySelectorAll('details').forEach((details) => { details.open = true; })")
            self.settle()

    def evaluate(self, script):
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(json.dumps(result["exceptionDetails"])[:600])
        return result["result"].get("value")

    def press(self, key, control=False):
        """A key as the keyboard has it: "Tab", "ArrowRight", "End"."""
        for kind in ("rawKeyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=key_codes[key], modifiers=2 if control else 0)

    def focused(self):
        """What a screen reader says of the element that has the focus: its role and its name."""
        element = self.call("Runtime.evaluate", expression="document.activeElement")["result"]["objectId"]
        node = self.call("Accessibility.getPartialAXTree", objectId=element, fetchRelatives=False)["nodes"][0]
        return node["role"]["value"], node.get("name", {}).get("value", "")

    def complaints(self):
        """What the page logged as a warning or an error, and what it threw."""
        said = self.evaluate("errorsSeen")
        for event in self.events:
            params = event.get("params", {})
            if event.get("method") == "Runtime.exceptionThrown":
                said.append(params["exceptionDetails"]["exception"].get("description", "exception"))
            elif event.get("method") == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
                said.append(str([argument.get("value") for argument in params["args"]]))
            elif event.get("method") == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
                said.append(params["entry"]["text"])
        return said

    def requests(self):
        return [event["params"]["request"]["url"] for event in self.events if event.get("method") == "Network.requestWillBeSent"]

    def screenshot(self, path):
        """The whole page, as high as it is."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 12000), "scale": 1}
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
        with open(path, "wb") as file:
            file.write(base64.b64decode(shot["data"]))


def judge(folder, check, tool=None, name=""):
    """The exit status of a test: 77 without Chromium or the file `tool` of what is called `name`, 1 where there are failures.
    `check(browser)` gives them, and what was looked at."""
    chromium = find_chromium()
    if not chromium or (tool and not tool.exists()):
        print("skipped: no", name if chromium else "chromium")
        return 77
    folder.mkdir(parents=True, exist_ok=True)
    browser = Browser(chromium)
    try:
        failures, seen = check(browser)
    finally:
        browser.close()
    print("\n".join(failures) or seen)
    return 1 if failures else 0
