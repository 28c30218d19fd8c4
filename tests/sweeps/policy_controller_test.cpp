// What each policy chooses, round by round, from confidences and acceptances that are given.
#include <catch2/catch.hpp>

#include <cmath>

#include "sweeps/adaptive/policy_controller.h"

namespace policy_controller_test {

using namespace treeline;
using namespace treeline::sweeps;

namespace {

/// Drafts of up to `longest`; a pass takes `draft` s, the rest 10 s and `token` s for each draft of a sequence.
struct Setting {
    PolicyProblem problem;
    PolicyTimes times;
    Setting(int longest, double draft, double token, int batch = 1) {
        problem.per_position.assign(static_cast<std::size_t>(longest), 0.5);
        times.batch = batch;
        for (int k = 0; k <= longest; ++k) {
            times.draft.push_back(Seconds(draft * k));
            times.rest.push_back(Seconds(10.0 + token * k));
        }
    }
    PolicyController controller(const Policy& policy) const { return {policy, problem, times}; }
};

PolicyDraft sure_of(std::vector<double> confidence) {
    PolicyDraft draft;
    draft.confidence = std::move(confidence);
    return draft;
}

/// One round of a sequence of which `accepted` drafts are.
int next_steps(PolicyController& controller, int accepted, int longest) {
    std::vector<PolicyDraft> batch = {sure_of(std::vector<double>(static_cast<std::size_t>(longest), 1.0))};
    controller.plan(batch);
    batch.front().accepted = std::min(accepted, batch.front().verified);
    controller.learn(batch, Seconds(1.0));
    std::vector<PolicyDraft> next = {batch.front()};
    return controller.plan(next);
}

}  // namespace

TEST_CASE("a fixed length drafts and verifies it in every sequence") {
    const Setting setting(4, 1.0, 1.0);
    PolicyController controller = setting.controller({PolicyKind::fixed, 3});
    std::vector<PolicyDraft> batch(2);
    CHECK(controller.plan(batch) == 3);
    CHECK(batch[1].drafted == 3);
    CHECK(batch[1].verified == 3);
}

TEST_CASE("a cut-off drafts up to the first draft that it is less sure of; that one's pass ran, too") {
    const Setting setting(4, 1.0, 1.0);
    PolicyController controller = setting.controller({PolicyKind::cut_off, 0, 0.5});
    std::vector<PolicyDraft> batch = {sure_of({0.9, 0.5, 0.49, 0.9}), sure_of({0.4, 0.9, 0.9, 0.9})};
    CHECK(controller.plan(batch) == 3);
    CHECK(batch[0].drafted == 2);
    CHECK(batch[0].verified == 2);
    CHECK(batch[1].drafted == 0);
    batch = {sure_of({0.9, 0.9, 0.9, 0.9})};
    CHECK(controller.plan(batch) == 4);  // no pass beyond the longest
    CHECK(batch[0].drafted == 4);
}

TEST_CASE("AdaEDL's bound is 1 - sqrt(entropy/5), against a threshold that follows the acceptance") {
    const Setting setting(2, 1.0, 1.0);
    PolicyController controller = setting.controller({PolicyKind::ada_edl});
    const auto drafted = [&](double confidence) {
        std::vector<PolicyDraft> batch = {sure_of({confidence, 0.0})};
        controller.plan(batch);
        return batch[0].drafted;
    };
    // At first the threshold is 0: entropy up to 5 nats, which ten tokens never have.
    CHECK(drafted(0.1) >= 1);
    // 40 rounds without acceptance raise it by a thousandth each to 0.04, less the weight of what was before.
    std::vector<PolicyDraft> batch = {sure_of({1.0, 1.0})};
    double threshold = 0.0;
    for (int round = 0; round < 400; ++round) {
        batch[0].drafted = 2;
        batch[0].accepted = 0;
        controller.learn(batch, Seconds(1.0));
        threshold = 0.9 * threshold + 0.1 * (threshold + 0.01);
    }
    CHECK(threshold == Approx(0.4));
    // 1 - sqrt(0.2 H) = 0.4 at H = 1.8; of confidence 0.4: 0.4 ln 2.5 + 0.6 ln 15 = 1.991; of 0.5: 0.693 + 0.5 ln 9 = 1.792.
    CHECK(drafted(0.4) == 0);
    CHECK(drafted(0.5) == 1);
    batch[0].drafted = 0;
    for (int round = 0; round < 100; ++round) {
        controller.learn(batch, Seconds(1.0));  // a thousandth less each
    }
    CHECK(drafted(0.4) >= 1);  // 0.3: H up to 2.45
    for (int round = 0; round < 300; ++round) {
        batch[0].drafted = batch[0].accepted = 2;
        controller.learn(batch, Seconds(1.0));
    }
    CHECK(drafted(0.1) >= 1);
}

TEST_CASE("AdaEDL's acceptance is the mean of its last value and of what a round accepts of its drafts") {
    const Setting setting(10, 1.0, 1.0);
    PolicyController controller = setting.controller({PolicyKind::ada_edl});
    std::vector<PolicyDraft> batch = {sure_of(std::vector<double>(10, 1.0))};
    // Seven of ten each time: from 0.9 down to 0.7, always below the target of 0.9, so that the threshold rises by a
    // thousandth.
    for (int round = 0; round < 400; ++round) {
        batch[0].drafted = 10;
        batch[0].accepted = 7;
        controller.learn(batch, Seconds(1.0));
    }
    std::vector<PolicyDraft> unsure = {sure_of(std::vector<double>(10, 0.4))};  // whose bound is 0.37, as above
    controller.plan(unsure);
    CHECK(unsure[0].drafted == 0);
}

TEST_CASE("a budget verifies the likeliest drafts, as many as make the most tokens per time") {
    // Two sequences; verifying a draft takes half a token's s of a sequence.
    const Setting cheap(2, 0.0, 0.1, 2), dear(2, 0.0, 100.0, 2), middle(2, 1.0, 8.0, 2);
    std::vector<PolicyDraft> batch = {sure_of({0.9, 0.9}), sure_of({0.5, 0.5})};
    const auto verified = [&](const Setting& setting) {
        PolicyController controller = setting.controller({PolicyKind::budget});
        for (PolicyDraft& draft : batch) {
            draft.verified = 0;
        }
        CHECK(controller.plan(batch) == 2);
        CHECK(batch[0].drafted == 2);
        return std::pair{batch[0].verified, batch[1].verified};
    };
    CHECK(verified(cheap) == std::pair{2, 2});
    CHECK(verified(dear) == std::pair{0, 0});
    // In 12 s of drafting and the rest, 4 s a draft: 2/12, 2.9/16, 3.71/20, 4.21/24 and 4.46/28 tokens a second.
    CHECK(verified(middle) == std::pair{2, 0});
}

TEST_CASE("the rest of a round lies between those of whole lengths, and goes on beyond the longest") {
    Setting setting(2, 1.0, 0.0, 2);
    setting.times.rest = {Seconds(10.0), Seconds(12.0), Seconds(20.0)};
    CHECK(setting.times.rest_of(0.0) == Seconds(10.0));
    CHECK(setting.times.rest_of(1.0) == Seconds(11.0));
    CHECK(setting.times.rest_of(2.0) == Seconds(12.0));
    CHECK(setting.times.rest_of(3.0) == Seconds(16.0));
    CHECK(setting.times.rest_of(4.0) == Seconds(20.0));
    CHECK(setting.times.rest_of(6.0) == Seconds(28.0));
    setting.times.rest = {Seconds(10.0)};
    CHECK(setting.times.rest_of(6.0) == Seconds(10.0));
}

TEST_CASE("SGLang's steps follow the average of accepted drafts, five rounds at a time after ten") {
    const Setting setting(7, 1.0, 1.0);
    PolicyController controller = setting.controller({PolicyKind::ema_steps});  // of 1, 3, 5, 7 it starts at 5
    for (int round = 1; round < 15; ++round) {
        CHECK(next_steps(controller, 7, 7) == 5);
    }
    // The average goes from 4 to 5: 5 - 0.8^15 = 4.96 is more than 4.5.
    CHECK(next_steps(controller, 7, 7) == 7);
    for (int round = 16; round < 20; ++round) {
        next_steps(controller, 0, 7);
    }
    CHECK(next_steps(controller, 0, 7) == 5);  // 4.96·0.8^5 = 1.63 is at most 4.25
    for (int round = 21; round < 25; ++round) {
        next_steps(controller, 0, 7);
    }
    CHECK(next_steps(controller, 0, 7) == 3);
    for (int round = 26; round < 31; ++round) {
        next_steps(controller, 0, 7);
    }
    CHECK(next_steps(controller, 0, 7) == 1);
    CHECK(next_steps(controller, 0, 7) == 1);
}

TEST_CASE("throughput-aware steps take the candidate of the most expected tokens per time, every ten rounds") {
    const Setting cheap(4, 0.1, 0.1), dear(4, 3.0, 8.0);
    const auto after_ten = [](const Setting& setting, int accepted, const std::vector<int>& candidates) {
        PolicyController controller = setting.controller({PolicyKind::throughput, 0, 0.5, candidates});
        const int before = candidates[candidates.size() / 2];
        for (int round = 1; round < 10; ++round) {
            CHECK(next_steps(controller, accepted, 4) == before);
        }
        return next_steps(controller, accepted, 4);
    };
    // Of two drafts that are all accepted: positions 1, 1, and on at the rate 1.
    CHECK(after_ten(cheap, 4, {1, 2, 4}) == 4);
    CHECK(after_ten(dear, 4, {1, 2, 4}) == 1);  // 2/21, 3/32, 5/54
    CHECK(after_ten(cheap, 0, {1, 2, 4}) == 1);
    // One of two is: positions 1, 0: 2/10.2, 2/10.4.
    CHECK(after_ten(cheap, 1, {1, 2, 4}) == 1);
}

TEST_CASE("a cut-off is one half unless it is stated") {
    const Setting setting(2, 1.0, 1.0);
    PolicyController controller = setting.controller({PolicyKind::cut_off});
    std::vector<PolicyDraft> batch = {sure_of({0.51, 0.51}), sure_of({0.51, 0.49}), sure_of({0.49, 0.9})};
    controller.plan(batch);
    CHECK(batch[0].drafted == 2);
    CHECK(batch[1].drafted == 1);
    CHECK(batch[2].drafted == 0);
}

TEST_CASE("of drafts that are equally likely a budget verifies those of the first sequence") {
    // Three drafts more take no time, any beyond them much: the three likeliest are 0.9, 0.81 and one of two with 0.5.
    Setting setting(2, 0.0, 0.0, 3);
    setting.times.rest = {Seconds(10.0), Seconds(10.0), Seconds(1000.0)};
    PolicyController controller = setting.controller({PolicyKind::budget});
    std::vector<PolicyDraft> batch = {sure_of({0.9, 0.9}), sure_of({0.5, 0.5}), sure_of({0.5, 0.5})};
    controller.plan(batch);
    CHECK(batch[0].verified == 2);
    CHECK(batch[1].verified == 1);
    CHECK(batch[2].verified == 0);
}

TEST_CASE("a budget verifies no draft that does not pay") {
    const Setting free(2, 0.0, 0.0);
    PolicyController controller = free.controller({PolicyKind::budget});
    std::vector<PolicyDraft> batch = {sure_of({0.0, 0.0})};
    controller.plan(batch);
    CHECK(batch[0].verified == 0);
}

TEST_CASE("a bandit tries every length once, and then what yields the most tokens of a sequence per time") {
    // Two sequences; a round without drafts takes 10 s, which is the unit of cost.
    const Setting setting(1, 1.0, 0.0, 2);
    const auto third_round = [&](double seconds_of_one_draft) {
        PolicyController controller = setting.controller({PolicyKind::bandit});
        std::vector<PolicyDraft> batch(2);
        CHECK(controller.plan(batch) == 0);
        controller.learn(batch, Seconds(10.0));
        CHECK(controller.plan(batch) == 1);
        CHECK(batch[1].verified == 1);
        batch[0].accepted = 1;  // 1.5 tokens
        controller.learn(batch, Seconds(seconds_of_one_draft));
        CHECK(controller.plan(batch) == 1);
        // Once more without accepted drafts: 3 tokens in 10 s and 2.5 in twice the time of one draft.
        batch[0].accepted = batch[1].accepted = 0;
        controller.learn(batch, Seconds(seconds_of_one_draft));
        return controller.plan(batch);
    };
    // After three rounds, two of them with a draft, the bonus of the other length is ahead by 0.2·0.4342 = 0.0868. A token
    // costs 1 without drafts; with one it costs 2·1.13/2.5 = 0.904 or 2·1.15/2.5 = 0.92.
    CHECK(third_round(1.1) == 1);
    CHECK(third_round(11.3) == 1);
    CHECK(third_round(11.5) == 0);
}

}  // namespace policy_controller_test
