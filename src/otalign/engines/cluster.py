"""Connection to a Ray cluster, or the start of one that uses only this machine, its files and its network."""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from secrets import token_hex
from typing import Any

from otalign.failures import EXPECTED, describe
from otalign.processes import ONE_THREAD, set_environment


@dataclass(frozen=True)
class RayOptions:
    """Resources of an actor, and the cluster that it runs on.

    Attributes:
        threads: Threads per actor.
        gpus: Share of a GPU per actor.
        address: Address of a Ray cluster; None to start one on this machine.

    Example:
        >>> from otalign.engines import RayOptions
        >>> RayOptions(threads=2).resources
        {'num_cpus': 2, 'num_gpus': 0}
    """

    threads: int = 1
    gpus: float = 0
    address: str | None = None

    @property
    def resources(self) -> dict[str, float]:
        """Resources of an actor, by Ray's names."""
        return {"num_cpus": self.threads, "num_gpus": self.gpus}


@contextmanager
def start_cluster(address: str | None, processors: int) -> Iterator[Any]:
    """Connect to Ray, or start it, without output of Ray except from processes that die.

    Args:
        address: Address of a cluster; None to start one on this machine.
        processors: Number of CPUs of a cluster that is started.

    Yields:
        The module `ray`.
    """
    ray = _import_ray(address)
    started = not ray.is_initialized()
    if started:
        _initialize(ray, address, processors)
    try:
        yield ray
    except ray.exceptions.RayError as error:
        cause = describe(getattr(error, "cause", error))  # the error inside that of a failed task
        raise OSError(f"Ray failed; use --resume to continue: {cause}") from error
    finally:
        if started:
            ray.shutdown()


def check_gpus(ray: Any, options: RayOptions) -> None:
    """Raise ValueError if this machine has too few GPUs, for which Ray would wait; a cluster may grow."""
    available = ray.cluster_resources().get("GPU", 0)
    if options.gpus > available and not options.address:
        raise ValueError(
            f"--gpus must be at most {available:g}, the number on this machine, got {options.gpus:g}"
        )


def _import_ray(address: str | None) -> Any:
    # Ray reads these variables when it is imported.
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    if not address:  # else Ray looks for the address of this machine in the network, and listens there
        os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
    try:
        import_module("ray.data")  # which has further dependencies
        return import_module("ray")
    except ImportError:
        raise ImportError("--engine ray needs Ray; pip install 'otalign[ray]'") from None


def _initialize(ray: Any, address: str | None, processors: int) -> None:
    if address:
        options = {"address": address, "runtime_env": {"env_vars": ONE_THREAD}}
    else:
        options = {"address": "local", "num_cpus": processors, **_get_private_options()}
    try:
        with set_environment(ONE_THREAD):  # for the processes that Ray starts on this machine
            ray.init(log_to_driver=False, logging_level=logging.CRITICAL, **options)
    except EXPECTED:
        raise
    except Exception as error:  # Ray raises Exception itself if a node does not start in 30 seconds
        raise OSError(f"Ray cannot start; try again when the machine is less busy: {error}") from error


def _get_private_options() -> dict[str, Any]:
    """Return options of `ray.init` for a node that uses only this machine, its files and its network."""
    # Without a token in the environment, Ray writes one below the home folder.
    if "RAY_AUTH_TOKEN_PATH" not in os.environ and not Path("~/.ray/auth_token").expanduser().exists():
        os.environ.setdefault("RAY_AUTH_TOKEN", token_hex())
    # The dashboard process queries the cloud provider, even if usage statistics and the dashboard are off.
    # With an invalid port, Ray starts without that process.
    return {"include_dashboard": False, "dashboard_port": 65536}
