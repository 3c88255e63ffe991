"""Attacks on names, keys and tokens."""

import asyncio
import base64
import contextlib
import hashlib
import random
import time

from attacks import Outcome
from attacks.client import Client
from attacks.server import ADMIN_TOKEN, BEHIND_PROXY, PUBLIC_URL, UNLIMITED, Server
from attacks.voters import Voter, expect, gallery, honestly

# Enough of a digest that nothing contains it by accident.
DIGEST_PREFIX = 12

# Two models of models.toml whose provider needs a key.
PAID_MODELS = ["openai_gpt_5_5", "openai_gpt_5_4_mini"]


async def names(options):
    """Nothing public connects what a matchup shows, or what the vote log says, with a build that has a name: neither the
    log's ids of builds nor a digest of a matchup's bytes occurs in the gallery, in /api/builds or in a header."""
    async with Server(options.program, UNLIMITED) as server:
        voter = Voter(server.port, "203.0.113.1", dwell=0)
        grids = []
        choose = honestly(random.Random(1))
        for _ in range(20):
            matchup = expect(await voter.get("/api/arena/matchup")).json()
            grids += [await voter.get(matchup[side]["build"]["url"]) for side in "ab"]
            await voter.vote(choose)
        log = await server.vote_log()
        public = await everything_about_builds(server)
    ids = {line[f"build_{side}"] for line in log for side in "ab"}
    digests = {name[:DIGEST_PREFIX] for grid in grids for name in digests_of(grid.body)}
    digests |= {grid.headers["etag"].strip('W/"')[:DIGEST_PREFIX] for grid in grids if "etag" in grid.headers}
    found_ids = sum(name in public for name in ids)
    found_digests = sum(name in public for name in digests)
    figure = (f"{len(ids)} ids of the log, {found_ids} found; {len(digests)} digests of {len(grids)} grids, "
              f"{found_digests} found, in {len(public) // 1000} kB about all builds")
    return Outcome(bool(ids and digests) and not found_ids and not found_digests, figure)


async def server_keys(options):
    """A proxy that passes requests on and changes nothing but the Host. The server's key is not lent to its visitors."""
    reached = 0

    def count(_, writer):
        nonlocal reached
        reached += 1
        writer.close()

    provider = await asyncio.start_server(count, "127.0.0.1", 0)
    address = f"http://127.0.0.1:{provider.sockets[0].getsockname()[1]}"
    settings = {"PUBLIC_URL": PUBLIC_URL, "OPENAI_API_KEY": "sk-attack", "OPENAI_BASE_URL": address}
    async with provider, Server(options.program, settings) as server:
        origins = [PUBLIC_URL, "http://localhost", f"http://127.0.0.1:{server.port}", None]
        for origin in origins:
            await ask_for_run(server, origin)
        lent = reached
        # The same request does reach the provider where the keys are lent, or this would show nothing.
        server.stop()
        server.settings |= {"SANDBOX_SERVER_KEYS": "on"}
        await server.start()
        await ask_for_run(server, PUBLIC_URL)
    figure = f"{len(origins)} requests, {lent} reached the provider; with SANDBOX_SERVER_KEYS=on, {reached - lent} did"
    return Outcome(lent == 0 and reached > 0, figure)


async def token_guesses(options):
    """One network guesses the admin token. Nearly all guesses get 429, and so does the right token from there; from
    another network it works meanwhile."""
    async with Server(options.program, BEHIND_PROXY | {"PUBLIC_URL": PUBLIC_URL}) as server:
        statuses = []
        end = time.monotonic() + options.seconds / 3
        guessing = [guess_until(server, end, number, statuses) for number in range(16)]
        owner = Client(server.port, "198.51.100.1")
        *_, admitted = await asyncio.gather(*guessing, use_token(owner, end))
        there = (await use_token(Client(server.port, "203.0.113.200"), 0))[0]
    refused = statuses.count(429) / len(statuses)
    figure = (f"{len(statuses)} guesses, {refused:.1%} got 429; the right token: {there} from the same network, "
              f"{admitted.count(200)} of {len(admitted)} answered 200 from another")
    return Outcome(refused > 0.9 and 200 not in statuses and there == 429 and set(admitted) == {200}, figure)


async def everything_about_builds(server):
    """The text of all pages and answers about builds, with the headers of everything that they link to."""
    client = Client(server.port)
    texts = []
    for build in await gallery(client):
        for path in [f"/builds/{build}", f"/api/builds/{build}", f"/api/builds/{build}/grid",
                     f"/api/builds/{build}/image?size=64", f"/api/builds/{build}/spec"]:
            response = await client.get(path)
            texts.append(repr(response.headers))
            if not path.endswith(("grid", "size=64", "spec")):
                texts.append(response.body.decode())
    number = 1
    while b"/builds/" in (page := (await client.get(f"/builds?page={number}"))).body and number < 20:
        texts += [repr(page.headers), page.body.decode()]
        number += 1
    return "\n".join(texts)


def digests_of(grid):
    for name in ["md5", "sha1", "sha256", "sha512", "blake2b", "blake2s", "sha3_256"]:
        digest = hashlib.new(name, grid).digest()
        yield digest.hex()
        yield base64.b64encode(digest).decode()
        yield base64.urlsafe_b64encode(digest).decode()


async def ask_for_run(server, origin):
    """Asks the sandbox for a run of two models at the provider, and waits until it has ended or for 5 s."""
    wanted = {"prompt": "a cube", "gridSize": 32, "palette": "simple", "modelKeys": PAID_MODELS}
    # What a browser says to the proxy arrives here as it is.
    headers = {"sec_fetch_site": "same-origin"} | ({"origin": origin} if origin else {})
    client = Client(server.port)
    with contextlib.suppress(asyncio.TimeoutError):
        await asyncio.wait_for(client.post("/api/generate", wanted, **headers), 5)
    client.close()


async def guess_until(server, end, number, statuses):
    client = Client(server.port, f"203.0.113.{number + 1}")
    while time.monotonic() < end:
        guess = {"authorization": f"Bearer {random.randbytes(16).hex()}"}
        statuses.append((await client.get("/api/admin/audit", **guess)).status)


async def use_token(client, end):
    """The statuses of the right token, used ten times a second, and once at least."""
    statuses = []
    while not statuses or time.monotonic() < end:
        token = {"authorization": f"Bearer {ADMIN_TOKEN}"}
        statuses.append((await client.get("/api/admin/audit", **token)).status)
        await asyncio.sleep(0.1)
    return statuses
