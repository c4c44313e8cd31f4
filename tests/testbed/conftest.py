"""Gives the tests of this folder the testbed's fixtures."""

from tests.testbed.fixtures import hosts, testbed

__all__ = ["hosts", "testbed"]
