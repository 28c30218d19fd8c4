#include "cli/calibrate/measure_decoders.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <random>

#include <fmt/format.h>

#include "calibrate/decoder_prediction.h"
#include "calibrate/measure/conditions.h"
#include "cli/progress.h"

namespace treeline {
namespace {

/// A run, and whether the machine was what it was when kernels were measured.
struct DecoderRun {
    decoder::DecodeResult result;
    bool drifted = false;
};

bool is_out_of_memory(const kernels::KernelError& error) {
    return std::string_view(error.what()).find("out of memory") != std::string_view::npos;
}

std::string no_room(const HeldOutDecoder& decoder) {
    return fmt::format("the decoder of {}, {} needs more memory than there is", group_of(decoder), policy_of(decoder));
}

void write(const HeldOutDecoder& decoder, const DecoderRun& run, MeasurementFiles& files) {
    Measurement measurement = summary_of(0, run.result.seconds.round);
    measurement.drifted = run.drifted;
    const RoundPhases phases = measured_phases(run.result);
    files.write(decoder_case(decoder), measurement, run.result.peak_bytes,
                {{"draft", phases.draft.value()},
                 {"verify", phases.verify.value()},
                 {"rollback", phases.rollback.value()},
                 {"host", phases.host.value()}});
}

}  // namespace

KernelCase decoder_case(const HeldOutDecoder& decoder) {
    KernelCase result;
    result.table = "decoder";
    result.columns = {{"family", std::string(name_of(decoder.family))},
                      {"dtype", std::string(name_of(decoder.format))},
                      {"batch", std::to_string(decoder.batch)},
                      {"context", std::to_string(decoder.context)},
                      {"drafter", std::string(name_of(decoder.drafter))},
                      {"draft", draft_of(decoder)},
                      {"verification", std::string(name_of(decoder.verification))},
                      {"rollback", std::string(name_of(decoder.rollback))},
                      {"accepted", std::to_string(decoder.accepted)}};
    return result;
}

MeasuredDecoders measure_missing_decoders(const MeasuredDevice& device, bool quick, std::size_t sentinel_bytes,
                                          MeasurementFiles& files, const ConditionLimits& limits) {
    constexpr int most_attempts = 4;
    using Clock = std::chrono::steady_clock;
    const HeldOutRounds rounds{2, quick ? 12 : 24};
    MeasuredDecoders measured;
    std::vector<HeldOutDecoder> missing;
    for (HeldOutDecoder& decoder : held_out_decoders(device.on_gpu, quick)) {
        if (files.holds(decoder_case(decoder))) {
            ++measured.before;
        } else {
            missing.push_back(std::move(decoder));
        }
    }
    if (missing.empty()) {
        return measured;
    }
    std::mt19937_64 random(ProtocolOptions{}.seed);
    std::shuffle(missing.begin(), missing.end(), random);
    const Conditions typical = typical_of(files.conditions(), limits);
    const Sentinel sentinel(device, sentinel_bytes);
    double patience = quick ? 5.0 : 20.0;  // seconds that may go into waiting, in all
    const auto run = [&](const HeldOutDecoder& decoder) {
        const Clock::time_point asked = Clock::now();
        static_cast<void>(sentinel.wait_for(typical, limits, patience));
        patience = std::max(0.0, patience - std::chrono::duration<double>(Clock::now() - asked).count());
        const Conditions before = sentinel.read();
        DecoderRun done{decoder::decode(setup_of(decoder, rounds, device.on_gpu)), false};
        done.drifted = !is_comparable(before, sentinel.read(), typical, limits);
        return done;
    };
    Progress progress;
    const Clock::time_point start = Clock::now();
    Clock::duration first_runs{};
    for (int attempt = 1; attempt <= most_attempts && !missing.empty(); ++attempt) {
        std::vector<HeldOutDecoder> drifted;
        for (std::size_t i = 0; i < missing.size(); ++i) {
            if (attempt > 1 && 2 * (Clock::now() - start) > 3 * first_runs) {
                drifted.insert(drifted.end(), missing.begin() + std::ptrdiff_t(i), missing.end());
                break;
            }
            try {
                const DecoderRun done = run(missing[i]);
                write(missing[i], done, files);
                (attempt == 1 ? measured.measured : measured.repeated) += 1;
                if (done.drifted) {
                    drifted.push_back(missing[i]);
                }
            } catch (const std::bad_alloc&) {
                measured.skipped.push_back(no_room(missing[i]));
            } catch (const kernels::KernelError& error) {
                if (!is_out_of_memory(error)) {
                    throw;
                }
                measured.skipped.push_back(no_room(missing[i]));
            }
            progress.show(i + 1, missing.size());
        }
        first_runs = attempt == 1 ? Clock::now() - start : first_runs;
        missing = std::move(drifted);
    }
    measured.drifted = missing.size();
    return measured;
}

}  // namespace treeline
