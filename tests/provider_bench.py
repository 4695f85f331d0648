"""What the client costs: 1,800 requests to a server that takes 200 ms, 32 under way at a time.

python tests/provider_bench.py
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from loopback import Loopback

N, LATENCY_S, AT_ONCE = 1800, 0.2, 32
IDEAL_S = N * LATENCY_S / AT_ONCE


def measure(provider: str) -> dict[str, float]:
    """Seconds, CPU seconds and megabytes of a client process with prompts of about 5,000 tokens."""
    server = Loopback(lambda system, user, has_schema: "An answer of some length. " * 12)
    server.latency_s = LATENCY_S
    root = Path(__file__).parents[1]
    folder = root / "_build"
    folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as place:
        wanted = {
            "folder": place,
            "url": server.url,
            "provider": provider,
            "batch": False,
            "n": N,
            "length": 1000,
            "warm": True,
            "options": {"concurrency": AT_ONCE, "max_tokens": 1024},
        }
        done = subprocess.run(
            [sys.executable, "-m", "loopback.study", json.dumps(wanted)],
            env={
                **os.environ,
                "LOOPBACK_KEY": "sk-planted",
                "PYTHONPATH": f"{root / 'lib'}:{root / 'tests'}",
            },
            stdout=subprocess.PIPE,
            check=True,
        )
    server.close()
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


def main() -> None:
    for provider in sys.argv[1:] or ("anthropic", "openai", "google"):
        got = measure(provider)
        print(
            f"{provider:<10} {got['wall_s']:6.2f} s ({got['wall_s'] / IDEAL_S:.2f} of ideal), "
            f"{got['cpu_s'] / N * 1000:.2f} ms CPU a response, {got['mb']:.0f} MB",
            flush=True,
        )


if __name__ == "__main__":
    main()
