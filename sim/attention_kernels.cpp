#include "sim/attention_kernels.h"

#include <algorithm>
#include <cmath>

namespace treeline::sim {

Seconds verify_walk_of(const AttentionKernels& kernels, const Device& device, double head_width) {
    const double width = kernels.walk_width > 0.0 ? head_width / kernels.walk_width : 1.0;
    if (const auto measured = kernels.verify_walks.find(device.name); measured != kernels.verify_walks.end()) {
        return measured->second * width;
    }
    if (kernels.tile_efficiency > 0.0 && device.multiprocessors > 0.0) {
        const Seconds walk = walk_at(kernels.tile_efficiency, device.peak_for(NumberFormat::bf16), device.multiprocessors);
        return walk * (std::max(1.0, kernels.row_tile) / walk_tile_rows * head_width / walk_head_width);
    }
    return kernels.verify_walk * width;
}

std::vector<std::string> problems_of(const AttentionKernels& kernels) {
    std::vector<std::string> problems;
    const auto require = [&](bool holds, const char* sentence) {
        if (!holds) {
            problems.emplace_back(sentence);
        }
    };
    require(!kernels.title.empty(), "title must not be empty");
    require(kernels.decode_walk >= Seconds(0.0) && kernels.verify_walk <= Seconds(1e-3),
            "decode_walk and verify_walk must lie between 0 and 1 ms for each cached token");
    require(kernels.verify_walk >= kernels.decode_walk, "verify_walk must be at least decode_walk");
    for (const auto& [device, walk] : kernels.verify_walks) {
        require(walk >= kernels.decode_walk && walk <= Seconds(1e-3),
                "verify_walks must lie between decode_walk and 1 ms for each cached token");
    }
    require(std::isfinite(kernels.tile_efficiency) && kernels.tile_efficiency >= 0.0 && kernels.tile_efficiency <= 1.0,
            "tile_efficiency must lie between 0 and 1");
    require(std::isfinite(kernels.row_tile) && kernels.row_tile >= 0.0 && kernels.row_tile <= 1024.0,
            "row_tile must lie between 0 and 1024");
    require(kernels.verify_walk > Seconds(0.0) || kernels.tile_efficiency > 0.0,
            "states neither verify_walk nor tile_efficiency");
    return problems;
}

const VerificationRule* rule_for(const std::vector<VerificationRule>& rules, const Device& device, const Precision& precision) {
    const auto among = [](const auto& list, auto value) {
        return list.empty() || std::find(list.begin(), list.end(), value) != list.end();
    };
    const auto found = std::find_if(rules.begin(), rules.end(), [&](const VerificationRule& rule) {
        return among(rule.generations, std::floor(device.compute_capability)) &&
               among(rule.caches, precision.kv_cache.format) &&
               (among(rule.weights, precision.weights.format) || among(rule.weights, precision.experts.format));
    });
    return found == rules.end() ? nullptr : &*found;
}

}  // namespace treeline::sim
