// Positions of a step that vLLM keeps free for drafts: of the tokens that a step may hold (--max-num-batched-tokens), some for
// each request that may run (--max-num-seqs), whatever runs (SpeculativeConfig.max_num_new_slots_for_drafting and
// VllmConfig._set_max_num_scheduled_tokens; issue 50708). Where nothing is left the server ends at start-up.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "engines/request_limits.h"
#include "engines/vllm/lint_deployment.h"
#include "engines/vllm/parts.h"

namespace treeline::engines::vllm {
namespace {

using Json = nlohmann::ordered_json;

/// Its defaults on a device: of large ones, and of others (EngineArgs.get_batch_defaults for its server). Both hold eight
/// tokens for each request.
constexpr double large_step = 8192.0, small_step = 2048.0, large_requests = 1024.0, small_requests = 256.0;

/// Pull requests 32887 and 34898 brought it. The newest source that was read keeps the positions of one request alone, and the
/// sources of 0.29 to 0.32 were not read.
bool keeps_for_all(const Engine& engine) {
    return engine.numbers() >= text::Version{0, 17} && engine.numbers() < text::Version{0, 33};
}
bool is_known_to(const Engine& engine) { return keeps_for_all(engine) && engine.numbers() < text::Version{0, 29}; }

/// The flags of a step that keeps as many tokens as were priced, where the defaults leave less than half of them.
constexpr double least_share = 0.5;
/// Requests at once for which there is room in any case: more cost little, and a server may get more than was asked about.
constexpr double least_requests = 64.0;

void add_problem(bool sure, const std::string& flag, const std::string& sentence, Findings& findings) {
    if (sure) {
        findings.add(FindingKind::contradiction, flag, sentence);
    } else {
        findings.note(flag + " " + sentence + ".");
    }
}

}  // namespace

long long draft_slots(const Engine& engine, std::string_view method, bool in_parallel, long long draft_tokens) {
    if (method == "dflash") {  // its bonus query counts since pull request 51256
        return engine.numbers() < text::Version{0, 28} ? draft_tokens - 1 : draft_tokens;
    }
    if (method == "dspark") {
        return draft_tokens - 1;
    }
    if (method == "draft_model") {
        return in_parallel ? draft_tokens : 1;
    }
    return in_parallel ? draft_tokens - 1 : 0;
}

std::optional<StepRoom> step_room(const FlagPlan& plan) {
    if (!plan.drafter || !keeps_for_all(*plan.engine)) {
        return std::nullopt;
    }
    const bool in_parallel = plan.drafter->kind == DrafterKind::pard || plan.drafter->kind == DrafterKind::p_eagle;
    const auto slots = static_cast<double>(draft_slots(*plan.engine, plan.drafter->word, in_parallel, plan.longest()));
    const double replicas = plan.platform.parallel.data;
    const double usual = usual_requests(*plan.engine, plan.platform) / replicas;
    const double requests = std::ceil(stated_requests(plan).value_or(usual * replicas) / replicas);
    const double step = plan.token_budget.value_or(usual >= large_requests ? large_step : small_step);
    if (step - slots * requests >= least_share * step) {
        return std::nullopt;
    }
    const double room = std::min(requests, std::max(std::ceil(plan.requests / replicas), least_requests));
    return StepRoom{room, step + slots * room, slots};
}

void check_draft_slots(const Json& config, const std::string& method, const Deployment& deployment, const Engine& engine,
                       Findings& findings) {
    const auto drafts = whole(config, "num_speculative_tokens");
    if (!drafts || *drafts < 1 || method.empty() || !keeps_for_all(engine) || deployment.scheduled_tokens) {
        return;
    }
    const bool in_parallel = config.value("parallel_drafting", Json()) == Json(true);
    const auto slots = static_cast<double>(draft_slots(engine, method, in_parallel, *drafts));
    const auto left = [&](double step, double requests) { return step - slots * requests; };
    const auto stated = [](const std::optional<long long>& value, double otherwise) {
        return value ? static_cast<double>(*value) : otherwise;
    };
    // Unless both are stated, the larger or the smaller defaults hold, by the device.
    const double with_large = left(stated(deployment.step_tokens, large_step), stated(deployment.requests, large_requests));
    const double with_small = left(stated(deployment.step_tokens, small_step), stated(deployment.requests, small_requests));
    if (slots <= 0.0 || (with_large > 0.0 && with_small > 0.0)) {
        return;
    }
    const bool by_device = with_large > 0.0 || with_small > 0.0;
    // A configuration alone does not say what its command states.
    const bool is_whole =
        (deployment.has_environment && !deployment.is_open) || (deployment.step_tokens && deployment.requests);
    const char* what = by_device              ? "on some devices nothing is left"
                       : !is_known_to(engine) ? "nothing may be left"
                       : is_whole             ? "nothing is left"
                                              : "unless its command says otherwise, nothing is left";
    const std::string step = deployment.step_tokens ? std::to_string(*deployment.step_tokens) : "its default (8192 or 2048)";
    const std::string requests = deployment.requests ? std::to_string(*deployment.requests) : "its default (1024 or 256)";
    add_problem(!by_device && is_whole && is_known_to(engine), "--max-num-batched-tokens",
                fmt::format("is {}, of which vLLM keeps {:.0f} free for the drafts of each of the requests that may run, "
                            "--max-num-seqs, {}: {} and the server ends at start-up (issue 50708); give both, with more than "
                            "{:.0f} tokens for each request",
                            step, slots, requests, what, slots),
                findings);
}

}  // namespace treeline::engines::vllm
