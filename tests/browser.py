"""A real browser for tests: Debian's Chromium without a screen, driven by Playwright.

It is started with its own calls home switched off, and every page is offline: a request for anything but the file that
was opened is stopped and remembered, and so is every message of its console.
"""

import os
import shutil
from contextlib import contextmanager
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip


def executable():
    """The path of a Chromium; `None` where there is none."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


def lacking():
    """Why no browser can be started; `None` where one can."""
    try:
        import axe_playwright_python  # noqa: F401
        import playwright  # noqa: F401
    except ImportError as error:
        return f"needs the Python package `{error.name}`"
    return None if executable() else "needs a Chromium (Debian: apt-get install chromium)"


def installable():
    """Could `make` have installed one: is this a Debian's root?"""
    return bool(shutil.which("apt-get")) and os.geteuid() == 0


class Browser:
    """A running Chromium. `with browser.page(file) as page` opens a file in a context of its own."""

    def __init__(self, chromium):
        self._chromium = chromium

    @contextmanager
    def page(self, file, *, dark=False, javascript=True, width=1280, height=900, fragment="", **options):
        """A page on a file. `page.asked` are requests for anything else, `page.said` what the console said."""
        context = self._chromium.new_context(
            color_scheme="dark" if dark else "light", java_script_enabled=javascript, offline=True,
            viewport={"width": width, "height": height}, **options,
        )  # fmt: skip
        try:
            context.set_default_timeout(120_000)  # a busy machine is no fault of the page
            page = context.new_page()
            page.asked, page.said = [], []
            url = Path(file).resolve().as_uri()

            def judge(route):
                if route.request.url.partition("#")[0] == url:
                    route.continue_()
                else:
                    page.asked.append(route.request.url)
                    route.abort()

            context.route("**/*", judge)
            page.on("console", lambda message: page.said.append(message.text))
            page.on("pageerror", lambda error: page.said.append(str(error)))
            page.on("dialog", lambda dialog: (page.said.append(dialog.message), dialog.dismiss()))
            page.goto(url + fragment)
            yield page
        finally:
            context.close()


@contextmanager
def started():
    """A `Browser`, ended when the block is."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=executable(), args=list(ARGUMENTS))
        try:
            yield Browser(chromium)
        finally:
            chromium.close()


def axe(page, part=None):
    """The findings of axe-core that are serious or critical, in a part of the page: rule and what it is about."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page, context=part).response["violations"]
    return [
        (one["id"], node["target"], node["any"][0]["message"] if node["any"] else one["help"])
        for one in found
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
    ]
