// A drafter with its acceptance: described in the input, or a published one (models/drafters).
#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "models/hugging_face/drafter_config.h"
#include "requests/drafter_kinds.h"
#include "requests/file_kind.h"
#include "requests/keys/setup_keys.h"
#include "requests/known_drafters.h"
#include "requests/published_acceptance.h"
#include "requests/setup_reader.h"
#include "requests/usual_fall.h"
#include "text/catalogue_folder.h"
#include "text/input_file.h"
#include "text/wording.h"

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
FileJson with_other_keys(json::Reader& at, const PublishedDrafter& drafter) {
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

void check_target(json::Reader& at, const PublishedDrafter& drafter, const DrafterUse& use, Descriptions& descriptions) {
    if (use.target != nullptr && !use.target->name.empty() && !read(at, drafter_keys::any_target) &&
        !drafts_for(drafter, *use.target) && !is_model_of_family(drafter, *use.target, descriptions)) {
        at.problem(drafter_keys::published,
                   fmt::format("{0} drafts for {1}, not for {2}; \"any_target\": true takes it, and its acceptance, all the "
                               "same (--drafter '{{\"published\": \"{0}\", \"any_target\": true}}')",
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

/// A published drafter but for its acceptance.
struct DescribedDrafter {
    sweeps::DrafterChoice choice;
    bool hits_are_stated = false;
    std::optional<int> limit;
};

/// `json` is what the file says of it, with what the input says otherwise. Throws InputError.
DescribedDrafter described_choice(const PublishedDrafter& drafter, FileJson json, Descriptions& descriptions) {
    json::Document document = json::Document::of(std::move(json), drafter.name);
    json::Reader root = document.root();
    DescribedDrafter described;
    const std::string kind = read(root, drafter_keys::kind);
    described.choice.drafter = read_drafter_kind(root, kind, descriptions, described.choice.label);
    described.choice.label = read_or(root, drafter_keys::name, drafter.name);
    described.choice.checkpoint = drafter.checkpoint;
    described.hits_are_stated = root.has(drafter_keys::hit_rate);
    described.limit = read_limit(root);
    root.finish();
    document.throw_if_problems();
    return described;
}

/// Of a look-up whose run tells how often it drafted: that share, unless one is stated, and the acceptance over such rounds.
void take_found(const AcceptanceChoice& acceptance, bool hits_are_stated, sim::Drafter& drafter,
                sim::DraftAcceptance& of_drafter) {
    auto* lookup = std::get_if<sim::NgramDrafter>(&drafter);
    if (lookup != nullptr && acceptance.found) {
        lookup->hit_rate = hits_are_stated ? lookup->hit_rate : acceptance.found->hit_rate;
        of_drafter.chain = acceptance.found->chain;
    }
}

/// The drafter with this acceptance; published ones of look-ups count rounds that find nothing.
sweeps::DrafterChoice with_acceptance(DescribedDrafter described, AcceptanceChoice acceptance, bool as_published) {
    sweeps::DrafterChoice& choice = described.choice;
    if (auto* lookup = std::get_if<sim::NgramDrafter>(&choice.drafter);
        lookup != nullptr && !described.hits_are_stated && as_published) {
        sim::count_misses(*lookup, acceptance.acceptance.chain, acceptance.acceptance.chain.measured_positions());
    }
    choice.acceptance = acceptance.acceptance;
    take_found(acceptance, described.hits_are_stated, choice.drafter, choice.acceptance);
    limit_drafts(described.limit, choice.acceptance);
    choice.acceptance_text = std::move(acceptance.text);
    choice.acceptance_source = std::move(acceptance.source);
    choice.acceptance_remarks = std::move(acceptance.remarks);
    return std::move(choice);
}

/// Whether a checkpoint's tokens cannot be the target's. Tables are padded by up to some hundred rows.
bool is_of_other_vocabulary(const models::DrafterConfig& drafter, const sim::Model& target) {
    constexpr double padding = 0.02;
    const auto rows = static_cast<double>(target.vocabulary_size);
    const auto stated = static_cast<double>(drafter.target_vocabulary), own = static_cast<double>(drafter.draft_vocabulary);
    return (stated > 0.0 && std::abs(stated - rows) > padding * rows) || own > (1.0 + padding) * rows;
}

/// What the config.json of a drafter's checkpoint says of it, with what the input says otherwise, where the input names one as
/// its model.
std::optional<FileJson> checkpoint_of(json::Reader& at, Descriptions& descriptions, const DrafterUse& use) {
    constexpr std::uintmax_t largest_config = 1u << 20;
    const FileJson& input = at.raw();
    if (!descriptions.reads_files() || !input.contains("model") || !input["model"].is_string() ||
        input.value("kind", FileJson()) != FileJson("model")) {
        return std::nullopt;
    }
    namespace fs = std::filesystem;
    fs::path path = descriptions.resolved(input["model"].get<std::string>());
    path = text::is_folder(path) ? path / "config.json" : path;
    std::error_code error;
    if (!text::is_file(path) || (!text::is_builtin(path) && fs::file_size(path, error) > largest_config)) {
        return std::nullopt;
    }
    const FileJson config = FileJson::parse(text::read_file(path), nullptr, false);
    const std::optional<models::DrafterConfig> read = config.is_discarded() ? std::nullopt : models::drafter_of_config(config);
    if (!read) {
        return std::nullopt;
    }
    if (use.target != nullptr && read->target_width > 0 && read->target_width != use.target->width) {
        at.problem("model",
                   fmt::format("{} takes states of width {} from its target, but {} has {}: it drafts for another model",
                               path.string(), read->target_width, use.target->name, use.target->width));
    }
    if (use.target != nullptr && is_of_other_vocabulary(*read, *use.target)) {
        at.problem("model", fmt::format("{} drafts tokens of a vocabulary of {}, but {} has {}: it drafts for another model",
                                        path.string(), std::max(read->target_vocabulary, read->draft_vocabulary),
                                        use.target->name, use.target->vocabulary_size));
    }
    FileJson json = {{"kind", read->kind}};
    for (const auto& [key, value] : {std::pair{"layers", read->layers},
                                     {"draft_vocabulary", read->draft_vocabulary},
                                     {"input_features", read->input_features},
                                     {"feed_forward", read->feed_forward},
                                     {"width", read->width},
                                     {"block", read->block},
                                     {"markov_rank", read->markov_rank},
                                     {"gru_width", read->gru_width},
                                     {"heads", read->heads},
                                     {"layers_per_head", read->layers_per_head}}) {
        if (value > 0) {
            json[key] = value;
        }
    }
    // A block drafter whose table is as long as the target's uses the target's.
    const bool of_block = read->kind == "dflash" || read->kind == "dflash2" || read->kind == "dspark";
    if (of_block && use.target != nullptr && read->draft_vocabulary >= use.target->vocabulary_size) {
        json.erase("draft_vocabulary");
    }
    if (read->tied) {
        json["tied"] = true;
    }
    if (read->reads_target_cache) {
        json["reads_target_cache"] = true;
    }
    if (!read->format.empty()) {
        json["precision"] = read->format;
    }
    for (const std::string& key : at.keys()) {
        static_cast<void>(at.has(key));
        if (key != "kind" && key != "model") {
            json[key] = input.at(key);
        }
    }
    return json;
}

/// By how much the rates of its drafts fall, where its acceptance is one rate or one mean length.
double fall_where_needed(const json::Reader& at, const sim::Drafter& drafter, Descriptions& descriptions,
                         const DrafterUse& use) {
    const FileJson acceptance = at.raw().value(std::string(drafter_keys::acceptance), FileJson());
    const bool needed = acceptance.is_object() && (acceptance.contains(std::string(acceptance_keys::rate)) ||
                                                   acceptance.contains(std::string(acceptance_keys::mean_length)));
    return needed ? usual_fall_of(drafter, use.target, descriptions) : sim::measured_fall;
}

/// As choices_of() takes it where nobody names it: an answer must not depend on who does. What was measured with another
/// target stands for itself: whoever takes it all the same knows why.
void take_as_known(const PublishedDrafter& drafter, const DrafterUse& use, sweeps::DrafterChoice& choice,
                   Descriptions& descriptions) {
    if (drafts_for(drafter, *use.target)) {
        take_as_probable(drafter, true, choice, descriptions);
    } else {
        choice.acceptance.comes_from(sim::AcceptanceOrigin::other_target);
        if (is_model_of_family(drafter, *use.target, descriptions)) {  // called as where nobody names it
            choice.label += fmt::format(" ({})", measured_with_text({drafter, MeasuredWith::family}));
        }
    }
    if (!use.lengths_stated) {
        limit_to_measured(choice.acceptance);
    }
}

void read_published_drafter(json::Reader& at, Descriptions& descriptions, const DrafterUse& use,
                            sweeps::DrafterChoice& choice) {
    const std::string name = descriptions.resolved(read(at, drafter_keys::published));
    const sim::TrafficKind traffic = read_traffic_kind(at, use.traffic);
    static_cast<void>(at.has(drafter_keys::any_target));
    try {
        const PublishedDrafter drafter = load_published_drafter(descriptions.drafters_folder(), name);
        check_target(at, drafter, use, descriptions);
        DescribedDrafter described = described_choice(drafter, with_other_keys(at, drafter), descriptions);
        const bool stated = at.has(drafter_keys::acceptance);
        const double fall = fall_where_needed(at, described.choice.drafter, descriptions, use);
        AcceptanceChoice acceptance = stated ? read_acceptance(at.object(drafter_keys::acceptance), descriptions, traffic, fall)
                                             : published_acceptance(drafter, traffic, descriptions);
        choice = with_acceptance(std::move(described), std::move(acceptance), !stated);
        if (!stated && use.target != nullptr && !use.target->name.empty()) {
            take_as_known(drafter, use, choice, descriptions);
        }
    } catch (const text::InputError& failure) {
        for (const std::string& key : at.keys()) {
            static_cast<void>(at.has(key));
        }
        const std::string other =
            looks_like_path(name) ? other_kind_of_file(name, {FileKind::published_drafter}) : std::string();
        for (const std::string& problem : other.empty() ? failure.problems() : std::vector{name + ": " + other}) {
            at.problem(drafter_keys::published, problem);
        }
    }
}

/// A kind alone: the first that was published of it for the target, else for its family.
sweeps::DrafterChoice known_of_kind(json::Reader& at, const std::string& kind, Descriptions& descriptions,
                                    const DrafterUse& use) {
    const sim::TrafficKind traffic = read_traffic_kind(at, use.traffic);
    std::vector<KnownDrafter> known = known_drafters_of_kind(kind, *use.target, descriptions);
    if (known.empty()) {
        at.problem(drafter_keys::published, nothing_known_text(kind, *use.target, descriptions));
        return {};
    }
    known.resize(1);
    return choices_of(known, traffic, use.lengths_stated, descriptions).front().choice;
}

/// Of a look-up tried first: rounds that it drafts, and rounds that the other drafter does.
AcceptanceChoice acceptance_of_parts(json::Reader& at, Descriptions& descriptions, const sim::Drafter& drafter,
                                     const DrafterUse& use) {
    const double hits = std::get<sim::LookupFirstDrafter>(drafter).lookup.hit_rate;
    json::Reader lookup = at.object(drafter_keys::lookup), otherwise = at.object(drafter_keys::otherwise);
    AcceptanceChoice found =
        read_acceptance(lookup.object(drafter_keys::acceptance), descriptions, use.traffic, sim::fall_of_lookups);
    const AcceptanceChoice other = read_acceptance(otherwise.object(drafter_keys::acceptance), descriptions, use.traffic);
    const sim::Acceptance &a = found.found ? found.found->chain : found.acceptance.chain, &b = other.acceptance.chain;
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

bool is_kind(const std::string& word) {
    const std::vector<std::string>& kinds = drafter_kinds();
    return std::find(kinds.begin(), kinds.end(), word) != kinds.end();
}

std::string kind_of_word(const std::string& word) {
    const std::vector<std::string>& kinds = drafter_kinds();
    const auto found = std::find_if(kinds.begin(), kinds.end(), [&](const std::string& kind) {
        return kind == word || (word.find('/') == std::string::npos && plain(kind) == plain(word));
    });
    return found == kinds.end() ? "" : *found;
}

bool drafts_for(const PublishedDrafter& drafter, const sim::Model& target) {
    return plain(target.name).find(plain(drafter.target)) != std::string::npos;
}

sweeps::DrafterChoice published_choice(const PublishedDrafter& drafter, const sim::TrafficKind& traffic,
                                       Descriptions& descriptions) {
    return with_acceptance(described_choice(drafter, FileJson::parse(drafter.description), descriptions),
                           published_acceptance(drafter, traffic, descriptions), true);
}

const std::vector<std::string>& drafter_kinds() {
    static const std::vector<std::string> kinds(drafter_keys::kinds.begin(), drafter_keys::kinds.end());
    return kinds;
}

namespace {

/// Of a module for multi-token prediction, for a target whose checkpoint has none: one that is published apart for its family
/// (Gemma 4's assistants), with what the input says otherwise; nothing where none is.
std::optional<FileJson> module_apart(json::Reader& at, Descriptions& descriptions, const DrafterUse& use) {
    const FileJson& input = at.raw();
    const bool lacks_module = use.target != nullptr && use.target->mtp_layers == 0 &&
                              input.value(std::string(drafter_keys::kind.key), FileJson()) == FileJson("mtp") &&
                              !input.contains(std::string(drafter_keys::reads_target_cache.key));
    for (const KnownDrafter& known :
         lacks_module ? known_drafters_of_kind("mtp", *use.target, descriptions) : std::vector<KnownDrafter>()) {
        FileJson json = FileJson::parse(known.drafter.description);
        if (json.value(std::string(drafter_keys::reads_target_cache.key), FileJson()) == FileJson(true)) {
            for (const std::string& key : at.keys()) {
                json[key] = input.at(key);
                static_cast<void>(at.has(key));
            }
            return json;
        }
    }
    return std::nullopt;
}

/// What was measured of a draft model with the target, or a model of its family, where the input names the model and says
/// nothing of its acceptance: as if it named the published drafter.
std::optional<FileJson> measured_model(json::Reader& at, Descriptions& descriptions, const DrafterUse& use) {
    const FileJson& input = at.raw();
    const std::string model(drafter_keys::model), acceptance(drafter_keys::acceptance);
    if (use.target == nullptr || use.target->name.empty() || input.value("kind", FileJson()) != FileJson("model") ||
        !input.contains(model) || !input[model].is_string() || input.contains(acceptance)) {
        return std::nullopt;
    }
    const std::string asked = plain(input[model].get<std::string>());
    for (const KnownDrafter& known : known_drafters_of_kind("model", *use.target, descriptions)) {
        const std::string described = FileJson::parse(known.drafter.description).value("model", "");
        if (known.drafter.name.empty() || (plain(described) != asked && plain(known.drafter.checkpoint) != asked)) {
            continue;
        }
        FileJson json = {{std::string(drafter_keys::published), known.drafter.name}};
        for (const std::string& key : at.keys()) {
            static_cast<void>(at.has(key));
            if (key != "kind" && key != model) {
                json[key] = input.at(key);
            }
        }
        return json;
    }
    return std::nullopt;
}

/// Modules for multi-token prediction come with the target's checkpoint, or not at all.
void check_modules(json::Reader& at, const sim::Drafter& drafter, const DrafterUse& use) {
    const auto* layer = std::get_if<sim::OneLayerDrafter>(&drafter);
    const bool needs_module = layer != nullptr && layer->kind == sim::OneLayerKind::mtp && !layer->reads_target_cache;
    if (needs_module && use.target != nullptr && use.target->mtp_layers == 0) {
        at.problem({},
                   fmt::format("is mtp, but the checkpoint of {} has no module for multi-token prediction; a head of one layer "
                               "that is trained for it is eagle or eagle3",
                               use.target->name));
    }
}

/// That what is asked of published drafters changes nothing where the input states the acceptance.
std::vector<std::string> remarks_on_stated(const json::Reader& at, const sim::TrafficKind& traffic) {
    const FileJson stated = at.raw().value(std::string(drafter_keys::acceptance), FileJson());
    const std::initializer_list<std::string_view> numbers = {acceptance_keys::rate, acceptance_keys::geometric,
                                                             acceptance_keys::per_position, acceptance_keys::mean_length,
                                                             acceptance_keys::curve};
    const bool by_numbers = stated.is_object() && std::any_of(numbers.begin(), numbers.end(), [&](std::string_view key) {
                                return stated.contains(std::string(key));
                            });
    std::vector<std::string> changing_nothing;
    if (!traffic.categories.empty()) {
        changing_nothing.emplace_back("categories");
    }
    if (traffic.temperature) {
        changing_nothing.emplace_back("temperature");
    }
    if (!traffic.thinking.empty()) {
        changing_nothing.emplace_back("thinking");
    }
    if (!by_numbers || changing_nothing.empty()) {
        return {};
    }
    return {"the acceptance is stated, and holds whatever " + text::listed(changing_nothing, "and") + " is asked for"};
}

}  // namespace

sweeps::DrafterChoice read_drafter(json::Reader at, Descriptions& descriptions, const DrafterUse& use) {
    sweeps::DrafterChoice choice;
    if (at.has(drafter_keys::published)) {
        const FileJson& word = at.raw().at(std::string(drafter_keys::published));
        const std::string kind = word.is_string() ? kind_of_word(word.get<std::string>()) : "";
        if (use.target != nullptr && !kind.empty()) {
            choice = known_of_kind(at, kind, descriptions, use);
            at.finish();
            return choice;
        }
        read_published_drafter(at, descriptions, use, choice);
        if (!read(at, drafter_keys::any_target)) {
            check_modules(at, choice.drafter, use);
        }
        at.finish();
        return choice;
    }
    if (const std::optional<FileJson> checkpoint = checkpoint_of(at, descriptions, use)) {
        if (!checkpoint->contains(std::string(drafter_keys::acceptance))) {
            at.problem(
                drafter_keys::acceptance,
                fmt::format("is missing: the drafter's config.json says nothing of it; give \"acceptance\" (--acceptance "
                            "0.7, --accept-length 3:2.4), or the kind alone (--drafter {}) for what published ones reach",
                            checkpoint->value("kind", "")));
            at.finish();
            return choice;
        }
        json::Document document = json::Document::of(*checkpoint, "the drafter's config.json");
        choice = read_drafter(document.root(), descriptions, use);
        for (const std::string& problem : document.problems()) {
            at.problem(drafter_keys::model, problem);
        }
        at.finish();
        return choice;
    }
    if (std::optional<FileJson> measured = measured_model(at, descriptions, use)) {
        const std::string name = measured->value(std::string(drafter_keys::published), "");
        json::Document document = json::Document::of(std::move(*measured), "the drafter");
        choice = read_drafter(document.root(), descriptions, use);
        choice.acceptance_remarks.push_back(
            fmt::format("no acceptance of it is stated, so what was measured of {} counts; --acceptance after --drafter states "
                        "your own",
                        name));
        for (const std::string& problem : document.problems()) {
            at.problem({}, problem);
        }
        at.finish();
        return choice;
    }
    if (std::optional<FileJson> apart = module_apart(at, descriptions, use)) {
        json::Document document = json::Document::of(std::move(*apart), "the drafter");
        choice = read_drafter(document.root(), descriptions, use);
        for (const std::string& problem : document.problems()) {
            at.problem({}, problem);
        }
        at.finish();
        return choice;
    }
    const bool has_kind = at.has(drafter_keys::kind);
    const std::string kind = read(at, drafter_keys::kind);
    choice.label = kind;
    if (has_kind) {
        choice.drafter = read_drafter_kind(at, kind, descriptions, choice.label);
        check_modules(at, choice.drafter, use);
    }
    choice.label = read_or(at, drafter_keys::name, choice.label);
    const bool stated = at.has(drafter_keys::acceptance);
    if (const auto* model = std::get_if<sim::IndependentDrafter>(&choice.drafter); model != nullptr && !stated) {
        if (!model->model.name.empty()) {
            at.problem(drafter_keys::acceptance,
                       fmt::format("is missing: state how many drafts of {} are accepted, as your engine logs it: --acceptance "
                                   "0.7,0.5,0.35 (P that the first 1, 2, 3 drafts are), --acceptance 0.7 (the first) or "
                                   "--accept-length 4:2.6 (tokens per round)",
                                   model->model.name));
        }
        at.finish();
        return choice;
    }
    const bool of_parts = std::holds_alternative<sim::LookupFirstDrafter>(choice.drafter) && !stated;
    const double fall = fall_where_needed(at, choice.drafter, descriptions, use);
    AcceptanceChoice acceptance = of_parts
                                      ? acceptance_of_parts(at, descriptions, choice.drafter, use)
                                      : read_acceptance(at.object(drafter_keys::acceptance), descriptions, use.traffic, fall);
    choice.acceptance = acceptance.acceptance;
    take_found(acceptance, at.has(drafter_keys::hit_rate), choice.drafter, choice.acceptance);
    limit_drafts(read_limit(at), choice.acceptance);
    choice.acceptance_text = std::move(acceptance.text);
    choice.acceptance_source = std::move(acceptance.source);
    choice.acceptance_remarks = std::move(acceptance.remarks);
    const std::vector<std::string> of_stated = remarks_on_stated(at, use.traffic);
    choice.acceptance_remarks.insert(choice.acceptance_remarks.end(), of_stated.begin(), of_stated.end());
    if (has_kind) {
        at.finish();
    }
    return choice;
}

}  // namespace treeline::requests
