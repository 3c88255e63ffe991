"""Trains an agent to break as many blocks as it can in ten seconds of the world's time. Takes some minutes.

    pip install ./python -r python/examples/requirements.txt
    python python/examples/train.py

The agent is PPO from Stable-Baselines3 and sees nothing but pictures. It practises in eight meadows and is tested in
eight others, before and after. The curve goes into training.csv and training.svg.
"""

import argparse
import csv
import time
from pathlib import Path
from typing import Any

import gymnasium
import matplotlib.pyplot as plt
import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv

WORLDS = 8
DECISIONS = 50  # of an episode, each of which is held for HELD steps
HELD = 4


class BreakBlocks(gymnasium.Wrapper[Any, Any, Any, Any]):
    """A reward of 1 for each block broken, and of the keys only those that it takes: walk, dig, choose one of the three
    tools, look up or down, look left or right."""

    def __init__(self, seed: int) -> None:
        # The part before the colon is the package to import.
        super().__init__(gymnasium.make("buildoff:buildoff/World-v0", size=64, max_steps=DECISIONS * HELD))
        self.action_space = gymnasium.spaces.MultiDiscrete([2, 2, 4, 3, 3])
        self.seed = seed

    def reset(self, **_: Any) -> tuple[Any, dict[str, Any]]:
        return self.env.reset(seed=self.seed)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        forward, attack, slot, pitch, yaw = action
        keys = np.array([forward, 0, 0, 0, attack, 0, 0, 0, slot, (2, 5, 8)[pitch], (2, 5, 8)[yaw]])
        broken = 0
        for _ in range(HELD):
            picture, _, terminated, truncated, info = self.env.step(keys)
            broken += sum(event["event"] == "mine_block" for event in info["events"])
        return picture, broken, terminated, truncated, info


class Curve(BaseCallback):
    """The mean of the last episode in each world, after each round of practice."""

    def __init__(self, file: Any) -> None:
        super().__init__()
        self.rows: list[tuple[int, float, float]] = []
        self.started = time.perf_counter()
        self.file = csv.writer(file)
        self.file.writerow(["steps", "seconds", "blocks"])

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        blocks = float(np.mean([episode["r"] for episode in self.model.ep_info_buffer]))
        self.rows.append((self.num_timesteps * HELD, round(time.perf_counter() - self.started, 1), blocks))
        self.file.writerow(self.rows[-1])
        print("{:>7} steps {:>6.1f} s {:>6.1f} blocks".format(*self.rows[-1]), flush=True)


def worlds(first: int) -> DummyVecEnv:
    return DummyVecEnv([lambda seed=seed: Monitor(BreakBlocks(seed)) for seed in range(first, first + WORLDS)])


def draw(rows: list[tuple[int, float, float]], before: float, after: float, path: Path) -> None:
    """The picture has no background, and its colors are legible on light and on dark pages."""
    grey, blue, orange = "#7d8590", "#2f81f7", "#db6d28"
    plt.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "buildoff", "font.family": "sans-serif"})
    figure, axes = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
    steps, _, blocks = zip(*rows, strict=True)
    axes.plot(steps, blocks, color=blue, linewidth=2, label="worlds it practises in")
    axes.plot([0, steps[-1]], [before, after], "o", color=orange, clip_on=False, label="other worlds, before and after")
    axes.set_xlabel("steps of practice", color=grey)
    axes.set_ylabel("blocks broken in an episode", color=grey)
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    axes.tick_params(colors=grey)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.grid(color=grey, alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["bottom", "left"]].set_color(grey)
    axes.legend(loc="lower right", frameon=False, labelcolor=grey)
    figure.savefig(path, transparent=True, metadata={"Date": None, "Creator": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=48_000, help="steps of practice, over all worlds")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("."), help="the folder for the curve")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    # Sums over several threads differ in their last bits with the number of cores, and so would the curve.
    torch.set_num_threads(1)

    practice, test = worlds(0), worlds(WORLDS)
    agent = PPO(
        "CnnPolicy",
        practice,
        n_steps=DECISIONS,
        batch_size=100,
        n_epochs=4,
        learning_rate=5e-4,
        gamma=0.95,
        ent_coef=0.005,
        stats_window_size=WORLDS,
        seed=args.seed,
        device="cpu",
    )

    def tested() -> float:
        return float(evaluate_policy(agent, test, n_eval_episodes=2 * WORLDS, deterministic=False)[0])

    before = tested()
    with open(args.out / "training.csv", "w", newline="") as file:
        curve = Curve(file)
        agent.learn(args.steps // HELD, callback=curve)
    after = tested()
    draw(curve.rows, before, after, args.out / "training.svg")
    print(f"In worlds that it has not practised in: {before:.1f} blocks before, {after:.1f} after.")
    practice.close()
    test.close()


if __name__ == "__main__":
    main()
