"""An agent that does anything at all, as the least that another must beat.

    python random_agent.py --port 9019 --seed 7

It is not called random.py: a script's own folder comes first where Python looks for modules, and the SDK wants the
`random` of the standard library.
"""

import random

from agent import parser, serve


class Random:
    def __init__(self, text, seed=None):
        self.dice = random.Random(seed)

    def act(self, picture, step):
        """Any of the 8641 ways to press buttons, and any of the 121 turns of the camera."""
        return {"buttons": [self.dice.randrange(8641)], "camera": [self.dice.randrange(121)]}


if __name__ == "__main__":
    options = parser(__doc__)
    options.add_argument("--seed", type=int, help="the same actions in each run")
    arguments = options.parse_args()
    serve(lambda text: Random(text, arguments.seed), "Random", "Acts at random.", arguments)
