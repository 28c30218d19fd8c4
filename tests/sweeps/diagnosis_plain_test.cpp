// What plain decoding takes at a load: as measured there, between measured loads, or as predicted.
#include <catch2/catch.hpp>

#include <vector>

#include "faulty_rounds.h"
#include "sweeps/diagnosis.h"
#include "sweeps/diagnosis_plain.h"

namespace diagnosis_plain_test {

using namespace treeline;
using namespace treeline::sweeps;
using namespace treeline::testing;

TEST_CASE("a plain step: as measured at the very load, else interpolated in logarithms, else as at the nearest") {
    const std::vector<DiagnosedPoint> plain = {measured_load(4.0, 0, 1.2), measured_load(16.0, 0, 1.8)};
    const auto at = [&](double batch, double context = 1000.0) {
        return diagnosis::plain_step(plain, accepted(batch, 3, 2.0, context));
    };
    CHECK(at(4.0).factor == Approx(1.2));
    CHECK(at(4.0).time.value() == Approx(plain[0].cell.round.mean()));
    CHECK(at(8.0).factor == Approx(1.5));  // half way from 4 to 16
    CHECK(at(8.0).time == Seconds(0.0));
    CHECK(at(2.0).factor == Approx(1.2));
    CHECK(at(64.0).factor == Approx(1.8));
    CHECK(at(4.0, 1100.0).time > Seconds(0.0));  // a tenth of the larger context is one load
    CHECK(at(4.0, 1110.0).time > Seconds(0.0));
    CHECK(at(4.0, 900.0).time > Seconds(0.0));
    CHECK(at(4.0, 1112.0).time == Seconds(0.0));
    CHECK(at(4.0, 0.0).time > Seconds(0.0));  // not known
    std::vector<DiagnosedPoint> somewhere = {measured_load(4.0, 0, 1.2), measured_load(16.0, 0, 1.8)};
    somewhere[0].cell.context = 0.0;  // not known either
    CHECK(diagnosis::plain_step(somewhere, accepted(4.0, 3, 2.0, 5000.0)).time.value() == Approx(plain[0].cell.round.mean()));
    somewhere[0].cell.prompt_tokens = 1000.0;
    const auto prompted = [&](double prompt_tokens) {
        runs::RunCell load = accepted(4.0, 3, 2.0, 5000.0);
        load.prompt_tokens = prompt_tokens;
        return diagnosis::plain_step(somewhere, load).time > Seconds(0.0);
    };
    CHECK(prompted(0.0));
    CHECK(prompted(1110.0));  // a tenth of the larger one
    CHECK_FALSE(prompted(1112.0));
    CHECK(prompted(900.0));
    CHECK_FALSE(prompted(899.0));
    CHECK(diagnosis::plain_step({}, accepted(4.0, 3, 2.0)).factor == 0.0);
    // A context of a single token, and 10,000: 100 is half way.
    const std::vector<DiagnosedPoint> far = {measured_load(4.0, 0, 1.2, 1.0), measured_load(4.0, 0, 1.6, 10'000.0)};
    CHECK(diagnosis::plain_step(far, accepted(4.0, 3, 2.0, 100.0)).factor == Approx(1.4));
    CHECK(diagnosis::plain_step(far, accepted(8.0, 3, 2.0, 1.0)).factor == Approx(1.2));
    const std::vector<DiagnosedPoint> contexts = {measured_load(4.0, 0, 1.2, 1000.0), measured_load(4.0, 0, 1.4, 4000.0),
                                                  measured_load(4.0, 0, 1.3, 1050.0)};
    CHECK(diagnosis::plain_step(contexts, accepted(4.0, 3, 2.0, 2049.39)).factor ==
          Approx(1.35).epsilon(1e-4));                                                            // of 1050 and 4000
    CHECK(diagnosis::plain_step(contexts, accepted(4.0, 3, 2.0, 1020.0)).factor == Approx(1.2));  // the nearer of two
    CHECK(diagnosis::plain_step(contexts, accepted(4.0, 3, 2.0, 1040.0)).factor == Approx(1.3));
}

TEST_CASE("between measured plain steps one takes as many times its prediction as they do in the mean") {
    DiagnosisInput input;
    input.rounds = {measured_load(8.0, 3, 1.0)};
    input.plain = {measured_load(4.0, 0, 1.2), measured_load(16.0, 0, 1.8)};
    const DiagnosedLoad load = diagnose(input).loads.front();
    CHECK(load.plain_interpolated);
    CHECK(load.plain_measured.value() == Approx(1.5 * measured_load(8.0, 0, 1.0).cell.round.mean()));
    CHECK(load.expected.value() == Approx(1.5 * load.predicted.value()));
}

TEST_CASE("without plain steps the predicted one stands for them") {
    DiagnosisInput input;
    input.rounds = {measured_load(8.0, 3, 1.5)};
    const Diagnosis found = diagnose(input);
    const DiagnosedLoad& load = found.loads.front();
    CHECK(load.expected == load.predicted);
    CHECK(load.break_even == Approx(load.measured / load.plain_predicted));
}

}  // namespace diagnosis_plain_test
