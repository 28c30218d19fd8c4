#include "requests/known_drafters.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "models/catalogue.h"
#include "requests/keys/setup_keys.h"
#include "requests/setup_reader.h"
#include "sim/drafter_effects.h"
#include "sim/operations.h"
#include "text/number_text.h"
#include "text/wording.h"

namespace treeline::requests {
namespace {

/// Modules for multi-token prediction: part of the checkpoints of a family, or of none.
constexpr std::string_view modules_kind = "mtp";
/// Drafts for any model.
constexpr std::string_view lookup_kind = "ngram";

/// "14b", "1t", "8x7b" or "a3b".
bool is_size(std::string_view word) {
    return word.size() > 1 && (word.back() == 'b' || word.back() == 't') &&
           std::isdigit(static_cast<unsigned char>(word[word.size() - 2])) != 0;
}

/// "qwen3.6" of "qwen3.6-35b-a3b"; the whole name where it names no size.
std::string_view series_of(std::string_view name) {
    for (std::size_t begin = 0; begin < name.size();) {
        const std::size_t end = std::min(name.find('-', begin), name.size());
        if (begin > 0 && is_size(name.substr(begin, end - begin))) {
            return name.substr(0, begin - 1);
        }
        begin = end + 1;
    }
    return name;
}

/// Tokenizers of models by name: as the catalogue states them, or as it does for another model of the series.
class Vocabularies {
public:
    explicit Vocabularies(const std::filesystem::path& folder) : folder_(folder), names_(models::model_names(folder)) {}

    std::string of(const std::string& name) {
        auto described = std::find(names_.begin(), names_.end(), name);
        if (described == names_.end()) {
            described = std::find_if(names_.begin(), names_.end(),
                                     [&](const std::string& other) { return series_of(other) == series_of(name); });
        }
        return described == names_.end() ? "" : stated(*described);
    }

private:
    const std::string& stated(const std::string& name) {
        const auto [entry, is_new] = known_.try_emplace(name);
        if (is_new) {
            json::Document document = json::Document::load(folder_ / (name + ".json"));
            entry->second = document.root().text_or("vocabulary", "");
        }
        return entry->second;
    }

