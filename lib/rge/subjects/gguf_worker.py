"""Child process that holds one GGUF model and answers chat requests, one JSON object a line.

It runs as a script and imports nothing of the package: the first line on stdin is the
configuration, each further line a chat-completions request; each gets one line on stdout. The
parent ends it by closing stdin, or kills it when an answer takes too long: a computation inside
the model cannot be interrupted in any other way.
"""

from __future__ import annotations

import json
import os
from typing import Any


def load(config: dict[str, Any]) -> Any:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = config["path"]
    params.n_ctx = config["n_ctx"]
    params.cpuparams.n_threads = config["n_threads"]
    params.cpuparams_batch.n_threads = config["n_threads_batch"]
    params.cpuparams.poll = params.cpuparams_batch.poll = 0
    params.n_parallel = 1
    params.n_gpu_layers = 0
    # A cached prefix changes how the prompt is cut into batches, and with it the last digits.
    params.cache_prompt = False
    params.cache_ram_mib = 0
    params.fit_params = False
    params.warmup = False
    params.verbosity = -1
    params.ui = params.endpoint_slots = params.endpoint_props = False
    return xllamacpp.Server(params)


def main() -> None:
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what the native library prints must not mix with the replies
    requests = os.fdopen(0, "r", encoding="utf-8")
    server = load(json.loads(requests.readline()))
    print(json.dumps({"ready": True}), file=replies, flush=True)
    for line in requests:
        try:
            reply = server.handle_chat_completions(json.loads(line))
        except Exception as error:
            reply = {"error": {"type": type(error).__name__, "message": str(error)}}
        print(json.dumps(reply), file=replies, flush=True)


if __name__ == "__main__":
    main()
