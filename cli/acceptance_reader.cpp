#include <charconv>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/setup_reader.h"
#include "json/wording.h"
#include "reports/number_text.h"

namespace treeline {
namespace {

const std::vector<std::string> kinds = {"geometric", "per_position", "mean_length", "curve"};

Acceptance read_geometric(json::Reader& at, std::string& text) {
    const double rate = at.number("geometric", 0.0, 1.0);
    text = fmt::format("{} a token", exact_text(rate));
    return Acceptance::geometric(rate);
}

Acceptance read_per_position(json::Reader& at, std::string& text) {
    const std::vector<double> positions = at.numbers("per_position", 0.0, 1.0);
    for (const double position : positions) {
        text += (text.empty() ? "" : ", ") + exact_text(position);
    }
    text = "by position " + text;
    return Acceptance::per_position(positions);
}

Acceptance read_mean_length(json::Reader& at, std::string& text) {
    const auto drafts = static_cast<double>(at.count("draft_tokens", 1, most_draft_tokens));
    const double length = at.number("mean_length", 1.0, static_cast<double>(most_draft_tokens) + 1.0);
    if (length > drafts + 1.0) {
        at.problem("mean_length", fmt::format("is {}, but {} draft tokens yield at most {} a round, the bonus token included",
                                              exact_text(length), exact_text(drafts), exact_text(drafts + 1.0)));
        return Acceptance::geometric(0.0);
    }
    text = fmt::format("{} tokens a round of {} drafts", fixed_text(length, 2), exact_text(drafts));
    return Acceptance::mean_length(length, drafts);
}

Acceptance read_curve(json::Reader& at, std::string& text) {
    std::map<int, double> lengths;
    json::Reader curve = at.object("curve");
    if (curve.keys().empty() && at.raw().at("curve").is_object()) {
        at.problem("curve", "is empty, but at least one number of draft tokens is needed");
    }
    for (const std::string& key : curve.keys()) {
        int drafts = 0;
        const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), drafts);
        if (error != std::errc() || end != key.data() + key.size() || drafts < 1 || drafts > most_draft_tokens) {
            curve.problem(key, fmt::format("must be a number of draft tokens between 1 and {}", most_draft_tokens));
            static_cast<void>(curve.has(key));
            continue;
        }
        lengths[drafts] = curve.number(key, 1.0, drafts + 1.0);
        text += fmt::format("{}{} at {}", text.empty() ? "" : ", ", fixed_text(lengths[drafts], 2), drafts);
    }
    curve.finish();
    text = "tokens a round: " + text;
    return lengths.empty() ? Acceptance::geometric(0.0) : Acceptance::curve(lengths);
}

}  // namespace

AcceptanceChoice read_acceptance(json::Reader at) {
    AcceptanceChoice choice;
    choice.source = at.text_or("source", "");
    std::vector<std::string> named;
    for (const std::string& kind : kinds) {
        if (at.has(kind)) {
            named.push_back(kind);
        }
    }
    if (named.size() != 1) {
        static_cast<void>(at.has("draft_tokens"));
        at.problem({}, named.empty() ? "needs one of geometric, per_position, mean_length and curve"
                                     : "gives " + json::listed(named, "and") + ", but exactly one of them is needed");
        choice.acceptance = Acceptance::geometric(0.0);
    } else if (named.front() == "geometric") {
        choice.acceptance = read_geometric(at, choice.text);
    } else if (named.front() == "per_position") {
        choice.acceptance = read_per_position(at, choice.text);
    } else if (named.front() == "mean_length") {
        choice.acceptance = read_mean_length(at, choice.text);
    } else {
        choice.acceptance = read_curve(at, choice.text);
    }
    at.finish();
    for (const std::string& problem : choice.acceptance.problems()) {
        at.problem({}, problem);
    }
    return choice;
}

}  // namespace treeline
