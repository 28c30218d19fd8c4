#include "reports/shape_text.h"

#include <fmt/format.h>

namespace treeline {

std::string drafted_text(const std::vector<Speculation>& speculations, int speculation, int draft_tokens) {
    if (draft_tokens == 0) {
        return "off";
    }
    const Speculation& drafted = speculations[static_cast<std::size_t>(speculation)];
    return is_chain(drafted) && drafted.verification == Verification::unrolled
               ? std::to_string(draft_tokens)
               : fmt::format("{} ({})", draft_tokens, text_of(drafted));
}

std::string basis_text(AcceptanceBasis basis) {
    return basis == AcceptanceBasis::stated ? "" : fmt::format(" ({})", name_of(basis));
}

}  // namespace treeline
