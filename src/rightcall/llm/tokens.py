"""Tokens without a tokenizer: a number that is surely not too high, and one to plan with.

Servers on one's own machine cut a question that does not fit, answer what is left, and say nothing. What they do report
is how many tokens they read. So we need a count of our own that no tokenizer can stay below.

That is the number of words. Tokenizers in use split a text at blanks and between letters and punctuation before they
merge anything (the patterns of byte-level BPE; SentencePiece's splitting at blanks and scripts), so that no token spans
two words. Three things are left out of the count because some tokenizer does put them into the word before: the ending
of a contraction (`don't`), combining marks, and invisible joiners. A text in a script without blanks is one long word:
that is far too low, and still not wrong.
"""

from __future__ import annotations

import math
import re
import unicodedata
from functools import lru_cache

_WORD = re.compile(r"\w+(?:['’](?:s|t|re|ve|m|ll|d)\b)?", re.IGNORECASE)
_FOREIGN = re.compile(r"[^\x00-\x7f]+")
_SHORT = r"(?:[stmdSTMD]|[rR][eE]|[vV][eE]|[lL][lL])\b"
_ENDING = re.compile(rf"'(?<=\w'){_SHORT}(?:'{_SHORT})?", re.ASCII)
"""The ending of a contraction; what looks like another one behind it begins a word."""
_BLANK_BETWEEN_WORDS = bytes(byte if chr(byte).isalnum() or byte == ord("_") else ord(" ") for byte in range(128)) * 2
_CUT_BELOW = 0.9
_TOKENS_PER_WORD = 1.3
_BYTES_PER_TOKEN = 4


def counted(value: object) -> int | None:
    """A number of tokens as an endpoint reports it; `None` for anything that is no such number."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


@lru_cache(maxsize=16)
def fewest_tokens(text: str) -> int:
    """How many tokens the text has at the least, whatever the usual tokenizer: its words (see the module's text)."""
    if text.isascii():
        endings = len(_ENDING.findall(text)) if "'" in text else 0
        return len(text.encode().translate(_BLANK_BETWEEN_WORDS).split()) - endings
    return sum(1 for _ in _WORD.finditer(_FOREIGN.sub(_without_marks, text)))


def _without_marks(found: re.Match[str]) -> str:
    """Letters without combining marks and invisible joiners."""
    return "".join(letter for letter in found[0] if unicodedata.category(letter) not in ("Mn", "Mc", "Me", "Cf"))


def estimate_tokens(text: str) -> int:
    """About how many tokens the text has, to plan budgets with: the larger of 1.3 a word and one per 4 UTF-8 bytes."""
    size = len(text.encode("utf-8", "surrogatepass"))
    return math.ceil(max(fewest_tokens(text) * _TOKENS_PER_WORD, size / _BYTES_PER_TOKEN))


def was_cut(reported: int | None, *texts: str) -> bool:
    """Whether an endpoint read less than the texts: it reports fewer than 90 % of the fewest tokens possible.

    `None`, and 0 from servers that count nothing, prove nothing. The tenth is room for tokenizers that nobody thought
    of.
    """
    return reported is not None and 0 < reported < _CUT_BELOW * sum(map(fewest_tokens, texts))
