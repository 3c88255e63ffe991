"""Crowds that want to move the leaderboard."""

import asyncio
import json
import random
import time

from attacks import Outcome
from attacks.client import Client
from attacks.server import ADMIN_TOKEN, BEHIND_PROXY, PUBLIC, PUBLIC_URL, Server
from attacks.voters import Voter, expect, honestly, in_favour_of, public_copy, vote_until

ADMIN = {"authorization": f"Bearer {ADMIN_TOKEN}"}
# What one network may move a model in ten minutes, and the most that one vote can.
NETWORK_POINTS = 10
VOTE_POINTS = 16


async def one_network(options):
    """One /24 votes for the last model with 40 sessions, at default settings. No model moves by more than 10 Elo
    points, or by a single vote. Results are not delayed, so that the move can be seen."""
    async with Server(options.program, PUBLIC) as server:
        before = await server.elo()
        votes, refusals = await flood_from_one_network(server, 40, options.seconds)
        log = await server.vote_log()
        counted = [line for line in log if line["exclusion"] is None]
        after = await server.settled_elo(lambda elo: elo == last_ratings(before, counted))
    moves = {model: after[model] - before[model] for model in before}
    moved, move = max(moves.items(), key=lambda item: abs(item[1]))
    single = [abs(line[f"elo_{side}_after"] - line[f"elo_{side}_before"]) for line in counted for side in "ab"]
    # A vote may be worth more than the budget. It counts while its network has not moved the model in that direction.
    allowed = min(VOTE_POINTS, max([NETWORK_POINTS, *single]))
    figure = (f"{len(votes)} votes answered 200, {len(counted)} of them counted, {len(refusals)} refused; "
              f"largest move {move:+.1f} points ({moved})")
    held = abs(move) <= allowed and len(log) == len(votes) and len(votes) > len(counted)
    return Outcome(held and not any(refusal.status == 403 for refusal in refusals), figure)


async def delayed_results(options):
    """The same at the default delay. Neither the leaderboard nor the vote log changes."""
    async with Server(options.program, BEHIND_PROXY | {"PUBLIC_URL": PUBLIC_URL}) as server:
        before = await published(server)
        votes, _ = await flood_from_one_network(server, 12, options.seconds / 2)
        await asyncio.sleep(3)
        after = await published(server)
    figure = f"{len(votes)} votes acknowledged; leaderboard and log {'unchanged' if after == before else 'changed'}"
    return Outcome(after == before and len(votes) > 0, figure)


async def fifty_networks(options):
    """After honest votes, fifty networks cast three votes each for one model. An alarm names them within a minute, and
    withdrawing its votes restores every rating to the last bit."""
    # The proof of work would only slow this program down.
    async with Server(options.program, PUBLIC | {"PERSON_CHECK": "off"}) as server:
        models = await public_copy(server.port)
        await vote_honestly(server, options.seconds)
        target = min((elo := await server.elo()), key=elo.get)
        before = await replayed(server)
        crowd = [vote_from_new_network(server, number, target, models) for number in range(50)]
        cast = sum(await asyncio.gather(*crowd))
        flooded = await replayed(server)
        alarm, waited = await wait_for_alarm(server, target)
        if not alarm:
            return Outcome(False, f"{cast} votes of 50 networks; no alarm within {waited:.0f} s")
        decision = {"verdict": "withdrawn", "reason": "A flood.", "selection": alarm["selection"]}
        expect_created(await Client(server.port).post("/api/admin/votes/decisions", decision, **ADMIN))
        restored = await replayed(server)
        ladder = await server.settled_elo(lambda elo: elo.items() >= before.items())
        verified, _ = server.run("recompute", "--verify")
    rise = flooded.get(target, 1500) - before.get(target, 1500)
    same = restored == before and ladder.items() >= before.items()
    figure = (f"{cast} votes of 50 networks moved {target} by {rise:+.1f}; alarm after {waited:.0f} s with {alarm['votes']} "
              f"votes; ratings {'restored to the last bit' if same else 'not restored'}; "
              f"recompute --verify {'clean' if verified == 0 else 'finds differences'}")
    return Outcome(same and verified == 0 and rise > 0, figure)


async def flood_from_one_network(server, sessions, seconds):
    """Many sessions at different addresses of one /24 vote for the last model, and against all others."""
    models = await public_copy(server.port)
    choose = in_favour_of(list(await server.elo())[-1], models)
    voters = [Voter(server.port, f"203.0.113.{number + 1}") for number in range(sessions)]
    votes, refusals = [], []
    end = time.monotonic() + seconds
    await asyncio.gather(*(vote_until(end, voter, choose, votes, refusals) for voter in voters))
    return votes, refusals


async def vote_honestly(server, seconds):
    """Sixty voters from fifteen networks, who have no common aim."""
    rng = random.Random(1)
    end = time.monotonic() + seconds
    voters = [Voter(server.port, f"198.51.{number % 15}.{number + 1}") for number in range(60)]
    await asyncio.gather(*(vote_until(end, voter, honestly(rng), [], []) for voter in voters))


async def vote_from_new_network(server, number, target, models):
    """Casts three votes for a model from a network of its own, and skips matchups without it."""
    voter = Voter(server.port, f"203.{number}.113.7")
    choose = in_favour_of(target, models)
    votes = 0
    for _ in range(12):
        matchup, choice = await voter.look(choose)
        if choice == "BOTH_BAD":
            expect(await voter.post("/api/arena/skip", {"matchupId": matchup}))
            continue
        expect(await voter.cast(matchup, choice))
        votes += 1
        if votes == 3:
            break
    return votes


async def wait_for_alarm(server, target, timeout=60):
    """The alarm about a crowd of networks that vote for this model."""
    begun = time.monotonic()
    client = Client(server.port)
    while (waited := time.monotonic() - begun) < timeout:
        alarms = expect(await client.get("/api/admin/votes/alarms", **ADMIN)).json()["alarms"]
        for alarm in alarms:
            if alarm["id"] == f"crowd-{target}":
                return alarm, waited
        await asyncio.sleep(1)
    return None, waited


async def replayed(server):
    """Every rating, from the votes of the public log alone."""
    log = expect(await Client(server.port).get("/api/votes.jsonl")).body
    _, printed = await asyncio.to_thread(server.run, "recompute", "--from", "-", "--json", given=log)
    return {row["key"]: row["elo"] for ladder in json.loads(printed)["ladders"] for row in ladder["models"]}


def last_ratings(initial, counted):
    ratings = dict(initial)
    for line in counted:
        ratings[line["model_a"]] = line["elo_a_after"]
        ratings[line["model_b"]] = line["elo_b_after"]
    return ratings


async def published(server):
    """What the public sees of the votes."""
    board = expect(await Client(server.port).get("/api/leaderboard")).json()
    log = expect(await Client(server.port).get("/api/votes.jsonl")).body
    return board["models"], log


def expect_created(response):
    if response.status != 201:
        raise RuntimeError(f"the decision was refused: {response.status} {response.body[:200]}")