    std::filesystem::path folder_;
    std::vector<std::string> names_;
    std::map<std::string, std::string> known_;
};

std::string kind_of_drafter(const PublishedDrafter& drafter) {
    return nlohmann::ordered_json::parse(drafter.description).value("kind", "");
}

/// A model cannot draft for itself, nor does one try a head on a model that it was not trained for. Modules for MTP are part of
/// a checkpoint: where one of a family was measured with them, all of it are taken to have them.
bool applies(const PublishedDrafter& drafter, const sim::Model& target) {
    return drafter.trained_for.empty() && nlohmann::ordered_json::parse(drafter.description).value("model", "") != target.name;
}

bool is_module(const PublishedDrafter& drafter) { return kind_of_drafter(drafter) == modules_kind; }

/// How far two models are apart in size: in each of width, layers and all weights by the logarithm of their ratio.
double distance(const sim::Model& a, const sim::Model& b) {
    const auto apart = [](double x, double y) { return x > 0.0 && y > 0.0 ? std::abs(std::log(x / y)) : 0.0; };
    return apart(static_cast<double>(a.width), static_cast<double>(b.width)) +
           apart(static_cast<double>(a.order.size()), static_cast<double>(b.order.size())) +
           apart(static_cast<double>(sim::parameter_count(a)), static_cast<double>(sim::parameter_count(b)));
}

/// A checkpoint has its modules, and no others. Where they were not measured, what others of the family accept are so many
/// estimates of one number, of which the nearest model's counts, and not the most favourable.
void keep_nearest_modules(std::vector<KnownDrafter>& family, const sim::Model& target, const std::filesystem::path& folder) {
    const std::vector<std::string> described = models::all_model_names(folder);
    std::string nearest;
    double least = 0.0;
    for (const KnownDrafter& each : family) {
        const bool known = std::find(described.begin(), described.end(), each.drafter.target) != described.end();
        if (known && is_module(each.drafter) && each.drafter.target != nearest) {
            const double apart = distance(models::load_model(folder, each.drafter.target).value, target);
            if (nearest.empty() || apart < least) {
                nearest = each.drafter.target;
                least = apart;
            }
        }
    }
    std::erase_if(family, [&](const KnownDrafter& each) {
        return !nearest.empty() && is_module(each.drafter) && each.drafter.target != nearest;
    });
}

/// All measurements of drafters of this kind as those of one. A drafter of which more is known than its kind stands for none
/// but itself.
std::optional<PublishedDrafter> pooled(const std::vector<PublishedDrafter>& all, const std::string& kind) {
    PublishedDrafter mean;
    std::set<std::string> targets;
    for (const PublishedDrafter& drafter : all) {
        if (nlohmann::ordered_json::parse(drafter.description) == nlohmann::ordered_json{{"kind", kind}}) {
            mean.description = drafter.description;
            mean.measured.insert(mean.measured.end(), drafter.measured.begin(), drafter.measured.end());
            targets.insert(drafter.target);
        }
    }
    if (mean.measured.empty()) {
        return std::nullopt;
    }
    mean.name = kind;
    mean.title = fmt::format("mean of {} published measurements", mean.measured.size());
    mean.target = text::listed({targets.begin(), targets.end()}, "and");
    return mean;
}

/// Why the acceptance of a drafter of another model is less sure, as people read it.
void widen(sweeps::DrafterChoice& choice, const KnownDrafter& known, sim::AcceptanceOrigin origin) {
    choice.label += fmt::format(" ({})", measured_with_text(known));
    choice.acceptance.comes_from(origin);
    choice.acceptance.spread_text += "; " + measured_with_text(known);
}

/// Heads and blocks that were trained beside a target: they draft for no other.
bool is_head(const sim::Drafter& drafter) {
    return std::holds_alternative<sim::OneLayerDrafter>(drafter) || std::holds_alternative<sim::ParallelDrafter>(drafter) ||
           std::holds_alternative<sim::MedusaDrafter>(drafter);
}

}  // namespace

sim::DrafterEffects effects_of(const std::vector<PublishedDrafter>& all) {
    std::vector<sim::MeasuredDrafter> measured;
    for (const PublishedDrafter& drafter : all) {
        const std::string kind = kind_of_drafter(drafter);
        measured.push_back({drafter.trained_for.empty() ? kind : kind + " of another model", drafter.target, drafter.measured});
    }
    return sim::DrafterEffects(measured);
}

std::vector<KnownDrafter> known_drafters(const sim::Model& target, Descriptions& descriptions) {
    const std::vector<PublishedDrafter>& all = descriptions.published_drafters();
    Vocabularies vocabularies(descriptions.catalogue().models);
    std::vector<KnownDrafter> own, family;
    for (const PublishedDrafter& drafter : all) {
        const bool is_own = drafts_for(drafter, target);
        if (!applies(drafter, target) ||
            (!is_own && (target.vocabulary.empty() || vocabularies.of(drafter.target) != target.vocabulary))) {
            continue;
        }
        (is_own ? own : family).push_back({drafter, is_own ? MeasuredWith::target : MeasuredWith::family});
    }
    if (std::none_of(own.begin(), own.end(), [](const KnownDrafter& each) { return is_module(each.drafter); })) {
        keep_nearest_modules(family, target, descriptions.catalogue().models);
    }
    own.insert(own.end(), family.begin(), family.end());
    const auto known = [&](std::string_view kind) {
        return std::any_of(own.begin(), own.end(),
                           [&](const KnownDrafter& each) { return kind_of_drafter(each.drafter) == kind; });
    };
    const auto add_mean = [&](std::string_view kind) {
        if (std::optional<PublishedDrafter> mean = known(kind) ? std::nullopt : pooled(all, std::string(kind))) {
            own.push_back({std::move(*mean), MeasuredWith::others});
        }
    };
    if (target.mtp_layers > 0) {
        add_mean(modules_kind);
    }
    add_mean(lookup_kind);
    return own;
}

bool is_model_of_family(const PublishedDrafter& drafter, const sim::Model& target, Descriptions& descriptions) {
    return kind_of_drafter(drafter) == "model" && applies(drafter, target) && !drafts_for(drafter, target) &&
           !target.vocabulary.empty() && Vocabularies(descriptions.catalogue().models).of(drafter.target) == target.vocabulary;
}

std::vector<KnownDrafter> known_drafters_of_kind(const std::string& kind, const sim::Model& target,
                                                 Descriptions& descriptions) {
    std::vector<KnownDrafter> found = known_drafters(target, descriptions);
    std::erase_if(found, [&](const KnownDrafter& known) { return kind_of_drafter(known.drafter) != kind; });
    if (found.empty() && kind != modules_kind) {  // no checkpoint of the family is known to have modules for it
        if (std::optional<PublishedDrafter> mean = pooled(descriptions.published_drafters(), kind)) {
            found.push_back({std::move(*mean), MeasuredWith::others});
        }
    }
    return found;
}

std::string nothing_known_text(const std::string& kind, const sim::Model& target, Descriptions& descriptions) {
    const std::vector<KnownDrafter> others = known_drafters(target, descriptions);
    std::vector<std::string> names;
    std::set<std::string> kinds;  // the first of each: those measured with the target stand first
    for (const KnownDrafter& other : others) {
        if (other.measured_with != MeasuredWith::others && kinds.insert(kind_of_drafter(other.drafter)).second) {
            names.push_back(other.drafter.name);
        }
    }
    const std::string known =
        names.empty() ? "" : fmt::format("; what drafts accept is known of {}", text::listed(names, "and"));
    if (kind == modules_kind && target.mtp_layers == 0) {
        return fmt::format("the checkpoint of {} has no module for multi-token prediction{}", target.name, known);
    }
    return fmt::format(
        "no {} was published for {} or its family, so state how many of its drafts are accepted, as your engine "
        "logs it: --acceptance 0.7,0.5,0.35 (P that the first 1, 2, 3 drafts are), --acceptance 0.7 (the first; "
        "later ones fall as measured ones do), or --accept-length 4:2.6 (tokens per round){}",
        kind, target.name, known);
}

std::string measured_with_text(const KnownDrafter& known) {
    switch (known.measured_with) {
        case MeasuredWith::target:
            return "";
        case MeasuredWith::family:
            return "measured with " + known.drafter.target;
        case MeasuredWith::others:
            return "measured with other models";
    }
    return "";
}

void take_as_probable(const PublishedDrafter& drafter, bool of_target, sweeps::DrafterChoice& choice,
                      Descriptions& descriptions) {
    const std::vector<PublishedDrafter>& all = descriptions.published_drafters();
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto& other) { return other.name == drafter.name; });
    sim::DraftAcceptance& acceptance = choice.acceptance;
    const int drafts = acceptance.chain.measured_positions();
    const bool requests_are_those = acceptance.origin == sim::AcceptanceOrigin::same_kind;
    if (found == all.end() || drafts == 0 || !is_head(choice.drafter) || (of_target && requests_are_those)) {
        return;
    }
    const auto index = static_cast<std::size_t>(found - all.begin());
    const sim::DrafterEffects& effects = descriptions.drafter_effects();
    const double weight = of_target ? sim::weight_of_measured(effects.kinds_of_requests(index)) : 0.0;
    const double probable = effects.move(index, weight, requests_are_those);
    const double by = of_target ? std::min(0.0, probable) : probable;
    const double before = acceptance.chain.accept_length(drafts);
    acceptance.chain = sim::with_rates_moved(acceptance.chain, by);
    for (sim::MeasuredShape& shape : acceptance.measured) {
        const int depth = shape.tree.depth();
        const sim::Acceptance alike = sim::Acceptance::mean_length(shape.accept_length, depth, 0.0);
        shape.accept_length =
            sim::Acceptance::geometric(sim::rate_of_log_odds(sim::log_odds(alike.position(1)) + by)).accept_length(depth);
    }
    const double after = acceptance.chain.accept_length(drafts);
    if (text::fixed_text(after, 2) != text::fixed_text(before, 2)) {
        choice.acceptance_text +=
            fmt::format(", taken as {}: {}", text::fixed_text(after, 2),
                        of_target ? "for the mean kind of requests, moved towards the mean of drafters of its kind"
                                  : "the mean of drafters of its kind");
    }
}

