#!/usr/bin/env python3
"""What a speculative round costs in llama.cpp's own server: speed against draft length and requests at once, drafts accepted by chance.

The server accepts drafts at stated rates (--spec-synth-rates, llama.cpp of September 2026 and later), so that files of random weights
(random_gguf.py) run the very rounds of a real deployment, and the accept length is known. Each line of the table is one state: SEQUENCES
requests decode at once, prompts are behind, none has finished; it counts what arrives in that time.

    scripts/llama_cpp/measure_rounds.py --server llama-server --plan plan.json --output rounds.csv [--seconds 500]

plan.json: {"device": "h200-sxm", "acceptance": [0.8, ...], "loads": [[sequences, prompt, generated], ...],
"runs": [{"target": "qwen3-8b", "format": "q4_k_m", "file": "t.gguf", "vocabulary": 151936, "drafter": "model", "drafter_file": "d.gguf",
"drafts": [0, 2, 4]}]}; "sampling": "device" in a run asks for --backend-sampling. Drafters: "model" (a draft model), "mtp" (the target's
own module). Runs that time does not suffice for are named on the error output.
"""
import argparse
import csv
import http.client
import json
import random
import statistics
import subprocess
import sys
import threading
import time

PORT = 8089
COLUMNS = ["device", "target", "format", "drafter", "drafter_format", "sampling", "drafts", "sequences", "prompt", "context", "rounds", "accept_length",
           "tokens_per_s", "tokens_per_s_first_half", "round_ms", "prompt_ms"]


class Server:
    """llama-server with one target and draft length; ends with the block."""

    def __init__(self, program, run, drafts, sequences, context, acceptance, log):
        command = [program, "-m", run["file"], "-ngl", "999", "-fa", "on", "-np", str(sequences), "-c", str(sequences * context), "-b", "2048",
                   "-ub", "512", "--host", "127.0.0.1", "--port", str(PORT), "--no-warmup", "-fit", "off", "--cache-ram", "0", "--ctx-checkpoints", "0"]
        if run.get("sampling") == "device":
            command += ["--backend-sampling"]
        if drafts:
            command += ["--spec-type", "draft-mtp" if run["drafter"] == "mtp" else "draft-simple", "--spec-draft-n-max", str(drafts),
                        "--spec-draft-p-min", "0", "--spec-synth-rates", ",".join(f"{rate:.4f}" for rate in acceptance[:drafts])]
            if run["drafter"] == "model":
                command += ["-md", run["drafter_file"], "-ngld", "999"]
        print(" ".join(command), file=log, flush=True)
        self.process = subprocess.Popen(command, stdout=log, stderr=log)

    def __enter__(self):
        for _ in range(1200):
            if self.process.poll() is not None:
                raise RuntimeError(f"the server ended with {self.process.returncode}")
            try:
                if answer("GET", "/health")[0] == 200:
                    return self
            except OSError:
                pass
            time.sleep(0.1)
        raise RuntimeError("the server does not answer")

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def answer(method, path, body=None):
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=120)
    connection.request(method, path, body, {"Content-Type": "application/json"})
    reply = connection.getresponse()
    text = reply.read()
    connection.close()
    return reply.status, text


class Request(threading.Thread):
    """One streamed request; notes when each token arrived and what the server says at the end."""

    def __init__(self, prompt, generated, slot):
        super().__init__()
        self.body = json.dumps({"prompt": prompt, "n_predict": generated, "temperature": 0, "ignore_eos": True, "stream": True, "id_slot": slot,
                                "cache_prompt": False, "return_tokens": True, "seed": slot + 1})
        self.arrivals, self.timings, self.error = [], None, None

    def run(self):
        try:
            connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=300)
            connection.request("POST", "/completion", self.body, {"Content-Type": "application/json"})
            reply = connection.getresponse()
            if reply.status != 200:
                raise RuntimeError(reply.read().decode(errors="replace"))
            for line in reply:
                if line.startswith(b"data: "):
                    now = time.perf_counter()
                    event = json.loads(line[6:])
                    self.timings = event.get("timings", self.timings)
                    self.arrivals += [now] * len(event.get("tokens", []))
            connection.close()
        except (OSError, RuntimeError, ValueError) as error:
            self.error = error


