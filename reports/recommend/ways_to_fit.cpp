#include "reports/recommend/ways_to_fit.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
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

/// The platform with so many ranks of tensor parallelism. Experts that are dealt out over all ranks of a stage stay so.
sim::Platform with_ranks(sim::Platform platform, double ranks) {
    const bool over_stage = platform.parallel.experts == sim::ranks_of_stage(platform.ranks, platform.parallel);
    platform.ranks = ranks;
    if (over_stage && platform.parallel.experts > 1.0) {
        platform.parallel.experts = sim::ranks_of_stage(ranks, platform.parallel);
    }
    return platform;
}

/// The platform with the fewest ranks, a doubled number of its own, that share each layer and hold the target; nothing if none
/// of up to a rack does.
std::optional<sim::Platform> platform_that_fits(sim::RoundSetup setup, double context) {
    constexpr double rack = 72.0;
    const sim::Platform asked = setup.platform;
    for (double ranks = 2.0 * asked.ranks; sim::devices_of(ranks, asked.parallel) <= rack; ranks *= 2.0) {
        setup.platform = with_ranks(asked, ranks);
        if (problems_of(setup).empty() && sim::link_of(setup.platform) != nullptr && fits(setup, context)) {
            return setup.platform;
        }
    }
    return std::nullopt;
}

/// " --pipeline-parallel 4", or nothing for a degree of 1.
std::string degree_text(std::string_view flag, double degree) {
    return degree > 1.0 ? fmt::format(" {} {:.0f}", flag, degree) : "";
}

/// "on 8 devices (--tensor-parallel 2 --pipeline-parallel 4)", or "(--gpus 8)" where the input counts them so.
std::string devices_text(const sim::Platform& platform, bool counts_devices) {
    const sim::Parallelism& parallel = platform.parallel;
    if (counts_devices) {
        return fmt::format("on {0:.0f} devices (--gpus {0:.0f})", platform.devices());
    }
    return fmt::format(
        "on {:.0f} devices (--tensor-parallel {:.0f}{}{}{}{})", platform.devices(), platform.ranks,
        degree_text("--attention-data-parallel", parallel.data), degree_text("--expert-parallel", parallel.experts),
        degree_text("--pipeline-parallel", parallel.pipeline), degree_text("decode_context_parallel", parallel.context));
}

/// Plain decoding on each platform of a workload, within the memory that it may take.
std::vector<sim::RoundSetup> plain_setups(const sweeps::Workload& workload) {
    std::vector<sim::RoundSetup> setups;
    std::set<std::size_t> seen;
    for (const sweeps::Variant& variant : workload.variants) {
        if (seen.insert(variant.origin.platform).second) {
            setups.push_back(variant.setup);
            setups.back().drafter = sim::NoDrafter{};
            setups.back().acceptance = {};
            setups.back().speculations = sim::chains_up_to(0);
            setups.back().rollback = sim::rollbacks_for(variant.setup.target, variant.setup.platform.stack).front();
            setups.back().platform.memory_limit = workload.limits.memory;
        }
    }
    return setups;
}

/// Of the cuts of the first platform's devices, what holds the target on the fewest devices.
std::optional<sim::Platform> fewest_devices(const std::vector<sim::RoundSetup>& setups, double context) {
    std::optional<sim::Platform> fewest;
    for (const sim::RoundSetup& setup : setups) {
        const sim::Platform &first = setups.front().platform, &each = setup.platform;
        if (each.device.name != first.device.name || each.stack.name != first.stack.name) {
            continue;
        }
        const std::optional<sim::Platform> fitting = platform_that_fits(setup, context);
        if (fitting && (!fewest || fitting->devices() < fewest->devices())) {
            fewest = fitting;
        }
    }
    return fewest;
}

}  // namespace

std::string ways_to_fit(const sweeps::Answer& answer) {
    const sweeps::Workload& workload = answer.input.workload;
    if (workload.variants.empty() || workload.traffic.points.empty() || workload.variants.front().setup.platform.accelerator) {
        return "";
    }
    const std::vector<sim::RoundSetup> setups = plain_setups(workload);
    const double context = sweeps::longest_context_of(workload.traffic);
    if (std::any_of(setups.begin(), setups.end(), [&](const sim::RoundSetup& setup) { return fits(setup, context); })) {
        return "";
    }
    const std::string format = format_that_fits(setups.front(), context);
    const std::optional<sim::Platform> more = fewest_devices(setups, context);
    std::vector<std::string> ways;
    if (!format.empty()) {
        ways.push_back(fmt::format("with --precision {}", format));
    }
    if (more) {
        ways.push_back(devices_text(*more, answer.input.counts_devices));
    }
    return ways.empty() ? "" : "it fits " + text::listed(ways, "or");
}

}  // namespace treeline::reports
