#include "reports/objective_text.h"

#include <cmath>
#include <set>

#include <fmt/format.h>

#include "json/wording.h"
#include "text/number_text.h"

namespace treeline::reports {
namespace {

struct Words {
    const char* goal;
    const char* quantity;
    const char* heading;
    const char* figure;  ///< of figure_text(), around the number
    const char* gain;
};

const Words& words_of(sweeps::Objective objective) {
    static const Words throughput = {"most tokens/s per device", "tokens/s per device", "tokens/s/device",
                                     "{} tokens/s per device", "{} the tokens/s of plain decoding at this load"};
    static const Words latency = {"lowest time per token", "time per token", "TPOT", "{} per token",
                                  "{} the speed of plain decoding"};
    static const Words cost = {"lowest price per token", "price per token", "$/M tokens", "{} per million tokens",
                               "{} the tokens per dollar of plain decoding"};
    static const Words energy = {"least energy per token", "energy per token", "J/token", "{} per token",
                                 "{} the tokens per joule of plain decoding"};
    switch (objective) {
        case sweeps::Objective::throughput:
            return throughput;
        case sweeps::Objective::latency:
            return latency;
        case sweeps::Objective::cost:
            return cost;
        case sweeps::Objective::energy:
            return energy;
    }
    return throughput;
}

/// Why the schedule ends, after "beyond batch 188".
std::string end_text(const sweeps::Schedule& schedule, const sweeps::Capacity& capacity) {
    if (*schedule.end_limit != sweeps::Limit::memory) {
        return "nothing meets " + limit_text(*schedule.end_limit);
    }
    const double plain = std::floor(capacity.plain), drafting = std::floor(capacity.drafting);
    const std::string full = fmt::format("is full at context {}", text::short_text(capacity.context));
    if (plain <= schedule.largest_batch) {
        return "the server " + full;
    }
    return fmt::format(
        "a server with the drafter {}{}; one without it holds {:.0f} sequences", full,
        drafting < schedule.largest_batch ? fmt::format(", and beyond {:.0f} while it drafts as recommended", drafting) : "",
        plain);
}

/// Why drafts are switched off, after "from batch 64:".
std::string off_text(const std::optional<sweeps::Limit>& limit) {
    return !limit                            ? "plain decoding is better"
           : *limit == sweeps::Limit::memory ? "its drafts no longer fit in memory"
           : *limit == sweeps::Limit::gain   ? "it gains less than the minimum"
                                             : "it exceeds " + limit_text(*limit);
}

}  // namespace

std::string goal_text(sweeps::Objective objective) { return words_of(objective).goal; }
std::string quantity_text(sweeps::Objective objective) { return words_of(objective).quantity; }
std::string objective_heading(sweeps::Objective objective) { return words_of(objective).heading; }

std::string objective_cell(const sweeps::TrafficMeans& means, sweeps::Objective objective) {
    switch (objective) {
        case sweeps::Objective::throughput:
            return text::short_text(means.tokens_per_second_device);
        case sweeps::Objective::latency:
            return text_of(means.time_per_token);
        case sweeps::Objective::cost:
            return text::dollars_text(1e6 * means.price_per_token.value());
        case sweeps::Objective::energy:
            return text_of(means.energy_per_token);
    }
    return {};
}

std::string figure_text(const sweeps::TrafficMeans& means, sweeps::Objective objective) {
    return fmt::format(fmt::runtime(words_of(objective).figure), objective_cell(means, objective));
}

std::string gain_text(double gain, sweeps::Objective objective) {
    return fmt::format(fmt::runtime(words_of(objective).gain), text::ratio_text(gain));
}

std::string first_token_text(const sweeps::Recommendation& found, const sweeps::Candidate& candidate) {
    return sweeps::waits_for_ever(found, candidate) ? "grows" : text_of(candidate.time_to_first_token);
}

std::string regret_text(sweeps::Objective objective) {
    switch (objective) {
        case sweeps::Objective::throughput:
            return "Regret: how many more device-seconds a token takes than with the recommendation.";
        case sweeps::Objective::latency:
            return "Regret: how much longer a token takes than with the recommendation.";
        case sweeps::Objective::cost:
            return "Regret: how much more a token costs than with the recommendation.";
        case sweeps::Objective::energy:
            return "Regret: how much more energy a token takes than with the recommendation.";
    }
    return {};
}

std::string traffic_text(const sweeps::Traffic& traffic) {
    return traffic.shares_of == sweeps::ShareOf::time
               ? "Traffic shares are shares of time; TPOT, energy and money are means over the tokens generated in it."
               : "Traffic shares are shares of generated tokens; every mean is taken over tokens.";
}

std::string load_text(const sweeps::Traffic& traffic) {
    std::string values;
    std::set<double> seen;
    for (const sweeps::TrafficPoint& point : traffic.points) {
        if (seen.insert(point.load).second) {
            values += (values.empty() ? "" : ", ") + text::short_text(point.load);
        }
    }
    switch (traffic.kind) {
        case sweeps::LoadKind::batch:
            return "batches of " + values;
        case sweeps::LoadKind::concurrency:
            return values + " requests in flight";
        case sweeps::LoadKind::arrival_rate:
            return values + " requests/s, at random";
    }
    return {};
}

namespace {

/// For who is at a command line.
constexpr std::string_view flags_of_traffic = " (served traffic: --concurrency N --prompt P --output-tokens O)";

}  // namespace

std::string on_a_page(std::string sentence) {
    const std::size_t at = sentence.find(flags_of_traffic);
    return at == std::string::npos ? sentence : sentence.erase(at, flags_of_traffic.size());
}

std::string decoding_alone_text(const sim::RoundSetup& setup) {
    return setup.output_tokens > 0.0 || setup.platform.accelerator ? "" : fmt::format(", decoding alone{}", flags_of_traffic);
}

std::string limit_text(sweeps::Limit limit) {
    switch (limit) {
        case sweeps::Limit::memory:
            return "the memory limit";
        case sweeps::Limit::time_per_token:
            return "the TPOT limit";
        case sweeps::Limit::time_to_first_token:
            return "the TTFT limit";
        case sweeps::Limit::gain:
            return "the minimum gain";
        case sweeps::Limit::load:
            return "the token budget of a step";
        case sweeps::Limit::first_token_growth:
            return "the limit on the growth of TTFT";
        case sweeps::Limit::waiting:
            return "the limit on requests that wait";
    }
    return {};
}

std::string schedule_text(const sweeps::Schedule& schedule, const sweeps::Capacity& capacity) {
    if (schedule.entries.empty()) {
        return schedule.end_limit ? "Even at batch 1 " + end_text(schedule, capacity) + "." : "";
    }
    std::string text = schedule.switch_off_batch ? fmt::format("Switch speculation off from batch {}: {}",
                                                               *schedule.switch_off_batch, off_text(schedule.switch_off_limit))
                                                 : fmt::format("Speculation is predicted to gain up to batch {}{}",
                                                               schedule.largest_batch, schedule.end_limit ? "" : " at least");
    if (schedule.end_limit) {
        text += fmt::format("; beyond batch {} {}", schedule.largest_batch, end_text(schedule, capacity));
    }
    return text + ".";
}

std::string steps_text(const sweeps::Schedule& schedule) {
    constexpr std::size_t most_named = 3;
    if (schedule.steps.empty()) {
        return "";
    }
    std::vector<std::string> falls;
    for (std::size_t i = 0; i < std::min(most_named, schedule.steps.size()); ++i) {
        const sweeps::ScheduleStep& step = schedule.steps[i];
        falls.push_back(fmt::format("from {} at {} to {} at {}", text::ratio_text(step.before), step.batch,
                                    text::ratio_text(step.after), step.batch + 1));
    }
    return fmt::format(
        "One more sequence can cost a step: the speed-up falls {}{}, because kernels take rows in tiles and graphs are "
        "captured "
        "for sizes. Just below such a batch is the better limit.",
        text::listed(falls, "and"), schedule.steps.size() > most_named ? ", and at larger batches" : "");
}

}  // namespace treeline::reports
