#include "serve/questions.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "engines/engine.h"
#include "engines/lint.h"
#include "hardware/accelerators.h"
#include "hardware/catalogue.h"
#include "hardware/fpga.h"
#include "library/drafter_rows.h"
#include "models/catalogue.h"
#include "reports/catalogue/hardware_output.h"
#include "reports/catalogue/models_output.h"
#include "reports/fpga/fpga_catalogue.h"
#include "reports/lint/lint_output.h"
#include "reports/provenance_output.h"
#include "reports/run/diagnosis_output.h"
#include "requests/descriptions.h"
#include "requests/keys/key_tables.h"
#include "requests/loop/diagnosis_request.h"
#include "requests/loop/lint_request.h"
#include "sweeps/deadline.h"
#include "treeline/estimate.h"
#include "treeline/recommend.h"

namespace treeline::serve {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* body_name = "question";
constexpr unsigned one_thread = 1;  // others are asked at the same time

std::string recommend_answer(const Asked& asked) {
    const WorkloadAnswer answer = recommend_json(asked.body, asked.catalogue, requests::no_files, one_thread);
    return asked.form == Form::json ? as_json(answer) : as_table(answer);
}

std::string estimate_answer(const Asked& asked) {
    const EstimateAnswer answer = estimate_json(asked.body, asked.catalogue, requests::no_files);
    return asked.form == Form::json ? as_json(answer) : as_table(answer);
}

std::string diagnose_answer(const Asked& asked) {
    json::Document document = json::Document::parse(asked.body, body_name);
    requests::Descriptions descriptions(asked.catalogue, requests::no_files);
    const sweeps::Diagnosis answer = sweeps::diagnose(requests::read_diagnosis(document, descriptions));
    return asked.form == Form::json ? reports::diagnosis_json(answer).dump(2) + "\n" : reports::diagnosis_table(answer);
}

std::string lint_answer(const Asked& asked) {
    json::Document document = json::Document::parse(asked.body, body_name);
    const requests::LintRequest request = requests::read_lint(document);
    const engines::LintResult result = engines::lint(
        request.text, request.engine.empty() ? std::nullopt : std::optional(engines::find_engine(request.engine)),
        [](const std::string&) { return std::optional<std::string>(); },
        [&](const std::string& name) { return models::published_model(asked.catalogue.models, name); });
    return asked.form == Form::json ? reports::lint_json(result) : reports::lint_table(result);
}

namespace look_up_keys {
inline constexpr json::TextKey model{"name", "name", "", "one model in full, with the drafters that are known for it",
                                     "all, in short"};
inline constexpr json::TextKey device{"name", "name", "", "one device, board or design in full, with the source of each number",
                                      "all, in short"};
}  // namespace look_up_keys

/// The name that a look-up asks for; empty for all.
std::string name_asked(const Asked& asked, const json::TextKey& key) {
    json::Document document = json::Document::parse(asked.body.empty() ? "{}" : asked.body, body_name);
    json::Reader root = document.root();
    const std::string name = read(root, key);
    root.finish();
    document.throw_if_problems();
    return requests::Descriptions(asked.catalogue, requests::no_files).resolved(name);
}

/// What a look-up finds; its refusal names no files, of which none is read here.
template <class LoadNamed>
auto found(const LoadNamed& load) {
    try {
        return load();
    } catch (const text::InputError& error) {
        std::vector<std::string> problems = error.problems();
        std::transform(problems.begin(), problems.end(), problems.begin(), requests::without_path_advice);
        throw text::InputError(std::move(problems));
    }
}

std::string models_answer(const Asked& asked) {
    const std::string name = name_asked(asked, look_up_keys::model);
    if (!name.empty()) {
        json::Described<sim::Model> model =
            found([&] { return models::load_model_of_any_format(asked.catalogue.models, name); });
        model.provenance = requests::with_known_names(std::move(model.provenance), asked.catalogue);
        const std::vector<reports::DrafterRow> drafters = known_drafter_rows(model.value, asked.catalogue);
        return asked.form == Form::json ? reports::model_json(model, drafters).dump(2) + "\n"
                                        : reports::model_table(model, drafters);
    }
    std::vector<sim::Model> models;
    Json list = Json::array();
    for (const std::string& known : models::all_model_names(asked.catalogue.models)) {
        models.push_back(models::load_model(asked.catalogue.models, known).value);
        list.push_back(reports::model_summary_json(models.back()));
    }
    return asked.form == Form::json
               ? Json{{"format", "treeline-models"}, {"version", 1}, {"models", std::move(list)}}.dump(2) + "\n"
               : reports::models_table(models);
}

template <class T>
std::string described(const Asked& asked, const json::Described<T>& hardware, Json (*to_json)(const T&),
                      std::string (*table)(const std::vector<T>&)) {
    Json json = to_json(hardware.value);
    json["inputs"] = reports::provenance_json(requests::with_known_names(hardware.provenance, asked.catalogue));
    return asked.form == Form::json ? json.dump(2) + "\n" : table({hardware.value});
}

template <class T>
std::vector<T> all_of(const std::vector<std::string>& names, const std::filesystem::path& folder,
                      json::Described<T> (*load)(const std::filesystem::path&, const std::string&)) {
    std::vector<T> all;
    for (const std::string& name : names) {
        all.push_back(load(folder, name).value);
    }
    return all;
}

template <class T>
Json list_of(const std::vector<T>& all, Json (*to_json)(const T&)) {
    Json list = Json::array();
    for (const T& each : all) {
        list.push_back(to_json(each));
    }
    return list;
}

std::string devices_answer(const Asked& asked) {
    const std::string name = name_asked(asked, look_up_keys::device);
    const std::filesystem::path& folder = asked.catalogue.hardware;
    if (!name.empty()) {
        switch (found([&] { return hardware::hardware_kind_of(folder, name); })) {
            case hardware::HardwareKind::device:
                return described(asked, hardware::load_device(folder, name), reports::device_json, reports::devices_table);
            case hardware::HardwareKind::board:
                return described(asked, hardware::load_board(folder, name), reports::board_json, reports::boards_table);
            case hardware::HardwareKind::design:
                return described(asked, hardware::load_design(folder, name), reports::design_json, reports::designs_table);
        }
    }
    const auto devices = all_of(hardware::device_names(folder), folder, hardware::load_device);
    const auto boards = all_of(hardware::board_names(folder), folder, hardware::load_board);
    const auto designs = all_of(hardware::design_names(folder), folder, hardware::load_design);
    return asked.form == Form::json ? Json{{"format", "treeline-devices"},
                                           {"version", 1},
                                           {"devices", list_of(devices, reports::device_json)},
                                           {"boards", list_of(boards, reports::board_json)},
                                           {"designs", list_of(designs, reports::design_json)}}
                                              .dump(2) +
                                          "\n"
                                    : reports::devices_table(devices) + "\n" + reports::boards_table(boards) + "\n" +
                                          reports::designs_table(designs);
}

}  // namespace

