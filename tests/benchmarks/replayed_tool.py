"""A load generator for rehearsals: takes bench_serving's words, writes a recorded result."""

import json
import os
import sys
import time
from pathlib import Path


def main() -> None:
    """Write the record of REPLAY, its lists stretched to the prompts, after REPLAY_AFTER s."""
    words = dict(zip(sys.argv[1::1], sys.argv[2::1], strict=False))
    time.sleep(float(os.environ.get("REPLAY_AFTER", "0")))
    number = int(words["--num-prompts"])
    record = json.loads(Path(os.environ["REPLAY"]).read_text())
    for name in ("input_lens", "output_lens", "ttfts", "itls", "generated_texts", "errors"):
        record[name] = [record[name][at % 3] for at in range(number)]
    if words["--sharegpt-output-len"] != os.environ.get("REPLAY_TOKENS", "64"):
        raise SystemExit(f"asked for {words['--sharegpt-output-len']} tokens an answer")
    prompts = Path(words["--dataset-path"]).read_text().splitlines()
    if len(prompts) != number or os.environ.get("HF_HUB_OFFLINE") != "1":
        raise SystemExit(3)
    record["total_output_tokens_retokenized"] = sum(record["output_lens"])
    sys.stderr.write(f"100%|####| {number}/{number} [00:01<00:00,  1.96it/s]\n")
    Path(words["--output-file"]).write_text(json.dumps(record) + "\n")


if __name__ == "__main__":
    main()
