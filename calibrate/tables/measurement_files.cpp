#include "calibrate/tables/measurement_files.h"

#include <algorithm>
#include <fstream>

#include <fmt/format.h>

#include "calibrate/tables/table_rows.h"
#include "text/csv.h"
#include "text/input_error.h"
#include "text/input_file.h"
#include "text/output_file.h"
#include "text/parse_number.h"

namespace treeline::calibrate {
namespace {

namespace fs = std::filesystem;

using Columns = std::vector<std::pair<std::string, std::string>>;

constexpr std::string_view conditions_ending = "_conditions.csv";

bool has_rows(const fs::path& file) {
    const std::string text = text::read_file(file);
    return text::CsvReader(text).next();
}

std::string microseconds(double seconds) { return fmt::format("{:.6g}", 1e6 * seconds); }

/// The columns of a measurement, after those of its case.
Columns columns_of(const Measurement& measured, const Machine& machine, std::size_t rotation_bytes, const TimeParts& parts) {
    Columns columns = {{"device", machine.name},
                       {"latency_us", microseconds(measured.time())},
                       {"median_us", microseconds(measured.median)},
                       {"third_quartile_us", microseconds(measured.third_quartile)},
                       {"spread", fmt::format("{:.4g}", measured.deviation / measured.median)},
                       {"samples", std::to_string(measured.samples)},
                       {"rotation_bytes", std::to_string(rotation_bytes)},
                       {"drifted", measured.drifted ? "1" : "0"},
                       {"launch_us", fmt::format("{:.4g}", 1e6 * measured.seen.launch)},
                       {"clock_mhz", fmt::format("{:.5g}", 1e-6 * measured.seen.clock)}};
    for (const auto& [part, seconds] : parts) {
        columns.emplace_back(part + "_us", microseconds(seconds));
    }
    return columns;
}

bool is_of_measurement(const std::string& column) {
    static const std::set<std::string> names = {"device", "spread", "samples", "rotation_bytes", "drifted", "clock_mhz"};
    return column.ends_with("_us") || names.count(column) > 0;
}

/// The name that a case with these values has, whatever the order of the columns.
std::string key_of(Columns columns) {
    std::sort(columns.begin(), columns.end());
    KernelCase kernel;
    kernel.columns = std::move(columns);
    return kernel.name();
}

double number_of(const std::map<std::string, std::string>& row, const char* column) {
    const auto found = row.find(column);
    return found == row.end() ? 0.0 : text::parse_number(found->second).value_or(0.0);
}

}  // namespace

MeasurementFiles::MeasurementFiles(fs::path folder, const Machine& machine) : folder_(std::move(folder)), machine_(machine) {
    std::error_code error;
    fs::create_directories(folder_, error);
    if (!fs::is_directory(folder_)) {
        throw text::OutputError(fmt::format("{}: cannot be created ({})", folder_.string(), error.message()));
    }
    for (const MeasuredFile& file : read()) {
        if (file.device != machine_.name) {
            throw text::InputError(
                {fmt::format("{}: was measured on {}, but this is {}; give another folder with --output", file.path,
                             file.device.empty() ? "an unnamed device" : file.device, machine_.name)});
        }
        load(file);
    }
}

void MeasurementFiles::load(const MeasuredFile& file) {
    const std::string stem = fs::path(file.path).stem().string();
    if (!stem.starts_with(machine_.name + "_")) {
        return;  // a foreign table: read, but not written
    }
    Table& table = tables_[stem.substr(machine_.name.size() + 1)];
    table.columns = text::CsvReader(text::read_file(file.path)).header();
    for (const std::vector<MeasuredRow>* rows : {&file.rows, &file.drifted}) {
        for (const MeasuredRow& row : *rows) {
            Columns columns;
            std::map<std::string, std::string> values(row.values.begin(), row.values.end());
            values["latency_us"] = microseconds(row.time.value());
            for (const auto& [name, value] : row.values) {
                if (!is_of_measurement(name)) {
                    columns.emplace_back(name, value);
                }
            }
            table.places[key_of(std::move(columns))] = table.rows.size();
            table.rows.push_back(std::move(values));
        }
    }
}

bool MeasurementFiles::holds(const KernelCase& kernel, int least_samples) const {
    const auto table = tables_.find(kernel.table);
    if (table == tables_.end()) {
        return false;
    }
    const auto place = table->second.places.find(key_of(kernel.columns));
    if (place == table->second.places.end()) {
        return false;
    }
    const std::map<std::string, std::string>& row = table->second.rows[place->second];
    return number_of(row, "drifted") == 0.0 && number_of(row, "samples") >= least_samples;
}

fs::path MeasurementFiles::file_of(const std::string& table) const {
    return folder_ / fmt::format("{}_{}.csv", machine_.name, table);
}

void MeasurementFiles::put(const KernelCase& kernel, const Measurement& measurement, std::size_t rotation_bytes,
                           const TimeParts& parts) {
    Table& table = tables_[kernel.table];
    table.changed = true;
    Columns columns = kernel.columns;
    const Columns more = columns_of(measurement, machine_, rotation_bytes, parts);
    columns.insert(columns.end(), more.begin(), more.end());
    for (const auto& [name, value] : columns) {
        if (std::find(table.columns.begin(), table.columns.end(), name) == table.columns.end()) {
            table.columns.push_back(name);
        }
    }
    const auto [place, is_new] = table.places.try_emplace(key_of(kernel.columns), table.rows.size());
    if (is_new) {
        table.rows.emplace_back();
    }
    table.rows[place->second] = std::map<std::string, std::string>(columns.begin(), columns.end());
}

std::string MeasurementFiles::text_of(const Table& table) const {
    std::string text = fmt::format(
        "# Kernels measured by treeline calibrate\n"
        "# device: {}\n"
        "# driver: {}\n"
        "# latency_us: microseconds of one run, the first quartile of the samples; spread: median absolute deviation / "
        "median;\n"
        "# rotation_bytes: memory over which weights, caches and states rotate; launch_us, clock_mhz: an empty launch\n"
        "# and the clock during the samples, 0 if unknown; drifted: 1 if hardly any sample was taken in the machine state of\n"
        "# the others\n"
        "{}\n",
        machine_.title, machine_.driver, fmt::join(table.columns, ","));
    for (const std::map<std::string, std::string>& row : table.rows) {
        for (std::size_t i = 0; i < table.columns.size(); ++i) {
            const auto value = row.find(table.columns[i]);
            text += (i > 0 ? "," : "") + (value == row.end() ? std::string() : value->second);
        }
        text += "\n";
    }
    return text;
}

void MeasurementFiles::save() {
    for (auto& [name, table] : tables_) {
        if (table.changed) {
            text::write_file(file_of(name), text_of(table), text::Replaces::own_input);
            table.changed = false;
        }
    }
}

void MeasurementFiles::write_conditions(const ProtocolRun& run) const {
    const fs::path path = folder_ / (machine_.name + std::string(conditions_ending));
    const bool fresh = !fs::exists(path);
    std::ofstream out(path, std::ios::binary | std::ios::app);
    if (fresh) {
        out << fmt::format(
            "# The state of {} at the beginning of each pass over the measurements, run after run\n"
            "# at_s: since the run began; visits: of kernels and decoders in the pass; read_us: a block of main memory read;\n"
            "# launch_us: an empty launch (0: not measured); clock_mhz: 0 if unknown; temperature_c: empty if unknown;\n"
            "# load: per core, over the last minute; typical: 1 in the state that the measurements are of\n"
            "at_s,visits,read_us,launch_us,clock_mhz,temperature_c,load,typical\n",
            machine_.title);
    }
    for (const PassRecord& pass : run.passes) {
        const Conditions& seen = pass.conditions;
        out << fmt::format("{:.1f},{},{:.5g},{:.4g},{:.5g},{},{:.2f},{}\n", pass.at, pass.visits, 1e6 * seen.read,
                           1e6 * seen.launch, 1e-6 * seen.clock,
                           seen.temperature ? fmt::format("{:.0f}", *seen.temperature) : "", seen.load,
                           is_of_state(seen, run.typical, {}) ? 1 : 0);
    }
    if (!out.flush()) {
        throw text::OutputError(fmt::format("{}: cannot be written", path.string()));
    }
}

std::vector<Conditions> MeasurementFiles::conditions() const {
    std::vector<Conditions> found;
    for (const auto& [name, table] : tables_) {
        for (const std::map<std::string, std::string>& row : table.rows) {
            if (number_of(row, "drifted") == 0.0) {
                found.emplace_back();
                found.back().launch = 1e-6 * number_of(row, "launch_us");
                found.back().clock = 1e6 * number_of(row, "clock_mhz");
            }
        }
    }
    return found;
}

std::vector<MeasuredFile> MeasurementFiles::read() const {
    std::vector<fs::path> paths;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_)) {
        const bool of_conditions = entry.path().filename().string().ends_with(conditions_ending);
        if (entry.path().extension() == ".csv" && !of_conditions && has_rows(entry.path())) {
            paths.push_back(entry.path());
        }
    }
    std::sort(paths.begin(), paths.end());
    std::vector<MeasuredFile> files;
    for (const fs::path& path : paths) {
        files.push_back(read_measured_rows(path));
    }
    return files;
}

}  // namespace treeline::calibrate
