// Forms of the laws of all-reduces, experts, prompts and latent attention: each class has one shape, with a few choices.
#include <algorithm>
#include <array>
#include <set>

#include "calibrate/kernel_fit_parts.h"

namespace treeline::calibrate::detail {
namespace {

using Extension = KernelLawExtension;

std::vector<std::size_t> indices(const std::vector<std::string_view>& names) {
    std::vector<std::size_t> all;
    for (const std::string_view name : names) {
        all.push_back(index_of(name));
    }
    std::sort(all.begin(), all.end());
    return all;
}

/// Where a fit starts from: share of the link, latencies in microseconds.
struct CollectiveStart {
    double startup, per_rank, one_shot, two_shot, two_shot_share, ring, ring_share, scale_4, scale_8;
};

/// Switches whose ranks share one link at full speed, NCCL, and PCIe, where four and eight ranks cross the host.
constexpr std::array collective_starts = {
    CollectiveStart{3.0, 0.2, 0.5, 3.0, 0.5, 30.0, 0.75, 1.0, 1.2},
    CollectiveStart{4.0, 1.2, 0.1, 3.0, 0.4, 25.0, 0.75, 1.0, 1.2},
    CollectiveStart{3.0, 0.2, 0.3, 3.0, 0.3, 30.0, 0.6, 0.4, 0.3},
    CollectiveStart{6.0, 1.5, 0.05, 5.0, 0.2, 15.0, 0.6, 0.4, 0.2},
    CollectiveStart{7.0, 2.4, 0.08, 4.0, 0.06, 2.0, 0.6, 0.2, 0.1},
};

/// Sizes up to which an engine's own kernels may run; 0 = no limit.
std::vector<double> limits(const KernelTable& table) {
    constexpr double least = 1e6, most = 1e8;
    std::set<double> sizes = {0.0};
    for (const KernelSample& sample : table.samples) {
        const double ring = 2.0 * (sample.operation.ranks - 1.0) / sample.operation.ranks;
        const double size = sample.operation.bytes.per_token.value() / ring;
        if (size >= least && size <= most && table.family != "nccl") {
            sizes.insert(size);
        }
    }
    return {sizes.begin(), sizes.end()};
}

/// Ours knows one way, in one step, and was measured on two ranks: which of three ways is the shortest, and what further ranks
/// add, has no say.
std::vector<ExtendedForm> one_step_beginnings() {
    constexpr Seconds never(0.5);  // beside microseconds
    sim::KernelLaw law;
    law.startup = Seconds(5e-6);
    law.collective.one_shot_share = 0.5;
    law.collective.two_shot = never;
    law.collective.ring = never;
    return {{{indices({"startup", "one_shot_share"}), law}, law}};
}

std::vector<ExtendedForm> collective_beginnings(const KernelTable& table) {
    const std::vector<std::size_t> free =
        indices({"startup", "per_rank", "one_shot_share", "two_shot", "two_shot_per_rank", "two_shot_share", "ring",
                 "ring_per_rank", "ring_share", "ring_scale_4", "ring_scale_8"});
    std::vector<ExtendedForm> all;
    for (const CollectiveStart& start : collective_starts) {
        for (const double by_ring : {0.0, 1.0}) {
            for (const double limit : limits(table)) {
                sim::KernelLaw law;
                law.startup = Seconds(1e-6 * start.startup);
                sim::CollectiveLaw& of = law.collective;
                of.per_rank = Seconds(1e-6 * start.per_rank);
                of.one_shot_share = start.one_shot;
                of.by_ring = by_ring;
                of.two_shot = Seconds(1e-6 * start.two_shot);
                of.two_shot_per_rank = Seconds(1e-7);
                of.two_shot_share = start.two_shot_share;
                of.limit = Bytes(limit);
                of.ring = Seconds(1e-6 * start.ring);
                of.ring_per_rank = Seconds(2e-6);
                of.ring_share = start.ring_share;
                of.ring_scale_4 = start.scale_4;
                of.ring_scale_8 = start.scale_8;
                all.push_back({{free, law}, law});
            }
        }
    }
    return all;
}

/// Tiles of one height; what is not hidden may be all of the shorter side. The few experts of few tokens do not fill the device
/// and start up sooner: up to so many bytes of them the launch turns into the startup.
std::vector<ExtendedForm> expert_beginnings() {
    sim::KernelLaw law;
    law.startup = Seconds(2e-5);
    law.bandwidth_share = 0.85;
    law.activation_share = 0.35;
    std::vector<ExtendedForm> all;
    for (const double megabytes : {0.0, 50.0, 100.0, 200.0, 400.0}) {
        law.ramp_bytes = Bytes(1e6 * megabytes);
        std::vector<std::string_view> free = {"startup", "bandwidth_share", "activation_share"};
        if (megabytes > 0.0) {
            law.launch = Seconds(1.5e-5);
            free.emplace_back("launch");
        }
        for (const double tile : {16.0, 32.0, 64.0, 128.0}) {
            for (const double overlap : {0.3, 1.0}) {
                law.row_tile = tile;
                law.overlap = overlap;
                all.push_back({{indices(free), law}, law});
                sim::KernelLaw with_peak = law;
                with_peak.peak_share = 0.5;
                std::vector<std::string_view> with = free;
                with.emplace_back("peak_share");
                all.push_back({{indices(with), law}, with_peak});
            }
        }
    }
    return all;
}

std::vector<ExtendedForm> prompt_beginnings(const KernelTable& table) {
    sim::KernelLaw law;
    law.startup = Seconds(1e-5);
    law.peak_share = 0.5;
    law.overlap = 0.3;
    law.workers = table.workers > 0.0 ? table.workers : 1.0;
    law.tile_columns = 64.0;
    law.prompt.per_tile = Seconds(1e-6);
    std::vector<ExtendedForm> all;
    for (const double tile : {16.0, 64.0, 128.0, 256.0}) {
        for (const double packs : {0.0, 1.0}) {
            law.row_tile = tile;
            law.prompt.packs_heads = packs;
            for (const Bytes in_cache : {Bytes(0.0), table.ramp_bytes}) {
                law.ramp_bytes = in_cache;
                all.push_back({{indices({"startup", "peak_share", "per_tile", "depth"}), law}, law});
                if (table.ours) {  // without matrix units, FLOPs alone take all of the time
                    sim::KernelLaw slow = law;
                    slow.peak_share = 0.01;
                    slow.prompt.per_tile = Seconds(1e-9);
                    all.push_back({{indices({"startup", "peak_share"}), slow}, slow});
                    all.push_back({{indices({"startup", "peak_share", "depth"}), slow}, slow});
                }
            }
        }
    }
    return all;
}

std::vector<ExtendedForm> latent_beginnings() {
    sim::KernelLaw law;
    law.startup = Seconds(1.5e-5);
    law.bandwidth_share = 0.8;
    law.peak_share = 0.5;
    law.overlap = 0.3;
    std::vector<ExtendedForm> all;
    for (const double tile : {1.0, 16.0, 64.0, 128.0}) {
        law.row_tile = tile;
        all.push_back({{indices({"startup", "bandwidth_share", "peak_share"}), law}, law});
        sim::KernelLaw slow = law;
        slow.peak_share = 0.05;  // kernels without matrix units, or with dequantised operands
        all.push_back({{indices({"startup", "bandwidth_share", "peak_share"}), law}, slow});
    }
    return all;
}

/// Startup and transfer, of which the shorter may be hidden. Few sites tell how fast one expert's rows move, so that rate is
/// one of a few values; what experts and tokens add is for extensions.
std::vector<ExtendedForm> exchange_beginnings() {
    sim::KernelLaw law;
    law.startup = Seconds(1e-5);
    law.bandwidth_share = 0.6;
    law.overlap = 1.0;
    std::vector<ExtendedForm> all;
    for (const double rate : {0.0, 2e9, 4e9, 8e9, 16e9, 32e9}) {
        law.exchange.expert_rate = BytesPerSecond(rate);
        all.push_back({{indices({"startup", "bandwidth_share"}), law}, law});
    }
    return all;
}

}  // namespace

bool has_form_of_its_own(sim::KernelClass kernel) {
    using enum sim::KernelClass;
    return kernel == all_reduce || kernel == experts || kernel == prompt_attention || kernel == prompt_window ||
           kernel == latent_prompt || kernel == latent_attention || kernel == expert_dispatch || kernel == expert_combine;
}

std::vector<ExtendedForm> own_beginnings(const KernelTable& table) {
    switch (table.kernel) {
        case sim::KernelClass::all_reduce:
            return table.ours ? one_step_beginnings() : collective_beginnings(table);
        case sim::KernelClass::experts:
            return expert_beginnings();
        case sim::KernelClass::latent_attention:
            return latent_beginnings();
        case sim::KernelClass::expert_dispatch:
        case sim::KernelClass::expert_combine:
            return exchange_beginnings();
        default:
            return prompt_beginnings(table);
    }
}

std::vector<Extension> own_extensions(const KernelTable& table) {
    sim::KernelLaw start;
    start.overlap = 0.3;
    start.per_input = Seconds(1e-9);
    start.bandwidth_share = 0.5;
    start.peak_share = 0.5;
    start.per_head = Seconds(table.kernel == sim::KernelClass::latent_attention ? 3e-8 : 5e-10);
    start.per_context = Seconds(1e-9);
    start.exchange.per_expert = Seconds(1.5e-8);
    start.exchange.per_token = Seconds(1e-8);
    switch (table.kernel) {
        case sim::KernelClass::expert_dispatch:
        case sim::KernelClass::expert_combine:
            start.overlap = 0.8;
            return {{{"overlap"}, start},   {{"per_expert"}, start}, {{"expert_rate"}, start},
                    {{"per_token"}, start}, {{"per_input"}, start},  {{"per_expert", "expert_rate"}, start}};
        case sim::KernelClass::all_reduce:
            return {};
        case sim::KernelClass::experts:
            return {{{"overlap"}, start}, {{"per_input"}, start}, {{"peak_share"}, start}, {{"overlap", "per_input"}, start}};
        case sim::KernelClass::latent_attention:
            return {{{"overlap"}, start}, {{"per_head"}, start}, {{"per_context"}, start}};
        default:
            return {{{"overlap"}, start},
                    {{"bandwidth_share"}, start},
                    {{"per_head"}, start},
                    {{"overlap", "per_head"}, start},
                    {.free = {}, .start = start, .tile_columns = 128.0}};
    }
}

}  // namespace treeline::calibrate::detail
