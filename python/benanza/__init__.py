# SPDX-License-Identifier: Apache-2.0
"""Lower bounds on the latency of deep-learning models on this machine."""

from ._benanza import EnvironmentError, InputError, UsageError, __version__, bound, gap, layers, run

__all__ = ["EnvironmentError", "InputError", "UsageError", "bound", "gap", "layers", "run"]
