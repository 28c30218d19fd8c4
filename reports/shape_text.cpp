#include "reports/shape_text.h"

#include <algorithm>
#include <cctype>
#include <cstddef>

#include <fmt/format.h>

#include "text/number_text.h"

namespace treeline::reports {

std::string drafted_text(const std::vector<sim::Speculation>& speculations, int speculation, int draft_tokens) {
    if (draft_tokens == 0) {
        return "off";
    }
    const sim::Speculation& drafted = speculations[static_cast<std::size_t>(speculation)];
    return sim::is_chain(drafted) && drafted.verification == sim::Verification::unrolled
               ? std::to_string(draft_tokens)
               : fmt::format("{} ({})", draft_tokens, text_of(drafted));
}

std::string basis_text(sim::AcceptanceBasis basis) {
    return basis == sim::AcceptanceBasis::stated ? "" : fmt::format(" ({})", name_of(basis));
}

std::string pays_text(double break_even_accept_length, double draft_tokens) {
    return break_even_accept_length > draft_tokens + 1.0
               ? fmt::format("never pays with {:.0f} draft{}", draft_tokens, draft_tokens > 1.0 ? "s" : "")
               : "pays above " + text::fixed_text(break_even_accept_length, 2);
}

std::string source_in_short(const sweeps::DrafterChoice& drafter) {
    constexpr std::size_t two_lines = 160;
    // What measurements lack is a note of its own: remarks_on_acceptance().
    const std::string source =
        drafter.acceptance_remarks.empty()
            ? drafter.acceptance_source
            : drafter.acceptance_source.substr(0, drafter.acceptance_source.find("; " + drafter.acceptance_remarks.front()));
    if (source.empty()) {
        return "as you stated it";
    }
    if (source.size() <= two_lines) {
        return source;
    }
    const std::string cut = source.substr(0, source.rfind(' ', two_lines));
    const auto opened = std::count(cut.begin(), cut.end(), '(') - std::count(cut.begin(), cut.end(), ')');
    return cut + " ..." + std::string(static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, opened)), ')');
}

namespace {

/// What was published of a head was mostly measured on short requests, and heads are mostly trained on such; empty where that
/// is no matter. Between 4,000 and 131,000 tokens (data/acceptance/by_dataset_2026-11-25.json) a module of the checkpoint kept
/// its accept length, a block drafter (Qwen3.8-27B) lost up to 5 %, another (Laguna-S-2.1) 6 to 43 %.
std::string long_context_remark(const sweeps::DrafterChoice& drafter, double context) {
    constexpr double long_context = 32'768.0;
    const auto* head = std::get_if<sim::OneLayerDrafter>(&drafter.drafter);
    const bool trained_apart = (head != nullptr && head->kind != sim::OneLayerKind::mtp) ||
                               std::holds_alternative<sim::ParallelDrafter>(drafter.drafter) ||
                               std::holds_alternative<sim::MedusaDrafter>(drafter.drafter);
    const sim::AcceptanceOrigin origin = drafter.acceptance.origin;
    const bool of_users_requests = origin == sim::AcceptanceOrigin::own_run ||
                                   origin == sim::AcceptanceOrigin::these_requests || drafter.acceptance_source.empty();
    if (!trained_apart || of_users_requests || context < long_context) {
        return "";
    }
    return fmt::format(
        "Acceptance is taken to be the same at {} tokens of context; of two drafters of this sort that were measured so far, "
        "one lost up to 5 % of its accept length there and one up to 43 %.",
        text::short_text(context));
}

}  // namespace

std::vector<std::string> remarks_on_acceptance(const sweeps::DrafterChoice& drafter, double context) {
    std::vector<std::string> notes;
    if (std::string remark = long_context_remark(drafter, context); !remark.empty()) {
        notes.push_back(std::move(remark));
    }
    for (std::string remark : drafter.acceptance_remarks) {
        remark.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(remark.front())));
        notes.push_back(remark + ".");
    }
    return notes;
}

}  // namespace treeline::reports
