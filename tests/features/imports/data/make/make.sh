#!/usr/bin/env bash
# Make all result files again: every framework in an environment of its own, below the folder that is given.
set -euo pipefail
make=$(cd "$(dirname "$0")" && pwd)
lab=${1:?a folder for the environments}
mkdir -p "$lab/run"
cd "$lab"
for tool in inspect_ai deepeval pydantic-evals; do
  [ -d "v-$tool" ] || { python3 -m venv "v-$tool"; "v-$tool/bin/pip" install -q "$tool"; }
done
[ -d pf/node_modules ] || npm install --prefix pf promptfoo --no-audit --no-fund --ignore-scripts
cd run
rm -rf deepeval-runs ./*.json ./*.xml ./*.eval
../v-inspect_ai/bin/python "$make/make_inspect.py" .
../v-deepeval/bin/python "$make/make_deepeval.py" .
mv deepeval-runs/test_run_*_2.json deepeval-conversation.json
mv deepeval-runs/test_run_*.json deepeval.json
../v-pydantic-evals/bin/python "$make/make_pydantic_evals.py" .
run=$PWD
cd "$make"
export PROMPTFOO_DISABLE_TELEMETRY=1 PROMPTFOO_DISABLE_UPDATE=1 PROMPTFOO_CONFIG_DIR="$lab/home" PROMPTFOO_FAILED_TEST_EXIT_CODE=0
"$lab/pf/node_modules/.bin/promptfoo" eval -c promptfooconfig.yaml -o "$run/promptfoo.json" -o "$run/promptfoo.junit.xml" --no-cache --no-table
mv "$run/promptfoo.junit.xml" "$run/junit-promptfoo.xml"
python -m pytest -q -p no:cacheprovider -c /dev/null --rootdir . capitals_pytest.py --junitxml "$run/junit-pytest.xml" || true
python -m pytest -q -p no:cacheprovider -c /dev/null --rootdir . subtests_pytest.py --junitxml "$run/junit-pytest-subtests.xml" || true
node --test --test-reporter=junit junit.test.mjs > "$run/junit-node.xml" || true
rm -rf __pycache__
python scrub.py "$run"/*.json "$run"/*.eval "$run"/*.xml ..
