// A drafter with its acceptance: described in the input, or a published one (models/drafters).
#include <algorithm>
#include <cctype>
#include <optional>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "requests/drafter_kinds.h"
#include "requests/keys/setup_keys.h"
#include "requests/published_acceptance.h"
#include "requests/setup_reader.h"

namespace treeline::requests {
namespace {

using FileJson = nlohmann::ordered_json;

/// Keys that say how a published drafter is used, not what it is.
bool is_about_use(const std::string& key) {
    for (const std::string_view known :
         {drafter_keys::published.key, drafter_keys::any_target.key, drafter_keys::acceptance.key,
          traffic_kind_keys::categories.key, traffic_kind_keys::temperature.key, traffic_kind_keys::thinking.key}) {
        if (key == known) {
            return true;
        }
    }
    return false;
}

/// The file's drafter, with what the input says otherwise.
FileJson described(json::Reader& at, const PublishedDrafter& drafter) {
    FileJson json = FileJson::parse(drafter.description);
    for (const std::string& key : at.keys()) {
        if (!is_about_use(key)) {
            json[key] = at.raw().at(key);
            static_cast<void>(at.has(key));
        }
    }
    return json;
}

/// The same model under names of catalogue and Hugging Face: letters and digits alone count.
std::string plain(const std::string& name) {
    std::string text;
    for (const char c : name) {
        if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
            text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        }
    }
    return text;
}

/// Whether it was published for this target; also where nobody says for which one it is used.
bool drafts_for(const PublishedDrafter& drafter, const DrafterUse& use) {
    return use.target == nullptr || use.target->name.empty() ||
           plain(use.target->name).find(plain(drafter.target)) != std::string::npos;
}

void check_target(json::Reader& at, const PublishedDrafter& drafter, const DrafterUse& use) {
    if (!drafts_for(drafter, use) && !read(at, drafter_keys::any_target)) {
        at.problem(drafter_keys::published,
                   fmt::format("{} drafts for {}, not for {}; \"any_target\": true takes it, and its acceptance, all the same",
                               drafter.name, drafter.target, use.target->name));
    }
}

/// The lower of the limits that the drafter and its acceptance state.
void limit_drafts(std::optional<int> stated, sim::DraftAcceptance& acceptance) {
    if (stated) {
        acceptance.most_draft_tokens =
            acceptance.most_draft_tokens > 0 ? std::min(*stated, acceptance.most_draft_tokens) : *stated;
    }
}

std::optional<int> read_limit(json::Reader& at) {
    return at.has(drafter_keys::max_draft_tokens) ? std::optional(read_or<int>(at, drafter_keys::max_draft_tokens, 1))
                                                  : std::nullopt;
}

/// How the rates of its drafts fall if one of them is all that is known.
double usual_fall_of(const sim::Drafter& drafter) {
    return std::holds_alternative<sim::NgramDrafter>(drafter) ? sim::fall_of_lookups : sim::measured_fall;
}

void read_published_drafter(json::Reader& at, Descriptions& descriptions, const DrafterUse& use,
                            sweeps::DrafterChoice& choice) {
    const std::string name = descriptions.resolved(read(at, drafter_keys::published));
    const sim::TrafficKind traffic = read_traffic_kind(at, use.traffic);
    static_cast<void>(at.has(drafter_keys::any_target));
    try {
        const PublishedDrafter drafter = load_published_drafter(descriptions.drafters_folder(), name);
        check_target(at, drafter, use);
        json::Document document = json::Document::of(described(at, drafter), drafter.name);
        json::Reader root = document.root();
        const std::string kind = read(root, drafter_keys::kind);
        choice.drafter = read_drafter_kind(root, kind, descriptions, choice.label);
        choice.label = read_or(root, drafter_keys::name, drafter.name);
        const bool hits_are_stated = root.has(drafter_keys::hit_rate);
        const std::optional<int> limit = read_limit(root);
        root.finish();
        document.throw_if_problems();
        AcceptanceChoice acceptance =
            at.has(drafter_keys::acceptance)
                ? read_acceptance(at.object(drafter_keys::acceptance), descriptions, traffic, usual_fall_of(choice.drafter))
                : published_acceptance(drafter, traffic, descriptions);
        if (auto* lookup = std::get_if<sim::NgramDrafter>(&choice.drafter);
            lookup != nullptr && !hits_are_stated && !at.has(drafter_keys::acceptance)) {
            sim::count_misses(*lookup, acceptance.acceptance.chain, acceptance.acceptance.chain.measured_positions());
        }
        choice.acceptance = acceptance.acceptance;
        if (!at.has(drafter_keys::acceptance) && !drafts_for(drafter, use)) {
            choice.acceptance.comes_from(sim::AcceptanceOrigin::other_target);
        }
        limit_drafts(limit, choice.acceptance);
        choice.acceptance_text = std::move(acceptance.text);
        choice.acceptance_source = std::move(acceptance.source);
    } catch (const text::InputError& failure) {
        for (const std::string& key : at.keys()) {
            static_cast<void>(at.has(key));
        }
        for (const std::string& problem : failure.problems()) {
            at.problem(drafter_keys::published, problem);
        }
    }
}

/// Of a look-up tried first: rounds that it drafts, and rounds that the other drafter does.
AcceptanceChoice acceptance_of_parts(json::Reader& at, Descriptions& descriptions, const sim::Drafter& drafter,
                                     const DrafterUse& use) {
    const double hits = std::get<sim::LookupFirstDrafter>(drafter).lookup.hit_rate;
    json::Reader lookup = at.object(drafter_keys::lookup), otherwise = at.object(drafter_keys::otherwise);
    AcceptanceChoice found =
        read_acceptance(lookup.object(drafter_keys::acceptance), descriptions, use.traffic, sim::fall_of_lookups);
    const AcceptanceChoice other = read_acceptance(otherwise.object(drafter_keys::acceptance), descriptions, use.traffic);
    const sim::Acceptance &a = found.acceptance.chain, &b = other.acceptance.chain;
    const int known = std::max({a.measured_positions(), b.measured_positions(), a.is_model() && b.is_model() ? 16 : 1});
    std::vector<double> positions;
    for (int i = 1; i <= known; ++i) {
        positions.push_back(hits * a.position(i) + (1.0 - hits) * b.position(i));
    }
    sim::DraftAcceptance both(sim::Acceptance::per_position(positions));
    const sim::DraftAcceptance& wider = other.acceptance.spread > found.acceptance.spread ? other.acceptance : found.acceptance;
    both.origin = wider.origin;
    both.spread = wider.spread;
    both.spread_text = wider.spread_text;
    found.acceptance = std::move(both);
    found.text = fmt::format("look-up ({:.0f} % of the rounds): {}; otherwise: {}", 100.0 * hits, found.text, other.text);
    found.source += (found.source.empty() || other.source.empty() ? "" : "; ") + other.source;
    return found;
}

}  // namespace

