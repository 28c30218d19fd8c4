// The conditions of an experiment's row, merged and read as a point.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include <nlohmann/json.hpp>

#include "requests/descriptions.h"
#include "validation/experiment.h"

namespace treeline::requests {

/// What files declare for later ones: platforms by name, conditions and cases by the file's name without ".json". Paths in here
/// do not depend on the folder.
struct SharedConditions {
    struct OfFile {
        nlohmann::ordered_json conditions, cases;
    };
    std::map<std::string, nlohmann::ordered_json> platforms;
    std::map<std::string, OfFile> files;
};

/// `json` with its relative paths made independent of the folder.
nlohmann::ordered_json with_whole_paths(nlohmann::ordered_json json, const std::filesystem::path& folder);

/// Of one file; keeps the models and devices that it names.
class ExperimentPoints {
public:
    /// `shared` comes from earlier files, and gets what this one declares. A file may "extend" one of them; a missing one is a
    /// problem of `root`.
    ExperimentPoints(json::Reader root, const std::filesystem::path& file, const Catalogue& catalogue,
                     SharedConditions& shared);

    /// The platform that an object describes; problems are noted there.
    sim::Platform platform(const std::string& name, json::Reader& at);

    /// The accelerator that an object names instead: {"design": name, "source"?}.
    void read_design(const std::string& name, json::Reader& at, validation::ExperimentPlatform& platform);

    /// Fills in platform, point and relative_to of `row` from its object in the file. Throws InputError.
    void read(const nlohmann::ordered_json& row_object, const nlohmann::ordered_json& table_conditions,
              const std::vector<validation::ExperimentPlatform>& platforms, validation::ExperimentRow& row);

private:
    [[nodiscard]] nlohmann::ordered_json merged(const nlohmann::ordered_json& row, const nlohmann::ordered_json& table) const;
    validation::ExperimentPoint point(nlohmann::ordered_json conditions, const validation::ExperimentPlatform& platform);
    validation::ExperimentPoint fpga_point(nlohmann::ordered_json conditions, const validation::ExperimentPlatform& platform);

    SharedConditions& shared_;
    nlohmann::ordered_json conditions_, cases_;
    std::filesystem::path folder_, hardware_;
    Descriptions descriptions_;
};

}  // namespace treeline::requests
