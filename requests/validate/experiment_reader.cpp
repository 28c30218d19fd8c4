#include "requests/validate/experiment_reader.h"

#include <algorithm>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "json/unit_names.h"
#include "json/wording.h"
#include "requests/validate/experiment_point.h"
#include "text/catalogue_folder.h"

namespace treeline::requests {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

struct Unit {
    std::string_view dimension;
    double base_units = 1.0, low = 0.0, high = 0.0;
};

/// Units of values in addition to those of json/unit_names.h, with physical limits in base units.
std::optional<Unit> unit_named(const std::string& name) {
    if (name == "tokens/s") {
        return Unit{"speed", 1.0, 1e-3, 1e7};
    }
    if (name == "tokens/J") {
        return Unit{"efficiency", 1.0, 1e-6, 1e6};
    }
    if (name == "ratio") {
        return Unit{"ratio", 1.0, 1e-3, 1e4};
    }
    if (name == "count") {
        return Unit{"count", 1.0, 1.0, 1e9};
    }
    if (name == "thousand") {
        return Unit{"count", 1e3, 1.0, 1e9};
    }
    if (const json::UnitName* unit = json::find_unit(name); unit != nullptr) {
        const json::DimensionLimits& limits = json::limits_of(unit->dimension);
        return Unit{unit->dimension, unit->in_base_units, limits.low, limits.high};
    }
    return std::nullopt;
}

/// Of one file. A problem in a row leaves that row out, with a sentence.
class FileReader {
public:
    FileReader(const fs::path& path, const Catalogue& catalogue, SharedConditions& shared, ExperimentFiles& result)
        : document_(json::Document::load(path)), points_(document_.root(), path, catalogue, shared), result_(result) {
        paper_.file = document_.name();
    }

    void read();

private:
    void read_platforms(json::Reader& root);
    void read_table(json::Reader& at);
    void read_row(json::Reader& at, const Json& table_conditions, validation::ExperimentTable& table,
                  const validation::ExperimentRow& defaults);
    void read_value(json::Reader& at, validation::ExperimentRow& row);
    void complain(const validation::ExperimentTable& table, const validation::ExperimentRow& row, const std::string& sentence);
    [[nodiscard]] const validation::ExperimentPlatform* platform_named(const std::string& name) const;

