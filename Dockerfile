# `spool ralph` with Claude Code, for a job in a container: docs/ci.md says how it is run and what of it was tried.
#   docker build --tag ralph .
#   docker run --rm --read-only --tmpfs /tmp --tmpfs /home/agent:uid=65532 --env ANTHROPIC_API_KEY \
#     --volume "$PWD:/work" --user "$(id -u):$(id -g)" ralph ralph "Build it" --change add-login --commit --no-interactive
FROM rust:1-bookworm AS build
WORKDIR /source
COPY . .
RUN scripts/cargo build --locked --release --bin spool && cp target/*-linux-*/release/spool /spool

FROM node:22-bookworm-slim
RUN apt-get update && apt-get install --yes --no-install-recommends ca-certificates git && rm -rf /var/lib/apt/lists/*
RUN npm install --global @anthropic-ai/claude-code@2.1.332
# One static program: it is process 1, so it gets the signals of the container itself.
COPY --from=build /spool /usr/local/bin/spool
RUN mkdir -p /home/agent /work && chown 65532:65532 /home/agent /work
ENV HOME=/home/agent
WORKDIR /work
USER 65532:65532
ENTRYPOINT ["spool"]
