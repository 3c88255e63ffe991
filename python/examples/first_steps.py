import gymnasium, buildoff

env = gymnasium.make("buildoff/World-v0", scene="meadow")
picture, info = env.reset(seed=7)
for _ in range(100):
    picture, reward, terminated, truncated, info = env.step(env.action_space.sample())
print(info["position"], info["target"])
