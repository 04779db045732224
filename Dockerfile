# One image for every process of ours; docker-compose.yml says which one each container runs.
FROM python:3.13-slim

WORKDIR /srv/lastapple
COPY requirements/run.txt requirements/run.txt
RUN pip install --no-cache-dir --require-hashes -r requirements/run.txt

COPY pyproject.toml README.md ./
COPY app app
COPY loadtest loadtest
COPY migrations migrations
COPY docs docs
COPY packages packages
RUN pip install --no-cache-dir --no-deps --no-build-isolation \
        --editable ./packages/badluck \
        --editable ./packages/fairlock --editable ./packages/figures --editable ./packages/servers --editable . \
    && useradd --uid 10001 --no-create-home lastapple \
    && install --directory --owner lastapple var

USER lastapple
ENTRYPOINT ["lastapple"]
CMD ["up"]
