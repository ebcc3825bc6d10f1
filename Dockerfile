ARG BASE_IMAGE=python:3.13-slim

FROM ${BASE_IMAGE} AS build
ENV PIP_ROOT_USER_ACTION=ignore PIP_DISABLE_PIP_VERSION_CHECK=1 UV_LINK_MODE=copy UV_PYTHON_DOWNLOADS=never
WORKDIR /build
COPY requirements-build.lock ./
RUN python -m pip install --no-cache-dir --require-hashes -r requirements-build.lock
# hadolint ignore=DL3008
RUN apt-get update && apt-get install -y --no-install-recommends binutils && rm -rf /var/lib/apt/lists/*
COPY requirements.lock ./
# Wheels of compiled packages come with symbols for debuggers: nine tenths of uvloop's 16 MB.
RUN uv venv /opt/scoregate \
    && uv pip sync --no-cache --require-hashes --python /opt/scoregate/bin/python requirements.lock \
    && find /opt/scoregate/lib -name '*.so' -exec strip --strip-unneeded {} + \
    && /opt/scoregate/bin/python -m compileall -q -j 0 --invalidation-mode unchecked-hash /opt/scoregate/lib
COPY pyproject.toml README.md LICENSE ./
COPY src ./src
# The wheel stays: it is what is added to environments of suites that do not bring it.
RUN uv build --no-cache --wheel --no-build-isolation --out-dir /opt/scoregate-sdk \
    && uv pip install --no-cache --no-deps --python /opt/scoregate/bin/python /opt/scoregate-sdk/*.whl \
    && rm -f /opt/scoregate-sdk/.gitignore \
    && /opt/scoregate/bin/python -m compileall -q -j 0 --invalidation-mode unchecked-hash \
       /opt/scoregate/lib/python3*/site-packages/scoregate \
    && /opt/scoregate/bin/python -m scoregate.kernel.report.html.compiled_templates

FROM ${BASE_IMAGE}
# As slim images do: manuals and translations of what is installed stay out, licences are kept.
RUN printf 'path-exclude=/usr/share/%s/*\n' doc locale man > /etc/dpkg/dpkg.cfg.d/slim \
    && echo 'path-include=/usr/share/doc/*/copyright' >> /etc/dpkg/dpkg.cfg.d/slim
# Debian keeps one version of git at a time, so that a pinned one would break the build at its next fix.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends git \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt/* \
    && find / -xdev -type f -perm /6000 -exec chmod a-s {} + \
    && git config --system --add safe.directory '*' \
    && stdlib=$(python -c "import sysconfig; print(sysconfig.get_path('stdlib'))") \
    && python -m compileall -q -j 0 --invalidation-mode unchecked-hash \
       -x '/(site-packages|test|idlelib|tkinter|turtledemo|ensurepip)/' "$stdlib"
COPY --from=build /usr/local/bin/uv /usr/local/bin/uv
COPY --from=build /opt/scoregate-sdk /opt/scoregate-sdk
COPY --from=build /opt/scoregate /opt/scoregate
ENV PYTHONDONTWRITEBYTECODE=1 SCOREGATE_CONTAINER=1
# -I: nothing of the workspace, and nothing that PYTHONPATH names there, may be imported by the host process.
ENTRYPOINT ["/opt/scoregate/bin/python", "-I", "-m", "scoregate", "action"]
