# Writes in the ledger that the release is ready.
printf '{"t":"%s","event":"ready","release":"%s"}\n' "$(date -u +%FT%TZ)" "$RELEASE" >> ledger.jsonl
sync ledger.jsonl
