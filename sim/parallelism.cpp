#include "sim/parallelism.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "sim/expert_popularity.h"

namespace treeline::sim {
namespace {

std::string whole(double value) { return std::to_string(static_cast<long long>(value)); }

/// The mixture with the narrowest experts of a model; null if it has none.
const MixtureOfExperts* mixture_of(const Model& model) {
    for (const LayerKind& kind : model.kinds) {
        for (const Block& block : kind.blocks) {
            if (const auto* experts = std::get_if<MixtureOfExperts>(&block.kind)) {
                return experts;
            }
        }
    }
    return nullptr;
}

void check_experts(const Model& model, double tensor, const Parallelism& parallel, std::vector<std::string>& problems) {
    const MixtureOfExperts* mixture = mixture_of(model);
    const double stage = ranks_of_stage(tensor, parallel);
    if (mixture == nullptr) {
        if (parallel.experts > 1.0) {
            problems.push_back("expert_parallel is " + whole(parallel.experts) + ", but " + model.name + " has no experts");
        }
        if (parallel.data > 1.0) {
            problems.push_back("attention_data_parallel is " + whole(parallel.data) + ", but " + model.name +
                               " has no experts that its groups could share: they would be deployments of their own");
        }
        return;
    }
    const double experts = static_cast<double>(mixture->experts);
    if (std::fmod(stage, parallel.experts) != 0.0) {
        problems.push_back("expert_parallel is " + whole(parallel.experts) + ", which does not divide the " + whole(stage) +
                           " ranks that share the experts (tensor_parallel " + whole(tensor) + " x attention_data_parallel " +
                           whole(parallel.data) + ")");
    } else if (std::fmod(experts, parallel.experts) != 0.0) {
        problems.push_back("expert_parallel is " + whole(parallel.experts) + ", which does not divide the " + whole(experts) +
                           " experts of " + model.name);
    } else if (std::fmod(static_cast<double>(mixture->hidden), cuts_of_expert(tensor, parallel)) != 0.0) {
        problems.push_back("experts of " + model.name + " are " + whole(static_cast<double>(mixture->hidden)) +
                           " wide, which " + whole(cuts_of_expert(tensor, parallel)) +
                           " ranks cannot share evenly (tensor_parallel x attention_data_parallel / expert_parallel)");
    }
}

}  // namespace

std::string text_of(double tensor, const Parallelism& parallel) {
    std::string text;
    const auto add = [&text](const char* name, double degree) {
        if (degree > 1.0) {
            text += (text.empty() ? "" : ", ") + std::string(name) + " " + whole(degree);
        }
    };
    add("tensor", tensor);
    add("attention data", parallel.data);
    add("experts", parallel.experts);
    add("pipeline", parallel.pipeline);
    add("context", parallel.context);
    return text;
}

double largest_stage(const Model& model, double stages) {
    const double layers = static_cast<double>(model.order.size());
    return layers > 0.0 ? std::ceil(layers / stages) / layers : 1.0 / stages;
}

std::vector<std::string> problems_of(const Model& model, double tensor, const Parallelism& parallel) {
    std::vector<std::string> problems;
    check_experts(model, tensor, parallel, problems);
    const double layers = static_cast<double>(model.order.size());
    if (parallel.pipeline > layers) {
        problems.push_back("pipeline_parallel is " + whole(parallel.pipeline) + ", but " + model.name + " has " +
                           whole(layers) + " layers");
    }
    if (parallel.draft_tensor > tensor || (parallel.draft_tensor > 0.0 && std::fmod(tensor, parallel.draft_tensor) != 0.0)) {
        problems.push_back("draft_tensor_parallel is " + whole(parallel.draft_tensor) +
                           ", which does not divide tensor_parallel " + whole(tensor));
    }
    if (std::fmod(tensor, parallel.context) != 0.0) {
        problems.push_back("decode_context_parallel is " + whole(parallel.context) +
                           ", which does not divide tensor_parallel " + whole(tensor));
    }
    return problems;
}

double expected_largest(double n) {
    constexpr std::array at_powers_of_two = {0.0,    0.5642, 1.0294, 1.4236, 1.7660, 2.0697,
                                             2.3439, 2.5948, 2.8264, 3.0429, 3.2469};
    const double place = std::clamp(std::log2(n), 0.0, 10.0);
    const auto below = std::min(static_cast<std::size_t>(place), at_powers_of_two.size() - 2);
    const double part = place - static_cast<double>(below);
    return at_powers_of_two[below] + part * (at_powers_of_two[below + 1] - at_powers_of_two[below]);
}

BusiestRank busiest_rank(double experts, double active, double ranks, double skew) {
    if (ranks <= 1.0 || experts <= 1.0) {
        return {};
    }
    const double largest = expected_largest(ranks);
    BusiestRank busiest;
    // Of the rows of one token on a rank: mean active/ranks, variance of a draw without replacement.
    const double variance = active / ranks * (1.0 - 1.0 / ranks) * (experts - active) / (experts - 1.0);
    busiest.spread = largest * std::sqrt(variance) * ranks / active;
    busiest.most = std::min(ranks, experts / active);
    const double scatter = popularity_scatter(experts, skew);
    busiest.share = 1.0 + largest * std::sqrt(scatter * (ranks - 1.0) / (experts - 1.0));
    return busiest;
}

double reached_ranks(double experts, double active, double ranks) {
    const double of_rank = experts / ranks;
    double missed = 1.0;  // probability that none of the active experts lies on a given rank
    for (double drawn = 0.0; drawn < active; ++drawn) {
        missed *= std::max(0.0, (experts - of_rank - drawn) / (experts - drawn));
    }
    return ranks * (1.0 - missed);
}

}  // namespace treeline::sim
