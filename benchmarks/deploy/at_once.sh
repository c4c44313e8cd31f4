# Asks for three answers at once; fails when one of them is none.
for prompt in "Name three colours." "Count from one to five." "What is a lamp?"; do
  curl -fsS "http://127.0.0.1:$PORT/v1/chat/completions" -H 'Content-Type: application/json' \
    -d "{\"model\": \"tiny\", \"max_tokens\": 96, \"messages\": [{\"role\": \"user\", \"content\": \"$prompt\"}]}" |
    grep -q '"content"' &
  pids="${pids:-} $!"
done
for one in $pids; do wait "$one" || exit 1; done
