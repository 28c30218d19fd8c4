// Is the C-simulation what the RTL does? Runs both on a grid of configurations: every output must be the same bit for bit, and
// the cycles must be equal. Prints one line a configuration; exit code 1 where any differs.
#include <chrono>
#include <cstdio>
#include <string>

#include "kernels/hls/layer_run.h"
#include "random_layer.h"
#include "rtl_layer.h"

using namespace treeline::kernels::accelerator;

namespace {

struct Case {
    std::string name;
    LayerPlan plan;
    LayerDesign design;
};

struct Rate {
    int numerator, denominator;
};

std::vector<int> tree(const std::string& kind, int tokens, std::mt19937& random) {
    return kind == "chain"    ? chain_parents(tokens)
           : kind == "comb"   ? comb_parents(tokens)
           : kind == "binary" ? binary_parents(tokens)
                              : random_parents(tokens, random);
}

Case core_case(const std::string& kind, int tokens, int tiles, int blocks, Rate rate, int fifo, std::mt19937& random) {
    Case c;
    c.plan.parents = tree(kind, tokens, random);
    c.plan.inputs = {blocks, tiles};
    c.plan.state_tiles = state_tiles_of<GridShape>;
    c.design.passes = (tokens + GridShape::token_lanes - 1) / GridShape::token_lanes;
    c.design.rate_numerator = rate.numerator;
    c.design.rate_denominator = rate.denominator;
    c.design.waiting_fifo = fifo;
    c.name = kind + " L " + std::to_string(tokens) + " T " + std::to_string(tiles) + " B " + std::to_string(blocks) +
             " memory " + std::to_string(rate.numerator) + "/" + std::to_string(rate.denominator) + " FIFO " +
             std::to_string(fifo);
    return c;
}

/// Everything that registers reach, drawn.
void add_random_cases(std::vector<Case>& cases, std::mt19937& random) {
    const auto number = [&](int low, int high) {
        return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
    };
    for (int i = 0; i < 64; ++i) {
        const int denominator = number(1, 6);
        Case c = core_case("random", number(1, 32), number(4, 60), number(1, 16),
                           {number((denominator + 1) / 2, denominator), denominator}, number(1, 32), random);
        c.plan.replayed = number(0, 8);
        c.design.interleaved = number(1, 2);
        c.design.ssm.initiation_interval = number(1, 3);
        if (i % 2 == 0) {
            c.plan.coefficients = {number(1, 8), c.plan.inputs.tiles};
            c.plan.gate_blocks = number(1, 40);
            c.plan.output = {number(1, 12), number(1, 60)};
            c.plan.entry_norm_cycles = number(0, 40);
            c.plan.gated_norm_cycles = number(1, 40);
        }
        c.name += " R " + std::to_string(c.plan.replayed) + " interleave " + std::to_string(c.design.interleaved) + " II " +
                  std::to_string(c.design.ssm.initiation_interval) + (i % 2 == 0 ? " whole layer" : "");
        cases.push_back(c);
    }
}

std::vector<Case> grid() {
    std::mt19937 random(5);
    std::vector<Case> cases;
    const Rate rates[] = {{1, 1}, {3, 4}, {2, 3}};
    const int tile_counts[] = {16, 40, 80, 320};
    int turn = 0;
    for (const char* kind : {"chain", "comb", "binary", "random"}) {
        for (const int tokens : {1, 2, 5, 8, 16, 32}) {
            for (const int fifo : {4, 8}) {
                cases.push_back(
                    core_case(kind, tokens, tile_counts[turn % 4], turn % 4 == 3 ? 6 : 12, rates[turn % 3], fifo, random));
                ++turn;
            }
        }
    }
    // Recomputed tokens, interleaved tiles, slower issue, and whole layers.
    for (const char* kind : {"chain", "comb", "binary", "random"}) {
        for (const int replayed : {1, 4}) {
            Case c = core_case(kind, 12, 24, 12, rates[turn % 3], 16, random);
            c.plan.replayed = replayed;
            c.design.interleaved = 1 + turn % 2;
            c.design.ssm.initiation_interval = 1 + turn / 2 % 2;
            if (turn / 2 % 2 == 1) {
                c.plan.coefficients = {5, 24};
                c.plan.gate_blocks = 9 + 4 * (turn % 2);
                c.plan.output = {10, 12};
                c.plan.entry_norm_cycles = 20;
                c.plan.gated_norm_cycles = 40;
                c.name += " whole layer";
            }
            c.name += " R " + std::to_string(replayed) + " interleave " + std::to_string(c.design.interleaved) + " II " +
                      std::to_string(c.design.ssm.initiation_interval);
            cases.push_back(c);
            ++turn;
        }
    }
    add_random_cases(cases, random);
    return cases;
}

template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
    return a == b;
}

bool same(const std::vector<StateTile<GridShape>>& a, const std::vector<StateTile<GridShape>>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const StateTile<GridShape>& x, const StateTile<GridShape>& y) {
        return std::equal(std::begin(x.h), std::end(x.h), std::begin(y.h));
    });
}

std::string difference(const LayerData<GridShape>& csim, const RtlOutcome& rtl) {
    return !same(csim.y, rtl.y)                                  ? "y differs"
           : !same(csim.memory, rtl.memory)                      ? "state differs"
           : !same(csim.cache_now, rtl.cache_now)                ? "activation cache differs"
           : !same(csim.coefficients.sums, rtl.coefficient_sums) ? "B, C, dt differ"
           : !same(csim.inputs.sums, rtl.gate_sums)              ? "gate differs"
           : !same(csim.output.sums, rtl.output_sums)            ? "output projection differs"
                                                                 : "";
}

/// What is wrong, or nothing.
std::string run(const Case& c, unsigned seed) {
    RandomLayer<GridShape> layer(c.plan, seed);
    LayerData<GridShape> data = layer.data;
    const LayerTrace traced = LayerRun<GridShape>(c.plan, c.design, data).run();
    const Schedule csim = schedule(traced.trace);
    const RtlOutcome rtl = run_rtl(c.plan, c.design, layer.data);
    const StreamSchedule& waiting = csim.streams[static_cast<std::size_t>(traced.waiting)];
    std::printf("%-70s C-sim %6ld RTL %6ld  FIFO high-water %2d %2d  %s\n", c.name.c_str(), static_cast<long>(csim.cycles),
                static_cast<long>(rtl.cycles), waiting.high_water, rtl.waiting_high_water, rtl.deadlocked ? "deadlock" : "");
    if (rtl.deadlocked || !csim.deadlock.empty()) {
        return rtl.deadlocked != !csim.deadlock.empty() ? "only one of them deadlocks: " + csim.deadlock : "";
    }
    if (csim.cycles != rtl.cycles) {
        return "cycles differ";
    }
    if (waiting.high_water != rtl.waiting_high_water) {
        return "FIFO high-water marks differ";
    }
    return difference(data, rtl);
}

}  // namespace

int main() {
    const auto began = std::chrono::steady_clock::now();
    int bad = 0, number = 0;
    for (const Case& c : grid()) {
        if (const std::string wrong = run(c, static_cast<unsigned>(100 + number)); !wrong.empty()) {
            std::printf("  WRONG: %s\n", wrong.c_str());
            ++bad;
        }
        ++number;
    }
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    std::printf("%d configurations, %d wrong, %.1f s\n", number, bad, seconds);
    return bad == 0 ? 0 : 1;
}
