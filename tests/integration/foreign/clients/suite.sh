# Asks models with curl, and prints every answer in full with its status and type.
set -eu
ask() {
  path=$1
  shift
  curl --silent --show-error --no-buffer --write-out '\n%{http_code} %{content_type}\n' \
    -H "Authorization: Bearer $OPENAI_API_KEY" "$@" "$OPENAI_BASE_URL/$path"
}
json='Content-Type: application/json'
body='{"model": "gpt-4o", "messages": [{"role": "user", "content": "hello"}]'
ask chat/completions -H "$json" -d "$body}"
ask chat/completions -H "$json" -d "$body, \"stream\": true}"
ask chat/completions -H "$json" -d "$body, \"temperature\": 0}"
ask chat/completions -H "$json" -d "{"
ask models
printf '%s}' "$body" | gzip -n | ask chat/completions -H "$json" -H 'Content-Encoding: gzip' --data-binary @-
# Larger than a megabyte: curl asks for leave to send it.
{ printf '{"model": "gpt-4o", "messages": [{"role": "user", "content": "'; head -c 3000000 /dev/zero | tr '\0' a
  printf '"}]}'; } > large.json
ask chat/completions -H "$json" -H 'Expect: 100-continue' --data-binary @large.json | tail -n 1
ask chat/completions -H "$json" -H 'Transfer-Encoding: chunked' --data-binary @large.json | tail -n 1
# In one connection, with what curl keeps of it.
curl --silent --show-error --parallel --parallel-max 1 --write-out '\n%{num_connects}\n' \
  -H "Authorization: Bearer $OPENAI_API_KEY" "$OPENAI_BASE_URL/models" "$OPENAI_BASE_URL/models/gpt-4o"
truncate -s 100M huge
ask chat/completions -H "$json" --data-binary @huge
