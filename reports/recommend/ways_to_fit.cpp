#include "reports/recommend/ways_to_fit.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "engines/definition.h"
#include "engines/priced_engine.h"
#include "sim/parallelism.h"
#include "sim/precision.h"
#include "sim/round.h"
#include "sweeps/load.h"
#include "text/wording.h"

namespace treeline::reports {
namespace {

/// Whether one sequence of this length fits.
bool fits(const sim::RoundSetup& setup, double context) {
    return sweeps::most_sequences(sim::compile_round(setup), 0, context) >= 1.0;
}

/// Whether the stack has kernels for weights in this format on the device. Files in GGUF have formats of their own.
bool runs(sim::NumberFormat format, const sim::Platform& platform) {
    const std::vector<sim::FormatNeed>& needs = platform.stack.kernels.format_needs;
    const std::optional<engines::Engine> engine = engines::priced_engine(platform);
    const bool of_gguf = engine && engines::dialect_of(*engine).loads_gguf;
    return !of_gguf && std::none_of(needs.begin(), needs.end(), [&](const sim::FormatNeed& need) {
        return !need.of_caches && need.format == format && platform.device.compute_capability < need.least_capability;
    });
}

/// The first of the formats, from the widest on, in which the target fits; empty if in none.
std::string format_that_fits(sim::RoundSetup setup, double context) {
    using enum sim::NumberFormat;
    constexpr std::array<std::pair<std::string_view, sim::NumberFormat>, 3> formats = {
        {{"fp8", fp8}, {"nvfp4", fp4}, {"int4", int4}}};
    const sim::Precision published = setup.precision;
    const double stored = std::min(published.weights.element_bits(), published.experts.element_bits());
    for (const auto& [word, format] : formats) {
        if (sim::bits_of(format) < stored && runs(format, setup.platform)) {
            setup.precision = sim::checkpoint_precision(format, sim::NumberFormat::bf16);
            setup.precision.kv_cache = published.kv_cache;
            if (fits(setup, context)) {
                return std::string(word);
            }
        }
    }
    return "";
}

/// The least number of devices that share each layer and hold the target; 0 if none up to a rack does.
double devices_that_fit(sim::RoundSetup setup, double context) {
    constexpr double rack = 72.0;
    for (double ranks = 2.0 * setup.platform.ranks; ranks <= rack; ranks *= 2.0) {
        setup.platform.ranks = ranks;
        if (problems_of(setup.target, ranks, setup.platform.parallel).empty() && sim::link_of(setup.platform) != nullptr &&
            fits(setup, context)) {
            return ranks;
        }
    }
    return 0.0;
}

}  // namespace

std::string ways_to_fit(const sweeps::Answer& answer) {
    const sweeps::Workload& workload = answer.input.workload;
    if (workload.variants.empty() || workload.traffic.points.empty() || workload.variants.front().setup.platform.accelerator) {
        return "";
    }
    sim::RoundSetup setup = workload.variants.front().setup;
    setup.drafter = sim::NoDrafter{};
    const double context = sweeps::longest_context_of(workload.traffic);
    if (fits(setup, context)) {
        return "";
    }
    const std::string format = format_that_fits(setup, context);
    const double devices = devices_that_fit(setup, context);
    std::vector<std::string> ways;
    if (!format.empty()) {
        ways.push_back(fmt::format("with --precision {}", format));
    }
    if (devices > 0.0) {
        ways.push_back(fmt::format("on {:.0f} devices (--tensor-parallel {:.0f})", devices, devices));
    }
    return ways.empty() ? "" : "it fits " + text::listed(ways, "or");
}

}  // namespace treeline::reports
