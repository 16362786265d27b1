"""
Responses in the forms of others: the openai package, the next request, OpenTelemetry.

Each is a function from a response to plain data, or to the objects of an optional
package, which is imported when the function is called and not before.

>>> from streamkit import finalize
>>> response = finalize([{"choices": [{"index": 0, "delta": {"content": "Hi"}}]}])
>>> to_message(response)
{'role': 'assistant', 'content': 'Hi'}
"""

from __future__ import annotations

from ._message import to_message
from ._openai import to_openai
from ._otel import SEMCONV_VERSION, to_otel_attributes, to_otel_event
from ._otel_messages import to_otel_messages


__all__ = [
    "SEMCONV_VERSION",
    "to_message",
    "to_openai",
    "to_otel_attributes",
    "to_otel_event",
    "to_otel_messages",
]
