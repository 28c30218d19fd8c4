// What keeps a setup from being priced, a sentence each.
#include <algorithm>
#include <cmath>

#include "sim/accelerator_round.h"
#include "sim/placement.h"
#include "sim/round_types.h"
#include "sim/traits.h"

namespace treeline::sim {
namespace {

double heads_of(const Attention& attention) { return static_cast<double>(attention.query_heads); }
double heads_of(const LatentAttention& attention) { return static_cast<double>(attention.heads); }
double heads_of(const CompressedAttention& attention) { return static_cast<double>(attention.heads); }
double heads_of(const Mamba2& mamba) { return static_cast<double>(mamba.heads); }
double heads_of(const GatedDelta& delta) { return static_cast<double>(delta.value_heads); }

/// The number of heads of the first block whose heads `ranks` does not divide; 0 when all can be shared evenly.
double heads_that_do_not_divide(const Model& model, double ranks) {
    double found = 0.0;
    for (const LayerKind& kind : model.kinds) {
        for (const Block& block : kind.blocks) {
            std::visit(
                [&](const auto& b) {
                    if constexpr (requires { heads_of(b); }) {
                        if (found == 0.0 && std::fmod(heads_of(b), ranks) != 0.0) {
                            found = heads_of(b);
                        }
                    }
                },
                block.kind);
        }
    }
    return found;
}

/// The number of key-value heads of the first block that `ranks` neither divides nor is divided by; 0 where there is none.
double kv_heads_that_do_not_divide(const Model& model, double ranks) {
    for (const LayerKind& kind : model.kinds) {
        for (const Block& block : kind.blocks) {
            const auto* attention = std::get_if<Attention>(&block.kind);
            const double heads = attention == nullptr ? 1.0 : static_cast<double>(attention->kv_heads);
            if (std::fmod(heads, ranks) != 0.0 && std::fmod(ranks, heads) != 0.0) {
                return heads;
            }
        }
    }
    return 0.0;
}

/// Why no link of the device can carry its tensor parallelism.
std::string link_problem(const Platform& platform) {
    std::string known, names;
    for (const Interconnect& link : platform.device.interconnects) {
        names += (names.empty() ? "" : ", ") + link.name;
        if (platform.interconnect.empty() || link.name == platform.interconnect) {
            known += (known.empty() ? "" : ", ") + link.name + " joins " + std::to_string(static_cast<int>(link.domain));
        }
    }
    const std::string& name = platform.interconnect;
    return platform.device.name + (known.empty() ? " has no interconnect" : " has no interconnect that reaches so far") +
           (name.empty() || !known.empty() ? "" : " named '" + name + "'" + (names.empty() ? "" : " (it has " + names + ")")) +
           ", so its layers cannot be shared by " + std::to_string(static_cast<int>(platform.devices())) + " devices" +
           (known.empty() ? "" : " (" + known + ")");
}

/// Why the target cannot run the kernels of experts that the user picked, as a sentence; empty if it can, or if none are
/// picked.
std::string kernels_problem(const RoundSetup& setup) {
    const ExpertKernels& kernels = setup.platform.stack.picked.expert_kernels;
    if (kernels.name.empty() || serves(kernels, setup.target, setup.precision)) {
        return {};
    }
    return "the kernels '" + kernels.name + "' serve experts in " + std::string(name_of(kernels.weights)) + "; " +
           setup.target.name +
           (has_experts(setup.target) ? " stores them in " + std::string(name_of(setup.precision.experts.format))
                                      : " has no experts");
}

/// Tokens; 0 where nothing says how long prompts are.
double shortest_prompt(const RoundSetup& setup) {
    double shortest = setup.prompt_tokens;
    for (const LengthShare& length : setup.prompt_lengths) {
        shortest = std::min(shortest, length.tokens);
    }
    return shortest;
}

}  // namespace

std::vector<std::string> problems_of(const RoundSetup& setup) {
    std::vector<std::string> problems = problems_of(setup.target);
    const auto add = [&problems](std::vector<std::string> more) { problems.insert(problems.end(), more.begin(), more.end()); };
    if (!problems.empty()) {
        return problems;
    }
    add(problems_of(setup.precision));
    // What a design computes comes from its units: rules for what GPUs and CPUs are like say nothing of it.
    add(setup.platform.accelerator ? problems_of(*setup.platform.accelerator) : problems_of(setup.platform.device));
    add(problems_of(setup.platform.stack));
    add(problems_of(setup.drafter, setup.target));
    add(setup.acceptance.problems());
    if (setup.platform.device.peak_for(setup.precision.math) <= FlopsPerSecond(0.0)) {
        problems.push_back(setup.platform.device.name + " states no peak for " + std::string(name_of(setup.precision.math)) +
                           " or any wider format");
    }
    if (setup.platform.devices() > 1.0 && link_of(setup.platform) == nullptr) {
        problems.push_back(link_problem(setup.platform));
    }
    if (const double heads = heads_that_do_not_divide(setup.target, setup.platform.ranks); heads > 0.0) {
        problems.push_back(setup.target.name + " has layers of " + std::to_string(static_cast<int>(heads)) + " heads, which " +
                           std::to_string(static_cast<int>(setup.platform.ranks)) + " devices cannot share evenly");
    }
    const double kv_heads =
        setup.platform.stack.caches.divides_kv_heads ? kv_heads_that_do_not_divide(setup.target, setup.platform.ranks) : 0.0;
    if (kv_heads > 0.0) {
        problems.push_back(setup.target.name + " has layers of " + std::to_string(static_cast<int>(kv_heads)) +
                           " key-value heads, which " + std::to_string(static_cast<int>(setup.platform.ranks)) +
                           " devices cannot share evenly");
    }
    add(problems_of(setup.target, setup.platform.ranks, setup.platform.parallel));
    if (const std::string full = host_problem(setup.target, setup.precision, setup.platform); !full.empty()) {
        problems.push_back(full);
    }
    const std::vector<Rollback> usable = rollbacks_for(setup.target);
    if (std::find(usable.begin(), usable.end(), setup.rollback) == usable.end()) {
        problems.push_back(
            setup.target.name +
            (has_recurrent_state(setup.target) ? " keeps a recurrent state, so '" : " keeps no recurrent state, so '") +
            std::string(name_of(setup.rollback)) + "' cannot be its rollback");
    }
    if (setup.speculations.empty() || !is_plain_decoding(setup.speculations.front())) {
        problems.emplace_back("the first shape must be plain decoding");
    }
    if (const std::string missing = setup.platform.stack.rollback_problem(setup.rollback); !missing.empty()) {
        problems.push_back(missing);
    }
    if (const std::string wrong = kernels_problem(setup); !wrong.empty()) {
        problems.push_back(wrong);
    }
    if (setup.output_tokens > 0.0 && setup.prompt_tokens <= 0.0) {
        problems.emplace_back("a steady state (output_tokens) needs the length of its prompts (prompt_tokens)");
    }
    if (!(setup.prefix_hit >= 0.0 && setup.prefix_hit < 1.0)) {
        problems.emplace_back("prefix_hit must be at least 0 and below 1: the last token of a prompt is always read");
    }
    if (!(setup.shared_prefix >= 0.0) || std::isinf(setup.shared_prefix)) {
        problems.emplace_back("shared_prefix must be a number of tokens");
    } else if (const double shortest = shortest_prompt(setup); shortest > 0.0 && setup.shared_prefix > shortest) {
        problems.push_back("a shared_prefix of " + std::to_string(std::llround(setup.shared_prefix)) +
                           " tokens is longer than " +
                           (setup.prompt_lengths.empty() ? "the prompts of " : "the shortest prompts, of ") +
                           std::to_string(std::llround(shortest)));
    }
    if (!(setup.expert_pool > 0.0 && setup.expert_pool <= 1.0)) {
        problems.emplace_back("expert_pool must be above 0 and at most 1");
    }
    const bool moves_caches = setup.platform.stack.serving.prefill == PrefillPolicy::disaggregated && setup.output_tokens > 0.0;
    if (moves_caches && link_between(setup.platform, 2.0 * setup.platform.devices()) == nullptr) {
        problems.push_back("with disaggregated prefill caches travel between devices, and " + setup.platform.device.name +
                           " states no link that joins " + std::to_string(static_cast<int>(2.0 * setup.platform.devices())) +
                           " of them");
    }
    if (setup.platform.accelerator) {
        add(accelerator_problems(setup));
    }
    return problems;
}

}  // namespace treeline::sim
