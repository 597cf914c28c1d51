# SPDX-License-Identifier: Apache-2.0
"""A page in headless Chromium, driven over the DevTools protocol by pipe: no package is needed."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile

LONGEST = 60  # seconds that the browser may be silent


def find_chromium():
    for name in ("chromium", "chromium-browser", "google-chrome", "chrome"):
        if shutil.which(name):
            return shutil.which(name)
    return None


class Browser:
    """One tab. Console errors, exceptions and requests are kept as they come."""

    def __init__(self, program):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_browser, self.write_to = os.pipe()
        self.read_from, from_browser = os.pipe()

        def descriptors():
            os.dup2(to_browser, 3)
            os.dup2(from_browser, 4)

        for_child = sorted({3, 4, to_browser, from_browser})
        self.process = subprocess.Popen(
            [program, "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
             "--disable-dev-shm-usage", "--no-first-run", f"--user-data-dir={self.profile.name}", "about:blank"],
            preexec_fn=descriptors, pass_fds=for_child, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.pending, self.number, self.session = b"", 0, None
        self.errors, self.requests, self.events = [], [], []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(domain + ".enable")

    def close(self):
        self.session = None
        try:
            self.call("Browser.close")
        except (EOFError, BrokenPipeError):
            pass
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.write_to)
        os.close(self.read_from)
        self.profile.cleanup()

    def receive(self):
        while b"\0" not in self.pending:
            if not select.select([self.read_from], [], [], LONGEST)[0]:
                raise TimeoutError(f"the browser said nothing for {LONGEST} s")
            part = os.read(self.read_from, 1 << 16)
            if not part:
                raise EOFError("the browser has ended")
            self.pending += part
        message, self.pending = self.pending.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write_to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == message["id"]:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.note(answer)

    def note(self, event):
        what, about = event.get("method"), event.get("params", {})
        self.events.append(what)
        if what == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(about["exceptionDetails"])[:2000])
        elif what == "Runtime.consoleAPICalled" and about["type"] in ("error", "warning", "assert"):
            self.errors.append(json.dumps(about["args"])[:2000])
        elif what == "Log.entryAdded" and about["entry"]["level"] in ("error", "warning"):
            self.errors.append(about["entry"]["text"])
        elif what == "Network.requestWillBeSent":
            self.requests.append(about["request"]["url"])

    def open(self, url, width=1200, height=900, dark=False, phone=False, media="screen"):
        """The page at that size; returns when it is drawn."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=2 if phone else 1, mobile=phone)
        self.call("Emulation.setEmulatedMedia", media=media, features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        for address in ("about:blank", url):  # to another part of the same page there would be no loading
            self.errors, self.requests, self.events = [], [], []
            self.call("Page.navigate", url=address)
            while "Page.loadEventFired" not in self.events:
                self.note(self.receive())
        self.settle()

    def settle(self):
        """Waits for two frames: what observers of sizes draw is drawn."""
        self.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 30))))")

    def evaluate(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise AssertionError(f"{expression}: {json.dumps(answer['exceptionDetails'])[:2000]}")
        return answer["result"].get("value")

    def key(self, key):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, **({"text": "\r", "windowsVirtualKeyCode": 13} if key == "Enter" and kind == "keyDown" else {}))

    def move_to(self, x, y):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def screenshot(self, file, whole=True):
        options = {"format": "png", "captureBeyondViewport": whole}
        if whole:
            size = self.call("Page.getLayoutMetrics")["cssContentSize"]
            options["clip"] = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 9000), "scale": 1}
        file.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", **options)["data"]))

    def print_to(self, file):
        file.write_bytes(base64.b64decode(self.call("Page.printToPDF", printBackground=False, paperWidth=8.27, paperHeight=11.69)["data"]))
