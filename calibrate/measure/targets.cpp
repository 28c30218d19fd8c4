// What the protocol measures: kernels and whole decoders.
#include <algorithm>
#include <memory>
#include <new>
#include <stdexcept>

#include "calibrate/decoder_prediction.h"
#include "calibrate/measure/protocol.h"
#include "kernels/peer_ranks.h"

namespace treeline::calibrate {
namespace {

/// Whether the device runs anything at all.
bool still_works(const kernels::Backend& backend) {
    try {
        backend.empty({});
        backend.wait({});
        return true;
    } catch (const kernels::KernelError&) {
        return false;
    }
}

/// Notes why a target cannot be measured. Throws DeviceLost if nothing else can be measured either.
void note_failure(const Skipped& failure, const kernels::Backend& backend, std::vector<Skipped>& skipped) {
    skipped.push_back(failure);
    skipped.back().is_fatal = !still_works(backend);
    if (skipped.back().is_fatal) {
        throw DeviceLost("the device does not work any more since " + failure.reason);
    }
}

/// A kernel that is made ready when it is first visited: what fails then costs this case alone.
class KernelVisit {
public:
    KernelVisit(const MeasuredDevice& device, std::shared_ptr<const KernelTimers> timers, std::size_t index,
                const KernelCase& kernel, Workspace& workspace, std::vector<Skipped>& skipped)
        : device_(device),
          timers_(std::move(timers)),
          index_(index),
          kernel_(kernel),
          workspace_(workspace),
          skipped_(skipped) {}

    std::vector<Sample> operator()(Sentinel& sentinel) {
        try {
            if (timer_ == nullptr) {
                timer_ = timers_->make(kernel_, workspace_);
            }
            return {sample(sentinel)};
        } catch (const std::bad_alloc&) {
            skip("needs more memory than is available");
        } catch (const std::length_error&) {
            skip("needs more memory for activations than is set aside on this device");
        } catch (const kernels::NoPeer& missing) {
            skip(missing.what());
        } catch (const std::exception& error) {
            timer_.reset();
            note_failure({index_, kernel_.name() + " failed: " + error.what()}, *device_.backend, skipped_);
        }
        return {};
    }

private:
    Sample sample(Sentinel& sentinel) {
        Sample taken;
        taken.before = sentinel.glance();
        taken.seconds = timer_->seconds();
        taken.after = sentinel.glance();
        taken.operand_bytes = timer_->operand_bytes();
        taken.eviction = timer_->eviction();
        return taken;
    }

    void skip(const std::string& reason) { skipped_.push_back({index_, kernel_.name() + " " + reason}); }

    MeasuredDevice device_;
    std::shared_ptr<const KernelTimers> timers_;
    std::size_t index_;
    const KernelCase& kernel_;
    Workspace& workspace_;
    std::vector<Skipped>& skipped_;
    std::shared_ptr<KernelTimer> timer_;
};

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

}  // namespace

std::vector<Target> kernel_targets(const MeasuredDevice& device, const std::vector<KernelCase>& cases,
                                   const std::vector<std::size_t>& indices, Workspace& workspace,
                                   std::vector<Skipped>& skipped) {
    std::vector<Target> targets;
    const auto timers = std::make_shared<const KernelTimers>(device);
    for (const std::size_t index : indices) {
        const KernelCase& kernel = cases[index];
        if (!workspace.holds(kernel.largest_piece)) {
            skipped.push_back({index, kernel.name() + " needs " + std::to_string(kernel.largest_piece >> 20) +
                                          " MiB at once, more than the " + std::to_string(workspace.rotation() >> 20) +
                                          " MiB set aside on this device"});
            continue;
        }
        targets.push_back({index, KernelVisit(device, timers, index, kernel, workspace, skipped)});
    }
    return targets;
}

std::vector<Target> decoder_targets(const std::vector<HeldOutDecoder>& decoders, const std::vector<std::size_t>& indices,
                                    const HeldOutRounds& rounds, bool on_gpu, std::vector<Skipped>& skipped) {
    std::vector<Target> targets;
    for (const std::size_t index : indices) {
        const HeldOutDecoder& decoder = decoders[index];
        const auto visit = [index, decoder, rounds, on_gpu, &skipped](Sentinel& sentinel) -> std::vector<Sample> {
            const std::string name = "the decoder of " + group_of(decoder) + ", " + policy_of(decoder);
            try {
                return samples_of_rounds(setup_of(decoder, rounds, on_gpu), sentinel);
            } catch (const std::bad_alloc&) {
                skipped.push_back({index, name + " needs more memory than is available"});
            } catch (const std::exception& error) {
                note_failure({index, name + " failed: " + error.what()},
                             on_gpu ? kernels::cuda_backend() : kernels::cpu_backend(), skipped);
            }
            return {};
        };
        targets.push_back({index, visit, true});
    }
    return targets;
}

}  // namespace treeline::calibrate
