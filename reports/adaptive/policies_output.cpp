// What `treeline study policies` found: sentence, table, JSON, CSV, page.
#include "reports/adaptive/policies_output.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "reports/figure.h"
#include "text/number_text.h"
#include "text/table.h"

namespace treeline::reports {
namespace {

std::string gain_text(double share) {
    const double tenths = std::round(1000.0 * share);
    return fmt::format("{:+.1f} %", tenths == 0.0 ? 0.0 : tenths / 10.0);
}

/// The policy that gains the most at a batch; the fixed length, which is first, where none does.
const sweeps::ServedByPolicy& best_of(const sweeps::PolicyBatchOutcome& batch) {
    return *std::max_element(
        batch.policies.begin(), batch.policies.end(),
        [](const sweeps::ServedByPolicy& a, const sweeps::ServedByPolicy& b) { return a.gain.mean < b.gain.mean; });
}

std::string batches_table(const sweeps::PoliciesAnswer& answer) {
    const bool measured = !answer.input.measured.empty();
    std::vector<text::Column> columns = {{"Batch"},    {"policy", text::Align::left},
                                         {"tokens/s"}, {"against the best fixed length (95 %)"},
                                         {"drafted"},  {"verified"},
                                         {"accepted"}};
    if (measured) {
        columns.insert(columns.begin() + 4, {"measured"});
    }
    text::TextTable table(columns);
    for (std::size_t b = 0; b < answer.batches.size(); ++b) {
        const sweeps::PolicyBatchOutcome& batch = answer.batches[b];
        for (std::size_t i = 0; i < batch.policies.size(); ++i) {
            const sweeps::ServedByPolicy& policy = batch.policies[i];
            std::vector<std::string> cells = {i == 0 ? std::to_string(batch.batch) : "",
                                              policy.name + (i == 0 ? " (the best fixed)" : ""),
                                              text::short_text(policy.tokens_per_second.mean),
                                              i == 0 ? ""
                                                     : fmt::format("{} ({} to {})", gain_text(policy.gain.mean),
                                                                   gain_text(policy.gain.low()), gain_text(policy.gain.high())),
                                              text::fixed_text(policy.drafted, 2),
                                              text::fixed_text(policy.verified, 2),
                                              text::fixed_text(policy.accepted, 2)};
            if (measured) {
                const std::optional<double> gain = answer.input.measured_gain(policy.name, b);
                cells.insert(cells.begin() + 4, gain ? gain_text(*gain) : "");
            }
            table.add(cells);
        }
    }
    return table.text();
}

nlohmann::ordered_json span_json(const sweeps::Interval& interval) {
    return {{"mean", interval.mean}, {"low", interval.low()}, {"high", interval.high()}};
}

Figure gain_figure(const sweeps::PoliciesAnswer& answer) {
    Figure figure;
    figure.id = "policy-gain";
    figure.title = "Gain over the best fixed length";
    figure.reading = "Above zero a policy decodes faster than the draft length that is best at this batch throughout.";
    figure.x = {"batch", "Batch", true};
    figure.y = {"gain", "Gain (%)"};
    figure.series = "policy";
    figure.low = "low";
    figure.high = "high";
    figure.rules = {{0.0, "best fixed length"}};
    figure.columns = {{"batch", "Batch"}, {"policy", "Policy"}, {"gain", "Gain", "%", 1}, {"tokens_per_second", "Tokens/s"}};
    if (answer.batches.empty()) {
        return figure;
    }
    for (std::size_t i = 1; i < answer.batches.front().policies.size(); ++i) {
        for (const sweeps::PolicyBatchOutcome& batch : answer.batches) {
            const sweeps::ServedByPolicy& policy = batch.policies[i];
            figure.rows.push_back({{"batch", batch.batch},
                                   {"policy", policy.name},
                                   {"gain", 100.0 * policy.gain.mean},
                                   {"low", 100.0 * policy.gain.low()},
                                   {"high", 100.0 * policy.gain.high()},
                                   {"tokens_per_second", policy.tokens_per_second.mean}});
        }
    }
    return figure;
}

}  // namespace

std::string sentence_of(const sweeps::PoliciesAnswer& answer) {
    std::string text;
    for (const sweeps::PolicyBatchOutcome& batch : answer.batches) {
        const sweeps::ServedByPolicy& best = best_of(batch);
        const bool gains = best.gain.low() > 0.0;
        text += fmt::format("{} batch {} {}", text.empty() ? "At" : "; at", batch.batch,
                            gains ? fmt::format("{} gains {} over {} throughout", best.name, gain_text(best.gain.mean),
                                                batch.policies.front().name)
                                  : fmt::format("no policy beats {} throughout", batch.policies.front().name));
    }
    return text + ".";
}

std::string policies_table(const sweeps::PoliciesAnswer& answer) {
    const sweeps::PoliciesInput& input = answer.input;
    text::FactList facts;
    facts.add("Round times",
              input.priced.empty() ? "from the measured rates of fixed lengths" : "by the simulator: " + input.priced);
    facts.add("Acceptance", input.acceptance);
    facts.add("Spread", fmt::format("{} logits between drafts, which confidence shows{}; {} between requests",
                                    text::short_text(input.problem.draft_spread),
                                    input.problem.confidence_error > 0.0
                                        ? fmt::format(" with an error of {}", text::short_text(input.problem.confidence_error))
                                        : "",
                                    text::short_text(input.problem.request_spread)));
    facts.add("Simulated", fmt::format("{} runs, seed {}", input.runs.repetitions, input.runs.seed));
    return (input.title.empty() ? "" : input.title + "\n\n") + text::wrapped(sentence_of(answer), 120) + "\n\n" + facts.text() +
           "\n" + batches_table(answer) + "\nTokens are drafted, verified and accepted in a round of a sequence." +
           (input.problem.confidence_error > 0.0 ? "\n"
                                                 : " Confidence is taken as calibrated, so gains of\n"
                                                   "policies that read it are upper bounds.\n") +
           (input.source.empty() ? "" : "\n" + text::wrapped("Source: " + input.source, 120) + "\n");
}

nlohmann::ordered_json policies_json(const sweeps::PoliciesAnswer& answer) {
    nlohmann::ordered_json json = {{"format", "treeline-policies"}, {"version", 1}};
    json["title"] = answer.input.title;
    json["source"] = answer.input.source;
    json["priced"] = answer.input.priced;
    json["acceptance"] = answer.input.acceptance;
    json["per_position"] = answer.input.problem.per_position;
    json["draft_spread"] = answer.input.problem.draft_spread;
    json["request_spread"] = answer.input.problem.request_spread;
    json["confidence_error"] = answer.input.problem.confidence_error;
    json["repetitions"] = answer.input.runs.repetitions;
    json["seed"] = answer.input.runs.seed;
    json["batches"] = nlohmann::ordered_json::array();
    for (std::size_t b = 0; b < answer.batches.size(); ++b) {
        const sweeps::PolicyBatchOutcome& batch = answer.batches[b];
        nlohmann::ordered_json rows = nlohmann::ordered_json::array();
        for (const sweeps::ServedByPolicy& policy : batch.policies) {
            rows.push_back({{"name", policy.name},
                            {"tokens_per_second", span_json(policy.tokens_per_second)},
                            {"gain_over_best_fixed", span_json(policy.gain)},
                            {"drafted", policy.drafted},
                            {"verified", policy.verified},
                            {"accepted", policy.accepted}});
            if (const std::optional<double> gain = answer.input.measured_gain(policy.name, b)) {
                rows.back()["measured_gain_over_best_fixed"] = *gain;
            }
        }
        json["batches"].push_back({{"batch", batch.batch}, {"best_fixed_draft_tokens", batch.best_fixed}, {"policies", rows}});
    }
    return json;
}

std::string policies_html(const sweeps::PoliciesAnswer& answer) {
    return render_figures({answer.input.title.empty() ? "Policies while decoding" : answer.input.title,
                           answer.input.priced,
                           "What policies gain",
                           sentence_of(answer),
                           {{"gain", "Gain by batch", "Confidence is taken as calibrated.", {gain_figure(answer)}}}});
}

std::string policies_csv(const sweeps::PoliciesAnswer& answer) {
    std::string csv = text::csv_line(
        {"batch", "policy", "tokens_per_second", "gain", "gain_low", "gain_high", "drafted", "verified", "accepted"});
    for (const sweeps::PolicyBatchOutcome& batch : answer.batches) {
        for (const sweeps::ServedByPolicy& policy : batch.policies) {
            csv += text::csv_line({std::to_string(batch.batch), policy.name, text::exact_text(policy.tokens_per_second.mean),
                                   text::exact_text(policy.gain.mean), text::exact_text(policy.gain.low()),
                                   text::exact_text(policy.gain.high()), text::exact_text(policy.drafted),
                                   text::exact_text(policy.verified), text::exact_text(policy.accepted)});
        }
    }
    return csv;
}

}  // namespace treeline::reports
