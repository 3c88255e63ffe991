"""Clients that are slow on purpose, and very many clients."""

import asyncio
import contextlib
import json
import random
import time
from collections import Counter

from attacks import Outcome
from attacks.client import Client
from attacks.server import BEHIND_PROXY, UNLIMITED, Server
from attacks.voters import Refused, Voter, honestly

SMALL_SPEC = {"version": "1.0", "boxes": []}
# Its answer with cells=1 has a quarter of a million cells.
FULL_BOX = {"x1": 0, "y1": 0, "z1": 0, "x2": 61, "y2": 61, "z2": 61, "type": "bricks"}
FULL_SPEC = json.dumps({"version": "1.0", "boxes": [FULL_BOX]}).encode()
MEBIBYTE = 1 << 20


async def slow_bodies(options):
    """256 clients of as many networks send a mebibyte of a body of 32, and then one byte each second. A newcomer's small
    check is answered within a second."""
    async with Server(options.program, BEHIND_PROXY) as server:
        start = b" " * MEBIBYTE
        clients = [trickle(server, number, start) for number in range(256)]
        return await beside_newcomers(server, clients, options.seconds)


async def unread_answers(options):
    """50 clients of as many networks ask for answers of several mebibytes and read nothing. Memory stays bounded, and a
    newcomer is answered within a second."""
    async with Server(options.program, BEHIND_PROXY) as server:
        clients = [ask_and_never_read(server, number) for number in range(50)]
        return await beside_newcomers(server, clients, options.seconds, memory_limit=400)


async def silent_connections(options):
    """2,000 clients begin a header and fall silent, at a server with 1,024 open files. A newcomer is answered within a
    second."""
    async with Server(options.program, BEHIND_PROXY, open_files=1024) as server:
        clients = [begin_header(server) for _ in range(2000)]
        return await beside_newcomers(server, clients, options.seconds)


async def many_voters(options):
    """2,000 voters at once. No answer is a failure, except for 503 with a Retry-After, and the server's memory stays
    below 300 MiB."""
    async with Server(options.program, UNLIMITED | {"MIN_DWELL_MS": "1500"}) as server:
        answers = Counter()
        end = time.monotonic() + options.seconds
        await asyncio.gather(*(vote_and_count(server, number, end, answers) for number in range(2000)))
        peak = server.memory("VmHWM")
    dishonest = {name: number for name, number in answers.items() if name not in ("vote", "honest 503", "other 4xx")}
    figure = f"{answers['vote']} votes, {answers['honest 503']} honest 503; memory {peak} MiB at most"
    if dishonest:
        figure += f"; failures: {dishonest}"
    return Outcome(not dishonest and answers["vote"] > 0 and peak <= 300, figure)


async def beside_newcomers(server, clients, seconds, memory_limit=None):
    """Lets the clients work, and measures how long newcomers wait meanwhile."""
    tasks = [asyncio.create_task(client) for client in clients]
    waits, failures = [], Counter()
    end = time.monotonic() + seconds
    # Opening the connections takes this program itself a moment.
    await asyncio.sleep(min(3, seconds / 3))
    number = 0
    while time.monotonic() < end:
        number += 1
        begun = time.monotonic()
        name = await newcomer(server, f"198.51.{number % 256}.1")
        waits.append(time.monotonic() - begun)
        if name != "200":
            failures[name] += 1
        await asyncio.sleep(0.3)
    left = sum(not task.done() for task in tasks)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    peak = server.memory("VmHWM")
    figure = (f"{len(waits)} newcomers, {max(waits) * 1000:.0f} ms at most; {left} of {len(tasks)} slow clients left; "
              f"memory {peak} MiB at most")
    if failures:
        figure += f"; newcomers got {dict(failures)}"
    held = not failures and max(waits) < 1 and (memory_limit is None or peak <= memory_limit)
    return Outcome(held, figure)


async def newcomer(server, address):
    client = Client(server.port, address)
    try:
        return str((await client.post("/api/check", SMALL_SPEC)).status)
    except (OSError, EOFError, asyncio.TimeoutError) as error:
        return type(error).__name__
    finally:
        client.close()


async def trickle(server, number, start):
    async with connection(server) as (reader, writer):
        writer.write(head(f"10.0.{number}.1", 32 * MEBIBYTE) + start)
        # The server's verdict ends this client, whatever it is.
        verdict = asyncio.create_task(reader.read(1))
        while not verdict.done():
            writer.write(b" ")
            await asyncio.sleep(1)


async def ask_and_never_read(server, number):
    async with connection(server, limit=1024) as (_, writer):
        writer.write(head(f"10.0.{number}.1", len(FULL_SPEC), "?cells=1&gridSize=64") + FULL_SPEC)
        await asyncio.sleep(3600)


async def begin_header(server):
    async with connection(server) as (reader, writer):
        writer.write(b"GET / HTTP/1.1\r\nhost: x\r\n")
        await reader.read()


@contextlib.asynccontextmanager
async def connection(server, limit=1 << 16):
    """A connection that ends quietly however the server ends it."""
    with contextlib.suppress(OSError):
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port, limit=limit)
        try:
            yield reader, writer
        finally:
            writer.transport.abort()


def head(address, length, query=""):
    lines = f"host: x\r\nx-forwarded-for: {address}\r\ncontent-length: {length}\r\n"
    return f"POST /api/check{query} HTTP/1.1\r\n{lines}\r\n".encode()


async def vote_and_count(server, number, end, answers):
    """Votes until that time, once at least, and counts the answers by what they mean."""
    voter = Voter(server.port, f"10.{number // 250}.{number % 250}.1")
    choose = honestly(random.Random(number))
    while True:
        try:
            await voter.vote(choose)
            answers["vote"] += 1
        except Refused as refused:
            status = refused.response.status
            if status == 503 and refused.response.is_honest:
                answers["honest 503"] += 1
                await asyncio.sleep(1)
            elif status < 500:
                answers["other 4xx"] += 1
            else:
                answers[str(refused)] += 1
        except (OSError, EOFError, asyncio.TimeoutError) as error:
            answers[f"no answer ({type(error).__name__})"] += 1
        if time.monotonic() > end:
            break
    voter.close()
