#!/bin/sh
# Tells Slipway of a release: POST /release/NAMESPACE/PIPELINE, signed. Needs sh, openssl and curl.
# In the environment: SLIPWAY_URL NAMESPACE PIPELINE KEY_FILE VERSION, and DIGEST COMMIT AUTHOR CREATED IMAGE, each of which may be empty.
set -eu
body="{\"version\":\"$VERSION\""
[ -z "${DIGEST:-}" ] || body="$body,\"digest\":\"$DIGEST\""
[ -z "${COMMIT:-}" ] || body="$body,\"commit\":\"$COMMIT\""
[ -z "${AUTHOR:-}" ] || body="$body,\"author\":\"$AUTHOR\""
[ -z "${CREATED:-}" ] || body="$body,\"created\":\"$CREATED\""
[ -z "${IMAGE:-}" ] || body="$body,\"images\":[\"$IMAGE\"]"
body="$body}"
path="/release/$NAMESPACE/$PIPELINE"
try=1
while :; do  # a call counts once: each try is signed anew, with a nonce of its own
  timestamp=$(date +%s)
  nonce=$(openssl rand -hex 16)
  signature=$(printf '%s\n%s\n%s\n%s\n%s' POST "$path" "$timestamp" "$nonce" "$body" |
    openssl dgst -sha256 -hmac "$(cat "$KEY_FILE")" | sed 's/^.*= *//')
  answer=$(curl --silent --show-error --max-time 30 --write-out '\n%{http_code}' -X POST "$SLIPWAY_URL$path" \
    -H "Content-Type: application/json" \
    -H "X-Slipway-Timestamp: $timestamp" -H "X-Slipway-Nonce: $nonce" -H "X-Signature: sha256=$signature" \
    --data-binary "$body") || true
  case $(printf '%s' "$answer" | tail -n 1) in
    2??) printf '%s\n' "$answer" | sed '$d'; exit 0 ;;
    408 | 429) ;;
    4??) try=4 ;;  # refused: it would be again
  esac
  [ "$try" -lt 4 ] || { printf '%s\n' "$answer" >&2; exit 1; }
  sleep "$try"
  try=$((try + 1))
done
