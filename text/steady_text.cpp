#include "text/steady_text.h"

#include <fmt/format.h>

namespace treeline::text {

std::string steady_text(const sim::RoundSetup& setup) {
    return setup.output_tokens > 0.0
               ? fmt::format("steady: answers of {:.0f} tokens, each after a prompt of {:.0f}{} that {}", setup.output_tokens,
                             setup.prompt_tokens,
                             setup.prefix_hit > 0.0 ? fmt::format(" ({:.0f} % cached)", 100.0 * setup.prefix_hit) : "",
                             setup.platform.stack.prefill == sim::PrefillPolicy::disaggregated ? "other devices read"
                                                                                               : "others wait for")
               : "decoding alone; prompts of other requests are not in these times (output_tokens)";
}

}  // namespace treeline::text
