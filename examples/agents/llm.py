"""An agent that asks a vision model of any provider with an OpenAI-compatible API.

    export OPENAI_API_KEY=…
    python llm.py --port 9019 --model MODEL --max-requests 200
    python llm.py --port 9019 --model MODEL --base-url http://127.0.0.1:11434/v1

Each request costs money. The model says for how many steps its keys are held, and is asked again after that. After
`--max-requests`, counted over all runs since the start, the last keys stay down.
"""

import base64
import json
import math
import os
import re
import sys

import httpx
from agent import parser, serve

KEYS = "forward back left right jump sneak sprint attack use drop inventory".split()
KEYS += [f"hotbar.{slot}" for slot in range(1, 10)]

RULES = f"""You play in a world of blocks with the rules of Minecraft, 20 steps a second, and see your own view.
Answer with one JSON object and nothing else, such as
{{"why": "a few words", "keys": ["forward", "jump"], "turn": {{"yaw": 10, "pitch": 0}}, "steps": 10}}
keys: those that are down, of {", ".join(KEYS)}. attack breaks what you look at if it is held long enough. use puts down
what is in your hand, or opens what you look at. inventory opens a screen, and closes any.
turn: once, in degrees; positive yaw turns right, positive pitch down. In a screen it moves the pointer instead, a pixel of
640 x 360 for 0.15 degrees, from the middle; attack clicks, use clicks with the other button.
steps: how long the keys are held, 1 to 20."""

# How many earlier answers the model sees again, without their pictures.
HISTORY = 8


class Model:
    """A model that may be asked a number of times."""

    def __init__(self, arguments):
        self.url, self.name = arguments.base_url.rstrip("/") + "/chat/completions", arguments.model
        self.requests = iter(range(arguments.max_requests))
        key = os.environ.get(arguments.key_variable)
        # An action must be there within 60 seconds.
        self.http = httpx.Client(headers={"Authorization": f"Bearer {key}"} if key else {}, timeout=45)

    def ask(self, messages):
        """What the model says; None if it may not be asked any more, or has not answered."""
        if next(self.requests, None) is None:
            return None
        try:
            response = self.http.post(self.url, json={"model": self.name, "messages": messages})
            response.raise_for_status()
            return response.json()["choices"][0]["message"]["content"]
        except (httpx.HTTPError, KeyError, IndexError, TypeError, ValueError) as error:
            print(f"The model has not answered: {error}", file=sys.stderr)
            return None


class Llm:
    def __init__(self, model, text):
        self.model, self.rules = model, {"role": "system", "content": f"{RULES}\nYour task: {text}"}
        self.history, self.keys, self.steps = [], [], 0

    def act(self, picture, step):
        """Holds the keys of an answer for its steps, and asks for others then."""
        turn = {}
        if self.steps == 0:
            url = "data:image/jpeg;base64," + base64.b64encode(picture).decode()
            words = {"type": "text", "text": f"Step {step}."}
            seen = {"role": "user", "content": [words, {"type": "image_url", "image_url": {"url": url}}]}
            answer = self.model.ask([self.rules, *self.history, seen])
            if answer:
                self.keys, turn, self.steps = read(answer)
                said = [{"role": "user", "content": [words]}, {"role": "assistant", "content": answer}]
                self.history = (self.history + said)[-2 * HISTORY :]
        self.steps = max(self.steps - 1, 0)
        return {"keys": self.keys, "turn": turn}


def read(text):
    """The keys, the turn and the steps of an answer. What is wrong in it is left out, since models make mistakes."""
    try:
        answer = json.loads(re.search(r"\{.*\}", text, re.DOTALL)[0])
        keys = [key for key in answer.get("keys", []) if key in KEYS]
        turn = {axis: float(answer.get("turn", {}).get(axis, 0)) for axis in ("yaw", "pitch")}
        turn = {axis: max(-180.0, min(180.0, angle)) for axis, angle in turn.items() if math.isfinite(angle)}
        return keys, turn, max(1, min(20, int(answer.get("steps", 1))))
    except (AttributeError, TypeError, ValueError, OverflowError):
        return [], {}, 1


if __name__ == "__main__":
    options = parser(__doc__)
    options.add_argument("--model", required=True, help="its name at the provider")
    options.add_argument("--base-url", default="https://api.openai.com/v1", help="the provider's API")
    options.add_argument("--key-variable", default="OPENAI_API_KEY", help="the environment variable that holds the key")
    options.add_argument("--max-requests", type=int, default=200, help="how often the model is asked, at most")
    arguments = options.parse_args()
    model = Model(arguments)
    serve(lambda text: Llm(model, text), "LLM", f"Asks {arguments.model}.", arguments)
