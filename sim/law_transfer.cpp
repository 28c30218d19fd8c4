#include "sim/law_transfer.h"

#include <algorithm>
#include <cmath>

#include "sim/constants.h"

namespace treeline::sim {
namespace {

/// PCIe is no such link: whether all-reduces there pass a switch, peer memory or the host decides their time, not the device.
bool same_kind_of_link(const Device& a, const Device& b) {
    return !a.interconnects.empty() && !b.interconnects.empty() &&
           a.interconnects.front().name == b.interconnects.front().name && a.interconnects.front().name != "pcie";
}

/// Kernels over latents are written for one architecture: their laws missed by more than their time wherever it was checked.
bool belongs_to_one_architecture(KernelClass kernel) {
    return kernel == KernelClass::latent_attention || kernel == KernelClass::latent_prompt;
}

/// Engines pick chunk kernels by compute capability: others on 9 and 10 than on the rest, where 8 and 12 differ, too.
bool run_the_same_chunk_kernels(const Device& a, const Device& b) {
    const double major = std::floor(a.compute_capability), other = std::floor(b.compute_capability);
    const auto is_of_data_centres = [](double capability) { return capability == 9.0 || capability == 10.0; };
    return major > 0.0 && (major == other || (is_of_data_centres(major) && is_of_data_centres(other)));
}

/// Elements a second that a law streams, and FLOP/s that it reaches, on its device.
double streamed(const CalibratedKernel& kernel, const Device& device) {
    return kernel.law.bandwidth_share * device.bandwidth.value() / bits_of(kernel.format);
}
double computed(const CalibratedKernel& kernel, const Device& device) {
    return kernel.law.peak_share * device.peak_for(kernel.format).value();
}

/// Slower than the same class in a wider format, in elements and in FLOPs.
bool nobody_would_pick(const CalibratedKernel& kernel, const Device& device) {
    const std::vector<CalibratedKernel>& all = device.calibration->kernels;
    return std::any_of(all.begin(), all.end(), [&](const CalibratedKernel& wider) {
        return wider.kernel == kernel.kernel && bits_of(wider.format) > bits_of(kernel.format) &&
               streamed(kernel, device) < streamed(wider, device) && computed(kernel, device) < computed(wider, device);
    });
}

/// What such laws missed where they can be checked: each of A100, H100 and L40S from each other (validation/kernel_times).
constexpr const char* transfer_error =
    "Carried over so between A100, H100 and L40S, laws of linear layers, decode attention, experts and scans missed by 15 % "
    "(median) and 38 % (90th percentile), between the two that have the same kind of multiprocessor by 8 and 24 %; of prompts "
    "by 23 and 78 %, all-reduces over NVLink 21 and 47 %; laws of latent attention, which missed by more than its time, and of "
    "all-reduces over PCIe are not carried over";

/// Matrix units with fp4 keep the instructions of Marlin's int4 kernels for old programs, at no more than the earlier rate, and
/// vector units unpack the weights: a multiprocessor then does no more of either than on devices that were measured (experts
/// of Kimi-K2.5 on B200, whose multiprocessors have twice the bandwidth of H100's).
void limit_by_multiprocessors(KernelLaw& law, const Device& measured, const Device& other) {
    const auto share = [&](double measured_peak, double other_peak) {
        return std::min(1.0, measured_peak / (other_peak / other.multiprocessors));
    };
    const double bandwidth = measured.bandwidth.value() / measured.multiprocessors;
    law.bandwidth_share *= share(std::max(bandwidth, unpacked_by_multiprocessor.value), other.bandwidth.value());
    law.peak_share *= share(measured.peak_for(NumberFormat::bf16).value() / measured.multiprocessors,
                            other.peak_for(NumberFormat::bf16).value());
}

bool has_fp4_units(const Device& device) { return device.computed_in(NumberFormat::fp4) == NumberFormat::fp4; }

KernelLaw transferred(const CalibratedKernel& kernel, const Device& measured, const Device& other) {
    KernelLaw law = kernel.law;
    // One size of a tile holds as many rows as hid behind the weights on the measured device; where fewer do, kernels pick
    // smaller ones.
    if (kernel.kernel == KernelClass::gemm && law.row_tile > 1.0 && law.least_tile == 0.0) {
        law.row_tile = std::min(law.row_tile, largest_carried_tile.value);
        law.least_tile = std::min(law.row_tile, least_carried_tile.value);
    }
    if (kernel.kernel == KernelClass::gemm && std::floor(measured.compute_capability) != std::floor(other.compute_capability)) {
        law.padding = 1.0;  // that padded rows cost more than rows is of one kernel, and generations have others
    }
    law.ramp_bytes = law.ramp_bytes * (other.cache / measured.cache);
    if (measured.multiprocessors > 0.0 && other.multiprocessors > 0.0) {
        const double share = measured.multiprocessors / other.multiprocessors;
        law.per_head = law.per_head * share;
        law.per_activation = law.per_activation * share;
        if (law.workers == measured.multiprocessors) {
            law.workers = other.multiprocessors;
        }
        if (kernel.format == NumberFormat::int4 && has_fp4_units(other) && !has_fp4_units(measured)) {
            limit_by_multiprocessors(law, measured, other);
        }
    }
    return law;
}

/// A thread block computes on one multiprocessor, whatever the device: its efficiency carries over.
std::optional<AttentionWalkLaw> transferred_walk(const Device& measured, const Device& other) {
    std::optional<AttentionWalkLaw> walk = measured.calibration->attention_walk;
    if (walk && measured.multiprocessors > 0.0 && other.multiprocessors > 0.0) {
        const double efficiency =
            walk_efficiency(walk->per_token, measured.peak_for(NumberFormat::bf16), measured.multiprocessors);
        walk->per_token = walk_at(efficiency, other.peak_for(NumberFormat::bf16), other.multiprocessors);
    }
    return walk;
}

}  // namespace

Calibration transferred_laws(const Device& measured, const Device& other) {
    Calibration result{other.name, "", "derived", {}, {}, {}, {}};
    std::string left_out;
    for (const CalibratedKernel& kernel : measured.calibration->kernels) {
        if (nobody_would_pick(kernel, measured)) {
            left_out += (left_out.empty() ? "; left out, as slower than in a wider format: " : ", ") +
                        std::string(name_of(kernel.kernel)) + " in " + std::string(name_of(kernel.format)) +
                        (kernel.family.empty() ? "" : " (" + kernel.family + ")");
        } else if (!belongs_to_one_architecture(kernel.kernel) &&
                   (kernel.kernel != KernelClass::all_reduce || same_kind_of_link(measured, other))) {
            result.kernels.push_back(kernel);
            result.kernels.back().law = transferred(kernel, measured, other);
        }
    }
    result.recurrent_verification = measured.calibration->recurrent_verification;
    result.attention_walk = transferred_walk(measured, other);
    if (run_the_same_chunk_kernels(measured, other)) {
        result.chunk_scans = measured.calibration->chunk_scans;
    }
    result.source = "as on " + measured.name + ", as shares of the data sheet (" + measured.calibration->source + ")" +
                    left_out + ". " + transfer_error;
    return result;
}

}  // namespace treeline::sim
