#include "hardware/calibration.h"

#include <limits>

#include "text/catalogue_folder.h"

namespace treeline::hardware {
namespace {

namespace fs = std::filesystem;

constexpr double largest_parameter = 1e9;  ///< in the parameter's unit: anything above is a slip of the pen

sim::KernelLaw read_law(json::Reader reader) {
    sim::KernelLaw law;
    for (const sim::KernelParameter& parameter : sim::kernel_parameters()) {
        if (std::optional<json::Reader> entry = reader.optional_object(parameter.name)) {
            static_cast<void>(entry->choice("unit", {std::string(parameter.unit)}));
            const double value = entry->number("value", 0.0, largest_parameter);
            // An interval tells people how well a value is known; of one that hardly matters it may be as wide as it likes.
            entry->number_or("low", value, 0.0, std::numeric_limits<double>::max());
            entry->number_or("high", value, 0.0, std::numeric_limits<double>::max());
            entry->finish();
            parameter.set(law, value / parameter.in_unit);
        }
    }
    reader.finish();
    return law;
}

sim::CalibratedKernel read_kernel(json::Reader& reader) {
    sim::CalibratedKernel kernel;
    kernel.kernel = reader.choice<sim::KernelClass>("kernel");
    kernel.format = reader.choice<sim::NumberFormat>("format");
    kernel.family = reader.text_or("family", "");
    kernel.law = read_law(reader.object("law"));
    // What the law was fitted to is for people and reports; pricing does not need it.
    for (const char* const of_fit :
         {"domain", "points", "left_out", "sites", "fitted", "held_out", "log_covariance", "derived_from"}) {
        static_cast<void>(reader.has(of_fit));
    }
    reader.finish();
    return kernel;
}

/// A number of a law beside those of kernel_parameters().
double law_number(json::Reader& law, const char* name, const char* unit, double per_base_unit, double otherwise) {
    std::optional<json::Reader> entry = law.optional_object(name);
    if (!entry) {
        return otherwise;
    }
    static_cast<void>(entry->choice("unit", {unit}));
    const double value = entry->number("value", 0.0, largest_parameter);
    entry->finish();
    return value / per_base_unit;
}

sim::RecurrentVerificationLaw read_recurrent_verification(json::Reader& reader) {
    sim::RecurrentVerificationLaw law;
    law.family = reader.text("family");
    law.convolves = reader.flag_or("convolves", false);
    json::Reader numbers = reader.object("law");
    law.startup = Seconds(law_number(numbers, "startup", "us", 1e6, 0.0));
    law.per_token = Seconds(law_number(numbers, "per_token", "us", 1e6, 0.0));
    law.bandwidth_share = law_number(numbers, "bandwidth_share", "1", 1.0, 1.0);
    law.overlap = law_number(numbers, "overlap", "1", 1.0, 0.0);
    law.per_head = Seconds(law_number(numbers, "per_head", "us", 1e6, 0.0));
    numbers.finish();
    for (const char* const of_fit : {"points", "left_out", "heads", "fitted", "held_out", "held_out_memory"}) {
        static_cast<void>(reader.has(of_fit));
    }
    reader.finish();
    return law;
}

sim::ChunkScanLaw read_chunk_scan(json::Reader& reader) {
    sim::ChunkScanLaw law;
    law.family = reader.text("family");
    law.by_channel = reader.flag_or("by_channel", false);
    json::Reader numbers = reader.object("law");
    law.startup = Seconds(law_number(numbers, "startup", "us", 1e6, 0.0));
    law.per_token = Seconds(law_number(numbers, "per_token", "ns", 1e9, 0.0));
    law.per_head = Seconds(law_number(numbers, "per_head", "ns", 1e9, 0.0));
    law.traffic = law_number(numbers, "traffic", "1", 1.0, 0.0);
    law.overlap = law_number(numbers, "overlap", "1", 1.0, 0.0);
    numbers.finish();
    for (const char* const of_fit : {"version", "points", "fitted", "held_out", "held_out_one"}) {
        static_cast<void>(reader.has(of_fit));
    }
    reader.finish();
    return law;
}

sim::AttentionWalkLaw read_attention_walk(json::Reader reader) {
    sim::AttentionWalkLaw law;
    json::Reader numbers = reader.object("law");
    law.startup = Seconds(law_number(numbers, "startup", "us", 1e6, 0.0));
    law.per_token = Seconds(law_number(numbers, "per_token", "ns", 1e9, 0.0));
    law.bandwidth_share = law_number(numbers, "bandwidth_share", "1", 1.0, 1.0);
    numbers.finish();
    for (const char* const of_fit : {"domain", "points", "left_out", "sites", "fitted", "held_out", "windowed"}) {
        static_cast<void>(reader.has(of_fit));
    }
    reader.finish();
    return law;
}

}  // namespace

sim::Calibration read_calibration(json::Reader& reader) {
    sim::Calibration calibration;
    static_cast<void>(reader.choice("format", {"treeline-calibration"}));
    static_cast<void>(reader.count("version", 1, 1));
    calibration.device = reader.text("device");
    calibration.source = reader.text("source");
    calibration.kind = reader.choice("kind", {"measured", "published", "derived"});
    for (json::Reader& kernel : reader.objects("kernels")) {
        calibration.kernels.push_back(read_kernel(kernel));
    }
    if (reader.has("recurrent_verification")) {
        for (json::Reader& law : reader.objects("recurrent_verification")) {
            calibration.recurrent_verification.push_back(read_recurrent_verification(law));
        }
    }
    if (reader.has("chunk_scans")) {
        for (json::Reader& law : reader.objects("chunk_scans")) {
            calibration.chunk_scans.push_back(read_chunk_scan(law));
        }
    }
    if (std::optional<json::Reader> walk = reader.optional_object("attention_walk")) {
        calibration.attention_walk = read_attention_walk(*walk);
    }
    static_cast<void>(reader.has("check"));  // predicted beside measured times, for people
    reader.finish();
    return calibration;
}

sim::Calibration load_calibration(const fs::path& catalogue, const fs::path& description, const std::string& name_or_path,
                                  const std::string& device) {
    const bool is_path = name_or_path.find('/') != std::string::npos || name_or_path.ends_with(".json");
    const fs::path file =
        is_path ? description.parent_path() / name_or_path : catalogue / "calibrations" / (name_or_path + ".json");
    json::Document document = json::Document::load(file);
    json::Reader root = document.root();
    sim::Calibration calibration = read_calibration(root);
    if (document.problems().empty()) {
        document.add_problems(problems_of(calibration));
    }
    document.throw_if_problems();
    if (calibration.device != device) {
        throw text::InputError(
            {description.string() + ": calibration: names " + file.string() + ", which was measured on " + calibration.device +
             ", not on " + device +
             "; remove \"calibration\" from the description, or calibrate this device (treeline calibrate --from "
             "or --derive-from " +
             calibration.device + ") and name that file"});
    }
    return calibration;
}

std::vector<std::string> calibrated_devices(const fs::path& catalogue) {
    std::error_code none;
    return text::description_names(catalogue / "calibrations", none);
}

}  // namespace treeline::hardware
