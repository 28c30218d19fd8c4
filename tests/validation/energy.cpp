// What does a GPU draw while it serves, beside what its memory traffic takes?
//
// Watts of steps that others measured (validation/energy) against
//   idle + a·(board − idle) + E_byte·bytes/s + f·E_flop·FLOP/s, at most board,
// with the bytes and FLOPs that the model counts of the step and the tokens/s that were measured. a and f are fitted (least
// squares of relative errors), on one device and tried on the other, and on both; the descriptions of devices state the latter.
//
// Exits with 1 where the catalogue or sim/constants.h states other numbers than these fits give, or an error is above its
// limit.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "numerics/quantile.h"
#include "requests/precision_words.h"
#include "setups.h"
#include "sim/constants.h"
#include "text/csv.h"
#include "text/input_file.h"

using namespace treeline;
using namespace treeline::testing;

namespace {

/// Of both devices.
constexpr double median_limit = 0.12;
/// By how much a stated number may differ from its fit.
constexpr double stale = 0.05;

/// Watts of one device in a step.
struct Draw {
    std::string device;
    double batch = 0.0;
    double measured = 0.0;
    double idle = 0.0, board = 0.0, bytes = 0.0;
    double products = 0.0;  ///< at E_flop as stated
};

/// What serves, of board − idle, and the energy of a product, of what the catalogue states.
struct Shares {
    double serving = 0.0, product = 0.0;
};

double watts(const Draw& draw, const Shares& shares) {
    return std::min(draw.board,
                    draw.idle + shares.serving * (draw.board - draw.idle) + draw.bytes + shares.product * draw.products);
}

/// Joules of a token by traffic alone, or by products alone.
double joules(sim::RoundSetup setup, bool traffic, double batch, double context) {
    sim::Device& device = setup.platform.device;
    device.active_power = Watts(0.0);
    device.board_power = Watts(0.0);
    // Either must be stated for energy to be known; what is next to nothing adds nothing.
    const auto tiny = [](auto& value) { value = value * 1e-12; };
    tiny(device.idle_power);
    traffic ? tiny(device.energy_per_flop) : tiny(device.energy_per_byte);
    return sim::evaluate(sim::compile_round(setup), {0, batch, context}).energy_per_token.value();
}

Draw draw_of(const text::CsvReader& row) {
    const double ranks = std::stod(row["gpus"]), batch = std::stod(row["batch"]), context = std::stod(row["context"]);
    sim::RoundSetup setup;
    setup.target = model(row["model"]);
    const std::string& word = row["precision"];
    setup.precision =
        word == "as published" ? setup.target.precision : requests::precision_of_word(word, setup.target.precision).value();
    setup.platform = platform(row["device"], "vllm@0.11", ranks);
    setup.platform.mode = sim::CostMode::roofline;
    if (ranks > 1.0) {
        setup.platform.interconnect = setup.platform.device.interconnects.front().name;
    }
    const sim::Device& device = setup.platform.device;
    const double tokens = std::stod(row["tokens_per_s"]) / ranks;
    return {row["device"],
            batch,
            std::stod(row["watts_per_gpu"]),
            device.idle_power.value(),
            device.board_power.value(),
            joules(setup, true, batch, context) * tokens,
            joules(setup, false, batch, context) * tokens};
}

std::vector<Draw> read_draws() {
    const std::string csv = text::read_file(source_folder() / "validation/energy/ml_energy_v3.csv");
    text::CsvReader rows(csv);
    std::vector<Draw> draws;
    while (rows.next()) {
        draws.push_back(draw_of(rows));
    }
    return draws;
}

/// Least squares of (measured − predicted)/measured over both shares.
Shares fit(const std::vector<Draw>& draws) {
    double ss = 0.0, sp = 0.0, pp = 0.0, sy = 0.0, py = 0.0;
    for (const Draw& draw : draws) {
        const double s = (draw.board - draw.idle) / draw.measured, p = draw.products / draw.measured;
        const double y = (draw.measured - draw.idle - draw.bytes) / draw.measured;
        ss += s * s, sp += s * p, pp += p * p, sy += s * y, py += p * y;
    }
    const double determinant = ss * pp - sp * sp;
    return {(pp * sy - sp * py) / determinant, (ss * py - sp * sy) / determinant};
}

/// Of the sizes of relative errors.
struct Errors {
    double median = 0.0, p90 = 0.0;
};

Errors report(const char* name, const Shares& shares, const std::vector<Draw>& draws) {
    std::vector<double> errors, sizes;
    for (const Draw& draw : draws) {
        errors.push_back(watts(draw, shares) / draw.measured - 1.0);
        sizes.push_back(std::abs(errors.back()));
    }
    const Errors of_sizes{numerics::quantile(sizes, 0.5), numerics::quantile(sizes, 0.9)};
    fmt::print("{:44} {:4} steps, median error {:4.1f} %, p90 {:4.1f} %, bias {:+5.1f} %\n", name, draws.size(),
               100.0 * of_sizes.median, 100.0 * of_sizes.p90, 100.0 * numerics::quantile(errors, 0.5));
    return of_sizes;
}

template <class Which>
std::vector<Draw> those(const std::vector<Draw>& draws, Which which) {
    std::vector<Draw> result;
    std::copy_if(draws.begin(), draws.end(), std::back_inserter(result), which);
    return result;
}

/// The device predicted by what was fitted to the others.
Errors left_out(const std::vector<Draw>& draws, const std::string& device) {
    const Shares shares = fit(those(draws, [&](const Draw& draw) { return draw.device != device; }));
    const std::string name = fmt::format("{} left out ({:.2f}, {:.2f})", device, shares.serving, shares.product);
    return report(name.c_str(), shares, those(draws, [&](const Draw& draw) { return draw.device == device; }));
}

/// Whether a device states what the fit gives; its energy of a product is the rule's 90 % times the fitted factor.
bool is_stated(const std::string& name, const Shares& shares) {
    const sim::Device of = device(name);
    const Watts above = of.board_power - of.idle_power;
    const double serving = of.active_power / above;
    const double product = of.energy_per_flop * of.peak_for(sim::NumberFormat::bf16) / above / 0.9;
    const bool same = std::abs(serving - shares.serving) <= stale && std::abs(product / shares.product - 1.0) <= stale;
    fmt::print("{}: {:.2f} of the power above idle while it serves, {:.2f} times the energy of a product at peak{}\n", name,
               serving, product, same ? "" : ": NOT WHAT THE FIT GIVES");
    return same;
}

}  // namespace

