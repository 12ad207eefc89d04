"""Finding agents by entry point."""

from collections.abc import Mapping

from .. import plugins
from .protocol import Agent, AgentError

GROUP = "pytest_toolgate.agents"


def agent_names() -> Mapping[str, object]:
    """The installed agents by name."""
    return plugins.names(GROUP)


def load_agent(name: str) -> Agent:
    """The agent of this name.

    Raises:
        AgentError: It cannot be loaded.
    """
    try:
        agent: Agent = plugins.load(GROUP, name)
    except plugins.PluginError as error:
        raise AgentError(f"agent {error}") from error
    return agent
