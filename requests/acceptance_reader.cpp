#include <array>
#include <cmath>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "json/wording.h"
#include "requests/keys/setup_keys.h"
#include "requests/loop/import_request.h"
#include "requests/published_acceptance.h"
#include "requests/setup_reader.h"
#include "requests/speculation_reader.h"
#include "requests/tree_reader.h"
#include "text/number_text.h"
#include "text/parse_number.h"

namespace treeline {
namespace {

const std::array<std::string_view, 6> acceptance_kinds = {acceptance_keys::geometric,   acceptance_keys::per_position,
                                                          acceptance_keys::mean_length, acceptance_keys::curve,
                                                          acceptance_keys::published,   acceptance_keys::run};

Acceptance read_geometric(json::Reader& at, std::string& text) {
    const double rate = read(at, acceptance_keys::geometric);
    text = fmt::format("{} per token", exact_text(rate));
    return Acceptance::geometric(rate);
}

Acceptance read_per_position(json::Reader& at, std::string& text) {
    const std::vector<double> positions = read(at, acceptance_keys::per_position);
    for (const double position : positions) {
        text += (text.empty() ? "" : ", ") + exact_text(position);
    }
    text = "by position " + text;
    return Acceptance::per_position(positions);
}

Acceptance read_mean_length(json::Reader& at, std::string& text) {
    const auto drafts = read<double>(at, acceptance_keys::draft_tokens);
    const double length = read(at, acceptance_keys::mean_length);
    if (length > drafts + 1.0) {
        at.problem("mean_length", fmt::format("is {}, but {} draft tokens yield at most {} per round, bonus token included",
                                              exact_text(length), exact_text(drafts), exact_text(drafts + 1.0)));
        return Acceptance::geometric(0.0);
    }
    text = fmt::format("{} tokens per round with {} drafts", fixed_text(length, 2), exact_text(drafts));
    return Acceptance::mean_length(length, drafts);
}

Acceptance read_curve(json::Reader& at, std::string& text) {
    std::map<int, double> lengths;
    json::Reader curve = at.object(acceptance_keys::curve);
    if (curve.keys().empty() && at.raw().at("curve").is_object()) {
        at.problem("curve", "is empty, but at least one number of draft tokens is needed");
    }
    for (const std::string& key : curve.keys()) {
        const int drafts = parse_number<int>(key).value_or(0);
        if (drafts < 1 || drafts > most_draft_tokens) {
            curve.problem(key, fmt::format("must be a number of draft tokens between 1 and {}", most_draft_tokens));
            static_cast<void>(curve.has(key));
            continue;
        }
        lengths[drafts] = curve.number(key, 1.0, drafts + 1.0);
        text += fmt::format("{}{} at {}", text.empty() ? "" : ", ", fixed_text(lengths[drafts], 2), drafts);
    }
    curve.finish();
    text = "tokens per round: " + text;
    return lengths.empty() ? Acceptance::geometric(0.0) : Acceptance::curve(lengths);
}

Acceptance read_chain(json::Reader& at, const std::string& kind, std::string& text) {
    return kind == acceptance_keys::geometric.key      ? read_geometric(at, text)
           : kind == acceptance_keys::per_position.key ? read_per_position(at, text)
           : kind == acceptance_keys::mean_length.key  ? read_mean_length(at, text)
                                                       : read_curve(at, text);
}

RankAcceptance read_per_rank(json::Reader& at, std::string& text) {
    const std::vector<double> ranks = read(at, acceptance_keys::per_rank);
    std::string list;
    for (const double rank : ranks) {
        list += (list.empty() ? "" : ", ") + short_text(rank);
    }
    text += (text.empty() ? "by rank " : "; by rank ") + list;
    return RankAcceptance(ranks);
}

std::vector<MeasuredShape> read_measured(json::Reader& at, const RankAcceptance& siblings, Descriptions& descriptions,
                                         std::string& text) {
    std::vector<MeasuredShape> measured;
    for (json::Reader& element : at.objects(acceptance_keys::measured)) {
        const TreeShape shape = read_shape_under(element, measured_shape_keys::shape, descriptions);
        const double length = read(element, measured_shape_keys::accept_length);
        element.finish();
        if (problems(shape).empty()) {
            measured.push_back({build_tree(shape, RankAcceptance::known_or_assumed(siblings)), length});
            text += fmt::format("{}{} with {}", text.empty() ? "" : "; ", fixed_text(length, 2), text_of(shape));
        }
    }
    return measured;
}

TrafficKind read_traffic_kind(json::Reader& at) {
    TrafficKind traffic;
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
    const TrafficKind traffic = read_traffic_kind(at);
    try {
        const PublishedDrafter drafter = load_published_drafter(descriptions.drafters_folder(), name);
        const AcceptanceOfTraffic found = acceptance_of_traffic(drafter.measured, traffic);
        choice.acceptance.chain = found.chain;
        choice.text = fmt::format("{}: {} tokens per round with {} drafts", drafter.title,
                                  fixed_text(found.chain.accept_length(found.chain.measured_positions()), 2),
                                  found.chain.measured_positions());
        std::string source = "measured on " + drafter.target + ": " + listed(found.sources, "and");
        for (const std::string& remark : found.remarks) {
            source += "; " + remark;
        }
        choice.source = choice.source.empty() ? source : choice.source + "; " + source;
        for (const auto& [shape_text, length] : found.shapes) {
            json::Document document = json::Document::of({{"shape", shape_text}}, name);
            json::Reader root = document.root();
            const TreeShape shape = read_shape_under(root, measured_shape_keys::shape, descriptions);
            choice.acceptance.measured.push_back({build_tree(shape, RankAcceptance::known_or_assumed({})), length});
        }
    } catch (const InputError& failure) {
        for (const std::string& problem : failure.problems()) {
            at.problem(acceptance_keys::published, problem);
        }
    }
}

/// What a deployment measured of its drafter.
void read_run_acceptance(json::Reader& at, Descriptions& descriptions, AcceptanceChoice& choice) {
    const std::string file = descriptions.resolved(read(at, acceptance_keys::run));
    try {
        const MeasuredRun run = import_runs({file});
        json::Document document = json::Document::of(acceptance_of_run(run), file);
        json::Reader root = document.root();
        choice.acceptance.chain =
            root.has(acceptance_keys::per_position) ? read_per_position(root, choice.text) : read_curve(root, choice.text);
        document.throw_if_problems();
        const AcceptanceCounts counts = run.acceptance();
        const std::string rounds = counts.known() ? fmt::format(", {} rounds", grouped_text(std::llround(counts.drafts))) : "";
        const std::string source =
            fmt::format("measured by {}{}: {}", run.identity.engine.empty() ? "a deployment" : run.identity.engine, rounds,
                        std::filesystem::path(file).filename().string());
        choice.source = choice.source.empty() ? source : choice.source + "; " + source;
    } catch (const InputError& failure) {
        for (const std::string& problem : failure.problems()) {
            at.problem(acceptance_keys::run, problem);
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
    DraftAcceptance& acceptance = choice.acceptance;
    const bool by_rank = at.has(acceptance_keys::per_rank);
    acceptance.chain = Acceptance::geometric(0.0);
    if (named.size() > 1 || (named.empty() && !by_rank)) {
        static_cast<void>(at.has(acceptance_keys::draft_tokens));
        at.problem({}, named.empty()
                           ? "needs one of geometric, per_position, mean_length, curve, published and run, or per_rank"
                           : "gives " + listed(named, "and") + ", but exactly one of them is needed");
    } else if (!named.empty() && named.front() == acceptance_keys::published.key) {
        read_published(at, descriptions, choice);
    } else if (!named.empty() && named.front() == acceptance_keys::run.key) {
        read_run_acceptance(at, descriptions, choice);
    } else if (named.size() == 1) {
        acceptance.chain = read_chain(at, named.front(), choice.text);
    }
    if (by_rank) {
        acceptance.siblings = read_per_rank(at, choice.text);
        if (named.empty()) {
            acceptance.chain = Acceptance::geometric(acceptance.siblings.rank(1));
        }
    }
    if (at.has(acceptance_keys::measured)) {
        std::vector<MeasuredShape> shapes = read_measured(at, acceptance.siblings, descriptions, choice.text);
        acceptance.measured.insert(acceptance.measured.end(), shapes.begin(), shapes.end());
    }
    at.finish();
    for (const std::string& problem : acceptance.problems()) {
        at.problem({}, problem);
    }
    return choice;
}

}  // namespace treeline
