// What nothing is said of changes nothing: answers about nothing are those of plain decoding, which gains 1, and what is asked
// without words is asked of one request.
#include <catch2/catch.hpp>

#include "neutral.h"
#include "sweeps/adaptive/bandit.h"
#include "sweeps/adaptive/policies.h"
#include "sweeps/adaptive/speed_table.h"
#include "sweeps/break_even_study.h"
#include "sweeps/estimate.h"
#include "sweeps/fpga/fpga_claims.h"
#include "sweeps/fpga/fpga_run.h"
#include "sweeps/fpga/fpga_simulate.h"
#include "sweeps/fpga_search.h"
#include "sweeps/measurement_plan.h"
#include "sweeps/recommend.h"
#include "sweeps/settled_row.h"
#include "sweeps/sweep.h"
#include "sweeps/tree_search.h"
#include "sweeps/trust.h"

namespace plain_defaults_test {

using namespace treeline;
using namespace treeline::sweeps;

using testing::check_ones;

TEST_CASE("plain decoding gains 1, at any load and however sure") {
    check_ones({Outcome{}.gain, Outcome{}.speedup, Outcome{}.first_token_growth});
    check_ones({Candidate{}.accept_length, Candidate{}.break_even_accept_length, Candidate{}.gain, Candidate{}.speedup});
    check_ones({ScheduleEntry{}.least, ScheduleEntry{}.greatest, ScheduleStep{}.before, ScheduleStep{}.after, Schedule{}.gain,
                Schedule{}.speedup, LoadEstimate{}.gain, OtherMode{}.gain, RejectedDrafting{}.gain,
                RejectedDrafting{}.first_token_growth, RejectedDrafting{}.gain_everywhere,
                PointEstimate{}.break_even_accept_length});
    check_ones({Sensitivity{}.low, Sensitivity{}.high, GainInterval{}.value, GainInterval{}.low, GainInterval{}.high});
    const MeasuredGain measured;
    check_ones(
        {measured.low, measured.high, measured.engine_low, measured.engine_high, MeasuredTime{}.low, MeasuredTime{}.high});
    check_ones({UnmeasuredFactors{}.low, UnmeasuredFactors{}.high, GainAt{}.batch, GainAt{}.gain, GainAt{}.share});
    CHECK(GainChances{}.pays == 0.5);  // nothing speaks for it, and nothing against
}

TEST_CASE("without words one request is asked for, with all of the traffic, of which nothing goes to prompts") {
    check_ones({Load{}.value, SettledLoad{}.batch, SettledLoad{}.largest_batch, PointInput{}.batch, PointInput{}.expert_pool});
    check_ones({TrafficPoint{}.load, TrafficPoint{}.share, WeightedValue{}.share, BestAtBatch{}.batch, CandidateRun{}.batch,
                SimulatedRounds{}.batch});
    check_ones({TrafficMeans{}.decode_share_user, TrafficMeans{}.decode_share_device});
    check_ones({RequestClass{}.share, Requests{}.per_second, FpgaSpeculation{}.accept_length, ArmFacts{}.accept_length});
    CHECK(SpeculationSetting{}.accepted_exactly == std::vector<double>{1.0});  // of no drafts
    CHECK(SpeculationSetting{}.plain());
}

TEST_CASE("without limits speculation must not lose, and may double the time to the first token") {
    CHECK(Limits{}.minimum_gain == 1.0);
    CHECK(Limits{}.first_token_growth == 2.0);
    // Policies as published: a cut-off at even odds; a bandit that weighs what it has not tried as much as it deviates.
    CHECK(Policy{}.threshold == 0.5);
    CHECK(BanditRule{}.exploration == 1.0);
    CHECK(PolicyProblem{}.request_spread == 0.5);
}

TEST_CASE("answers and questions about hardware and sweeps that state nothing are of one request, too") {
    check_ones({GainInterval{}.beside, FlipLength{}.accept_length, PointEstimate{}.gain, TrafficMeans{}.in_service});
    check_ones({ClaimedStructure{}.accept_length, FpgaRun{}.accept_length, FpgaSimulatedPass{}.runs});
    CHECK(SweepOptions{}.save_seconds == 1.0);
}

}  // namespace plain_defaults_test
