#include "validation/experiment.h"

namespace treeline::validation {

std::string_view dimension_of(Observable observable) {
    switch (observable) {
        case Observable::round_time:
        case Observable::draft_time:
        case Observable::scan_time:
            return "time";
        case Observable::speed:
            return "speed";
        case Observable::memory:
            return "size";
        case Observable::throughput_multiplier:
        case Observable::decoding_saved:
        case Observable::net_saving:
            return "ratio";
        case Observable::verified_tokens:
        case Observable::verified_states:
        case Observable::critical_context:
        case Observable::dsps:
        case Observable::luts:
        case Observable::bram18s:
        case Observable::urams:
            return "count";
        case Observable::tokens_per_joule:
            return "efficiency";
    }
    return "";
}

}  // namespace treeline::validation
