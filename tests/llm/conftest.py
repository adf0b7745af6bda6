"""What the tests of the door share: the module `llm_serving` beside this file, and an environment without keys."""

import sys
from pathlib import Path

import pytest

# The tests are no package, so a module that they share is found by its folder.
sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch):
    """Keep the keys, addresses and proxies of the person who runs the tests out of them."""
    for provider in ("OPENAI", "ANTHROPIC"):
        for name in ("API_KEY", "BASE_URL", "ADMIN_KEY", "ORG_ID", "PROJECT_ID", "CUSTOM_HEADERS", "AUTH_TOKEN"):
            monkeypatch.delenv(f"{provider}_{name}", raising=False)
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "OLLAMA_HOST", "RIGHTCALL_JUDGE_MODEL"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
