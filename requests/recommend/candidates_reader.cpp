#include "requests/recommend/candidates_reader.h"

#include <algorithm>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "json/wording.h"
#include "requests/keys/setup_keys.h"
#include "requests/keys/workload_keys.h"
#include "requests/known_drafters.h"

namespace treeline::requests {
namespace {

/// What stands for the drafter, if it is one word.
std::string word_of(const nlohmann::ordered_json& drafter) {
    const std::string key(drafter_keys::published);
    return drafter.size() == 1 && drafter.contains(key) && drafter.at(key).is_string() ? drafter.at(key).get<std::string>()
                                                                                       : "";
}

void add(std::vector<KnownChoice> known, Candidates& candidates) {
    for (KnownChoice& each : known) {
        ++(each.measured_with == MeasuredWith::target ? candidates.of_target : candidates.of_others);
        candidates.drafters.push_back(std::move(each.choice));
    }
}

void add_known(Candidates& candidates, const DrafterUse& use, Descriptions& descriptions) {
    candidates.named = false;
    if (!use.target->name.empty()) {  // else the target is the problem
        const std::size_t before = candidates.drafters.size();
        add(choices_of(known_drafters(*use.target, descriptions), use.traffic, use.lengths_stated, descriptions), candidates);
        for (std::size_t i = before; i < candidates.drafters.size(); ++i) {
            candidates.drafters[i].named = false;
        }
    }
}

/// A kind alone means what was published of it.
void add_kind(const std::string& kind, json::Reader& root, Candidates& candidates, const DrafterUse& use,
              Descriptions& descriptions) {
    if (use.target->name.empty()) {
        return;
    }
    const std::vector<KnownDrafter> known = known_drafters_of_kind(kind, *use.target, descriptions);
    if (known.empty()) {
        root.problem(workload_keys::drafters, nothing_known_text(kind, *use.target, descriptions));
    }
    candidates.kinds.push_back(kind);
    add(choices_of(known, use.traffic, use.lengths_stated, descriptions), candidates);
}

/// Whether some platform leaves the stack to us.
bool leaves_stack(const json::Reader& root) {
    const auto platforms = root.raw().value(std::string(workload_keys::platforms), nlohmann::ordered_json::array());
    const auto leaves = [](const nlohmann::ordered_json& platform) {
        return platform.is_string() || (platform.is_object() && !platform.contains(std::string(platform_keys::stack)) &&
                                        !platform.contains(std::string(platform_keys::engine)));
    };
    return platforms.is_array() ? std::any_of(platforms.begin(), platforms.end(), leaves) : leaves(platforms);
}

}  // namespace

std::optional<int> Candidates::longest_chain() const {
    if (named && kinds.empty() && !drafters.empty()) {
        return std::nullopt;
    }
    constexpr int usual = 8, most = 16;
    int longest = 0;
    for (const sweeps::DrafterChoice& drafter : drafters) {
        const int measured = std::max(drafter.acceptance.most_draft_tokens, drafter.acceptance.chain.measured_positions());
        longest = std::max(longest, measured > 0 ? measured : usual);
    }
    return std::min(longest, most);
}

std::vector<std::string> Candidates::measured_trees() const {
    std::vector<std::string> trees;
    for (const sweeps::DrafterChoice& drafter : drafters) {
        for (const sim::MeasuredShape& shape : drafter.acceptance.measured) {
            if (!shape.name.empty() && std::find(trees.begin(), trees.end(), shape.name) == trees.end()) {
                trees.push_back(shape.name);
            }
        }
    }
    return trees;
}

Candidates read_candidates(json::Reader& root, Descriptions& descriptions, const DrafterUse& use) {
    Candidates candidates;
    candidates.target = use.target->name;
    if (!root.has(workload_keys::drafters)) {
        add_known(candidates, use, descriptions);
        return candidates;
    }
    const auto& raw = root.raw().at(std::string(workload_keys::drafters));
    if (raw.is_array() && raw.empty()) {
        return candidates;
    }
    for (json::Reader& element : root.objects_or_texts(workload_keys::drafters, drafter_keys::published)) {
        const std::string name = word_of(element.raw());
        if (name == no_drafter_word) {
            continue;  // plain decoding is compared in any case
        }
        if (name == known_word) {
            add_known(candidates, use, descriptions);
        } else if (const std::string kind = kind_of_word(name); !kind.empty()) {
            add_kind(kind, root, candidates, use, descriptions);
        } else {
            candidates.drafters.push_back(read_drafter(std::move(element), descriptions, use));
        }
    }
    return candidates;
}

std::vector<std::string> notes_on(const Candidates& candidates, const json::Reader& root) {
    std::vector<std::string> notes;
    if (candidates.named && candidates.kinds.empty() && !candidates.drafters.empty()) {
        return notes;
    }
    if (!candidates.kinds.empty()) {
        notes.push_back(
            fmt::format("no acceptance of {} is stated, so what was published counts: {} measured with {}, {} with "
                        "other models; --acceptance after --drafter states your own",
                        text::listed(candidates.kinds, "and"), candidates.of_target, candidates.target, candidates.of_others));
    } else if (!candidates.named) {
        notes.push_back(
            fmt::format("no drafter is named, so {} published for {} and {} measured with other models are tried; "
                        "`treeline models {}` lists them, --drafter names your own",
                        candidates.of_target, candidates.target, candidates.of_others, candidates.target));
    }
    if (leaves_stack(root)) {
        notes.emplace_back(
            "no engine is named, so GPUs run CUDA graphs without an engine's own time between steps (stack cuda-graph), and "
            "Macs llama.cpp; --engine vllm, sglang, tensorrt-llm or llama.cpp adds it and prints its flags");
    }
    return notes;
}

}  // namespace treeline::requests
