"""Responses as objects of the openai package: `to_openai`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from streamkit._converter import to_dict
from streamkit._errors import InvalidChunk, NotInstalled
from streamkit._models import ChatCompletion, Completion
from streamkit._outcome import class_name


if TYPE_CHECKING:
    import openai.types
    import openai.types.chat


__all__ = ["to_openai"]


@overload
def to_openai(response: ChatCompletion) -> openai.types.chat.ChatCompletion: ...
@overload
def to_openai(response: Completion) -> openai.types.Completion: ...
def to_openai(response: ChatCompletion | Completion) -> Any:
    """
    Return *response* as the openai package's own object.

    It is what the package makes of the API's answer without streaming: fields
    that its classes do not know are attributes too (`model_extra`), and nothing
    is checked or changed, so that `to_openai(response).model_dump(exclude_unset=True)`
    equals `to_dict(response)`.

    Args:
        response: A full response, or a snapshot.

    Returns:
        An `openai.types.chat.ChatCompletion`, or an `openai.types.Completion`.

    Raises:
        NotInstalled: If the openai package, 1.50 or newer, is not installed.
        InvalidChunk: If the package cannot hold the response.
        TypeError: If *response* is no response; of an `Outcome` pass `response`.
    """
    if not isinstance(response, (ChatCompletion, Completion)):
        raise TypeError(
            f"response must be a ChatCompletion or a Completion, not {class_name(response)}"
        )
    cls = _class_of(response)
    try:
        # Not the checking constructor: a response may lack what the API always
        # sends, such as a finish reason, and the package's client reads it thus too.
        return cls.construct(**to_dict(response))
    except (AttributeError, TypeError, ValueError) as error:
        # Fields are keyword arguments there, and one may have the name of its own.
        raise InvalidChunk(f"the openai package cannot hold it: {error}") from error


def _class_of(response: ChatCompletion | Completion) -> Any:
    try:
        import openai.types
        import openai.types.chat
    except ImportError:
        raise NotInstalled("to_openai needs openai: install streamkit-llm[openai]") from None
    if isinstance(response, ChatCompletion):
        return openai.types.chat.ChatCompletion
    return openai.types.Completion
