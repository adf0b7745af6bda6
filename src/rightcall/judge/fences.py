"""How a value stands in a prompt: as JSON text, between fences that carry a word which no trace's author can know.

JSON text keeps a value's line breaks inside its quotes, so nothing in a value can begin a line of the prompt. What
could still pass for structure is written as an escape, which is the same JSON value: runs of three angle brackets,
the role markers of chat formats, and characters that cannot be seen (control, zero-width, direction, tags, variation
selectors).
"""

from __future__ import annotations

import json
import re
from functools import cache
from hmac import digest as hmac_digest
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rightcall.trace.jsontext import JsonValue

OPEN, CLOSE = "<<<DATA", "DATA>>>"

_ROLES = "assistant|bos|end_of_turn|eos|human|im_end|im_start|pad|s|start_of_turn|system|tool|unk|user"
# All of these stand inside strings: none of the characters is part of JSON's own structure, and `[INST]` is no JSON.
_STRUCTURE = re.compile(
    rf"<{{3,}}|>{{3,}}|<(?=[|\uff5c]|/?(?:{_ROLES})>|<?/?SYS>)|[|\uff5c]>|\[(?=/?INST\])", re.IGNORECASE
)
_INST = re.compile(r"\[/?INST\]", re.IGNORECASE)
_UNSEEN = re.compile(
    "[\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164"
    "\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_NONCE = re.compile(r"[0-9A-Za-z]{8,64}")


def rendered(value: JsonValue) -> str:
    """A value as the JSON text that a judge sees; a list has one line an item.

    Unicode is written out, `null` is kept, integers have every digit.

    Raises:
        ValueError: NaN or an infinity. TypeError: no JSON value.
    """
    if isinstance(value, (list, tuple)) and value:
        return "[\n" + ",\n".join(map(_line, value)) + "\n]"
    return _line(value)


def _line(value: JsonValue) -> str:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    # Most texts hold nothing of all this, which is quickly seen.
    if "<" in text or ">" in text or _INST.search(text):
        text = _STRUCTURE.sub(_escaped, text)
    return text if text.isascii() and "\x7f" not in text else _UNSEEN.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    """Every character as JSON writes it in ASCII."""
    units = found.group().encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def fenced(name: str, text: str, nonce: str) -> str:
    """A rendered value between its fences, three lines or more."""
    return f"{OPEN} {name} {nonce}\n{text}\n{nonce} {CLOSE}"


def nonce_of(key: bytes, identity: str) -> str:
    """The word of a question's fences: the same for the same question, and unknown to whoever lacks the key.

    Args:
        key: the secret key of the store.
        identity: the question's `input_sha256`.
    """
    return hmac_digest(key, b"fences of " + identity.encode(), "sha256").hex()[:20]


def check_nonce(nonce: str, texts: Iterable[str]) -> None:
    """Make sure that a word can fence these texts.

    Raises:
        ValueError: it is not 8 to 64 letters and digits, or it stands in one of the texts.
    """
    if not _NONCE.fullmatch(nonce):
        raise ValueError("the nonce must be 8 to 64 letters and digits")
    if any(nonce.lower() in text.lower() for text in texts):
        raise ValueError("the nonce stands in the values or in the template, so it cannot fence them")


@cache
def rules() -> str:
    """What every judge is told about the fences: the constant end of each system message."""
    return (files("rightcall.judge") / "prompts" / "fences.txt").read_text(encoding="utf-8").strip()