void limit_to_measured(sim::DraftAcceptance& acceptance) {
    if (const int measured = acceptance.chain.measured_positions(); measured > 0) {
        int& most = acceptance.most_draft_tokens;
        most = most > 0 ? std::min(most, measured) : measured;
    }
}

std::vector<KnownChoice> choices_of(const std::vector<KnownDrafter>& all, const sim::TrafficKind& traffic, bool lengths_stated,
                                    Descriptions& descriptions) {
    std::vector<KnownChoice> choices;
    std::set<std::string> kinds_of_target;
    for (const KnownDrafter& known : all) {
        const bool of_target = known.measured_with == MeasuredWith::target;
        const std::string kind = kind_of_drafter(known.drafter);
        if (of_target) {
            kinds_of_target.insert(kind);
        } else if (kinds_of_target.contains(kind)) {
            continue;
        }
        sweeps::DrafterChoice choice = published_choice(known.drafter, traffic, descriptions);
        take_as_probable(known.drafter, of_target, choice, descriptions);
        if (!of_target) {
            const bool from_mean = known.measured_with == MeasuredWith::family && is_head(choice.drafter);
            widen(choice, known, from_mean ? sim::AcceptanceOrigin::kind_of_drafter : sim::AcceptanceOrigin::other_target);
            if (is_head(choice.drafter)) {
                choice.checkpoint.clear();  // it is of that model
                choice.untrained = kind != modules_kind;
            }
        }
        if (!lengths_stated) {
            limit_to_measured(choice.acceptance);
        }
        choices.push_back({std::move(choice), known.measured_with});
    }
    return choices;
}

std::vector<std::string> categories_of(const PublishedDrafter& drafter) {
    std::set<std::string> categories;
    for (const sim::MeasuredAcceptance& row : drafter.measured) {
        categories.insert(row.category);
    }
    return {categories.begin(), categories.end()};
}

}  // namespace treeline::requests
