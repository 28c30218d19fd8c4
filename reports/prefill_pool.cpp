#include "reports/prefill_pool.h"

#include <cmath>

#include <fmt/format.h>

#include "text/number_text.h"

namespace treeline::reports {

bool has_prefill_pool(const sim::Stack& stack, double output_tokens) {
    return stack.serving.prefill == sim::PrefillPolicy::disaggregated && output_tokens > 0.0;
}

double prefill_pool(double decode_share) { return (1.0 - decode_share) / decode_share; }

std::string prefill_pool_sentence(double decode_share, double devices) {
    const double each = prefill_pool(decode_share), all = each * devices;
    const std::string who =
        devices == 1.0 ? "A device that decodes needs " : fmt::format("{:.0f} devices that decode need ", devices);
    const std::string pool =
        fmt::format("{}{} that read {} prompts", who, text::short_text(all), devices == 1.0 ? "its" : "their");
    return each > 1.0
               ? fmt::format(
                     "{}: reading prompts is the bottleneck, not decoding. With fewer of them prompts queue, and "
                     "the devices that decode stand idle.",
                     pool)
               : fmt::format("{}: decoding is the bottleneck. With fewer of them it would be the prompts, and they queue.",
                             pool);
}

}  // namespace treeline::reports
