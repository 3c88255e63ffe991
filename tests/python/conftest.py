from running_server import site  # noqa: F401
