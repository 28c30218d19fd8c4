// What a decoder cannot run, as sentences.
#include <algorithm>

#include "decoder/decode.h"
#include "decoder/weights.h"
#include "sim/acceptance.h"
#include "sim/rollback/rollback.h"
#include "sim/trees/rank_acceptance.h"

namespace treeline::decoder {
namespace {

/// What is larger than these is a slip of the pen.
constexpr int most_sequences = 4096, most_tokens = 1 << 20, most_choices = 64, most_rows = 1 << 20;

using Problems = std::vector<std::string>;

void append(Problems& problems, const Problems& more) { problems.insert(problems.end(), more.begin(), more.end()); }

void check_range(Problems& problems, const char* name, int value, int low, int high) {
    if (value < low || value > high) {
        problems.push_back(std::string(name) + " is " + std::to_string(value) + ", but must be " + std::to_string(low) +
                           " to " + std::to_string(high));
    }
}

Problems problems_of_model(const sim::Model& model) {
    Problems problems = sim::problems_of(model);
    if (problems.empty()) {
        append(problems, problems_of_weights(model));
    }
    return problems;
}

bool has_latent_attention(const sim::Model& model) {
    return std::any_of(model.kinds.begin(), model.kinds.end(), [](const sim::LayerKind& kind) {
        return std::any_of(kind.blocks.begin(), kind.blocks.end(),
                           [](const sim::Block& block) { return std::holds_alternative<sim::LatentAttention>(block.kind); });
    });
}

Problems problems_of_drafter(const DecodeSetup& setup) {
    Problems problems;
    const bool drafts = setup.tree.nodes() > 0;
    if (drafts == std::holds_alternative<std::monostate>(setup.drafter)) {
        problems.push_back(drafts ? "there are draft tokens, but no drafter" : "there is a drafter, but no draft tokens");
    }
    if (const auto* shared = std::get_if<SharedLayers>(&setup.drafter)) {
        check_range(problems, "the drafter's number of layers", shared->layers, 1, static_cast<int>(setup.target.order.size()));
        check_range(problems, "the drafter's window", shared->window, 0, most_tokens);
        check_range(problems, "the drafter's sink", shared->sink, 0, most_tokens);
        if (shared->window > 0 && has_latent_attention(setup.target)) {
            problems.push_back("the drafter cannot have a window: latent attention has no kernel with one");
        }
    }
    if (const auto* own = std::get_if<OwnModel>(&setup.drafter)) {
        append(problems, problems_of_model(own->model));
        if (own->model.vocabulary_size != setup.target.vocabulary_size) {
            problems.push_back(own->model.name + " and " + setup.target.name + " have vocabularies of different sizes");
        }
    }
    if (const auto* lookup = std::get_if<NgramLookup>(&setup.drafter)) {
        check_range(problems, "the longest match of the n-gram drafter", lookup->longest_match, 1, 64);
    }
    if (setup.tree.most_children() > std::min<sim::Count>(most_choices, setup.target.vocabulary_size)) {
        problems.push_back("a token has " + std::to_string(setup.tree.most_children()) +
                           " children, but at most 64 (and no more than the vocabulary) can be chosen");
    }
    return problems;
}

Problems problems_of_policy(const DecodeSetup& setup) {
    if (setup.tree.nodes() == 0) {
        return {};
    }
    const std::string policy(name_of(setup.rollback));
    const std::vector<sim::Rollback> possible = sim::rollbacks_for(setup.target);
    if (std::find(possible.begin(), possible.end(), setup.rollback) == possible.end()) {
        return {sim::has_recurrent_state(setup.target)
                    ? "rollback '" + policy + "' cannot serve " + setup.target.name + ", which has recurrent states"
                    : "rollback '" + policy + "' is for recurrent states, and " + setup.target.name +
                          " has none: use 'truncate'"};
    }
    Problems problems;
    if (const std::string problem = sim::rollback_problem(setup.rollback, setup.verification); !problem.empty()) {
        problems.push_back(problem);
    }
    if (setup.rollback == sim::Rollback::ring && setup.tree.depth() + 1 > sim::ring_capacity) {
        problems.push_back("drafts of depth " + std::to_string(setup.tree.depth()) + " do not fit the ring of " +
                           std::to_string(sim::ring_capacity) + " tokens of rollback 'ring'");
    }
    return problems;
}

Problems problems_of_acceptance(const DecodeSetup& setup) {
    if (!setup.given_acceptance) {
        return {};
    }
    const GivenAcceptance& given = *setup.given_acceptance;
    if (!given.per_rank.empty()) {
        return sim::RankAcceptance(given.per_rank).problems();
    }
    if (given.per_position.size() < static_cast<std::size_t>(setup.tree.depth())) {
        return {"acceptance is given for " + std::to_string(given.per_position.size()) + " positions, but drafts have " +
                std::to_string(setup.tree.depth())};
    }
    return sim::Acceptance::per_position(given.per_position).problems();
}

Problems problems_of_sizes(const DecodeSetup& setup) {
    Problems problems;
    check_range(problems, "the batch", setup.batch, 1, most_sequences);
    check_range(problems, "the prompt's number of tokens", setup.prompt_tokens, 1, most_tokens);
    check_range(problems, "the context's number of tokens", setup.context_tokens, 0, most_tokens);
    check_range(problems, "the number of new tokens", setup.new_tokens, 1, most_tokens);
    check_range(problems, "the number of untimed rounds", setup.untimed_rounds, 0, most_tokens);
    check_range(problems, "the device's number", setup.device_index, 0, 1023);
    const std::int64_t leaves = setup.verification == sim::Verification::packed ? 1 : setup.tree.leaves();
    const std::int64_t tokens =
        setup.verification == sim::Verification::packed ? setup.tree.verified_tokens() : setup.tree.depth() + 1;
    if (leaves * tokens * setup.batch > most_rows) {
        problems.push_back("a verification pass of " + std::to_string(leaves * tokens * setup.batch) +
                           " tokens is more than a million");
    }
    const std::int64_t positions =
        std::int64_t{setup.context_tokens} + setup.prompt_tokens + setup.new_tokens + leaves * tokens;
    if (positions * setup.batch >= std::int64_t{1} << 31) {
        problems.push_back("the caches would have more than 2^31 positions");
    }
    if (setup.elements == kernels::ElementType::fp64 || setup.state_elements == kernels::ElementType::fp64) {
        problems.push_back("fp64 is for the reference kernels only");
    }
    return problems;
}

}  // namespace

std::vector<std::string> problems_of(const DecodeSetup& setup) {
    Problems problems = problems_of_model(setup.target);
    if (problems.empty()) {
        append(problems, problems_of_drafter(setup));
        append(problems, problems_of_policy(setup));
        append(problems, problems_of_acceptance(setup));
        append(problems, problems_of_sizes(setup));
    }
    return problems;
}

}  // namespace treeline::decoder