    json::Document document_;
    ExperimentPoints points_;
    ExperimentFiles& result_;
    validation::Experiments paper_;
};

const validation::ExperimentPlatform* FileReader::platform_named(const std::string& name) const {
    const auto found = std::find_if(result_.platforms.begin(), result_.platforms.end(),
                                    [&](const validation::ExperimentPlatform& platform) { return platform.name == name; });
    return found == result_.platforms.end() ? nullptr : &*found;
}

void FileReader::complain(const validation::ExperimentTable& table, const validation::ExperimentRow& row,
                          const std::string& sentence) {
    result_.problems.push_back(fmt::format("{}: {}, {}: {}; the row is left out", paper_.file, table.id, row.name, sentence));
}

void FileReader::read_platforms(json::Reader& root) {
    if (!root.has("platforms")) {
        return;
    }
    for (auto& [name, at] : root.members("platforms")) {
        validation::ExperimentPlatform platform;
        platform.name = name;
        platform.file = paper_.file;
        if (platform_named(name) != nullptr) {
            at.problem({}, "is declared twice, here and in " + platform_named(name)->file);
            continue;
        }
        static_cast<void>(at.text_or("source", ""));
        for (const std::string& parameter : at.has("free") ? at.texts("free") : std::vector<std::string>{}) {
            const std::vector<std::string> names = validation::parameter_names();
            if (std::find(names.begin(), names.end(), parameter) == names.end()) {
                at.problem("free", fmt::format("names \"{}\", which is not a parameter{}", parameter,
                                               text::did_you_mean(parameter, names)));
            } else {
                platform.free.push_back(validation::free_parameter(parameter));
            }
        }
        platform.inherits = at.text_or("inherits", "");
        if (!platform.inherits.empty() && platform_named(platform.inherits) == nullptr) {
            at.problem("inherits", fmt::format("names \"{}\", which is not an earlier platform", platform.inherits));
        }
        if (at.has("design")) {
            for (const char* key : {"free", "inherits"}) {
                if (at.has(key)) {
                    at.problem(key,
                               "has no effect with design: an accelerator's description says which of its numbers were fitted");
                }
            }
            points_.read_design(name, at, platform);
        } else {
            platform.platform = points_.platform(name, at);
        }
        result_.platforms.push_back(std::move(platform));
    }
}

void FileReader::read_value(json::Reader& at, validation::ExperimentRow& row) {
    const std::string observable = at.has("observable") ? at.choice("observable", names_of<validation::Observable>()) : "";
    if (const auto named = value_named<validation::Observable>(observable)) {
        row.observable = *named;
    }
    for (const auto& [key, said] : {std::pair{"out_of_memory", row.out_of_memory}, std::pair{"ran", row.ran}}) {
        if (said && row.observable != validation::Observable::memory) {
            at.problem(key, fmt::format("applies to memory rows, not to {}", name_of(row.observable)));
        }
        if (said && at.has("value")) {
            at.problem("value", fmt::format("has no effect with {}", key));
        }
    }
    row.unit = at.text_or("unit", row.unit);
    const std::optional<Unit> unit = unit_named(row.relative_to ? "ratio" : row.unit);
    if (!unit) {
        at.problem("unit", fmt::format("unknown unit \"{}\"", row.unit));
        return;
    }
    if (!row.relative_to && unit->dimension != validation::dimension_of(row.observable)) {
        at.problem("unit", fmt::format("\"{}\" is not a unit of {}", row.unit, name_of(row.observable)));
        return;
    }
    row.base_units = unit->base_units;
    if (!validation::has_number(row) || (!row.not_reproduced.empty() && !at.has("value"))) {
        return;
    }
    row.measured = at.number("value", unit->low / unit->base_units, unit->high / unit->base_units) * unit->base_units;
}

void FileReader::read_row(json::Reader& at, const Json& table_conditions, validation::ExperimentTable& table,
                          const validation::ExperimentRow& defaults) {
    validation::ExperimentRow row = defaults;
    row.name = at.text_or("name", fmt::format("row {}", table.rows.size() + 1));
    // A document of its own, so that a problem in a row leaves out only that row.
    json::Document alone = json::Document::of(at.raw(), "");
    json::Reader reader = alone.root();
    row.source = reader.text_or("source", defaults.source);
    row.role =
        reader.has("role") && reader.choice("role", {"fit", "test"}) == "fit" ? validation::Role::fit : validation::Role::test;
    row.choice_of = reader.text_or("choice_of", "");
    row.not_reproduced = reader.text_or("not_reproduced", "");
    row.out_of_memory = reader.flag_or("out_of_memory", false);
    row.ran = reader.flag_or("ran", false);
    std::vector<std::string> problems;
    try {
        points_.read(at.raw(), table_conditions, result_.platforms, row);
    } catch (const text::InputError& error) {
        problems = error.problems();
    }
    read_value(reader, row);
    problems.insert(problems.end(), alone.problems().begin(), alone.problems().end());
    if (problems.empty()) {
        table.rows.push_back(std::move(row));
        return;
    }
    for (std::string problem : problems) {
        problem.erase(0, problem.starts_with(": ") ? 2 : 0);
        complain(table, row, problem);
    }
}

void FileReader::read_table(json::Reader& at) {
    validation::ExperimentTable table;
    table.id = at.text("id");
    table.what = at.text("what");
    table.measured = !at.has("kind") || at.choice("kind", {"measurement", "model", "count"}) == "measurement";
    validation::ExperimentRow defaults;
    defaults.source = paper_.paper + ", " + table.id;
    defaults.unit = at.text("unit");
    if (const auto observable =
            value_named<validation::Observable>(at.choice("observable", names_of<validation::Observable>()))) {
        defaults.observable = *observable;
    }
    const Json conditions = at.has("conditions") ? at.object("conditions").raw() : Json::object();
    static_cast<void>(at.text_or("note", ""));
    for (json::Reader& row : at.objects("rows")) {
        read_row(row, conditions, table, defaults);
    }
    at.finish();
    paper_.tables.push_back(std::move(table));
}

void FileReader::read() {
    json::Reader root = document_.root();
    static_cast<void>(root.choice("format", {"treeline-experiments"}));
    static_cast<void>(root.count("version", 1, 1));
    paper_.paper = root.text("paper");
    paper_.source = root.text("source");
    static_cast<void>(root.has("extends"));
    for (const char* key : {"conditions", "cases"}) {
        if (root.has(key)) {
            static_cast<void>(root.object(key));
        }
    }
    read_platforms(root);
    document_.throw_if_problems();
    for (json::Reader& table : root.objects("tables")) {
        read_table(table);
    }
    root.finish();
    result_.papers.push_back(std::move(paper_));
    document_.throw_if_problems();
}

std::vector<fs::path> files_of(const fs::path& path) {
    if (!text::is_folder(path)) {
        return {path};
    }
    std::error_code ignored;
    std::vector<fs::path> files = text::descriptions_in(path, ignored);
    if (files.empty()) {
        throw text::InputError({path.string() + ": holds no experiments (files named *.json)"});
    }
    return files;
}

}  // namespace

ExperimentFiles read_experiments(const std::vector<fs::path>& paths, const Catalogue& catalogue) {
    ExperimentFiles result;
    SharedConditions shared;
    for (const fs::path& path : paths) {
        const auto keep_problems = [&](const auto& work) {
            try {
                work();
            } catch (const text::InputError& error) {
                result.problems.insert(result.problems.end(), error.problems().begin(), error.problems().end());
            }
        };
        keep_problems([&] {
            for (const fs::path& file : files_of(path)) {
                keep_problems([&] { FileReader(file, catalogue, shared, result).read(); });
            }
        });
    }
    return result;
}

validation::Validation validate_published(const std::vector<std::filesystem::path>& further, const Catalogue& catalogue) {
    std::vector<std::filesystem::path> paths = {catalogue.experiments()};
    paths.insert(paths.end(), further.begin(), further.end());
    ExperimentFiles files = read_experiments(paths, catalogue);
    validation::Validation validation = validation::validate(std::move(files.papers), files.platforms);
    validation.problems.insert(validation.problems.begin(), files.problems.begin(), files.problems.end());
    return validation;
}

validation::Validation of_published(validation::Validation all, const std::vector<std::string>& papers,
                                    const Catalogue& catalogue) {
    if (papers.empty()) {
        return all;
    }
    std::vector<std::string> names;
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < all.papers.size(); ++i) {
        const fs::path file = all.papers[i].file;
        const bool published = file.parent_path() == catalogue.experiments();
        names.push_back(published ? file.stem().string() : "");
        if (!published || std::find(papers.begin(), papers.end(), names.back()) != papers.end()) {
            chosen.push_back(i);
        }
    }
    std::erase(names, "");
    for (const std::string& paper : papers) {
        if (std::find(names.begin(), names.end(), paper) == names.end()) {
            throw text::InputError(
                {fmt::format("--paper: there is no published \"{}\"; there are {}", paper, text::listed(names, "and"))});
        }
    }
    return validation::of_papers(std::move(all), chosen);
}

}  // namespace treeline::requests
