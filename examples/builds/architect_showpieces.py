"""The show pieces of reference_architect, on larger grids and with all blocks.

    python3 architect_showpieces.py FOLDER [PLACE...]

writes FOLDER/64-advanced/<prompt>/reference_architect.json and the same under
128-advanced; or only the places named, such as 64-advanced/open-house.
"""

import sys
from pathlib import Path

from architect_castle import moated_castle
from architect_open_house import open_house
from architect_viaduct import viaduct

PIECES = {
    "64-advanced/moated-castle": moated_castle,
    "64-advanced/open-house": open_house,
    "128-advanced/stone-bridge": viaduct,
}

if __name__ == "__main__":
    for place in sys.argv[2:] or PIECES:
        PIECES[place]().save(Path(sys.argv[1]) / place / "reference_architect.json")
