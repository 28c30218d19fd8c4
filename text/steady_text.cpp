#include "text/steady_text.h"

#include <algorithm>

#include <fmt/format.h>

namespace treeline::text {
namespace {

/// Who waits for the prompts.
std::string reader_text(const sim::Stack& stack) {
    const std::string budget = stack.serving.step_tokens < sim::unlimited
                                   ? fmt::format(", at most {:.0f} tokens in a step", stack.serving.step_tokens)
                                   : "";
    return (stack.serving.prefill == sim::PrefillPolicy::disaggregated ? "a pool of devices of its own reads"
                                                                       : "others wait for") +
           budget;
}

}  // namespace

std::string steady_text(const sim::RoundSetup& setup) {
    if (setup.output_tokens <= 0.0) {
        return "decoding alone; prompts of other requests are not in these times (output_tokens)";
    }
    const std::string lengths = setup.prompt_lengths.empty()
                                    ? fmt::format("{:.0f}", setup.prompt_tokens)
                                    : fmt::format("{:.0f} in the mean ({:.0f} to {:.0f})", setup.prompt_tokens,
                                                  setup.prompt_lengths.front().tokens, setup.prompt_lengths.back().tokens);
    const double shared = std::min(setup.shared_prefix, setup.prompt_tokens) / setup.prompt_tokens;
    const double cached = std::max(setup.prefix_hit, shared);
    return fmt::format("steady: answers of {:.0f} tokens, each after a prompt of {}{} that {}", setup.output_tokens, lengths,
                       cached > 0.0 ? fmt::format(" ({:.0f} % cached)", 100.0 * cached) : "",
                       reader_text(setup.platform.stack));
}

}  // namespace treeline::text