int main() {
    std::vector<Draw> draws = read_draws();
    for (Draw& draw : draws) {  // the energies as the rule for peak rates gives them
        const sim::Device of = device(draw.device);
        draw.products *= 0.9 * (of.board_power - of.idle_power) / (of.energy_per_flop * of.peak_for(sim::NumberFormat::bf16));
    }
    const Shares both = fit(draws);
    fmt::print("fitted to both: {:.3f} of the power above idle, {:.2f} times the energy of a product\n", both.serving,
               both.product);
    report("without either", {0.0, 1.0}, draws);
    bool holds = report("both devices", both, draws).median <= median_limit;
    for (const auto& [least, most] : {std::pair{1.0, 16.0}, {17.0, 64.0}, {65.0, 256.0}, {257.0, 1e9}}) {
        const auto in_class = [least = least, most = most](const Draw& draw) {
            return draw.batch >= least && draw.batch <= most;
        };
        report(fmt::format("  batch from {:.0f}", least).c_str(), both, those(draws, in_class));
    }
    Errors worst;
    for (const char* name : {"h100-sxm", "b200"}) {
        const Errors errors = left_out(draws, name);
        worst = {std::max(worst.median, errors.median), std::max(worst.p90, errors.p90)};
        holds = is_stated(name, both) && holds;
    }
    const auto is_worst = [](double stated, double found) { return std::abs(stated - found) <= 0.01; };
    holds = is_worst(sim::usual_energy_error, worst.median) && is_worst(sim::energy_error, worst.p90) && holds;
    fmt::print("{}\n", holds ? "energy: as stated" : "energy: NOT as stated");
    return holds ? 0 : 1;
}
