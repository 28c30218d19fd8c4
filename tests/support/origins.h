// Origins of variants that tests put together.
#pragma once

#include <map>
#include <string>

#include "sweeps/design_space.h"

namespace treeline::testing {

/// The origin of a variant with these labels: what is called the same is the same.
inline sweeps::VariantOrigin origin_of(const sweeps::VariantLabels& labels) {
    static std::map<std::string, std::size_t> ids;
    const auto id = [](const std::string& text) { return ids.emplace(text, ids.size()).first->second; };
    return {id(labels.target + labels.precision), id(labels.platform() + labels.stack + labels.mode), id(labels.drafter)};
}

}  // namespace treeline::testing
