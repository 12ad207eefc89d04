"""The model file from the Hugging Face hub, checked against the pinned size and SHA-256 on both sides."""

import os
from pathlib import Path

from pytest_toolgate.providers.embedded.digest import hash_file
from pytest_toolgate.providers.embedded.errors import ModelError

REPOSITORY = "Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF"
CONTACT_LIMIT = 5.0
"""Seconds for the hub's first answer."""
STALL_LIMIT = "15"
"""Seconds without a byte before a download counts as stalled; read by huggingface_hub when it is imported."""


def hub_download(filename: str, size: int, sha256: str, workspace: Path, endpoint: str | None = None) -> Path:
    """Download one file of the repository into `workspace` and return its path.

    The hub names the SHA-256 of a large file before sending it, so another quantisation costs one question.

    Raises:
        ModelError: huggingface_hub is missing, the hub cannot be reached, or its file is not the pinned one.
    """
    os.environ.setdefault("HF_HUB_DOWNLOAD_TIMEOUT", STALL_LIMIT)
    try:
        from huggingface_hub import get_hf_file_metadata, hf_hub_download, hf_hub_url
    except ImportError as error:
        raise ModelError("huggingface_hub is not installed.") from error
    try:
        url = hf_hub_url(REPOSITORY, filename, endpoint=endpoint)
        offered = get_hf_file_metadata(url, timeout=CONTACT_LIMIT, endpoint=endpoint)
        if offered.size != size or offered.etag != sha256:
            raise ModelError(
                f"the hub's {REPOSITORY}/{filename} is another file ({offered.size} bytes, "
                f"SHA-256 {offered.etag}) than the pinned one ({size} bytes, SHA-256 {sha256})."
            )
        path = Path(
            hf_hub_download(
                REPOSITORY,
                filename,
                revision=offered.commit_hash,
                local_dir=workspace,
                etag_timeout=CONTACT_LIMIT,
                endpoint=endpoint,
            )
        )
        received = hash_file(path)
    except ModelError:
        raise
    except Exception as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise ModelError(f"the hub did not deliver {REPOSITORY}/{filename}: {reason}.") from error
    if received != sha256:
        raise ModelError(f"the hub sent {filename} with SHA-256 {received}; expected {sha256}.")
    return path
