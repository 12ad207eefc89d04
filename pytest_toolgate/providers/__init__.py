"""Model providers: where a question is sent and how a reply comes back."""

from .protocol import ListsModels, Message, ModelList, Provider, ProviderError, Request, Response, Tokens
from .registry import open_provider, provider_kinds

__all__ = [
    "ListsModels",
    "Message",
    "ModelList",
    "Provider",
    "ProviderError",
    "Request",
    "Response",
    "Tokens",
    "open_provider",
    "provider_kinds",
]
