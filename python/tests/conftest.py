import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

# The variable BUILDOFF names the program under test.
assert os.environ.get("BUILDOFF"), "set BUILDOFF to buildoff or buildoff-world"
