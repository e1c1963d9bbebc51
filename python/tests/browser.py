# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A headless Chromium that tests open pages in: real keys, the console's messages, screenshots. Its DevTools' protocol goes over two pipes."""

import json
import os
import select
import shutil
import subprocess
import tempfile
import time

PROGRAM = next((b for b in map(shutil.which, ("chromium", "chromium-browser", "chromium-headless-shell", "google-chrome")) if b), None)
_KEYS = {"Tab": 9, "Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Home": 36, "End": 35}
#: Where the keyboard is: the way to the element from the page's root, what it says, and whether a person can see it there.
_FOCUS = """(() => {
  const e = document.activeElement, box = e.getBoundingClientRect(), style = getComputedStyle(e), way = [];
  for (let n = e; n.parentElement; n = n.parentElement) way.unshift([...n.parentElement.children].indexOf(n));
  return {tag: e.localName, way, label: e.getAttribute('aria-label') || e.textContent.trim().slice(0, 60) || e.title || e.placeholder || '', seen: box.width > 0 && box.height > 0 && box.right > 0 && box.left < innerWidth && style.visibility !== 'hidden',
          marked: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0 || style.boxShadow !== 'none'};
})()"""


class Browser:
    """One window of `width` by `height`; `errors` has what pages say in the console."""

    def __init__(self, width=700, height=900, scheme="light"):
        self._profile = tempfile.mkdtemp(prefix="ft-browser-")
        to_read, self._out = os.pipe()
        self._in, to_write = os.pipe()
        # Chromium reads from its descriptor 3 and writes to 4.
        shell = f'exec 3<&{to_read} 4>&{to_write}; exec "$@"'
        self._process = subprocess.Popen(
            ["bash", "-c", shell, "browser", PROGRAM, "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", f"--user-data-dir={self._profile}",
             f"--window-size={width},{height}"],
            pass_fds=(to_read, to_write), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self._count, self._rest, self._session, self._answers, self._events, self.errors = 0, b"", None, {}, [], []
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self._call(f"{domain}.enable")
        self._call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self._call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.wait()
        os.close(self._in)
        os.close(self._out)
        shutil.rmtree(self._profile, ignore_errors=True)

    def open(self, address):
        """Loads a page, and waits until it and what it loads are there."""
        self._events.clear()
        self._call("Page.navigate", url=address)
        self._wait(lambda: "Page.loadEventFired" in self._events)

    def evaluate(self, script):
        found = self._call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            raise AssertionError(found["exceptionDetails"].get("exception", {}).get("description", script))
        return found["result"].get("value")

    def press(self, key, shift=False):
        """A key goes down and up."""
        facts = {"key": key, "code": key, "windowsVirtualKeyCode": _KEYS[key], "modifiers": 8 if shift else 0}
        self._call("Input.dispatchKeyEvent", type="keyDown", **facts, **({"text": "\r"} if key == "Enter" else {}))
        self._call("Input.dispatchKeyEvent", type="keyUp", **facts)

    def focus(self):
        return self.evaluate(_FOCUS)

    def tabs(self, count):
        """Where each of `count` presses of Tab leads; ends where the page does."""
        found = []
        for _ in range(count):
            self.press("Tab")
            at = self.focus()
            if at["tag"] in ("body", "html"):
                break
            found.append(at)
        return found

    def wider(self):
        """How many pixels the page is wider than the window."""
        return self.evaluate("document.documentElement.scrollWidth - innerWidth")

    def _call(self, method, **parameters):
        self._count += 1
        message = {"id": self._count, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        self._wait(lambda: self._count in self._answers)
        answer = self._answers.pop(self._count)
        if "error" in answer:
            raise AssertionError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def _wait(self, done, seconds=60):
        end = time.monotonic() + seconds
        while not done():
            if time.monotonic() > end or self._process.poll() is not None:
                raise AssertionError("the browser does not answer")
            if select.select([self._in], [], [], 0.2)[0]:
                self._read()

    def _read(self):
        """Messages that have come: answers are kept, events are noted."""
        *whole, self._rest = (self._rest + os.read(self._in, 1 << 16)).split(b"\0")
        for text in whole:
            message = json.loads(text)
            if "id" in message:
                self._answers[message["id"]] = message
            else:
                self._note(message["method"], message.get("params", {}))

    def _note(self, method, facts):
        self._events.append(method)
        if method == "Runtime.exceptionThrown":
            self.errors.append(facts["exceptionDetails"].get("exception", {}).get("description") or facts["exceptionDetails"]["text"])
        elif method == "Runtime.consoleAPICalled" and facts["type"] in ("error", "warning", "assert"):
            self.errors.append(" ".join(str(a.get("value", a.get("description", ""))) for a in facts["args"]))
        elif method == "Log.entryAdded" and facts["entry"]["level"] in ("error", "warning"):
            self.errors.append(f"{facts['entry']['text']} {facts['entry'].get('url', '')}")