def measure(sequences, prompt, generated, vocabulary, rng):
    requests = [Request([rng.randrange(300, vocabulary - 2) for _ in range(prompt)], generated, slot) for slot in range(sequences)]
    begin = time.perf_counter()
    for request in requests:
        request.start()
    for request in requests:
        request.join()
    broken = next((request.error for request in requests if request.error), None)
    if broken:
        raise RuntimeError(f"request: {broken}")
    first = max(request.arrivals[0] for request in requests)
    last = min(request.arrivals[-1] for request in requests)
    middle = (first + last) / 2
    counted = sum(first < at <= last for request in requests for at in request.arrivals)
    before = sum(first < at <= middle for request in requests for at in request.arrivals)
    tokens = sum(request.timings["predicted_n"] for request in requests)
    accepted = sum(request.timings.get("draft_n_accepted", 0) for request in requests)
    rounds = tokens - accepted
    generated_before = statistics.mean(sum(at <= first for at in request.arrivals) for request in requests)
    return {"sequences": sequences, "prompt": prompt, "context": round(prompt + (generated_before + generated) / 2), "rounds": rounds,
            "accept_length": round(tokens / rounds, 4), "tokens_per_s": round(counted / (last - first) / sequences, 3),
            "tokens_per_s_first_half": round(before / (middle - first) / sequences, 3),
            "round_ms": round(1000 * tokens / rounds * (last - first) * sequences / counted, 4), "prompt_ms": round(1000 * (first - begin), 1)}


def checked_loads(loads, options):
    """Lists of three whole numbers above 0; else the program ends with a sentence."""
    if not isinstance(loads, list) or not loads:
        options.error('"loads" of the plan must list [sequences, prompt, generated], such as [[1, 512, 128], [4, 512, 128]]')
    for number, load in enumerate(loads, 1):
        whole = isinstance(load, list) and all(isinstance(value, int) and not isinstance(value, bool) and value > 0 for value in load)
        if not whole or len(load) != 3:
            options.error(f'load {number} of the plan, {json.dumps(load)}, must be three whole numbers above 0: [sequences, prompt, generated]')
        if load[2] < 3:
            options.error(f'load {number} of the plan, {json.dumps(load)}, generates too few tokens to time rounds between: at least 3')
    return loads


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--server", required=True)
    options.add_argument("--plan", required=True, type=argparse.FileType())
    options.add_argument("--output", required=True)
    options.add_argument("--log", default="/dev/null", help="what the server prints")
    options.add_argument("--seconds", type=float, default=1e9, help="no state begins after this time")
    given = options.parse_args()
    plan, end, rng = json.load(given.plan), time.monotonic() + given.seconds, random.Random(7)
    loads = checked_loads(plan.get("loads"), options)
    most = max(sequences for sequences, _, _ in loads)
    longest = max(prompt + generated for _, prompt, generated in loads)
    with open(given.output, "w", newline="") as output, open(given.log, "a") as log:
        table = csv.DictWriter(output, COLUMNS)
        table.writeheader()
        for run in plan["runs"]:
            for drafts in run["drafts"]:
                name = f"{run['target']} {run['format']} {run.get('drafter', '')} {drafts}"
                if time.monotonic() > end:
                    print(f"no time left for {name}", file=sys.stderr)
                    continue
                try:
                    context = -(-(longest + 2 * drafts + 64) // 256) * 256
                    with Server(given.server, run, drafts, most, context, plan["acceptance"], log):
                        print(f"{time.monotonic() - end + given.seconds:.0f} s: {name}", file=sys.stderr)
                        for sequences, prompt, generated in loads:
                            if time.monotonic() > end:
                                break
                            measure(sequences, min(prompt, 64), 24, run["vocabulary"], rng)  # kernels are compiled, graphs captured
                            state = measure(sequences, prompt, generated, run["vocabulary"], rng)
                            drafter = {"drafter": run["drafter"], "drafter_format": run.get("drafter_format", run["format"])} if drafts else {}
                            table.writerow({"device": plan["device"], "target": run["target"], "format": run["format"], "sampling": run.get("sampling", "host"),
                                            "drafts": drafts, **drafter, **state})
                            output.flush()
                except (OSError, RuntimeError) as error:
                    print(f"{name}: {error}", file=sys.stderr)


if __name__ == "__main__":
    main()
