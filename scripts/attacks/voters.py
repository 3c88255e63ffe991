"""Voters, as docs/votes.md describes them for programs."""

import asyncio
import hashlib
import itertools
import random
import time

from attacks.client import Client

# A little more than MIN_DWELL_MS, whose default is 1.5 s.
DWELL = 1.55


class Refused(Exception):
    """An answer other than the one that was hoped for."""

    def __init__(self, response):
        super().__init__(f"{response.status} {response.code or response.body[:100]}")
        self.response = response


class Voter(Client):
    """A session that votes."""

    def __init__(self, port, address=None, dwell=DWELL):
        super().__init__(port, address)
        self.dwell = dwell

    async def look(self, choose):
        """Gets a matchup and looks at both builds until a vote counts. `choose` gets the digests of the two grids and
        says which side wins. Returns the matchup's id and the choice."""
        matchup = expect(await self.get("/api/arena/matchup")).json()
        sides = [expect(await self.get(matchup[side]["build"]["url"])).body for side in "ab"]
        seen = time.monotonic()
        if check := matchup.get("personCheck"):
            answer = await solve(check["challenge"], check["bits"])
            expect(await self.post("/api/arena/person-check", {"answer": answer}))
        await asyncio.sleep(max(0, seen + self.dwell - time.monotonic()))
        return matchup["id"], choose(*(hashlib.sha256(side).hexdigest() for side in sides))

    async def vote(self, choose):
        """Returns the matchup's id, the choice and the answer of a vote that was acknowledged."""
        matchup, choice = await self.look(choose)
        return matchup, choice, expect(await self.cast(matchup, choice))

    async def cast(self, matchup, choice):
        return await self.post("/api/arena/vote", {"matchupId": matchup, "choice": choice})


def expect(response):
    if response.status not in (200, 204):
        raise Refused(response)
    return response


async def solve(challenge, bits):
    """The proof of work. Other voters have their turn now and then."""
    known = hashlib.sha256(challenge.encode())
    for number in itertools.count():
        attempt = known.copy()
        attempt.update(b"%d" % number)
        if int.from_bytes(attempt.digest()[:8], "big") >> (64 - bits) == 0:
            return f"{challenge}{number}"
        if number % 4096 == 0:
            await asyncio.sleep(0)


async def public_copy(port):
    """Which model made each grid, by its digest. Everybody can make this list from the gallery."""
    client = Client(port)
    models = {}
    for build in await gallery(client):
        view = expect(await client.get(f"/api/builds/{build}")).json()
        grid = expect(await client.get(f"/api/builds/{build}/grid")).body
        models[hashlib.sha256(grid).hexdigest()] = view["model"]["key"]
    return models


async def gallery(client):
    """The ids of all builds."""
    builds = set()
    for number in itertools.count(1):
        page = expect(await client.get(f"/builds?page={number}")).body.decode()
        parts = page.split('href="/builds/')[1:]
        found = {part.split('"')[0].split("/")[0] for part in parts}
        if found <= builds:
            return sorted(builds)
        builds |= found


def in_favour_of(model, models):
    """Votes for a model, and against all others."""

    def choose(a, b):
        known = [models.get(a), models.get(b)]
        return "AB"[known.index(model)] if model in known else "BOTH_BAD"

    return choose


def honestly(rng):
    return lambda a, b: rng.choice(["A", "A", "B", "B", "TIE"])


async def vote_until(end, voter, choose, votes, refusals):
    """Votes until that time, and keeps what was acknowledged and what was refused. A voter who has seen everything, or
    votes too fast, stops."""
    while time.monotonic() < end:
        try:
            votes.append(await voter.vote(choose))
        except Refused as refused:
            refusals.append(refused.response)
            if refused.response.status in (409, 429):
                return
            await asyncio.sleep(random.uniform(0.05, 0.2))
