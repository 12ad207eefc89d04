"""Model providers: where a question is sent and how a reply comes back."""

from .protocol import (
    Call,
    ListsModels,
    Message,
    ModelList,
    Passed,
    PassesOn,
    Provider,
    ProviderError,
    Request,
    Response,
    Tokens,
    Tool,
    ToolCall,
)
from .registry import open_provider, provider_kinds

__all__ = [
    "Call",
    "ListsModels",
    "Message",
    "ModelList",
    "Passed",
    "PassesOn",
    "Provider",
    "ProviderError",
    "Request",
    "Response",
    "Tokens",
    "Tool",
    "ToolCall",
    "open_provider",
    "provider_kinds",
]
