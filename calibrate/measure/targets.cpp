// What the protocol measures: kernels and whole decoders.
#include <algorithm>
#include <memory>
#include <new>
#include <stdexcept>

#include "calibrate/decoder_prediction.h"
#include "calibrate/measure/protocol.h"

namespace treeline::calibrate {
namespace {

std::vector<Sample> one_sample(KernelTimer& timer, Sentinel& sentinel) {
    Sample sample;
    sample.before = sentinel.glance();
    sample.seconds = timer.seconds();
    sample.after = sentinel.glance();
    return {std::move(sample)};
}

std::vector<Sample> samples_of_rounds(const decoder::DecodeSetup& setup, Sentinel& sentinel) {
    std::vector<Conditions> seen;
    const decoder::DecodeResult result = decoder::decode(setup, [&] { seen.push_back(sentinel.glance()); });
    const std::vector<RoundPhases> rounds = measured_rounds(result);
    const std::size_t untimed = static_cast<std::size_t>(result.rounds) - rounds.size();
    std::vector<Sample> samples;
    for (std::size_t i = 0; i < rounds.size(); ++i) {
        const RoundPhases& round = rounds[i];
        samples.push_back({result.seconds.round[i],
                           {round.draft.value(), round.verify.value(), round.rollback.value(), round.host.value()},
                           seen[untimed + i],
                           seen[untimed + i + 1]});
    }
    return samples;
}

bool is_out_of_memory(const kernels::KernelError& error) {
    return std::string_view(error.what()).find("out of memory") != std::string_view::npos;
}

}  // namespace

std::vector<Target> kernel_targets(const MeasuredDevice& device, const std::vector<KernelCase>& cases,
                                   const std::vector<std::size_t>& indices, Workspace& workspace,
                                   std::vector<Skipped>& skipped) {
    std::vector<Target> targets;
    const auto timers = std::make_shared<KernelTimers>(device);
    for (const std::size_t index : indices) {
        const KernelCase& kernel = cases[index];
        if (!workspace.holds(kernel.largest_piece)) {
            skipped.push_back({index, kernel.name() + " needs " + std::to_string(kernel.largest_piece >> 20) +
                                          " MiB at once, more than the " + std::to_string(workspace.rotation() >> 20) +
                                          " MiB set aside on this device"});
            continue;
        }
        try {
            const std::shared_ptr<KernelTimer> timer = timers->make(kernel, workspace);
            targets.push_back({index, [timers, timer](Sentinel& sentinel) { return one_sample(*timer, sentinel); }});
        } catch (const std::bad_alloc&) {
            skipped.push_back({index, kernel.name() + " needs more memory than is available"});
        } catch (const std::length_error&) {
            skipped.push_back({index, kernel.name() + " needs more memory for activations than is set aside on this device"});
        }
    }
    return targets;
}

std::vector<Target> decoder_targets(const std::vector<HeldOutDecoder>& decoders, const std::vector<std::size_t>& indices,
                                    const HeldOutRounds& rounds, bool on_gpu, std::vector<Skipped>& skipped) {
    std::vector<Target> targets;
    for (const std::size_t index : indices) {
        const HeldOutDecoder& decoder = decoders[index];
        const auto visit = [index, decoder, rounds, on_gpu, &skipped](Sentinel& sentinel) -> std::vector<Sample> {
            try {
                return samples_of_rounds(setup_of(decoder, rounds, on_gpu), sentinel);
            } catch (const std::bad_alloc&) {
            } catch (const kernels::KernelError& error) {
                if (!is_out_of_memory(error)) {
                    throw;
                }
            }
            skipped.push_back({index, "the decoder of " + group_of(decoder) + ", " + policy_of(decoder) +
                                          " needs more memory than is available"});
            return {};
        };
        targets.push_back({index, visit, true});
    }
    return targets;
}

}  // namespace treeline::calibrate
