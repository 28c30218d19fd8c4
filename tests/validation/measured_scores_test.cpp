// Are scores of measured rows what arithmetic says?
#include <catch2/catch.hpp>

#include "shared_measurements.h"
#include "source_folder.h"

#include "requests/validate/measured_rows_reader.h"
#include "requests/validate/serving_parts.h"
#include "validation/serving/advice.h"
#include "validation/serving/families.h"
#include "validation/serving/held_out.h"
#include "validation/serving/naive.h"
#include "validation/serving/study.h"

namespace measured_scores_test {

using namespace treeline;
using namespace treeline::validation;

namespace {

ServingStudyInput open_rows() {
    ServingStudyInput input;
    input.parts = requests::read_serving_parts(requests::catalogue_in(testing::source_folder(), "test"), {}, input.notes);
    for (const char* name : {"data/serving/silicon_tpot.csv", "data/serving/silicon_tpot_moe.csv"}) {
        if (const auto path = testing::shared_measurements(name)) {
            const std::vector<ServingRun> rows = requests::read_serving_rows(*path, input.notes);
            input.serving.insert(input.serving.end(), rows.begin(), rows.end());
        }
    }
    if (const auto path = testing::shared_measurements("data/speculation/measured.json")) {
        input.speculation = requests::read_speculation_rows(*path, input.notes);
    }
    return input;
}

}  // namespace

TEST_CASE("advice counts losses, switch-offs and best lengths") {
    // Two series over batches 1, 8, 64. Drafting 1 token: measured 1.5, 1.2, 0.9 and predicted 1.5, 1.1, 1.05: the loss is
    // missed, and the switch-off (position 2) is predicted behind the last batch (3): within one step. Drafting 3:
    // measured 1.8, 0.95, 0.8 and predicted 1.8, 1.3, 1.2: two losses missed; switch-off 1 against 3: not within one.
    const std::vector<AdvisedRow> rows = {{"one", "b1", 1, 1, 1.5, 1.5, true},     {"one", "b8", 8, 1, 1.2, 1.1, false},
                                          {"one", "b64", 64, 1, 0.9, 1.05, false}, {"three", "b1", 1, 3, 1.8, 1.8, true},
                                          {"three", "b8", 8, 3, 0.95, 1.3, false}, {"three", "b64", 64, 3, 0.8, 1.2, false}};
    const Advice advice = advice_of(rows);
    CHECK(advice.cells == 4);
    CHECK(advice.losing == 3);
    CHECK(advice.found == 0);
    CHECK(advice.false_alarms == 0);
    CHECK(advice.series == 2);
    CHECK(advice.switch_right == 1);
    // Fitted rows are no choices. At batch 8: best 1 (1.2), chosen 3 (0.95): regret 1 − 0.95/1.2. At 64: best is none (1.0),
    // chosen 3 (0.8): regret 0.2.
    CHECK(advice.choices == 2);
    CHECK(advice.best_within == 0);
    CHECK(advice.best_next == 1);  // at 8, of none, 1 and 3
    CHECK(advice.mean_regret == Approx((1.0 - 0.95 / 1.2 + 0.2) / 2.0));
    // One token everywhere: right at 8, and 1 − 0.9 at 64.
    CHECK(advice.constant_length == 1.0);
    CHECK(advice.constant_regret == Approx(0.05));
}

TEST_CASE("a false alarm is a predicted loss that did not happen") {
    const std::vector<AdvisedRow> rows = {{"s", "c", 4, 2, 1.01, 0.99, false}, {"s", "d", 8, 2, 0.9, 0.8, false}};
    CHECK(advice_of(rows).false_alarms == 1);
    CHECK(advice_of(rows).found == 1);
}

TEST_CASE("verdicts count what is said and what was measured") {
    const std::vector<double> chances = {0.1, 0.19, 0.5, 0.79, 0.8, 1.0}, measured = {1.5, 0.9, 1.1, 0.9, 0.8, 1.2};
    const Verdicts verdicts = verdicts_of(chances, measured);
    CHECK(verdicts.pays.cells == 2);
    CHECK(verdicts.pays.losing == 1);
    CHECK(verdicts.unsure.cells == 2);
    CHECK(verdicts.unsure.losing == 1);
    CHECK(verdicts.loses.cells == 2);
    CHECK(verdicts.loses.losing == 1);
    CHECK(verdicts.losing() == 3);
    CHECK(verdicts.cells() == 6);
    CHECK(verdicts.found() == 1);
    CHECK(verdicts.false_alarms() == 1);
}

TEST_CASE("step costs come from other families") {
    // Costs of family A: 2/1.6 = 1.25 and 3/1.5 = 2; of B: 2/1 = 2.
    const StepCostTable table({{"A", "1", "1", 2.0, 1.6}, {"A", "2 to 3", "1", 3.0, 1.5}, {"B", "1", "1", 2.0, 1.0}});
    CHECK(table.cost("B", "1", "1") == 1.25);
    CHECK(table.cost("A", "1", "1") == 2.0);
    CHECK(table.cost("C", "1", "1") == 1.625);           // median of 1.25 and 2
    CHECK(table.cost("B", "1", "17 to 64") == 1.25);     // no such batch: the draft's class
    CHECK(table.cost("B", "9 and more", "1") == 1.625);  // no such draft: all
}

TEST_CASE("families are predicted by what was fitted without them") {
    const std::vector<std::string> family = {"a", "a", "b", "b", "b"};
    const std::vector<double> measured = {10.0, 12.0, 20.0, 22.0, 24.0};
    // Predicts the mean of what it was fitted on.
    const FitRows fit = [&](std::span<const std::size_t> training) -> PredictRow {
        double sum = 0.0;
        for (const std::size_t row : training) {
            sum += measured[row];
        }
        return [mean = sum / static_cast<double>(training.size())](std::size_t) { return mean; };
    };
    const std::vector<HeldOutRow> rows = leave_families_out({family, family}, measured, fit);
    CHECK(rows[0].predicted == 22.0);
    CHECK(rows[2].predicted == 11.0);
    // Ratios of a are 10/11 and 12/11: one of two rows is more than 10 % of the weight.
    CHECK(rows[2].low == Approx(10.0));
    CHECK(rows[2].high == Approx(12.0));
    CHECK(rows[2].below_one == 0.25);  // neither lies below, and one family says little: half as far from a half
    CHECK(coverage(rows, measured) == 0.0);
    const std::vector<double> other = {10.0, 22.0, 10.5, 40.0, 11.0};
    CHECK(coverage(rows, other) == Approx(0.6));  // 22, 10.5 and 11
}

TEST_CASE("a deployment with many rows does not outvote others") {
    // Left out: x. Of the others nine rows of one deployment are predicted exactly and one of another is 1.5 times as slow:
    // each deployment has half of the weight, so that the 90 % quantile is the slow one's. By rows it would be 1.
    std::vector<std::string> family(11, "y"), deployment(11, "many");
    std::vector<double> measured(11, 1.0);
    family[0] = deployment[0] = "x";
    deployment[10] = "one";
    measured[10] = 1.5;
    const FitRows exact = [](std::span<const std::size_t>) -> PredictRow { return [](std::size_t) { return 1.0; }; };
    const std::vector<HeldOutRow> rows = leave_families_out({family, deployment}, measured, exact);
    CHECK(rows[0].low == 1.0);
    CHECK(rows[0].high == 1.5);
}

TEST_CASE("groups have names") {
    CHECK(batch_class(1) == "1");
    CHECK(batch_class(4) == "2 to 4");
    CHECK(batch_class(65) == "65 to 256");
    CHECK(batch_class(512) == "257 and more");
    CHECK(draft_class(3) == "2 to 3");
    CHECK(draft_class(16) == "9 and more");
}

TEST_CASE("the open rows are read, priced and scored", "[shared][slow]") {
    ServingStudyInput input = open_rows();
    if (input.serving.empty() || input.speculation.empty()) {
        return;
    }
    const ServingStudy study = study_serving(std::move(input));
    // Every row is scored or has a reason.
    CHECK(study.serving.points.size() + study.serving.left_out.size() == study.input.serving.size());
    CHECK(study.speculation.points.size() + study.speculation.left_out.size() == study.input.speculation.size());
    // The data's README: 1,992 usable pairs.
    CHECK(study.usable_pairs == 1992);
    CHECK(static_cast<double>(study.speculation.points.size()) >= 0.68 * static_cast<double>(study.usable_pairs));
    // It also counts 668 + 1,399 runs, of them 50 queued ones in the dense file.
    CHECK(study.input.serving.size() == 2067);
    REQUIRE(study.time_per_token);
    REQUIRE(study.fitted_length);
    CHECK(study.time_per_token->errors.median < 0.20);
    // Better than either table without a model.
    CHECK(study.fitted_length->errors.median < study.fitted_length->by_cost_table->median);
    CHECK(study.fitted_length->errors.median < study.fitted_length->by_smallest_batch->median);
    // Rows of 30 s print accept lengths of their own, which differ by more than a tenth at one request.
    REQUIRE(study.fitted_length->by_constant_length);
    CHECK(study.fitted_length->by_constant_length->rows > 100);
    CHECK(study.fitted_length->by_constant_length->median > 0.04);
    CHECK_FALSE(study.given_length->by_constant_length);
    CHECK(study.fitted_length->advice->best_within >= study.fitted_length->advice_by_cost_table->best_within);
}

}  // namespace measured_scores_test
