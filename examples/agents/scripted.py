"""An agent that knows three tasks by heart, and does nothing in others.

    python scripted.py --port 9019

It reads the text of the task and never looks: it counts steps and degrees. Each script is a generator of actions, one a step.
"""

from agent import parser, serve

# The window of a screen is 640 x 360 pixels, and the pointer begins in its middle. These are the middles of slots in the
# inventory: the first of the hot bar, the four cells of the crafting grid, and what the grid makes.
MIDDLE = (320, 180)
HOTBAR = (248, 247)
GRID = ((338, 123), (356, 123), (338, 141), (356, 141))
RESULT = (394, 133)

# The camera moves the pointer by a pixel for so many degrees.
DEGREES_PER_PIXEL = 0.15


def press(*keys, yaw=0.0, pitch=0.0):
    return {"keys": list(keys), "turn": {"yaw": yaw, "pitch": pitch}}


def click(place, to, key):
    """Moves the pointer from a place to another, clicks, and lets go, so that the next click is one of its own."""
    right, down = (there - here for here, there in zip(place, to))
    yield press(yaw=right * DEGREES_PER_PIXEL, pitch=down * DEGREES_PER_PIXEL)
    yield press(key)
    yield press()


def craft_the_crafting_table():
    """One log becomes four planks, and these a table. Attack clicks, and takes or puts all; use puts down a single one."""
    yield press("inventory")
    yield press()
    clicks = [(HOTBAR, "attack"), (GRID[0], "use"), (HOTBAR, "attack"), (RESULT, "attack")]
    clicks += [(cell, "use") for cell in GRID] + [(RESULT, "attack"), (HOTBAR, "attack")]
    pointer = MIDDLE
    for slot, key in clicks:
        yield from click(pointer, slot, key)
        pointer = slot
    yield press("inventory")


def look_at_the_sky():
    yield press(pitch=-80.0)


def build_pillar():
    """Jumps, and puts cobblestone below at the height of each jump."""
    yield press("hotbar.1", pitch=90.0)
    for _ in range(8):
        jump = [[]] * 14
        jump[1], jump[7] = ["jump"], ["use"]
        yield from (press(*keys) for keys in jump)


SCRIPTS = {"a crafting table": craft_the_crafting_table, "the sky": look_at_the_sky, "a pillar": build_pillar}


class Scripted:
    def __init__(self, text):
        known = [script for words, script in SCRIPTS.items() if words in text.lower()]
        self.actions = known[0]() if known else iter(())

    def act(self, picture, step):
        return next(self.actions, press())


if __name__ == "__main__":
    serve(Scripted, "Scripted", "Knows three tasks by heart.", parser(__doc__).parse_args())
