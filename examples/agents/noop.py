"""An agent that does nothing. Start from this one.

    python noop.py --port 9019
"""

from agent import parser, serve


class Noop:
    def __init__(self, text):
        """A run begins, whose task is this text."""

    def act(self, picture, step):
        """Sees the bytes of a JPEG, and answers with an action; this one presses nothing and rests the camera."""
        return {"buttons": [0], "camera": [60]}


if __name__ == "__main__":
    serve(Noop, "Noop", "Does nothing.", parser(__doc__).parse_args())
