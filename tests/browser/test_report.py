"""What a reader of the report sees, and what hostile text cannot do."""

from __future__ import annotations

import json
import shutil

import pytest

from streamkit.cli import main


api = pytest.importorskip("playwright.sync_api")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium"),
]

HOSTILE = (
    '"><script>alert(1)</script><img src=x onerror=alert(2)>'
    "<svg onload=alert(3)><a href=javascript:alert(4)>x</a><style>*{display:none}</style>"
    '<link rel=stylesheet href="http://127.0.0.1:9/x.css">'
)
PAGES = {"plain": "Hello, \u4e16\u754c!", "hostile": HOSTILE, "long": "long_name." * 40}


def timed(text):
    """Return a timed recording that has *text* wherever a page shows any."""
    top = [{"token": text, "logprob": -0.1}, {"token": "other", "logprob": -2.5}]
    logprobs = {"content": [{"token": text, "logprob": -0.1, "top_logprobs": top}]}
    call = {"index": 0, "id": text, "function": {"name": text, "arguments": json.dumps(text)}}
    deltas = [{"role": "assistant"}, *[{"content": text}] * 5, {"tool_calls": [call]}, {}]
    lines = []
    for number, delta in enumerate(deltas):
        finish = None if delta else text
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        if "content" in delta:
            choice["logprobs"] = logprobs
        chunk = {"id": text, "model": text, "choices": [choice]}
        lines.append(json.dumps({"t": 0.4 + number / 10, "chunk": chunk}))
    return "\n".join(
        [
            *lines,
            json.dumps({"t": 2, "chunk": {"choices": [], "usage": {text: {text: 1}}}}),
            json.dumps({"t": 3, "chunk": {"error": {"message": text}}}),
        ]
    )


@pytest.fixture(scope="module")
def browser():
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(params=PAGES)
def text(request):
    return PAGES[request.param]


@pytest.fixture
def page(text, browser, tmp_path):
    """A page, opened; afterwards, nothing must have gone wrong in it."""
    (tmp_path / "timed.jsonl").write_text(timed(text), encoding="utf-8")
    main(["report", str(tmp_path / "timed.jsonl"), "-o", str(tmp_path / "page.html")])
    page = browser.new_page()
    wrong, asked = [], []
    page.on("console", lambda message: wrong.append(message.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("dialog", lambda dialog: (wrong.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda request: asked.append(request.url))
    page.goto((tmp_path / "page.html").as_uri())
    yield page
    page.close()
    assert wrong == []
    assert len(asked) == 1, "nothing but the page itself is loaded"


def test_the_text_is_text(page, text):
    """All of it can be read, and none of it became an element."""
    assert text in page.inner_text("main")
    for tag in ("script", "img", "iframe", "link", "a[href^=javascript]"):
        assert page.locator(f"main {tag}").count() == 0
    assert page.locator("style").count() == 1
    assert page.is_visible("h1")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark(page, scheme):
    """Text stands out from its ground in both."""
    page.emulate_media(color_scheme=scheme)
    colors = page.evaluate(
        """() => {
            const style = getComputedStyle(document.body);
            const light = (css) => {
                const [r, g, b] = css.match(/[0-9.]+/g).map(Number);
                return (0.2126 * r + 0.7152 * g + 0.0722 * b) / 255;
            };
            return [light(style.color), light(style.backgroundColor)];
        }"""
    )
    text, ground = colors
    assert (ground > text) == (scheme == "light")
    assert abs(ground - text) > 0.6


@pytest.mark.parametrize("width", [320, 1280])
def test_any_width(page, width):
    """Only what is wide scrolls sideways, never the page."""
    page.set_viewport_size({"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert len(page.screenshot(full_page=True)) > 10_000


def test_by_keyboard(page):
    """The first key leads past the head, and all that scrolls can be reached."""
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    reached = set()
    for _ in range(40):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.getAttribute('aria-label')"))
    regions = page.locator("[role=region][tabindex='0']")
    labels = {regions.nth(n).get_attribute("aria-label") for n in range(regions.count())}
    assert labels
    assert labels <= reached


def test_alternatives(page):
    """They are told of each token, to the mouse and to a screen reader."""
    titles = page.locator("main [title*='other']")
    assert titles.count() >= 5
    assert "8.2 %" in titles.first.get_attribute("title")


def test_the_timeline(page):
    """It is a picture with a name."""
    picture = page.locator("svg[role=img]").first
    assert picture.is_visible()
    assert picture.get_attribute("aria-label") or picture.get_attribute("aria-labelledby")
