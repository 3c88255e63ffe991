"""The reference builds of reference_architect: symmetry, structure, honest materials.

    python3 architect.py FOLDER [PROMPT...]

writes FOLDER/<prompt>/reference_architect.json for every prompt, or for those named.
"""

import sys
from pathlib import Path

from architect_creatures import birthday_cake, giant_mushroom, octopus, sleeping_dragon, snail
from architect_houses import corner_cafe, lighthouse, treehouse, windmill
from architect_scenes import moated_castle, stone_bridge, volcano_village
from architect_vehicles import fire_engine, hot_air_balloon, pirate_ship, steam_locomotive

PROMPTS = {
    "giant-mushroom": giant_mushroom,
    "birthday-cake": birthday_cake,
    "snail": snail,
    "lighthouse": lighthouse,
    "hot-air-balloon": hot_air_balloon,
    "windmill": windmill,
    "steam-locomotive": steam_locomotive,
    "stone-bridge": stone_bridge,
    "fire-engine": fire_engine,
    "treehouse": treehouse,
    "octopus": octopus,
    "moated-castle": moated_castle,
    "sleeping-dragon": sleeping_dragon,
    "pirate-ship": pirate_ship,
    "corner-cafe": corner_cafe,
    "volcano-village": volcano_village,
}

if __name__ == "__main__":
    chosen = sys.argv[2:] or PROMPTS
    for prompt in chosen:
        PROMPTS[prompt]().save(Path(sys.argv[1]) / prompt / "reference_architect.json")
