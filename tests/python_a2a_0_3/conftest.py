"""The same server as for the other tests, which need another version of the SDK."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "python"))

from running_server import site  # noqa: E402, F401
