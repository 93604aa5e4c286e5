# Builds Deed, then keeps only what it runs on.
FROM swift:6.3-bookworm AS build
RUN apt-get update -q \
    && apt-get install -q -y --no-install-recommends \
        pkg-config libpq-dev libssl-dev libmicrohttpd-dev libcurl4-openssl-dev \
        libqrencode-dev libjemalloc-dev \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY Package.swift ./
COPY sql sql
COPY Sources Sources
COPY Tests Tests
RUN swift build -c release --product deed --static-swift-stdlib \
    && cp "$(swift build -c release --show-bin-path)/deed" /usr/local/bin/deed

FROM debian:bookworm-slim
RUN apt-get update -q \
    && apt-get install -q -y --no-install-recommends \
        ca-certificates libpq5 libssl3 libmicrohttpd12 libcurl4 libqrencode4 libjemalloc2 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --no-create-home --shell /usr/sbin/nologin deed \
    && install -d -o deed -g deed -m 700 /var/lib/deed
COPY --from=build /usr/local/bin/deed /usr/local/bin/deed
USER deed
ENV DEED_LISTEN=0.0.0.0:8080 DEED_DATA_DIR=/var/lib/deed
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=5s --timeout=5s --retries=5 CMD ["deed", "status", "--ready"]
ENTRYPOINT ["deed"]
CMD ["serve"]
