#include "engines/sglang/lint_slots.h"

#include <algorithm>

#include <fmt/format.h>

#include "json/wording.h"
#include "text/parse_number.h"

namespace treeline::engines::sglang {
namespace {

using Json = nlohmann::ordered_json;
using Kind = FindingKind;

const std::vector<std::string> slot_keys = {"candidate_steps", "ema_alpha",       "update_interval", "warmup_batches",
                                            "up_hysteresis",   "down_hysteresis", "ceiling_coeff"};
const std::vector<std::string> strategy_keys = {"strategy",
                                                "window_size",
                                                "profile_run_batch_sizes",
                                                "max_profile_run_batch_size",
                                                "profile_run_n_warmup",
                                                "profile_run_n_measure",
                                                "profile_run_seq_len"};

bool contains(const std::vector<std::string>& words, const std::string& word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

bool are_steps(const Json& steps) {
    return steps.is_array() && !steps.empty() && std::all_of(steps.begin(), steps.end(), [](const Json& n) {
               return n.is_number_integer() && n.get<long long>() >= 0;
           });
}

void check_slot(const std::string& batch, const Json& slot, Findings& findings) {
    const std::string place = fmt::format("\"{}\"", batch);
    if (!slot.is_object() || !slot.contains("candidate_steps")) {
        findings.add(Kind::missing, place, "must be an object with candidate_steps");
        return;
    }
    if (!are_steps(slot["candidate_steps"])) {
        findings.add(Kind::value, place + ".candidate_steps",
                     fmt::format("must be a list of whole numbers of at least 0, not {}",
                                 json::shown(Json(slot["candidate_steps"].dump()))));
    }
    for (const auto& [key, value] : slot.items()) {
        if (!contains(slot_keys, key)) {
            findings.add(Kind::unknown, place + "." + json::shown_key(key),
                         "has no effect" + text::did_you_mean(key, slot_keys));
        }
    }
}

/// 0.5.11: one set of candidates for every batch.
void check_single_set(const Json& slots, Findings& findings) {
    for (const auto& [key, value] : slots.items()) {
        if (is_slot(key)) {
            findings.add(Kind::ignored, fmt::format("\"{}\"", key), "is not read by 0.5.11: slots by batch size came later");
        } else if (!contains(slot_keys, key) || key == "ceiling_coeff") {
            findings.add(Kind::unknown, json::shown_key(key), "has no effect" + text::did_you_mean(key, slot_keys));
        }
    }
    const auto steps = slots.find("candidate_steps");
    if (steps != slots.end() && (!are_steps(*steps) || steps->size() < 2)) {
        findings.add(Kind::value, "candidate_steps", "must hold at least two step counts");
    }
}

}  // namespace

bool is_slots(const Json& tree) {
    for (const auto& [key, value] : tree.items()) {
        if (key == "candidate_steps" || (is_slot(key) && value.is_object() && value.contains("candidate_steps"))) {
            return true;
        }
    }
    return false;
}

std::vector<long long> candidates_of(const Json& slots) {
    std::vector<long long> candidates;
    const auto add = [&](const Json& steps) {
        for (const Json& step : are_steps(steps) ? steps : Json::array()) {
            candidates.push_back(step.get<long long>());
        }
    };
    for (const auto& [key, value] : slots.items()) {
        if (key == "candidate_steps") {
            add(value);
        } else if (is_slot(key) && value.is_object() && value.contains("candidate_steps")) {
            add(value["candidate_steps"]);
        }
    }
    return candidates;
}

void check_slots(const Json& slots, const std::vector<std::string>& repeated, const Engine& engine, Findings& findings) {
    if (!slots.is_object()) {
        findings.add(Kind::value, "--speculative-adaptive-config", "must name a file that holds an object in braces");
        return;
    }
    for (const std::string& key : repeated) {
        findings.add(Kind::contradiction, key, "appears twice; only one of them counts");
    }
    if (engine.schedule != ScheduleForm::slots) {
        check_single_set(slots, findings);
        return;
    }
    const std::string strategy = text_at(slots, "strategy");
    const bool measured = strategy == "throughput_aware";
    if (slots.contains("strategy") && strategy != "ema" && !measured) {
        findings.add(Kind::value, "strategy", "must be ema or throughput_aware");
    }
    long long smallest = -1;
    for (const auto& [key, value] : slots.items()) {
        if (is_slot(key)) {
            check_slot(key, value, findings);
            const long long batch = text::parse_number<int>(key).value_or(1'000'000'000);
            smallest = smallest < 0 ? batch : std::min(smallest, batch);
        } else if (!contains(slot_keys, key) && !contains(strategy_keys, key)) {
            findings.add(Kind::unknown, json::shown_key(key), "has no effect" + text::did_you_mean(key, slot_keys));
        }
    }
    if (smallest < 0 && !measured) {
        findings.add(Kind::missing, "\"1\"",
                     "is missing: at least one batch size must be a key, as in {\"1\": {\"candidate_steps\": [3]}}");
    } else if (smallest > 1 && !measured) {
        findings.add(Kind::missing, "\"1\"",
                     fmt::format("is missing: batches below {} take the slot of {}", smallest, smallest));
    }
}

}  // namespace treeline::engines::sglang
