# conspectus with everything: command line, service, proxy, agents, PostgreSQL, traces.
#
#   docker build -t conspectus .
#   docker run --rm -p 127.0.0.1:7437:7437 -v conspectus:/data -v ./tokens.txt:/etc/conspectus/tokens.txt:ro conspectus
#
# docs/release.md says how tokens are made, and how a configuration file is given.
FROM rust:1.95-slim-trixie AS build
RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .
RUN scripts/release.sh /out

FROM debian:trixie-slim
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --create-home --home-dir /data conspectus
COPY --from=build /out/conspectus /usr/local/bin/conspectus
USER conspectus
WORKDIR /data
VOLUME /data
EXPOSE 7437 7438
# It listens beyond the container, so it asks for tokens: without the file it does not start.
ENTRYPOINT ["conspectus"]
CMD ["serve", "--listen", "0.0.0.0:7437", "--store", "sqlite:/data/threads.db", "--tokens", "/etc/conspectus/tokens.txt"]
