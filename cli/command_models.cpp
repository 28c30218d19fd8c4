// treeline models: the catalogue as a table, or one model in full.
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/common_flags.h"
#include "library/drafter_rows.h"
#include "models/catalogue.h"
#include "reports/catalogue/models_output.h"
#include "reports/json_rows.h"
#include "requests/file_kind.h"

namespace treeline::cli {
namespace {

using Json = nlohmann::ordered_json;

struct ModelsFlags {
    CommonFlags common;
    std::string name;
    bool drafters = false;
};

void list_drafters(const ModelsFlags& flags) {
    requests::Descriptions descriptions(flags.common.find(), {});
    std::vector<reports::DrafterRow> rows;
    for (const requests::PublishedDrafter& drafter : descriptions.published_drafters()) {
        rows.push_back(drafter_row(drafter, descriptions));
    }
    const Json json = reports::drafters_json(rows);
    switch (flags.common.chosen_format()) {
        case Format::table:
            return flags.common.deliver(reports::drafters_table(rows));
        case Format::json:
            return flags.common.deliver(Json{{"format", "treeline-drafters"}, {"version", 1}, {"drafters", json}}.dump(2) +
                                        "\n");
        case Format::csv:
            return flags.common.deliver(reports::csv_of(json));
    }
}

void list_models(const ModelsFlags& flags) {
    const requests::Catalogue catalogue = flags.common.find();
    std::vector<sim::Model> models;
    Json rows = Json::array();
    for (const std::string& name : models::all_model_names(catalogue.models)) {
        models.push_back(models::load_model(catalogue.models, name).value);
        rows.push_back(reports::model_summary_json(models.back()));
    }
    switch (flags.common.chosen_format()) {
        case Format::table:
            return flags.common.deliver(reports::models_table(models));
        case Format::json:
            return flags.common.deliver(Json{{"format", "treeline-models"}, {"version", 1}, {"models", rows}}.dump(2) + "\n");
        case Format::csv:
            return flags.common.deliver(reports::csv_of(rows));
    }
}

void describe_model(const ModelsFlags& flags) {
    const requests::Catalogue catalogue = flags.common.find();
    if (requests::looks_like_path(flags.name)) {
        const std::string other =
            requests::other_kind_of_file(flags.name, {requests::FileKind::model, requests::FileKind::hugging_face});
        if (!other.empty()) {
            throw text::InputError({flags.name + ": " + other});
        }
    }
    if (const std::vector<std::string> drafters = requests::published_drafters(catalogue.models / "drafters");
        std::find(drafters.begin(), drafters.end(), flags.name) != drafters.end()) {
        throw text::InputError(
            {fmt::format("\"{}\" is a drafter, not a model: treeline models --drafters lists it with what was "
                         "measured, recommend --drafter {} prices it",
                         flags.name, flags.name)});
    }
    json::Described<sim::Model> described = models::load_model_of_any_format(catalogue.models, flags.name);
    described.provenance = requests::with_known_names(std::move(described.provenance), catalogue);
    switch (flags.common.chosen_format()) {
        case Format::table:
            return flags.common.deliver(reports::model_table(described, known_drafter_rows(described.value, catalogue)));
        case Format::json:
            return flags.common.deliver(reports::model_json(described, known_drafter_rows(described.value, catalogue)).dump(2) +
                                        "\n");
        case Format::csv:
            return flags.common.deliver(reports::csv_of(Json::array({reports::model_summary_json(described.value)})));
    }
}

}  // namespace

Run add_models(CLI::App& app) {
    auto flags = std::make_shared<ModelsFlags>();
    app.add_option("NAME", flags->name, "Catalogue name, description, or Hugging Face config.json (default: list all)");
    app.add_flag("--drafters", flags->drafters, "List the published drafters of all models instead");
    add_common_flags(app, flags->common);
    app.footer(
        "Examples:\n  treeline models\n  treeline models llama-3-70b\n  treeline models path/to/config.json --format json");
    return [flags] {
        static_cast<void>(flags->common.chosen_format());
        flags->name = models::without_address(flags->name);
        if (flags->drafters && !flags->name.empty()) {
            throw text::InputError(
                {fmt::format("--drafters: lists the published drafters of all models; give it or {}, not both", flags->name)});
        }
        flags->drafters ? list_drafters(*flags) : flags->name.empty() ? list_models(*flags) : describe_model(*flags);
    };
}

}  // namespace treeline::cli