const std::vector<Question>& questions() {
    static const std::vector<Question> all = {
        {"recommend",
         "The best speculative-decoding configuration for a model, hardware and traffic: its gain with an interval, a "
         "schedule by batch, and the engine's flags. Without drafters those known for the model are tried.",
         "workload", false, recommend_answer},
        {"estimate",
         "One design point explained: time of a round operation by operation, what bounds it, memory, energy, and the gain "
         "over plain decoding.",
         "point", false, estimate_answer},
        {"diagnose",
         "Why a deployment is as fast as it is: a measured run against what the model predicts, with causes by their cost.",
         "diagnosis", false, diagnose_answer},
        {"lint",
         "Checks an engine's configuration for speculative decoding (vLLM, SGLang, TensorRT-LLM, llama.cpp) before it is "
         "used: unknown, removed, ignored and contradictory settings.",
         "lint", false, lint_answer},
        {"models", "Models of the catalogue, or one with the drafters that are known for it.", "models", true, models_answer},
        {"devices", "GPUs, CPUs, FPGA boards and accelerator designs of the catalogue, or one with the source of each number.",
         "devices", true, devices_answer}};
    return all;
}

const std::vector<json::KeyTable>& key_tables() {
    static const std::vector<json::KeyTable> all = [] {
        std::vector<json::KeyTable> tables = requests::key_tables();
        tables.push_back({"models", json::rows_of(look_up_keys::model)});
        tables.push_back({"devices", json::rows_of(look_up_keys::device)});
        return tables;
    }();
    return all;
}

Answered ask(const Question& question, std::string_view body, Form form, const Setting& setting) {
    const sweeps::Deadline deadline(setting.time_limit);
    return answered([&] { return question.answer({body, form, setting.catalogue}); });
}

}  // namespace treeline::serve
