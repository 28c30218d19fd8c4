#include <array>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "json/wording.h"
#include "requests/keys/setup_keys.h"
#include "requests/published_acceptance.h"
#include "requests/setup_reader.h"
#include "requests/speculation_reader.h"
#include "requests/tree_reader.h"
#include "text/number_text.h"
#include "text/parse_number.h"

namespace treeline::requests {
namespace {

const std::array<std::string_view, 5> acceptance_kinds = {acceptance_keys::geometric, acceptance_keys::per_position,
                                                          acceptance_keys::mean_length, acceptance_keys::curve,
                                                          acceptance_keys::published};

sim::Acceptance read_geometric(json::Reader& at, std::string& text) {
    const double rate = read(at, acceptance_keys::geometric);
    text = fmt::format("{} per token", text::exact_text(rate));
    return sim::Acceptance::geometric(rate);
}

sim::Acceptance read_per_position(json::Reader& at, std::string& text) {
    const std::vector<double> positions = read(at, acceptance_keys::per_position);
    for (const double position : positions) {
        text += (text.empty() ? "" : ", ") + text::exact_text(position);
    }
    text = "by position " + text;
    return sim::Acceptance::per_position(positions);
}

sim::Acceptance read_mean_length(json::Reader& at, std::string& text) {
    const auto drafts = read<double>(at, acceptance_keys::draft_tokens);
    const double length = read(at, acceptance_keys::mean_length);
    if (length > drafts + 1.0) {
        at.problem("mean_length",
                   fmt::format("is {}, but {} draft tokens yield at most {} per round, bonus token included",
                               text::exact_text(length), text::exact_text(drafts), text::exact_text(drafts + 1.0)));
        return sim::Acceptance::geometric(0.0);
    }
    text = fmt::format("{} tokens per round with {} drafts", text::fixed_text(length, 2), text::exact_text(drafts));
    return sim::Acceptance::mean_length(length, drafts);
}

sim::Acceptance read_curve(json::Reader& at, std::string& text) {
    std::map<int, double> lengths;
    json::Reader curve = at.object(acceptance_keys::curve);
    if (curve.keys().empty() && at.raw().at("curve").is_object()) {
        at.problem("curve", "is empty, but at least one number of draft tokens is needed");
    }
    for (const std::string& key : curve.keys()) {
        const int drafts = text::parse_number<int>(key).value_or(0);
        if (drafts < 1 || drafts > sim::most_draft_tokens) {
            curve.problem(key, fmt::format("must be a number of draft tokens between 1 and {}", sim::most_draft_tokens));
            static_cast<void>(curve.has(key));
            continue;
        }
        lengths[drafts] = curve.number(key, 1.0, drafts + 1.0);
        text += fmt::format("{}{} at {}", text.empty() ? "" : ", ", text::fixed_text(lengths[drafts], 2), drafts);
    }
    curve.finish();
    text = "tokens per round: " + text;
    return lengths.empty() ? sim::Acceptance::geometric(0.0) : sim::Acceptance::curve(lengths);
}

sim::Acceptance read_chain(json::Reader& at, const std::string& kind, std::string& text) {
    return kind == acceptance_keys::geometric.key      ? read_geometric(at, text)
           : kind == acceptance_keys::per_position.key ? read_per_position(at, text)
           : kind == acceptance_keys::mean_length.key  ? read_mean_length(at, text)
                                                       : read_curve(at, text);
}

sim::RankAcceptance read_per_rank(json::Reader& at, std::string& text) {
    const std::vector<double> ranks = read(at, acceptance_keys::per_rank);
    std::string list;
    for (const double rank : ranks) {
        list += (list.empty() ? "" : ", ") + text::short_text(rank);
    }
    text += (text.empty() ? "by rank " : "; by rank ") + list;
    return sim::RankAcceptance(ranks);
}

std::vector<sim::MeasuredShape> read_measured(json::Reader& at, const sim::RankAcceptance& siblings, Descriptions& descriptions,
                                              std::string& text) {
    std::vector<sim::MeasuredShape> measured;
    for (json::Reader& element : at.objects(acceptance_keys::measured)) {
        const sim::TreeShape shape = read_shape_under(element, measured_shape_keys::shape, descriptions);
        const double length = read(element, measured_shape_keys::accept_length);
        element.finish();
        if (problems(shape).empty()) {
            measured.push_back({sim::build_tree(shape, sim::RankAcceptance::known_or_assumed(siblings)), length});
            text += fmt::format("{}{} with {}", text.empty() ? "" : "; ", text::fixed_text(length, 2), sweeps::text_of(shape));
        }
    }
    return measured;
}

sim::TrafficKind read_traffic_kind(json::Reader& at) {
    sim::TrafficKind traffic;
    if (std::optional<json::Reader> categories = at.optional_object(acceptance_keys::categories)) {
        for (const std::string& category : categories->keys()) {
            traffic.categories.emplace_back(category, categories->number(category, 1e-6, 1e6));
        }
        categories->finish();
    }
    if (at.has(acceptance_keys::temperature)) {
        traffic.temperature = read(at, acceptance_keys::temperature);
    }
    if (at.has(acceptance_keys::thinking)) {
        traffic.thinking = read(at, acceptance_keys::thinking);
    }
    return traffic;
}

/// What others measured of a drafter, in this traffic. Trees that were measured in all of it keep their accept lengths.
void read_published(json::Reader& at, Descriptions& descriptions, AcceptanceChoice& choice) {
    const std::string name = descriptions.resolved(read(at, acceptance_keys::published));
    const sim::TrafficKind traffic = read_traffic_kind(at);
    try {
        const PublishedDrafter drafter = load_published_drafter(descriptions.drafters_folder(), name);
        const sim::AcceptanceOfTraffic found = sim::acceptance_of_traffic(drafter.measured, traffic);
        choice.acceptance.chain = found.chain;
        choice.text = fmt::format("{}: {} tokens per round with {} drafts", drafter.title,
                                  text::fixed_text(found.chain.accept_length(found.chain.measured_positions()), 2),
                                  found.chain.measured_positions());
        std::string source = "measured on " + drafter.target + ": " + text::listed(found.sources, "and");
        for (const std::string& remark : found.remarks) {
            source += "; " + remark;
        }
        choice.source = choice.source.empty() ? source : choice.source + "; " + source;
        for (const auto& [shape_text, length] : found.shapes) {
            json::Document document = json::Document::of({{"shape", shape_text}}, name);
            json::Reader root = document.root();
            const sim::TreeShape shape = read_shape_under(root, measured_shape_keys::shape, descriptions);
            choice.acceptance.measured.push_back({sim::build_tree(shape, sim::RankAcceptance::known_or_assumed({})), length});
        }
    } catch (const text::InputError& failure) {
        for (const std::string& problem : failure.problems()) {
            at.problem(acceptance_keys::published, problem);
        }
    }
}

}  // namespace

AcceptanceChoice read_acceptance(json::Reader at, Descriptions& descriptions) {
    AcceptanceChoice choice;
    choice.source = read(at, acceptance_keys::source);
    std::vector<std::string> named;
    for (const std::string_view kind : acceptance_kinds) {
        if (at.has(kind)) {
            named.emplace_back(kind);
        }
    }
    sim::DraftAcceptance& acceptance = choice.acceptance;
    const bool by_rank = at.has(acceptance_keys::per_rank);
    acceptance.chain = sim::Acceptance::geometric(0.0);
    if (named.size() > 1 || (named.empty() && !by_rank)) {
        static_cast<void>(at.has(acceptance_keys::draft_tokens));
        at.problem({}, named.empty() ? "needs one of geometric, per_position, mean_length, curve and published, or per_rank"
                                     : "gives " + text::listed(named, "and") + ", but exactly one of them is needed");
    } else if (!named.empty() && named.front() == acceptance_keys::published.key) {
        read_published(at, descriptions, choice);
    } else if (named.size() == 1) {
        acceptance.chain = read_chain(at, named.front(), choice.text);
    }
    if (by_rank) {
        acceptance.siblings = read_per_rank(at, choice.text);
        if (named.empty()) {
            acceptance.chain = sim::Acceptance::geometric(acceptance.siblings.rank(1));
        }
    }
    if (at.has(acceptance_keys::measured)) {
        std::vector<sim::MeasuredShape> shapes = read_measured(at, acceptance.siblings, descriptions, choice.text);
        acceptance.measured.insert(acceptance.measured.end(), shapes.begin(), shapes.end());
    }
    at.finish();
    for (const std::string& problem : acceptance.problems()) {
        at.problem({}, problem);
    }
    return choice;
}

}  // namespace treeline::requests
