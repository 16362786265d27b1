"""litellm's chunks, as events and handed on, against the server; where litellm is installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from importlib.util import find_spec
from pathlib import Path

import pytest

from streamkit.testing import Playback, StreamServer, chunk_up


TEXT = "Sure: one, two."
MESSAGE = {"role": "assistant", "content": TEXT}
RESPONSE = {
    "object": "chat.completion",
    "choices": [{"index": 0, "message": MESSAGE, "finish_reason": "stop"}],
}


@pytest.mark.skipif(find_spec("litellm") is None, reason="litellm is not installed")
def test_litellm():
    """Sync and async: events of its chunks, its chunks themselves, and both outcomes."""
    with StreamServer(Playback.from_chunks(chunk_up(RESPONSE, size=3))) as server:
        asked = {
            "model": "openai/example-1",
            "messages": [{"role": "user", "content": "Count"}],
            "api_base": f"{server.url}/v1",
            "api_key": "none",
            "stream": True,
        }
        program = Path(__file__).with_name("with_litellm.py")
        done = subprocess.run(
            [sys.executable, "-W", "ignore", program, json.dumps(asked)],
            env={**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True"},
            capture_output=True,
            check=True,
        )
    assert json.loads(done.stdout.splitlines()[-1]) == [TEXT] * 8
