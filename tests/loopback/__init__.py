"""A server on loopback that speaks the three providers' APIs, with faults on order."""

from loopback.providers import Loopback
from loopback.wire import Fault

__all__ = ["Fault", "Loopback"]
