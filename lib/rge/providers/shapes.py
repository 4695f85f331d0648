"""What replies of the providers look like: names and kinds of values, as far as we read them.

Written from the providers' documentation and from replies seen up to November 2026. Shapes differ
from the official specifications, which list fields that are not sent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

# Operation -> path of a value -> kinds it may be of. `[]` is any item of a list; a kind that ends
# in `?` may be missing.
SHAPES: dict[str, dict[str, str]] = {
    "anthropic message": {
        "id": "str",
        "type": "str",
        "role": "str",
        "model": "str",
        "content[].type": "str",
        "content[].text": "str",
        "stop_reason": "str",
        "stop_sequence": "null?",
        "stop_details": "null?",
        "container": "null?",
        "diagnostics": "null?",
        "usage.input_tokens": "int",
        "usage.output_tokens": "int",
        "usage.cache_creation_input_tokens": "int",
        "usage.cache_read_input_tokens": "int",
        "usage.cache_creation.ephemeral_5m_input_tokens": "int?",
        "usage.cache_creation.ephemeral_1h_input_tokens": "int?",
        "usage.service_tier": "str",
        "usage.inference_geo": "str?",
    },
    "anthropic batch": {
        "id": "str",
        "type": "str",
        "processing_status": "str",
        "request_counts.processing": "int",
        "request_counts.succeeded": "int",
        "request_counts.errored": "int",
        "request_counts.canceled": "int",
        "request_counts.expired": "int",
        "created_at": "str",
        "expires_at": "str",
        "ended_at": "str null",
        "archived_at": "null?",
        "cancel_initiated_at": "null?",
        "results_url": "str null",
    },
    "openai completion": {
        "id": "str",
        "object": "str",
        "created": "int",
        "model": "str",
        "choices[].index": "int",
        "choices[].finish_reason": "str",
        "choices[].message.role": "str",
        "choices[].message.content": "str null",
        "choices[].message.refusal": "str null",
        "choices[].message.annotations": "list?",
        "choices[].logprobs": "null?",
        "usage.prompt_tokens": "int",
        "usage.completion_tokens": "int",
        "usage.total_tokens": "int",
        "usage.prompt_tokens_details.cached_tokens": "int",
        "usage.prompt_tokens_details.audio_tokens": "int?",
        "usage.completion_tokens_details.reasoning_tokens": "int",
        "usage.completion_tokens_details.audio_tokens": "int?",
        "usage.completion_tokens_details.accepted_prediction_tokens": "int?",
        "usage.completion_tokens_details.rejected_prediction_tokens": "int?",
        "service_tier": "str?",
        "system_fingerprint": "str null?",
    },
    "openai batch": {
        "id": "str",
        "object": "str",
        "endpoint": "str",
        "status": "str",
        "errors": "null?",
        "input_file_id": "str",
        "output_file_id": "str null?",
        "error_file_id": "str null?",
        "completion_window": "str",
        "created_at": "int",
        "request_counts.total": "int",
        "request_counts.completed": "int",
        "request_counts.failed": "int",
        "metadata.rge": "str",
    },
    "google reply": {
        "candidates[].content.parts[].text": "str",
        "candidates[].content.parts[].thoughtSignature": "str?",
        "candidates[].content.role": "str",
        "candidates[].finishReason": "str",
        "candidates[].index": "int?",
        "usageMetadata.promptTokenCount": "int",
        "usageMetadata.candidatesTokenCount": "int",
        "usageMetadata.thoughtsTokenCount": "int?",
        "usageMetadata.totalTokenCount": "int",
        "usageMetadata.promptTokensDetails[].modality": "str?",
        "usageMetadata.promptTokensDetails[].tokenCount": "int?",
        "usageMetadata.serviceTier": "str?",
        "modelVersion": "str",
        "responseId": "str",
    },
    "google batch": {
        "name": "str",
        "done": "bool?",
        "metadata.@type": "str",
        "metadata.name": "str",
        "metadata.model": "str",
        "metadata.displayName": "str",
        "metadata.state": "str",
        "metadata.createTime": "str",
        "metadata.updateTime": "str?",
        "metadata.endTime": "str?",
        "metadata.inputConfig.fileName": "str?",
        "metadata.output.responsesFile": "str?",
        "metadata.batchStats.requestCount": "str",
        "metadata.batchStats.pendingRequestCount": "str?",
        "metadata.batchStats.successfulRequestCount": "str?",
        "metadata.batchStats.failedRequestCount": "str?",
        "response.@type": "str?",
        "response.responsesFile": "str?",
    },
}
_PATHS = {
    r"POST /v1/messages": "anthropic message",
    r"GET /v1/messages/batches/[^/]+": "anthropic batch",
    r"POST /v1/chat/completions": "openai completion",
    r"GET /v1/batches/[^/]+": "openai batch",
    r"POST /v1beta/models/[^/]+:generateContent": "google reply",
    r"GET /v1beta/batches/[^/]+": "google batch",
}


def operation_of(method: str, path: str) -> str | None:
    """The operation whose shape is known, of a request."""
    for pattern, operation in _PATHS.items():
        if re.fullmatch(pattern, f"{method} {path}"):
            return operation
    return None


def differences(operation: str, text: str) -> list[str]:
    """How a reply's body differs from the shape we know; empty where it does not."""
    try:
        found = _kinds(json.loads(text))
    except ValueError:
        return ["not JSON"]
    known = SHAPES[operation]
    lines = [
        f"{path} is missing"
        for path, kinds in known.items()
        if not kinds.endswith("?") and path not in found
    ]
    for path, kind in found.items():
        if path not in known:
            lines.append(f"{path} is new ({kind})")
        elif kind not in known[path].rstrip("?").split():
            lines.append(f"{path} is {kind}, was {known[path].rstrip('?')}")
    return lines


def _kinds(value: Any, path: str = "") -> dict[str, str]:
    """Path and kind of every value that holds no others."""
    if isinstance(value, Mapping) and value:
        found: dict[str, str] = {}
        for name, one in value.items():
            found |= _kinds(one, f"{path}.{name}" if path else name)
        return found
    if isinstance(value, list) and value:
        found = {}
        for one in value:
            found |= _kinds(one, f"{path}[]")
        return found
    return {path: "null" if value is None else type(value).__name__}
