#include "validation/experiment.h"

#include <algorithm>
#include <array>

namespace treeline {
namespace {

struct Known {
    Observable observable;
    std::string_view name, dimension;
};

constexpr std::array known = {
    Known{Observable::round_time, "round_time", "time"},
    Known{Observable::draft_time, "draft_time", "time"},
    Known{Observable::scan_time, "scan_time", "time"},
    Known{Observable::speed, "speed", "speed"},
    Known{Observable::memory, "memory", "size"},
    Known{Observable::throughput_multiplier, "throughput_multiplier", "ratio"},
    Known{Observable::verified_tokens, "verified_tokens", "count"},
    Known{Observable::verified_states, "verified_states", "count"},
    Known{Observable::decoding_saved, "decoding_saved", "ratio"},
    Known{Observable::net_saving, "net_saving", "ratio"},
    Known{Observable::critical_context, "critical_context", "count"},
    Known{Observable::tokens_per_joule, "tokens_per_joule", "efficiency"},
    Known{Observable::dsps, "dsps", "count"},
    Known{Observable::luts, "luts", "count"},
    Known{Observable::bram18s, "bram18s", "count"},
    Known{Observable::urams, "urams", "count"},
};

const Known& find(Observable observable) {
    return *std::find_if(known.begin(), known.end(), [&](const Known& entry) { return entry.observable == observable; });
}

}  // namespace

std::string_view name_of(Observable observable) { return find(observable).name; }

std::string_view dimension_of(Observable observable) { return find(observable).dimension; }

std::optional<Observable> observable_named(std::string_view name) {
    const auto* found = std::find_if(known.begin(), known.end(), [&](const Known& entry) { return entry.name == name; });
    return found == known.end() ? std::nullopt : std::optional(found->observable);
}

std::vector<std::string> observable_names() {
    std::vector<std::string> names;
    for (const Known& entry : known) {
        names.emplace_back(entry.name);
    }
    return names;
}

}  // namespace treeline
