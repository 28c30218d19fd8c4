#include "requests/lengths_reader.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "requests/keys/shared_keys.h"
#include "sim/traits.h"

namespace treeline::requests {
namespace {

sim::Lengths read_list(json::Reader& at, std::string_view key) {
    sim::Lengths lengths;
    for (json::Reader& element : at.objects(key)) {
        const auto tokens = json::read<double>(element, length_keys::tokens);
        const double share = json::read(element, length_keys::share);
        element.finish();
        if (std::any_of(lengths.begin(), lengths.end(),
                        [&](const sim::LengthShare& other) { return other.tokens == tokens; })) {
            at.problem(key, fmt::format("holds {:.0f} tokens twice", tokens));
        }
        lengths.push_back({tokens, share});
    }
    return lengths;
}

}  // namespace

std::optional<sim::Lengths> read_lengths(json::Reader& at, std::string_view key) {
    if (!at.has(key)) {
        return std::nullopt;
    }
    const auto& raw = at.raw().at(std::string(key));
    if (raw.is_array()) {
        const sim::Lengths lengths = read_list(at, key);
        return lengths.empty() ? std::nullopt : std::optional(lengths);
    }
    if (!raw.is_object()) {
        return sim::Lengths{{static_cast<double>(at.count(key, 0, sim::longest_context)), 1.0}};
    }
    json::Reader inner = at.object(key);
    const double mean = json::read(inner, length_keys::mean), spread = json::read(inner, length_keys::spread);
    inner.finish();
    return sim::log_normal_lengths(mean, spread);
}

std::optional<double> RequestLengths::context() const {
    return prompts && answers ? std::optional(std::floor(sim::mean_context(*prompts, *answers))) : std::nullopt;
}

void RequestLengths::set(sim::RoundSetup& setup, double prompt_tokens) const {
    setup.prompt_tokens = prompts ? mean_length(*prompts) : prompt_tokens;
    setup.prompt_lengths = only_if_several(prompts);
    setup.output_tokens = output_tokens();
    setup.prefix_hit = prefix_hit;
    setup.shared_prefix = shared_prefix;
    setup.expert_pool = expert_pool;
}

RequestLengths read_request_lengths(json::Reader& at) {
    RequestLengths lengths;
    lengths.prompts = read_lengths(at, shared_keys::prompt_tokens);
    lengths.answers = read_lengths(at, shared_keys::output_tokens);
    if (lengths.answers && mean_length(*lengths.answers) <= 0.0) {
        lengths.answers.reset();
    }
    lengths.prefix_hit = json::read(at, shared_keys::prefix_hit);
    lengths.shared_prefix = json::read<double>(at, shared_keys::shared_prefix);
    lengths.expert_pool = json::read(at, shared_keys::expert_pool);
    return lengths;
}

bool states_answers(const json::Reader& at) {
    const auto answers = at.raw().find(std::string(shared_keys::output_tokens));
    return answers != at.raw().end() && !(answers->is_number() && answers->get<double>() <= 0.0);
}

void check_expert_pool(json::Reader& at, double pool, const std::vector<const sim::Model*>& targets) {
    const auto has_experts = [](const sim::Model* target) { return sim::has_experts(*target); };
    if (pool < 1.0 && !targets.empty() && std::none_of(targets.begin(), targets.end(), has_experts)) {
        at.problem(shared_keys::expert_pool, fmt::format("is of mixtures of experts, and {} is none", targets.front()->name));
    }
}

sim::Lengths only_if_several(const std::optional<sim::Lengths>& lengths) {
    return lengths && lengths->size() > 1 ? *lengths : sim::Lengths();
}

}  // namespace treeline::requests
