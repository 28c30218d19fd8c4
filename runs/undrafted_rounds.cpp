// Rounds in which a look-up found nothing. vLLM counts a draft only where there was one (vllm/v1/core/sched/scheduler.py,
// make_spec_decoding_stats), so that its accept length is of those rounds; what was generated tells the others.
#include <algorithm>
#include <cctype>
#include <cmath>

#include <fmt/format.h>

#include "runs/builder.h"
#include "text/number_text.h"

namespace treeline::runs {
namespace {

/// Of a drafter that nobody names: rounds without a draft that are too many to be first tokens, tokens behind the end of an
/// answer or rounding.
constexpr double clearly = 1.0 / 3.0;
/// Of one that always drafts: by how much generated tokens and counts may differ.
constexpr double much = 0.25;

}  // namespace

DraftsWhen drafts_when(std::string_view name) {
    std::string word;
    for (const char c : name) {
        if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
            word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        }
    }
    const auto has = [&](std::string_view part) { return word.find(part) != std::string::npos; };
    return word.empty()                                                                               ? DraftsWhen::unknown
           : has("ngram") || has("suffix") || has("lookup") || has("tokenrecycling") || word == "pld" ? DraftsWhen::found
                                                                                                      : DraftsWhen::always;
}

DraftsWhen RunBuilder::drafts_when() const {
    std::vector<std::string> names = {run_.identity.method, run_.identity.drafter};
    for (const std::size_t field : {3, 2}) {
        if (commanded_[field].size() == 1) {
            names.push_back(*commanded_[field].begin());
        }
    }
    for (const std::string& name : names) {
        if (const DraftsWhen when = runs::drafts_when(name); when != DraftsWhen::unknown) {
            return when;
        }
    }
    return DraftsWhen::unknown;
}

void RunBuilder::counted_elsewhere() { generated_.elsewhere = true; }

void RunBuilder::add_undrafted_rounds(AcceptanceCounts& counts, double generated, bool likely) {
    if (!(generated > 0.0) || !counts.known() || counts.undrafted > 0.0) {
        return;
    }
    const double rounds = std::round(generated - counts.accepted), undrafted = std::max(0.0, rounds - counts.drafts);
    generated_.tokens += generated;
    generated_.counted += counts.drafts + counts.accepted;
    const DraftsWhen when = drafts_when();
    if (when == DraftsWhen::found || (when == DraftsWhen::unknown && likely && undrafted > clearly * rounds)) {
        counts.add_undrafted(undrafted);
    }
}

void RunBuilder::say_undrafted_rounds() {
    const DraftsWhen when = drafts_when();
    const AcceptanceCounts all = run_.acceptance();
    const bool drafts = std::any_of(run_.cells.begin(), run_.cells.end(),
                                    [](const RunCell& cell) { return cell.draft_tokens > 0 && cell.accept_length() > 1.0; });
    if (generated_.elsewhere) {
        remark(fmt::format(
            "{}: its requests generated far more tokens than its drafts account for, and the gaps between messages agree with "
            "the drafts; they were counted for part of the requests (one of several servers), and hold for all",
            file_));
    } else if (all.undrafted > 0.0) {
        remark(fmt::format(
            "{}: {} of {} rounds drafted nothing{}, as the tokens that were generated tell. The accept length is that of all "
            "rounds; {:.3g} % of them draft (hit_rate)",
            file_, text::short_text(all.undrafted), text::short_text(all.drafts),
            when == DraftsWhen::found ? ", since the look-up found nothing" : ", as with look-ups", 100.0 * all.hit_rate()));
    } else if (when == DraftsWhen::found && drafts && !is_own_run_ && generated_.tokens <= 0.0 &&
               run_.identity.engine == "vllm") {
        remark(fmt::format(
            "{}: look-ups draft in some rounds only, and this accept length is of those rounds: all rounds yield less. Where "
            "generated tokens stand beside the drafts (a whole report of vllm bench serve, log lines on throughput, "
            "generation_tokens_total), the others are told",
            file_));
    } else if (generated_.counted > 0.0 && std::abs(generated_.tokens / generated_.counted - 1.0) > much) {
        remark(fmt::format(
            "{}: {} tokens were generated, but its drafts account for {}: they were counted for other requests than these, or "
            "some rounds drafted nothing",
            file_, text::short_text(generated_.tokens), text::short_text(generated_.counted)));
    }
}

}  // namespace treeline::runs
