#include "requests/measured_errors_reader.h"

#include "requests/remembered.h"
#include "text/catalogue_folder.h"

namespace treeline::requests {
namespace {

constexpr double least_ratio = 1e-3, largest_ratio = 1e3;

/// The rows of a source, one list of measured / predicted for each class of batches.
void read_source(json::Reader& at, std::vector<numerics::CaseResidual>& residuals) {
    const std::string name = at.text("source");
    const std::array<std::string, 3> alike = {at.text("engine"), at.text("device"), at.text("kind")};
    const bool own_stack = at.flag_or("own_stack", true);
    for (json::Reader& level : at.objects("batches")) {
        const auto number = static_cast<int>(level.count("level", 0, 4));
        for (const double ratio : level.numbers("measured_over_predicted", least_ratio, largest_ratio)) {
            residuals.push_back({{alike, number, own_stack}, name, ratio});
        }
        level.finish();
    }
    at.finish();
}

std::vector<numerics::CaseResidual> read_residuals(json::Reader& mode, std::string_view key) {
    std::vector<numerics::CaseResidual> residuals;
    if (mode.has(key)) {
        for (json::Reader& source : mode.objects(key)) {
            read_source(source, residuals);
        }
    }
    return residuals;
}

}  // namespace

sweeps::MeasuredErrors read_measured_errors(const std::filesystem::path& path) {
    json::Document document = json::Document::load(path);
    json::Reader root = document.root();
    sweeps::MeasuredErrors errors;
    static_cast<void>(root.choice("format", {"treeline-measured-errors"}));
    static_cast<void>(root.count("version", 2, 2));
    errors.source = root.text("source");
    static_cast<void>(root.text("made_by"));
    for (json::Reader& mode : root.objects("modes")) {
        sweeps::MeasuredErrors::OfMode of_mode;
        of_mode.mode = *value_named<sim::CostMode>(mode.choice("mode", {"roofline", "calibrated"}));
        of_mode.speed_ups = read_residuals(mode, "speed_ups");
        of_mode.times = read_residuals(mode, "times_per_token");
        mode.finish();
        errors.modes.push_back(std::move(of_mode));
    }
    root.finish();
    document.throw_if_problems();
    return errors;
}

sweeps::MeasuredErrors measured_errors_of(const Catalogue& catalogue) {
    const std::filesystem::path path = catalogue.measured_errors();
    const auto read = [&] { return text::is_file(path) ? read_measured_errors(path) : sweeps::MeasuredErrors{}; };
    return catalogue.remembered ? *catalogue.remembered->of<sweeps::MeasuredErrors>("errors", read) : read();
}

}  // namespace treeline::requests