const std::vector<std::string>& drafter_kinds() {
    static const std::vector<std::string> kinds(drafter_keys::kinds.begin(), drafter_keys::kinds.end());
    return kinds;
}

sweeps::DrafterChoice read_drafter(json::Reader at, Descriptions& descriptions, const DrafterUse& use) {
    sweeps::DrafterChoice choice;
    if (at.has(drafter_keys::published)) {
        read_published_drafter(at, descriptions, use, choice);
        at.finish();
        return choice;
    }
    const bool has_kind = at.has(drafter_keys::kind);
    const std::string kind = read(at, drafter_keys::kind);
    choice.label = kind;
    if (has_kind) {
        choice.drafter = read_drafter_kind(at, kind, descriptions, choice.label);
    }
    choice.label = read_or(at, drafter_keys::name, choice.label);
    const bool of_parts = std::holds_alternative<sim::LookupFirstDrafter>(choice.drafter) && !at.has(drafter_keys::acceptance);
    AcceptanceChoice acceptance = of_parts ? acceptance_of_parts(at, descriptions, choice.drafter, use)
                                           : read_acceptance(at.object(drafter_keys::acceptance), descriptions, use.traffic,
                                                             usual_fall_of(choice.drafter));
    choice.acceptance = acceptance.acceptance;
    limit_drafts(read_limit(at), choice.acceptance);
    choice.acceptance_text = std::move(acceptance.text);
    choice.acceptance_source = std::move(acceptance.source);
    if (has_kind) {
        at.finish();
    }
    return choice;
}

}  // namespace treeline::requests
