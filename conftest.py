"""Every test runs offline: the guard also enters the kernels and commands that tests start."""

import os
import runpy
from pathlib import Path

GUARD = Path(__file__).parent / "tests" / "guard"

runpy.run_path(str(GUARD / "sitecustomize.py"))
os.environ["PYTHONPATH"] = os.pathsep.join(
    part for part in (str(GUARD), os.environ.get("PYTHONPATH", "")) if part
)
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
for name in ("RGE_SEED", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"):
    os.environ.pop(name, None)
