"""Agents: what solves a candidate with the software."""

from .protocol import Agent, AgentError, AgentRun, Task
from .registry import agent_names, agent_version, load_agent

__all__ = ["Agent", "AgentError", "AgentRun", "Task", "agent_names", "agent_version", "load_agent"]
