#include "requests/published_acceptance.h"

#include <algorithm>
#include <system_error>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "json/reader.h"
#include "json/wording.h"
#include "requests/descriptions.h"
#include "requests/keys/setup_keys.h"
#include "requests/keys/shared_keys.h"
#include "text/catalogue_folder.h"

namespace treeline::requests {
namespace {

namespace fs = std::filesystem;

constexpr double hottest = 10.0;  ///< temperature: anything above is a slip of the pen

sim::MeasuredAcceptance read_measurement(json::Reader& at) {
    sim::MeasuredAcceptance row;
    row.category = at.text("category");
    row.dataset = at.text_or("dataset", "");
    row.thinking = at.text_or("thinking", "");
    row.shape = at.text_or("shape", "");
    row.source = at.text("source");
    row.runs = at.number_or("runs", 1.0, 1.0, 1e9);
    row.samples = at.number_or("samples", 0.0, 1.0, 1e9);
    if (at.has("temperature")) {
        row.temperature = at.number("temperature", 0.0, hottest);
    }
    if (at.has("context")) {
        row.context = at.number("context", 0.0, sim::longest_context);
    }
    if (row.shape.empty()) {
        row.draft_tokens = static_cast<int>(at.count("draft_tokens", 1, sim::most_draft_tokens));
    }
    if (at.has("per_position")) {
        row.per_position = at.numbers("per_position", 0.0, 1.0);
    } else {
        const double most = row.draft_tokens > 0 ? row.draft_tokens : static_cast<double>(sim::most_draft_tokens);
        row.accept_length = at.number("accept_length", 1.0, most + 1.0);
    }
    at.finish();
    return row;
}

}  // namespace

std::vector<std::string> published_drafters(const fs::path& folder) {
    std::error_code none;
    return text::description_names(folder, none);
}

bool looks_published(std::string_view text) {
    return std::any_of(drafter_keys::kinds.begin(), drafter_keys::kinds.end(), [&](std::string_view kind) {
        return text.size() > kind.size() + 1 && text.starts_with(kind) && text[kind.size()] == '-';
    });
}

std::string no_other_drafter(const fs::path& folder, const std::string& name) {
    std::vector<std::string> names = published_drafters(folder);
    names.insert(names.end(), drafter_keys::kinds.begin(), drafter_keys::kinds.end());
    std::string lower = name;
    std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
    return fmt::format(
        "; nor is it a published drafter or a kind of drafter{} published ones, `treeline inputs drafter` all kinds",
        text::other_names(lower, names, "treeline models --drafters"));
}

std::vector<PublishedDrafter> load_published_drafters(const fs::path& folder) {
    std::vector<PublishedDrafter> drafters;
    for (const std::string& name : published_drafters(folder)) {
        drafters.push_back(load_published_drafter(folder, (folder / (name + ".json")).string()));
    }
    return drafters;
}

std::vector<std::vector<sim::MeasuredAcceptance>> measured_of_others(const std::vector<PublishedDrafter>& all,
                                                                     const std::string& name) {
    std::vector<std::vector<sim::MeasuredAcceptance>> others;
    for (const PublishedDrafter& drafter : all) {
        if (drafter.name != name) {
            others.push_back(drafter.measured);
        }
    }
    return others;
}

PublishedDrafter load_published_drafter(const fs::path& folder, const std::string& name_or_path) {
    const bool path = looks_like_path(name_or_path);
    if (!path && !text::is_file(folder / (name_or_path + ".json"))) {
        throw text::InputError(
            {fmt::format("no published drafter is called \"{}\"{}", name_or_path,
                         text::other_names(name_or_path, published_drafters(folder), "treeline models --drafters"))});
    }
    json::Document document = json::Document::load(path ? fs::path(name_or_path) : folder / (name_or_path + ".json"));
    json::Reader root = document.root();
    PublishedDrafter drafter;
    const std::string file = fs::path(name_or_path).filename().string();  // stem() would cut "llama-3.1-8b"
    drafter.name = file.ends_with(".json") ? file.substr(0, file.size() - 5) : file;
    drafter.title = root.text("title");
    drafter.target = root.text("target");
    drafter.trained_for = root.text_or("trained_for", "");
    drafter.checkpoint = root.text_or("checkpoint", "");
    static_cast<void>(root.object("drafter"));
    drafter.description = root.raw().value("drafter", nlohmann::ordered_json::object()).dump();
    for (json::Reader& element : root.objects("measured")) {
        drafter.measured.push_back(read_measurement(element));
    }
    root.finish();
    document.throw_if_problems();
    return drafter;
}

}  // namespace treeline::requests
