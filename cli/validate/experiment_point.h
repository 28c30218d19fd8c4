// The conditions of an experiment's row, put together and read as a point.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include <nlohmann/json.hpp>

#include "cli/descriptions.h"
#include "validation/experiment.h"

namespace treeline {

/// Of one file; keeps the models and devices that it names.
class ExperimentPoints {
public:
    ExperimentPoints(const nlohmann::ordered_json& file, const std::filesystem::path& folder, const Catalogue& catalogue);

    /// The platform that an object describes; problems are noted there.
    Platform platform(const std::string& name, json::Reader& at);

    /// The accelerator that an object names instead: {"design": name, "source"?}.
    void read_design(const std::string& name, json::Reader& at, ExperimentPlatform& platform);

    /// Fills in platform, point and relative_to of `row` from its object in the file. Throws InputError.
    void read(const nlohmann::ordered_json& row_object, const nlohmann::ordered_json& table_conditions,
              const std::vector<ExperimentPlatform>& platforms, ExperimentRow& row);

private:
    [[nodiscard]] nlohmann::ordered_json merged(const nlohmann::ordered_json& row, const nlohmann::ordered_json& table) const;
    ExperimentPoint point(nlohmann::ordered_json conditions, const ExperimentPlatform& platform);
    ExperimentPoint fpga_point(nlohmann::ordered_json conditions, const ExperimentPlatform& platform);

    nlohmann::ordered_json conditions_, cases_;
    std::map<std::string, nlohmann::ordered_json> platforms_;  ///< of this file, as it describes them
    std::filesystem::path hardware_;
    Descriptions descriptions_;
};

}  // namespace treeline
