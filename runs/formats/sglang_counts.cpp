#include "runs/formats/sglang_counts.h"

#include <algorithm>
#include <cmath>

#include "sim/input_limits.h"

namespace treeline::runs::run_formats_of {
namespace {

constexpr int longest_draft = 64;
/// Both are printed in two decimals.
constexpr double rounding = 0.005;

bool fits(double rate, double low, double high) { return rate >= low - rounding - 1e-9 && rate <= high + rounding + 1e-9; }

int first_of(const std::vector<bool>& fit) {
    const auto found = std::find(fit.begin(), fit.end(), true);
    return found == fit.end() ? 0 : static_cast<int>(found - fit.begin());
}

}  // namespace

void DraftLengths::add(double accept_length, double accept_rate) {
    if (!any_) {
        of_drafts_.assign(longest_draft + 1, true);
        of_verified_.assign(longest_draft + 1, true);
        of_drafts_[0] = of_verified_[0] = false;
        any_ = true;
    }
    for (int k = 1; k <= longest_draft; ++k) {
        const auto at = static_cast<std::size_t>(k);
        const double low = accept_length - rounding, high = accept_length + rounding;
        const bool possible = high <= k + 1.0 + 2.0 * rounding;
        of_drafts_[at] = of_drafts_[at] && possible && fits(accept_rate, (low - 1.0) / k, (high - 1.0) / k);
        of_verified_[at] = of_verified_[at] && possible && fits(accept_rate, low / (k + 1.0), high / (k + 1.0));
    }
}

int DraftLengths::draft_tokens() const {
    const auto fitting = [](const std::vector<bool>& fit) { return std::count(fit.begin(), fit.end(), true); };
    // Long drafts of which little is accepted fit many lengths: then nothing is told.
    if (const auto drafts = fitting(of_drafts_), verified = fitting(of_verified_); drafts + verified == 1) {
        return drafts == 1 ? first_of(of_drafts_) : first_of(of_verified_);
    } else if (drafts == 1 && verified == 1) {
        return first_of(of_drafts_) == first_of(of_verified_) ? first_of(of_drafts_) : first_of(of_verified_);
    }
    return 0;
}

SglangDraft sglang_draft(std::optional<double> steps, std::optional<double> top_k, std::optional<double> tokens) {
    const auto whole = [](const std::optional<double>& number) {
        return number && *number >= 1.0 && *number < 1e6 ? static_cast<int>(*number) : 0;
    };
    SglangDraft draft{whole(steps), std::max(1, whole(top_k)), whole(tokens)};
    if (draft.top_k > 1 && !draft.branches()) {
        return {};
    }
    const bool chain = top_k && draft.top_k == 1;
    draft.tokens = draft.steps > 0 && (chain || draft.tokens == 0) ? draft.steps + 1 : draft.tokens;
    return draft;
}

void count_sglang_answer(const SglangAnswer& answer, RunBuilder& run) {
    if (!answer.rounds) {
        return run.problem("must give spec_verify_ct as a number");
    }
    if (*answer.rounds <= 0.0) {
        return;
    }
    AcceptanceCounts counts;
    counts.drafts = *answer.rounds;
    if (answer.accepted && answer.drafted) {
        counts.accepted = *answer.accepted;
        counts.drafted = *answer.drafted;
    } else {
        const double tokens = answer.tokens.value_or(answer.length.value_or(0.0) * *answer.rounds);
        DraftLengths lengths;
        if (answer.rate) {
            lengths.add(answer.length.value_or(tokens / *answer.rounds), *answer.rate);
        }
        const int drafts = run.draft_tokens_or(lengths.draft_tokens());
        if (!(tokens >= *answer.rounds) || drafts <= 0) {
            return run.problem(
                "must give the correct and the proposed drafts of an answer, or its tokens and --draft-tokens K");
        }
        counts.accepted = tokens - *answer.rounds;
        counts.drafted = *answer.rounds * drafts;
        counts.derived = true;
    }
    if (!answer.histogram.empty()) {
        counts.reached = reached_of_histogram(answer.histogram);
        for (const double each : answer.histogram) {
            counts.drafts_with_positions += each;
        }
    }
    const double drafts = std::clamp(counts.drafted / *answer.rounds, 1.0, 1e6);
    run.count(run.cell(0.0, run.draft_tokens_or(static_cast<int>(std::lround(drafts)))), counts);
}

void count_sglang_answer(std::string_view line, RunBuilder& run) {
    const auto first = [&](std::initializer_list<const char*> names) -> std::optional<double> {
        for (const char* name : names) {
            if (const auto value = number_after(line, name)) {
                return value;
            }
        }
        return std::nullopt;
    };
    SglangAnswer answer;
    answer.rounds = first({"'spec_verify_ct':"});
    answer.accepted = first({"'spec_num_correct_drafts':", "'spec_accepted_drafts':", "'spec_accept_token_num':"});
    answer.drafted = first({"'spec_num_proposed_drafts':", "'spec_proposed_drafts':", "'spec_draft_token_num':"});
    answer.tokens = first({"'completion_tokens':"});
    answer.length = first({"'spec_accept_length':"});
    answer.rate = first({"'spec_accept_rate':"});
    answer.histogram = numbers_after(line, "'spec_correct_drafts_histogram': [");
    if (answer.histogram.empty()) {
        answer.histogram = numbers_after(line, "'spec_accept_histogram': [");
    }
    count_sglang_answer(answer, run);
}

}  // namespace treeline::runs::run_formats_of
