#include "text/steady_text.h"

#include <fmt/format.h>

namespace treeline {

std::string steady_text(const RoundSetup& setup) {
    return setup.output_tokens > 0.0
               ? fmt::format("steady: answers of {:.0f} tokens, each after a prompt of {:.0f} that others wait for",
                             setup.output_tokens, setup.prompt_tokens)
               : "decoding alone; prompts of other requests are not in these times (output_tokens)";
}

}  // namespace treeline
