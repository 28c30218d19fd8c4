#include "cli/calibrate/measure_decoders.h"

#include <algorithm>
#include <cmath>
#include <new>
#include <random>

#include <fmt/format.h>

#include "calibrate/decoder_prediction.h"
#include "calibrate/measure/sentinel.h"
#include "cli/progress.h"

namespace treeline {
namespace {

/// A run and how far the sentinel moved over it.
struct DecoderRun {
    decoder::DecodeResult result;
    double drift = 0.0;
};

DecoderRun run(const decoder::DecodeSetup& setup, Sentinel& sentinel) {
    const double before = sentinel.seconds();
    decoder::DecodeResult result = decoder::decode(setup);
    return {std::move(result), std::abs(sentinel.seconds() / before - 1.0)};
}

bool is_out_of_memory(const kernels::KernelError& error) {
    return std::string_view(error.what()).find("out of memory") != std::string_view::npos;
}

std::string no_room(const HeldOutDecoder& decoder) {
    return fmt::format("the decoder of {}, {} needs more memory than there is", group_of(decoder), policy_of(decoder));
}

void append(const HeldOutDecoder& decoder, const DecoderRun& run, bool drifted, MeasurementFiles& files) {
    Measurement measurement = summary_of(0, run.result.seconds.round);
    measurement.drifted = drifted;
    const RoundPhases phases = measured_phases(run.result);
    files.append(decoder_case(decoder), measurement, run.result.peak_bytes,
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

MeasuredDecoders measure_missing_decoders(bool on_gpu, bool quick, std::size_t sentinel_bytes, MeasurementFiles& files) {
    constexpr double most_drift = ProtocolOptions{}.most_drift;
    const kernels::Backend& backend = on_gpu ? kernels::cuda_backend() : kernels::cpu_backend();
    const HeldOutRounds rounds{2, quick ? 12 : 24};
    MeasuredDecoders measured;
    std::vector<HeldOutDecoder> missing;
    for (HeldOutDecoder& decoder : held_out_decoders(on_gpu, quick)) {
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
    Sentinel sentinel(backend, sentinel_bytes);
    Progress progress;
    for (std::size_t i = 0; i < missing.size(); ++i) {
        try {
            const decoder::DecodeSetup setup = setup_of(missing[i], rounds, on_gpu);
            DecoderRun kept = run(setup, sentinel);
            if (kept.drift > most_drift) {
                ++measured.repeated;
                if (DecoderRun again = run(setup, sentinel); again.drift < kept.drift) {
                    kept = std::move(again);
                }
            }
            const bool drifted = kept.drift > most_drift;
            append(missing[i], kept, drifted, files);
            ++measured.measured;
            measured.drifted += drifted ? 1 : 0;
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
    return measured;
}

}  // namespace treeline
