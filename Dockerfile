FROM rust:1-slim-bookworm AS build
WORKDIR /src
COPY . .
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/src/target \
    cargo build --release --locked && cp target/release/buildoff /usr/local/bin/

FROM debian:bookworm-slim
RUN apt-get update \
 && apt-get install -y --no-install-recommends curl \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --system --create-home buildoff
COPY --from=build /usr/local/bin/buildoff /usr/local/bin/
USER buildoff
ENV BIND=0.0.0.0:3000 LOG_FORMAT=json
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD curl --fail --silent "http://127.0.0.1:${PORT:-3000}/readyz"
ENTRYPOINT ["buildoff"]
