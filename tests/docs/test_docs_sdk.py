"""The clients in `docs/sdk.md` are those of `examples/sdk/`, and work against a real server."""

from __future__ import annotations

import asyncio
import importlib.util
import inspect
import re

from pathlib import Path

import pytest

from streamkit.testing import StreamServer


ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(ROOT.glob("examples/sdk/*.py"))
BODY = {"model": "demo", "messages": [{"role": "user", "content": "Count to three"}]}


def load(path):
    library = path.stem.removeprefix("with_").removesuffix("_async")
    pytest.importorskip(library)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_has_the_examples_in_full():
    """Each once, and no other code."""
    page = (ROOT / "docs" / "sdk.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert sorted(blocks) == sorted(path.read_text(encoding="utf-8") for path in EXAMPLES)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
@pytest.mark.parametrize("name", ["chat.sse", "cut.sse"])
def test_the_example(path, name):
    """It shows the text as it comes, and returns the outcome, of a cut stream too."""
    module, shown = load(path), []
    with StreamServer(ROOT / "examples" / name) as server:
        if path.stem == "with_openai":
            client = module.openai.OpenAI(base_url=f"{server.url}/v1", api_key="none")
            outcome = module.ask(client, BODY, shown.append)
            client.close()
        else:
            outcome = module.ask(f"{server.url}/v1/chat/completions", BODY, shown.append)
            if inspect.iscoroutine(outcome):
                outcome = asyncio.run(outcome)
    assert outcome.complete is (name == "chat.sse")
    assert "".join(shown) == outcome.response.choices[0].message.content
    assert "".join(shown).startswith("Sure: one, two,")
