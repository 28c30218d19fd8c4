"""Speed-up against draft length at three batches, as a plot: matplotlib draws it where it is installed, else a few lines of SVG.

    PYTHONPATH=... python3 examples/python/draft_length.py --output draft_length.svg
"""
import argparse

import treeline

AXES = {
    "target": "llama-3.1-8b",
    "platform": {"device": "h100-sxm", "stack": "vllm"},
    # Measured on ShareGPT: SpecDecode-Bench (arXiv 2601.11580).
    "drafter": [{"kind": "eagle3", "acceptance": {"per_position": [0.605, 0.361, 0.233, 0.162, 0.118]}}],
    "draft_tokens": {"from": 0, "to": 5},
    "batch": [1, 32, 128],
    "context": 2048,
}
COLOURS = ["#1b6ca8", "#c2571a", "#3a7d44"]


def curves():
    """For each batch: its name, the draft lengths and the speed-ups."""
    sweep = treeline.sweep({"title": "EAGLE-3 on one H100", "axes": AXES})
    for batch in AXES["batch"]:
        rows = sweep["batch"] == batch
        yield f"batch {batch}", sweep["draft_tokens"][rows], sweep["speedup"][rows]


def draw_with_matplotlib(pyplot, path):
    pyplot.rcParams["svg.fonttype"] = "none"  # text stays text
    for (name, lengths, speedups), colour in zip(curves(), COLOURS):
        pyplot.plot(lengths, speedups, marker="o", color=colour, label=name)
    pyplot.xlabel("draft tokens")
    pyplot.ylabel("speed-up over plain decoding")
    pyplot.legend()
    pyplot.savefig(path)


def draw_with_svg(path, width=480, height=320, margin=50):
    lines = list(curves())
    top = max(speedups.max() for _, _, speedups in lines)
    bottom = min(speedups.min() for _, _, speedups in lines)
    x = lambda length: margin + (width - 2 * margin) * length / AXES["draft_tokens"]["to"]
    y = lambda speedup: height - margin - (height - 2 * margin) * (speedup - bottom) / (top - bottom)
    text = lambda x, y, words, colour="black": f'<text x="{x:.0f}" y="{y:.0f}" fill="{colour}">{words}</text>'
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="12">',
             text(margin, 20, "Speed-up over plain decoding, by draft tokens")]
    parts += [text(x(k) - 4, height - margin + 20, k) for k in range(AXES["draft_tokens"]["to"] + 1)]
    parts += [text(5, y(value) + 4, f"{value:.2f}x") for value in (bottom, top)]
    for (name, lengths, speedups), colour in zip(lines, COLOURS):
        points = " ".join(f"{x(k):.1f},{y(value):.1f}" for k, value in zip(lengths, speedups))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts.append(text(x(lengths[-1]) - 70, y(speedups[-1]) - 6, name, colour))
    with open(path, "w") as file:
        file.write("\n".join([*parts, "</svg>\n"]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", default="draft_length.svg")
    output = parser.parse_args().output
    try:
        import matplotlib
        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError:
        draw_with_svg(output)
    else:
        draw_with_matplotlib(pyplot, output)
    for name, lengths, speedups in curves():
        best = speedups.argmax()
        print(f"{name}: draft {lengths[best]:.0f} tokens, {speedups[best]:.2f}x")
