#!/usr/bin/env python3
"""From a table of measure_rounds.py to rows for `treeline validate --speculation`: each round against plain decoding at its load.

    scripts/llama_cpp/speedup_rows.py rounds.csv --version 0.5.0 > rows.json
"""
import argparse
import csv
import json
import sys

LOAD = ("target", "format", "sampling", "sequences", "prompt")


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("table", type=argparse.FileType())
    options.add_argument("--version", required=True, help="of llama.cpp")
    given = options.parse_args()
    states = list(csv.DictReader(given.table))
    plain = {tuple(state[key] for key in LOAD): state for state in states if state["drafts"] == "0"}
    rows = []
    for state in states:
        before = plain.get(tuple(state[key] for key in LOAD))
        if state["drafts"] == "0" or before is None:
            continue
        deployment = f"llama.cpp-{given.version}/{state['device']}/{state['target']}-{state['format']}/{state['drafter']}"
        without, with_drafts = float(before["tokens_per_s"]), float(state["tokens_per_s"])
        rows.append({
            "id": f"{deployment}-{state['drafts']}-{state['sequences']}x{state['prompt']}", "series": f"{deployment}/{state['prompt']}/{state['drafts']}",
            "source": "scripts/llama_cpp/measure_rounds.py", "citation": f"Treeline: llama.cpp {given.version} on {state['device']}",
            "engine": "llama.cpp", "engine_version": given.version, "target_model": state["target"], "target_precision": state["format"],
            "drafter_type": "mtp" if state["drafter"] == "mtp" else "draft_model",
            "drafter_model": "in-checkpoint MTP" if state["drafter"] == "mtp" else f"Qwen3-0.6B ({state['drafter_format']})",
            "draft_tokens": int(state["drafts"]), "gpu": state["device"], "n_gpus": 1, "tp": 1, "dataset": "prompts-behind",
            "input_len": int(state["prompt"]), "output_len": 2 * (int(state["context"]) - int(state["prompt"])), "temperature": 0,
            "batch_or_concurrency": int(state["sequences"]), "concurrency_kind": "running requests", "metric": "tok_s_per_user",
            "better": "higher", "value_without": without, "value_with": with_drafts, "speedup": round(with_drafts / without, 4),
            "is_pair": True, "accept_length": float(state["accept_length"]), "confidence": "high",
            "accept_length_definition": "tokens of a round, the target's own included; drafts accepted by chance (--spec-synth-rates)"})
    json.dump(rows, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
