#include "runs/formats/metric_columns.h"

#include <algorithm>
#include <cctype>

#include "runs/formats/load_columns.h"
#include "runs/formats/stated_lengths.h"
#include "runs/formats/table_caption.h"
#include "text/trimmed.h"

namespace treeline::runs::run_formats_of {
namespace {

/// Requests in flight that a heading names, alone ("c=8") or beside something else ("MTP, c=8").
double requests_in_heading(const std::string& text) {
    TableCaption caption;
    caption.take(text);
    return std::max(
        {static_cast<double>(requests_of_heading(text)), static_cast<double>(requests_in_label(text)), caption.batch()});
}

/// Whether a heading is another and what is added to it: "Q4" and "Q4 + 0.5B Q8".
bool adds_to(const std::string& heading, const std::string& other) {
    return !other.empty() && heading.starts_with(other) &&
           text::trimmed(std::string_view(heading).substr(other.size())).starts_with('+');
}

}  // namespace

bool MetricHeading::same_setting(const MetricHeading& other) const {
    return requests == other.requests && context == other.context && stated.tokens == other.stated.tokens &&
           stated.drafting == other.stated.drafting;
}

bool MetricHeading::contradicts(const MetricHeading& other) const {
    const bool drafters = !drafter.empty() && !other.drafter.empty() && drafter != other.drafter;
    return drafters || deployment.contradicts(other.deployment);
}

MetricHeading metric_heading(const std::string& text) {
    const std::string words = plain_words(text);
    std::string lower = text;
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return {text,
            requests_in_heading(text),
            context_in(lower),
            {drafts_of_setting(text), names_drafter(words)},
            drafter_in(words),
            deployment_in(lower)};
}

std::vector<MetricHeading> metric_headings(const std::vector<std::string>& texts) {
    std::vector<MetricHeading> headings;
    for (const std::string& text : texts) {
        headings.push_back(metric_heading(text));
        const auto base =
            std::find_if(texts.begin(), texts.end(), [&](const std::string& other) { return adds_to(text, other); });
        if (base != texts.end()) {
            headings.back().stated.drafting = true;
            headings.back().deployment = metric_heading(*base).deployment;
        }
    }
    return headings;
}

bool compares_runs(const std::string& heading) {
    static const std::vector<const char*> others = {"difference", "diff", "change",      "delta", "speedup",
                                                    "speed up",   "gain", "improvement", "ratio"};
    const std::string words = plain_words(heading);
    return heading.find('%') != std::string::npos || heading.find("\u0394") != std::string::npos ||
           std::any_of(others.begin(), others.end(), [&](const char* other) { return says(words, other); });
}

bool holds_quantiles(const std::vector<std::string>& headings) {
    return std::any_of(headings.begin(), headings.end(), [](const std::string& heading) {
        const bool quantile =
            heading.size() > 1 && heading[0] == 'p' && heading.find_first_not_of("0123456789.", 1) == std::string::npos;
        return quantile || heading == "min" || heading == "max" || heading == "std" || heading == "median";
    });
}

bool repeats_run(const std::string& heading) {
    const std::string words = plain_words(heading);
    const std::size_t last = words.rfind(' ');
    const std::string name = last == std::string::npos ? "" : words.substr(0, last);
    const std::string number = last == std::string::npos ? words : words.substr(last + 1);
    static const std::vector<std::string> repeats = {"",     "run", "trial",  "seed",   "iteration",
                                                     "iter", "rep", "repeat", "attempt"};
    return !number.empty() && number.find_first_not_of("0123456789") == std::string::npos &&
           std::find(repeats.begin(), repeats.end(), name) != repeats.end();
}

}  // namespace treeline::runs::run_formats_of
