#include "reports/adaptive/traffic_output.h"

#include <algorithm>

#include <fmt/format.h>

#include "text/number_text.h"

namespace treeline::reports {
namespace {

std::optional<std::size_t> best_single(const sweeps::TrafficAnswer& answer, std::size_t rate) {
    std::optional<std::size_t> best;
    for (std::size_t p = 0; p < answer.schedule(); ++p) {
        const auto& served = answer.served[p][rate].served;
        if (served && (!best || served->end_to_end.mean.mean < answer.served[*best][rate].served->end_to_end.mean.mean)) {
            best = p;
        }
    }
    return best;
}

std::string time_text(const sweeps::TrafficAnswer& answer, std::size_t policy, std::size_t rate) {
    return text_of(Seconds(answer.served[policy][rate].served->end_to_end.mean.mean));
}

}  // namespace

std::string sentence_of(const sweeps::TrafficAnswer& answer) {
    const std::vector<double>& rates = answer.input.loads;
    const std::vector<sweeps::ServedPoint>& scheduled = answer.served[answer.schedule()];
    const auto last =
        std::find_if(scheduled.rbegin(), scheduled.rend(), [](const sweeps::ServedPoint& p) { return p.served.has_value(); });
    if (last == scheduled.rend()) {
        return fmt::format("No setting keeps up with {} requests/s: full batches of the schedule serve at most {}.",
                           text::short_text(rates.front()), text::short_text(scheduled.front().most_requests_per_second));
    }
    const auto rate = static_cast<std::size_t>(scheduled.rend() - last) - 1;
    std::string text = fmt::format("At {} {} the schedule completes a request in {} on average", text::short_text(rates[rate]),
                                   load_unit(answer.input), time_text(answer, answer.schedule(), rate));
    text += answer.served[answer.plain()][rate].served
                ? fmt::format(", plain decoding in {}", time_text(answer, answer.plain(), rate))
                : std::string("; plain decoding cannot keep up");
    if (const std::optional<std::size_t> best = best_single(answer, rate); best && *best != answer.plain()) {
        text +=
            fmt::format(", the best single setting ({}) in {}", answer.policies[*best].name, time_text(answer, *best, rate));
    }
    return text + ".";
}

std::vector<std::string> overload_sentences(const sweeps::TrafficAnswer& answer) {
    std::vector<std::string> sentences;
    const std::vector<double>& rates = answer.input.loads;
    for (std::size_t p = 0; p < answer.policies.size(); ++p) {
        for (std::size_t i = 0; i < rates.size(); ++i) {
            if (!answer.served[p][i].served) {
                sentences.push_back(
                    fmt::format("{} cannot keep up with {} requests/s or more: full batches of {} serve at most {} "
                                "(utilisation {}), so its queue grows without bound.",
                                answer.policies[p].name, text::short_text(rates[i]), answer.input.capacity,
                                text::short_text(answer.served[p][i].most_requests_per_second),
                                text::fixed_text(rates[i] / answer.served[p][i].most_requests_per_second, 2)));
                break;
            }
        }
    }
    return sentences;
}

}  // namespace treeline::reports
