#include "engines/vllm/lint_schedule.h"

#include <algorithm>

#include <fmt/format.h>

#include "engines/vllm/parts.h"
#include "json/wording.h"
#include "sim/traits.h"

namespace treeline::engines::vllm {
namespace {

using Json = nlohmann::ordered_json;
using Kind = FindingKind;

struct Range {
    long long from, to, length;
};

/// The ranges, or nothing after the first entry that is none.
std::vector<Range> read_ranges(const Json& schedule, Findings& findings) {
    const auto refuse = [&](const std::string& sentence) {
        findings.add(Kind::value, schedule_key, sentence);
        return std::vector<Range>{};
    };
    if (schedule.is_object()) {
        return refuse("is an object, an early form; it must be a list of [from, to, K]");
    }
    if (!schedule.is_array() || schedule.empty()) {
        return refuse("must be a list of [from, to, K] with at least one entry");
    }
    std::vector<Range> ranges;
    for (const Json& entry : schedule) {
        if (entry.is_array() && entry.size() == 5) {
            return refuse("has entries of five numbers, with ranges of contexts: no release accepts them yet");
        }
        const bool numbers = entry.is_array() && entry.size() == 3 &&
                             std::all_of(entry.begin(), entry.end(), [](const Json& n) { return n.is_number_integer(); });
        if (!numbers) {
            return refuse(
                fmt::format("holds {}, which is not [from, to, K] in whole numbers", json::shown(Json(entry.dump()))));
        }
        const Range range{entry[0].get<long long>(), entry[1].get<long long>(), entry[2].get<long long>()};
        if (range.from < 1 || range.to < range.from) {
            return refuse(fmt::format("holds the range {} to {}; batches count from 1, and a range ends at or after its start",
                                      range.from, range.to));
        }
        if (range.length < 0) {
            return refuse(fmt::format("asks for {} draft tokens; K must be 0 or more", range.length));
        }
        ranges.push_back(range);
    }
    return ranges;
}

void check_order(std::vector<Range> ranges, Findings& findings) {
    std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return a.from < b.from; });
    if (ranges.front().from != 1) {
        findings.add(Kind::contradiction, schedule_key,
                     fmt::format("must start at batch 1, not {}: vLLM rejects batches without a K", ranges.front().from));
    }
    for (std::size_t i = 1; i < ranges.size(); ++i) {
        const Range& before = ranges[i - 1];
        if (ranges[i].from <= before.to) {
            findings.add(Kind::contradiction, schedule_key,
                         fmt::format("has ranges that overlap: {} to {} and {} to {}", before.from, before.to, ranges[i].from,
                                     ranges[i].to));
        } else if (ranges[i].from > before.to + 1) {
            findings.add(Kind::missing, schedule_key,
                         fmt::format("leaves out batches {} to {}; they draft {}, as in the range before", before.to + 1,
                                     ranges[i].from - 1, before.length));
        }
    }
}

/// Model runner V2 does not follow it (issue 51510; pull request 57053 was open in September 2026).
void check_runner(bool drafts_in_second, const Deployment& deployment, const Engine& engine,
                  const std::optional<sim::Model>& target, Findings& findings) {
    constexpr const char* no_effect = "has no effect on model runner V2";
    constexpr const char* instead = "V1 follows it (VLLM_USE_V2_MODEL_RUNNER=0), in slower rounds";
    if (deployment.second_runner) {
        if (*deployment.second_runner) {
            findings.add(Kind::ignored, schedule_key, fmt::format("{} (issue 51510); {}", no_effect, instead));
        }
        return;
    }
    const SecondRunner models = second_runner_of(engine);
    const bool is_dense = target && sim::kind_of_model(*target) == "dense";
    if (!drafts_in_second || models == SecondRunner::of_none || (models == SecondRunner::of_dense && target && !is_dense)) {
        return;
    }
    const bool sure = deployment.has_environment && (models == SecondRunner::of_all || is_dense);
    const std::string whose = models == SecondRunner::of_all ? "" : " of dense models";
    if (sure) {
        findings.add(Kind::ignored, schedule_key,
                     fmt::format("{}, the default{} in {} (issue 51510); {}", no_effect, whose, engine.label(), instead));
    } else {
        findings.note(fmt::format("{} {}, the default{} in {} (issue 51510): {}.", schedule_key, no_effect, whose,
                                  engine.label(), instead));
    }
}

}  // namespace

void check_schedule(const Json& config, const std::string& method, const Deployment& deployment, const Engine& engine,
                    const std::optional<sim::Model>& target, Findings& findings) {
    const std::vector<Range> ranges = read_ranges(config[schedule_key], findings);
    if (ranges.empty()) {
        return;
    }
    check_order(ranges, findings);
    const auto most = whole(config, "num_speculative_tokens");
    for (const Range& range : ranges) {
        if (most && range.length > *most) {
            findings.add(
                Kind::ignored, schedule_key,
                fmt::format("asks for {} draft tokens at batches {} to {}, but num_speculative_tokens is {}: vLLM drafts {}",
                            range.length, range.from, range.to, *most, *most));
        }
    }
    if (deployment.data_parallel > 1) {
        findings.add(Kind::ignored, schedule_key,
                     "is dropped under data parallelism: vLLM drafts num_speculative_tokens at every batch");
    }
    check_runner(
        second_runner_drafts(method, config.value("parallel_drafting", Json()) == Json(true), deployment.pipeline_parallel > 1),
        deployment, engine, target, findings);
}

}  // namespace treeline::engines::vllm
