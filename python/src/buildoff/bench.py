"""`python -m buildoff.bench`: how many steps a second there are in Python, pictures and all.

The loop is that of `gymnasium.utils.performance.benchmark_step`, with the median of several runs.
"""

import argparse
import json
import statistics

import gymnasium
from gymnasium.utils.performance import benchmark_step

import buildoff  # noqa: F401  (registers the environments)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m buildoff.bench", description=__doc__)
    parser.add_argument("--scene", default="meadow")
    parser.add_argument("--size", type=int, default=128)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--vector", type=int, default=0, metavar="N", help="also step N worlds side by side")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()

    env = gymnasium.make("buildoff/World-v0", scene=args.scene, size=args.size, max_steps=1_000_000)
    figures = {"steps": [benchmark_step(env, args.seconds, seed=run) for run in range(args.runs)]}
    env.close()
    if args.vector:
        figures["vector"] = [_vector_steps(args) for _ in range(args.runs)]
    medians = {name: statistics.median(runs) for name, runs in figures.items()}
    if args.json:
        print(json.dumps({"median": medians, "runs": figures}))
        return
    for name, runs in figures.items():
        print(f"{name:<8}{medians[name]:>9.0f} a second ({min(runs):.0f} to {max(runs):.0f})")


def _vector_steps(args: argparse.Namespace) -> float:
    import time

    env = gymnasium.make_vec(
        "buildoff/World-v0", args.vector, vectorization_mode="vector_entry_point", scene=args.scene, size=args.size
    )
    env.reset(seed=0)
    env.action_space.seed(0)
    started = time.perf_counter()
    steps = 0
    while time.perf_counter() - started < args.seconds:
        env.step(env.action_space.sample())
        steps += args.vector
    rate = steps / (time.perf_counter() - started)
    env.close()
    return rate


if __name__ == "__main__":
    main()
