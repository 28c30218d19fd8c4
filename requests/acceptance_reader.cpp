#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "json/wording.h"
#include "requests/acceptance/acceptance_file.h"
#include "requests/keys/setup_keys.h"
#include "requests/published_acceptance.h"
#include "requests/setup_reader.h"
#include "requests/speculation_reader.h"
#include "requests/tree_reader.h"
#include "text/number_text.h"
#include "text/parse_number.h"

namespace treeline::requests {
namespace {

const std::array<std::string_view, 7> acceptance_kinds = {
    acceptance_keys::rate,  acceptance_keys::geometric, acceptance_keys::per_position, acceptance_keys::mean_length,
    acceptance_keys::curve, acceptance_keys::published, acceptance_keys::file};

/// The same rate of every draft, as people read it.
std::string text_of_geometric(double rate) { return fmt::format("{} at every position", text::exact_text(rate)); }

sim::Acceptance read_geometric(json::Reader& at, std::string& text) {
    const double rate = read(at, acceptance_keys::geometric);
    text = text_of_geometric(rate);
    return sim::Acceptance::geometric(rate);
}

sim::Acceptance read_rate(json::Reader& at, double usual_fall, std::string& text) {
    const double rate = read(at, acceptance_keys::rate), fall = read_or(at, acceptance_keys::fall, usual_fall);
    text = fall == 0.0 ? text_of_geometric(rate)
                       : fmt::format("{} at the first position, later ones {}", text::exact_text(rate),
                                     fall == sim::measured_fall ? "as measured curves fall"
                                                                : fmt::format("falling as i^-{}", text::exact_text(fall)));
    return sim::Acceptance::falling(rate, fall);
}

sim::Acceptance read_per_position(json::Reader& at, std::string& text) {
    const std::vector<double> positions = read(at, acceptance_keys::per_position);
    for (const double position : positions) {
        text += (text.empty() ? "" : ", ") + text::exact_text(position);
    }
    text = "by position " + text;
    return sim::Acceptance::per_position(positions);
}

sim::Acceptance read_mean_length(json::Reader& at, double usual_fall, std::string& text) {
    const double fall = read_or(at, acceptance_keys::fall, usual_fall);
    const auto drafts = read<double>(at, acceptance_keys::draft_tokens);
    const double length = read(at, acceptance_keys::mean_length);
    if (length > drafts + 1.0) {
        at.problem("mean_length",
                   fmt::format("is {}, but {} draft tokens yield at most {} per round, bonus token included",
                               text::exact_text(length), text::exact_text(drafts), text::exact_text(drafts + 1.0)));
        return sim::Acceptance::geometric(0.0);
    }
    text = fmt::format("{} tokens per round with {} drafts{}", text::fixed_text(length, 2), text::exact_text(drafts),
                       fall == 0.0 ? ", the same rate at every position" : "");
    return sim::Acceptance::mean_length(length, drafts, fall);
}

constexpr double noise_of_lengths = 0.03;  // of two runs

/// Where stated accept lengths rise more steeply than before, although a draft is accepted no more often than those before it.
std::string text_of_steepest(const std::map<int, double>& lengths) {
    std::string text;
    double most = 0.0, gain = 1.0;
    std::pair<int, double> before = {0, 1.0};
    for (const auto& [drafts, length] : lengths) {
        const double possible = before.second + gain * (drafts - before.first);
        if (length - possible > most) {
            most = length - possible;
            text = fmt::format(
                "rises from {} at {} draft tokens to {} at {}: a draft is accepted no more often than those before it, so that "
                "{} yield at most {}",
                text::exact_text(before.second), before.first, text::exact_text(length), drafts, drafts,
                text::fixed_text(possible, 2));
        }
        gain = (length - before.second) / (drafts - before.first);
        before = {drafts, length};
    }
    return text;
}

/// "1.80 at 1, 2.40 at 2", and what noise of the measurements is evened out to.
std::string text_of_lengths(const std::map<int, double>& lengths, const sim::Acceptance& found) {
    std::string text;
    for (const auto& [drafts, length] : lengths) {
        const std::string stated = text::fixed_text(length, 2), used = text::fixed_text(found.accept_length(drafts), 2);
        text += fmt::format("{}{} at {}{}", text.empty() ? "" : ", ", stated, drafts,
                            used == stated ? "" : fmt::format(" (evened out to {})", used));
    }
    return text;
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
        if (lengths.contains(drafts)) {
            curve.problem(key, fmt::format("states {} draft tokens a second time", drafts));
        }
        lengths[drafts] = curve.number(key, 1.0, drafts + 1.0);
    }
    curve.finish();
    bool falls = false;
    for (auto shorter = lengths.begin(), longer = shorter; longer != lengths.end(); shorter = longer++) {
        if (longer->second < shorter->second * (1.0 - noise_of_lengths)) {
            falls = true;
            at.problem("curve",
                       fmt::format("falls from {} at {} draft tokens to {} at {}: of the same requests more drafts never "
                                   "yield fewer tokens",
                                   text::exact_text(shorter->second), shorter->first, text::exact_text(longer->second),
                                   longer->first));
        }
    }
    const sim::Acceptance found = lengths.empty() ? sim::Acceptance::geometric(0.0) : sim::Acceptance::curve(lengths);
    const bool together = std::all_of(lengths.begin(), lengths.end(), [&](const auto& stated) {
        return std::abs(found.accept_length(stated.first) - stated.second) <= noise_of_lengths * stated.second;
    });
    if (!falls && !together) {
        at.problem("curve", text_of_steepest(lengths));
    }
    text = "tokens per round: " + text_of_lengths(lengths, found);
    return found;
}

sim::Acceptance read_chain(json::Reader& at, const std::string& kind, double usual_fall, std::string& text) {
    return kind == acceptance_keys::rate.key           ? read_rate(at, usual_fall, text)
           : kind == acceptance_keys::geometric.key    ? read_geometric(at, text)
           : kind == acceptance_keys::per_position.key ? read_per_position(at, text)
           : kind == acceptance_keys::mean_length.key  ? read_mean_length(at, usual_fall, text)
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

/// Measurements of one drafter as an acceptance: chains, and trees with their own accept lengths.
void set_measured(const sim::AcceptanceOfTraffic& found, const std::string& name, Descriptions& descriptions,
                  AcceptanceChoice& choice) {
    choice.acceptance.chain = found.chain;
    choice.acceptance.only_measured = !found.has_chain;
    std::string remarks;
    for (const std::string& remark : found.remarks) {
        remarks += "; " + remark;
    }
    if (!found.remarks.empty()) {
        choice.acceptance.spread_text += "; " + found.remarks.front();
    }
    choice.source += remarks;
    choice.remarks = found.remarks;
    for (const auto& [shape_text, length] : found.shapes) {
        json::Document document = json::Document::of({{"shape", shape_text}}, name);
        json::Reader root = document.root();
        const sim::TreeShape shape = read_shape_under(root, measured_shape_keys::shape, descriptions);
        sim::DraftTree tree = sim::build_tree(shape, sim::RankAcceptance::known_or_assumed({}));
        // A tree that was grown from the drafter's own ranks may be deeper than the one of assumed ranks, which is then
        // another.
        if (length <= tree.depth() + 1.0) {
            choice.acceptance.measured.push_back({std::move(tree), length, shape_text});
        }
    }
}

void read_published(json::Reader& at, Descriptions& descriptions, const sim::TrafficKind& traffic, AcceptanceChoice& choice) {
    const std::string name = descriptions.resolved(read(at, acceptance_keys::published));
    const sim::TrafficKind kind = read_traffic_kind(at, traffic);
    try {
        const std::string stated = choice.source;
        choice = published_acceptance(load_published_drafter(descriptions.drafters_folder(), name), kind, descriptions);
        choice.source = stated.empty() ? choice.source : stated + "; " + choice.source;
    } catch (const text::InputError& failure) {
        for (const std::string& problem : failure.problems()) {
            at.problem(acceptance_keys::published, problem);
        }
    }
}

/// Chains of exactly the measured lengths, with exactly these accept lengths.
std::vector<sim::MeasuredShape> measured_chains(const std::map<int, double>& lengths) {
    std::vector<sim::MeasuredShape> shapes;
    for (const auto& [draft_tokens, length] : lengths) {
        shapes.push_back({sim::build_tree(sim::ChainShape{draft_tokens}, sim::RankAcceptance::known_or_assumed({})), length});
    }
    return shapes;
}

std::map<int, double> stated_lengths(const std::vector<sim::MeasuredAcceptance>& rows) {
    std::map<int, double> lengths;
    for (const sim::MeasuredAcceptance& row : rows) {
        if (row.accept_length > 0.0 && row.draft_tokens > 0) {
            lengths[row.draft_tokens] = row.accept_length;
        }
    }
    return lengths;
}

/// What becomes of lengths of one kind of requests that no acceptance has together; empty where all stay.
std::string evened_out(const std::vector<sim::MeasuredAcceptance>& rows, const sim::AcceptanceOfTraffic& found) {
    const std::map<int, double> lengths = stated_lengths(rows);
    if (!found.has_chain || lengths.size() != rows.size()) {
        return "";
    }
    std::string text;
    for (const auto& [drafts, length] : lengths) {
        if (std::abs(found.chain.accept_length(drafts) - length) > noise_of_lengths * length) {
            text += fmt::format("{}{} at {} to {}", text.empty() ? "tokens per round are evened out: " : ", ",
                                text::fixed_text(length, 2), drafts, text::fixed_text(found.chain.accept_length(drafts), 2));
        }
    }
    return text.empty() ? "" : text + ", as no draft is accepted more often than those before it";
}

/// A chain that counts over the rounds that drafted, a share of all, as one that counts over all of them.
sim::Acceptance over_all_rounds(const sim::Acceptance& chain, double hit_rate) {
    std::vector<double> positions;
    for (int i = 1; i <= chain.measured_positions(); ++i) {
        positions.push_back(hit_rate * chain.position(i));
    }
    return sim::Acceptance::per_position(positions);
}

/// How far a run may be off; other files hold what others measured. A mean that a run states without its rounds is as good as
/// that of another run of these requests.
void set_origin_of_run(const AcceptanceFile& file, sim::DraftAcceptance& acceptance) {
    if (!file.of_a_run) {
        return;
    }
    acceptance.comes_from(sim::AcceptanceOrigin::own_run);
    if (file.counted) {
        acceptance.spread =
            sim::spread_of_counts(file.counted->accept_length, file.counted->standard_error, file.counted->draft_tokens);
        acceptance.spread_text += fmt::format(", {} rounds", text::grouped_text(std::llround(file.counted->rounds)));
    } else {
        acceptance.spread = sim::spread_of(sim::AcceptanceOrigin::these_requests);
        acceptance.spread_text = "stated mean of a run of your own, without counts";
    }
}

/// As a measurement's file says.
void read_file(json::Reader& at, Descriptions& descriptions, const sim::TrafficKind& traffic, AcceptanceChoice& choice) {
    const std::string path = descriptions.resolved_path(read(at, acceptance_keys::file));
    const std::string of = read_or(at, acceptance_keys::of, "");
    const sim::TrafficKind kind = read_traffic_kind(at, traffic);
    try {
        const AcceptanceFile file = read_acceptance_file(path);
        if (!file.by_rank.empty()) {
            choice.acceptance.siblings = sim::RankAcceptance(file.by_rank);
            choice.acceptance.chain = sim::Acceptance::geometric(file.by_rank.front());
            choice.text = fmt::format("{} ranks", file.by_rank.size());
        } else {
            const std::vector<sim::MeasuredAcceptance>& rows = file.of(of);
            sim::AcceptanceOfTraffic found = sim::acceptance_of_traffic(rows, kind);
            if (const std::string evened = evened_out(rows, found); !evened.empty()) {
                found.remarks.push_back(evened);
            }
            choice.source += (choice.source.empty() ? "" : "; ") + text::listed(found.sources, "and");
            set_measured(found, path, descriptions, choice);
            for (const std::string& remark : file.remarks) {
                choice.source += "; " + remark;
                choice.remarks.push_back(remark);
            }
            choice.acceptance.most_draft_tokens = file.most_draft_tokens;
            set_origin_of_run(file, choice.acceptance);
            const int known = found.chain.measured_positions();
            if (file.hit_rate < 1.0 && found.has_chain) {
                choice.found = {file.hit_rate, found.chain};
                choice.acceptance.chain = over_all_rounds(found.chain, file.hit_rate);
            }
            choice.text = fmt::format("{}: {} tokens per round with {} drafts{}", file.format,
                                      text::fixed_text(choice.acceptance.chain.accept_length(known), 2), known,
                                      choice.found ? fmt::format(" in {:.3g} % of the rounds", 100.0 * file.hit_rate) : "");
            if (file.only_measured) {
                choice.acceptance.measured = measured_chains(stated_lengths(rows));
                choice.acceptance.only_measured = true;
            }
        }
    } catch (const text::InputError& failure) {
        for (const std::string& problem : failure.problems()) {
            at.problem(acceptance_keys::file, problem);
        }
    }
}

/// Where a curve says so, lengths between and beyond its own are unknown; of positions, those beyond the last.
void forbid_extrapolation(json::Reader& at, sim::DraftAcceptance& acceptance) {
    std::map<int, double> lengths;
    if (std::optional<json::Reader> curve = at.optional_object(acceptance_keys::curve)) {
        for (const std::string& key : curve->keys()) {
            lengths[text::parse_number<int>(key).value_or(0)] = curve->number(key, 1.0, sim::most_draft_tokens + 1.0);
        }
    } else if (acceptance.chain.is_model()) {
        at.problem(acceptance_keys::extrapolate, "is false, but a rate holds for any length: give a curve or positions");
    } else {
        for (int k = 1; k <= acceptance.chain.measured_positions(); ++k) {
            lengths[k] = acceptance.chain.accept_length(k);
        }
    }
    lengths.erase(0);
    const std::vector<sim::MeasuredShape> chains = measured_chains(lengths);
    acceptance.measured.insert(acceptance.measured.end(), chains.begin(), chains.end());
    acceptance.only_measured = true;
}

/// Whose requests it was measured on, and in how many rounds, as far as the input says.
void read_origin(json::Reader& at, sim::DraftAcceptance& acceptance) {
    using enum sim::AcceptanceOrigin;
    const bool counted = at.has(acceptance_keys::rounds);
    if (at.has(acceptance_keys::origin)) {
        acceptance.comes_from(read_or(at, acceptance_keys::origin, other_requests));
    } else if (counted) {
        acceptance.comes_from(own_run);
    }
    if (!counted) {
        if (at.has(acceptance_keys::origin) && acceptance.origin == own_run) {  // of nobody knows how many rounds
            acceptance.spread = sim::spread_of(these_requests);
        }
        return;
    }
    const auto rounds = read_or(at, acceptance_keys::rounds, 1.0);
    if (acceptance.origin != own_run) {
        at.problem(acceptance_keys::rounds, "goes with \"origin\": \"own-run\", of which it is the default");
        return;
    }
    const int drafts = std::max(1, acceptance.chain.known_draft_tokens());
    const double error = std::sqrt(acceptance.chain.variance(drafts) / rounds);
    acceptance.spread = sim::spread_of_counts(acceptance.chain.accept_length(drafts), error, drafts);
    acceptance.spread_text += fmt::format(", {} rounds", text::grouped_text(std::llround(rounds)));
}

/// Categories that nobody measured are predicted; one that is a slip of the pen from a measured one is not meant. Throws
/// InputError.
void refuse_misspelt(const sim::TrafficKind& traffic, const std::vector<sim::MeasuredAcceptance>& measured,
                     const std::vector<std::vector<sim::MeasuredAcceptance>>& others) {
    std::set<std::string> known;
    for (const sim::MeasuredAcceptance& row : measured) {
        known.insert(row.category);
    }
    for (const std::vector<sim::MeasuredAcceptance>& rows : others) {
        for (const sim::MeasuredAcceptance& row : rows) {
            known.insert(row.category);
        }
    }
    for (const auto& [category, share] : traffic.categories) {
        const std::string meant = known.contains(category) ? "" : text::did_you_mean(category, {known.begin(), known.end()});
        if (!meant.empty()) {
            throw text::InputError({fmt::format("no drafter was measured on the category \"{}\"{}", category, meant)});
        }
    }
}

/// Sources of one publication after another name it once: "bench (commit 1): a.json", "b.json".
std::vector<std::string> without_repetition(const std::vector<std::string>& sources) {
    std::vector<std::string> names;
    std::string before;
    for (const std::string& source : sources) {
        const std::size_t colon = source.find(": ");
        const std::string publication = colon == std::string::npos ? "" : source.substr(0, colon + 2);
        const bool again = !publication.empty() && publication == before;
        names.push_back(again ? source.substr(publication.size()) : source);
        before = publication;
    }
    return names;
}

}  // namespace

AcceptanceChoice published_acceptance(const PublishedDrafter& drafter, const sim::TrafficKind& traffic,
                                      Descriptions& descriptions) {
    const bool all_measured = std::all_of(traffic.categories.begin(), traffic.categories.end(), [&](const auto& entry) {
        return std::any_of(drafter.measured.begin(), drafter.measured.end(),
                           [&](const sim::MeasuredAcceptance& row) { return row.category == entry.first; });
    });
    std::vector<std::vector<sim::MeasuredAcceptance>> others;
    if (!all_measured) {
        others = measured_of_others(descriptions.published_drafters(), drafter.name);
        refuse_misspelt(traffic, drafter.measured, others);
    }
    const sim::AcceptanceOfTraffic found = sim::acceptance_of_traffic(drafter.measured, traffic, others);
    AcceptanceChoice choice;
    const int known = found.chain.measured_positions();
    choice.text = found.has_chain ? fmt::format("{}: {} tokens per round with {} drafts", drafter.title,
                                                text::fixed_text(found.chain.accept_length(known), 2), known)
                                  : fmt::format("{}: trees alone were measured", drafter.title);
    const bool derived = std::all_of(found.sources.begin(), found.sources.end(),
                                     [](const std::string& source) { return source.starts_with("derived"); });
    choice.source =
        (derived ? "of " : "measured on ") + drafter.target + ": " + text::listed(without_repetition(found.sources), "and");
    if (!traffic.categories.empty() && found.kinds_are_known) {
        choice.acceptance.comes_from(sim::AcceptanceOrigin::same_kind);
    } else {
        choice.acceptance.spread = sim::spread_over_kinds(found.kinds);
    }
    set_measured(found, drafter.name, descriptions, choice);
    return choice;
}

AcceptanceChoice read_acceptance(json::Reader at, Descriptions& descriptions, const sim::TrafficKind& traffic,
                                 double usual_fall) {
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
    const bool shapes_alone = named.empty() && !by_rank && at.has(acceptance_keys::measured);
    if (shapes_alone) {
        acceptance.only_measured = true;
    } else if (named.size() > 1 || (named.empty() && !by_rank)) {
        static_cast<void>(at.has(acceptance_keys::draft_tokens));
        static_cast<void>(at.has(acceptance_keys::fall));
        at.problem(
            {},
            named.empty()
                ? "needs one of rate, per_position, mean_length, curve, published, file and geometric, or per_rank, or measured"
                : "gives " + text::listed(named, "and") + ", but exactly one of them is needed");
    } else if (!named.empty() && named.front() == acceptance_keys::published.key) {
        read_published(at, descriptions, traffic, choice);
    } else if (!named.empty() && named.front() == acceptance_keys::file.key) {
        read_file(at, descriptions, traffic, choice);
    } else if (named.size() == 1) {
        acceptance.chain = read_chain(at, named.front(), usual_fall, choice.text);
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
    read_origin(at, acceptance);
    if (!read(at, acceptance_keys::extrapolate)) {
        forbid_extrapolation(at, acceptance);
    }
    at.finish();
    for (const std::string& problem : acceptance.problems()) {
        at.problem({}, problem);
    }
    return choice;
}

}  // namespace treeline::requests
