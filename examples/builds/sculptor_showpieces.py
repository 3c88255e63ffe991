"""The show pieces of reference_sculptor, on larger grids and with the advanced palette.

    python3 sculptor_showpieces.py FOLDER

writes FOLDER/64-advanced/<prompt>/reference_sculptor.json and the same below 128-advanced.
"""

import sys
from pathlib import Path

from sculptor_ground import knit
from sculptor_show_dragon import sleeping_dragon
from sculptor_show_octopus import octopus
from sculptor_show_volcano import volcano_village

PIECES = {
    ("64-advanced", "octopus"): octopus,
    ("64-advanced", "volcano-village"): volcano_village,
    ("128-advanced", "sleeping-dragon"): sleeping_dragon,
}

if __name__ == "__main__":
    for (folder, prompt), build in PIECES.items():
        b = build()
        knit(b)
        b.save(Path(sys.argv[1]) / folder / prompt / "reference_sculptor.json")
