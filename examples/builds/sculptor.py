"""The reference builds of reference_sculptor: curves, mass and gesture, strong colour.

    python3 sculptor.py FOLDER

writes FOLDER/<prompt>/reference_sculptor.json for every prompt.
"""

import sys
from pathlib import Path

from sculptor_creatures import octopus, sleeping_dragon, snail
from sculptor_engine import steam_locomotive
from sculptor_feasts import birthday_cake, giant_mushroom
from sculptor_ground import knit
from sculptor_journeys import fire_engine, hot_air_balloon, stone_bridge, windmill
from sculptor_lands import lighthouse, treehouse
from sculptor_places import corner_cafe, moated_castle, volcano_village
from sculptor_ship import pirate_ship

PROMPTS = {
    "giant-mushroom": giant_mushroom,
    "birthday-cake": birthday_cake,
    "snail": snail,
    "lighthouse": lighthouse,
    "hot-air-balloon": hot_air_balloon,
    "windmill": windmill,
    "steam-locomotive": steam_locomotive,
    "fire-engine": fire_engine,
    "stone-bridge": stone_bridge,
    "treehouse": treehouse,
    "octopus": octopus,
    "moated-castle": moated_castle,
    "sleeping-dragon": sleeping_dragon,
    "pirate-ship": pirate_ship,
    "corner-cafe": corner_cafe,
    "volcano-village": volcano_village,
}

if __name__ == "__main__":
    for prompt, build in PROMPTS.items():
        b = build()
        knit(b)
        b.save(Path(sys.argv[1]) / prompt / "reference_sculptor.json")
