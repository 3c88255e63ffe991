"""Faults of the database."""

import asyncio
import contextlib
import os
import random
import signal
import time

from attacks import Outcome
from attacks.server import UNLIMITED, Server
from attacks.voters import Voter, honestly, vote_until

VOTERS = 16
# How long after the database's return the server may need.
RECOVERY_LIMIT = 2


async def database_killed(options):
    """The database is killed while voters vote. The server is ready within 2 s of its return, no acknowledged vote is
    lost, and no answer is a failure except for 503 with a Retry-After."""
    async with Server(options.program, UNLIMITED) as server:
        refusals = []
        end = time.monotonic() + options.seconds
        voting = [asyncio.create_task(vote_as_new_voters(server, end, refusals)) for _ in range(VOTERS)]
        await asyncio.sleep(options.seconds / 3)
        killed = time.monotonic()
        before = server.database_pid()
        os.kill(before, signal.SIGKILL)
        returned = await database_return(server, before)
        await server.wait_until_ready(30)
        ready = time.monotonic()
        votes = [vote for voter in await asyncio.gather(*voting) for vote in voter]
        lost = sum([not await is_stored(*vote) for vote in votes])
        verified, _ = await asyncio.to_thread(server.run, "recompute", "--verify")
    dishonest = [f"{refusal.status} {refusal.code}" for refusal in refusals if not refusal.is_honest]
    figure = (f"ready {ready - returned:.1f} s after the database, which needed {returned - killed:.1f} s; {len(votes)} votes "
              f"acknowledged, {lost} lost; {len(refusals)} honest refusals")
    if dishonest:
        figure += f"; failures: {sorted(set(dishonest))}"
    if verified != 0:
        figure += "; recompute --verify finds differences"
    held = ready - returned <= RECOVERY_LIMIT and not lost and not dishonest and verified == 0 and len(votes) > 0
    return Outcome(held, figure)


async def vote_as_new_voters(server, end, refusals):
    """The acknowledged votes. A voter who has seen everything is followed by another."""
    acknowledged = []
    choose = honestly(random.Random())
    while time.monotonic() < end:
        voter = Voter(server.port, "203.0.113.1", dwell=0)
        votes = []
        with contextlib.suppress(OSError, EOFError, asyncio.TimeoutError):
            await vote_until(end, voter, choose, votes, refusals)
        acknowledged += [(voter, matchup, choice) for matchup, choice, _ in votes]
    return acknowledged


async def database_return(server, before):
    """When Postgres says that it accepts connections again."""
    while True:
        with contextlib.suppress(OSError, ValueError, IndexError):
            pid, *_, state = [line.strip() for line in server.database_state() if line.strip()]
            if int(pid) != before and state == "ready":
                return time.monotonic()
        await asyncio.sleep(0.01)


async def is_stored(voter, matchup, choice):
    """Whether a second vote is refused because of the first."""
    response = await voter.cast(matchup, choice)
    return response.status == 409 and response.code == "already_voted" and response.json()["choice"] == choice
