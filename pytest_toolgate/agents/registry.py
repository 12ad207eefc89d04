"""Finding agents by entry point."""

from collections.abc import Mapping

from .. import plugins
from ..config import SolveSettings
from .contents import contents
from .protocol import Agent, AgentError, Versioned

GROUP = "pytest_toolgate.agents"


def agent_names() -> Mapping[str, object]:
    """The installed agents by name."""
    return plugins.names(GROUP)


def agent_version(settings: SolveSettings) -> str | None:
    """The version of an agent's own program, with a hash of what it is shown; None for an agent that has none.

    Raises:
        AgentError: Agent or program cannot be found, or what is shown cannot be read.
    """
    agent: object = load_agent(settings.agent)
    version = agent.version(settings) if isinstance(agent, Versioned) else None
    return f"{version} {contents(settings.show)}" if version is not None and settings.show else version


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
