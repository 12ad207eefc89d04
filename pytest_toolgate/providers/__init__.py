"""Model providers: where a question is sent and how a reply comes back."""

from .protocol import Message, Provider, ProviderError, Request, Response, Tokens
from .registry import open_provider, provider_kinds

__all__ = ["Message", "Provider", "ProviderError", "Request", "Response", "Tokens", "open_provider", "provider_kinds"]
