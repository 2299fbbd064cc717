# An MCP server on standard input and output, with your notes as a volume:
#   docker build -t memory-palace . && docker run --rm -i -v ~/notes:/notes memory-palace
# Any other verb: docker run --rm -it -v ~/notes:/notes memory-palace index
FROM python:3.13-slim
LABEL io.modelcontextprotocol.server.name="io.github.memory-palace/memory-palace"
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY memory_palace ./memory_palace
# hadolint ignore=DL3013
RUN pip install --no-cache-dir '.[mcp]' && useradd --create-home --uid 1000 palace
USER 1000
WORKDIR /notes
ENTRYPOINT ["memory-palace"]
CMD ["mcp"]
