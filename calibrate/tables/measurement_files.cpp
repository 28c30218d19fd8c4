#include "calibrate/tables/measurement_files.h"

#include <algorithm>
#include <fstream>
#include <tuple>

#include <fmt/format.h>

#include "calibrate/tables/run_records.h"
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
                       {"operand_bytes", std::to_string(measured.operand_bytes)},
                       {"eviction", std::string(name_of(measured.eviction))},
                       {"throttled", fmt::format("{:.2g}", measured.throttled)},
                       {"drifted", measured.drifted ? "1" : "0"},
                       {"launch_us", fmt::format("{:.4g}", 1e6 * measured.seen.launch)},
                       {"clock_mhz", fmt::format("{:.5g}", 1e-6 * measured.seen.clock)}};
    for (const auto& [part, seconds] : parts) {
        columns.emplace_back(part + "_us", microseconds(seconds));
    }
    return columns;
}

bool is_of_measurement(const std::string& column) {
    static const std::set<std::string> names = {"device",   "spread",    "samples", "rotation_bytes", "operand_bytes",
                                                "eviction", "throttled", "drifted", "clock_mhz"};
    return column.ends_with("_us") || names.count(column) > 0;
}

std::string line_of(const std::map<std::string, std::string>& row, const std::vector<std::string>& columns) {
    std::string text;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const auto value = row.find(columns[i]);
        text += (i > 0 ? "," : "") + (value == row.end() ? std::string() : value->second);
    }
    return text + "\n";
}

void append(const fs::path& file, const std::string& text) {
    std::ofstream out(file, std::ios::binary | std::ios::app);
    out << text;
    if (!out.flush()) {
        throw text::OutputError(fmt::format("{}: cannot be written", file.string()));
    }
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

/// In the typical state, at full clocks, with more samples, in this order.
bool is_known_better(const std::map<std::string, std::string>& a, const std::map<std::string, std::string>& b) {
    const auto rank = [](const std::map<std::string, std::string>& row) {
        return std::tuple(-number_of(row, "drifted"), number_of(row, "throttled") > 0.5 ? -1 : 0, number_of(row, "samples"));
    };
    return rank(a) > rank(b);
}

}  // namespace

MeasurementFiles::MeasurementFiles(fs::path folder, const Machine& machine) : folder_(std::move(folder)), machine_(machine) {
    std::error_code error;
    fs::create_directories(folder_, error);
    if (!fs::is_directory(folder_)) {
        throw text::OutputError(fmt::format("{}: cannot be created ({})", folder_.string(), error.message()));
    }
    for (const MeasuredFile& file : read()) {
        load(file, true);
    }
}

void MeasurementFiles::merge(const std::vector<MeasuredFile>& files) {
    for (const MeasuredFile& file : files) {
        load(file, false);
    }
}

void MeasurementFiles::put_row(Table& table, const std::string& key, Values row, const std::vector<std::string>& columns) {
    for (const std::string& name : columns) {
        if (std::find(table.columns.begin(), table.columns.end(), name) == table.columns.end()) {
            table.columns.push_back(name);
            table.changed = true;
        }
    }
    const auto [place, is_new] = table.places.try_emplace(key, table.rows.size());
    if (is_new) {
        table.rows.emplace_back();
    }
    table.changed = table.changed || place->second < table.saved;
    table.rows[place->second] = std::move(row);
}

void MeasurementFiles::load(const MeasuredFile& file, bool is_saved) {
    if (file.device != machine_.name) {
        throw text::InputError({fmt::format("{}: was measured on {}, but {} {}; give another folder with --output", file.path,
                                            file.device.empty() ? "an unnamed device" : file.device,
                                            is_saved ? "this is" : "the other measurements are of", machine_.name)});
    }
    const std::string stem = fs::path(file.path).stem().string();
    if (!stem.starts_with(machine_.name + "_")) {
        return;  // a foreign table: read, but not written
    }
    Table& table = tables_[stem.substr(machine_.name.size() + 1)];
    const std::string text = text::read_file(file.path);
    const std::vector<std::string> header = text::CsvReader(text).header();
    for (const std::vector<MeasuredRow>* rows : {&file.rows, &file.drifted}) {
        for (const MeasuredRow& row : *rows) {
            Columns columns;
            Values values(row.values.begin(), row.values.end());
            values["latency_us"] = microseconds(row.time.value());
            for (const auto& [name, value] : row.values) {
                if (!is_of_measurement(name)) {
                    columns.emplace_back(name, value);
                }
            }
            const std::string key = key_of(std::move(columns));
            const auto place = table.places.find(key);
            if (place == table.places.end() || is_known_better(values, table.rows[place->second])) {
                put_row(table, key, std::move(values), header);
            }
        }
    }
    if (is_saved) {
        table.saved = table.rows.size();
        table.changed = false;
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
    Columns columns = kernel.columns;
    const Columns more = columns_of(measurement, machine_, rotation_bytes, parts);
    columns.insert(columns.end(), more.begin(), more.end());
    std::vector<std::string> names;
    for (const auto& column : columns) {
        names.push_back(column.first);
    }
    put_row(tables_[kernel.table], key_of(kernel.columns), Values(columns.begin(), columns.end()), names);
}

std::string MeasurementFiles::head_of(const Table& table) const {
    return fmt::format(
        "# Kernels measured by treeline calibrate\n"
        "# device: {}\n"
        "# driver: {}\n"
        "# latency_us: microseconds of one run, the first quartile of the samples; spread: median absolute deviation / "
        "median;\n"
        "# rotation_bytes: memory over which weights, caches and states rotate; operand_bytes: those of one run; eviction: "
        "why\n"
        "# no cache holds them when the run is timed (none: it has none, and its activations are in the cache); launch_us,\n"
        "# clock_mhz: an empty launch and the clock during the samples, 0 if unknown; throttled: share of the samples during\n"
        "# which the clock was held down; drifted: 1 if hardly any sample was taken in the machine state of the others\n"
        "{}\n",
        machine_.title, machine_.driver, fmt::join(table.columns, ","));
}

void MeasurementFiles::save() {
    for (auto& [name, table] : tables_) {
        if (table.changed || table.saved < table.rows.size()) {
            const bool whole = table.changed || table.saved == 0;
            std::string text = whole ? head_of(table) : std::string();
            for (std::size_t row = whole ? 0 : table.saved; row < table.rows.size(); ++row) {
                text += line_of(table.rows[row], table.columns);
            }
            whole ? text::write_file(file_of(name), text, text::Replaces::own_input) : append(file_of(name), text);
            table.saved = table.rows.size();
            table.changed = false;
        }
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

std::vector<MeasuredFile> MeasurementFiles::read() const { return read_measurements(folder_); }

std::vector<MeasuredFile> read_measurements(const fs::path& folder) {
    std::vector<fs::path> paths;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
        const bool is_record = is_record_of_run(entry.path().filename().string());
        if (entry.path().extension() == ".csv" && !is_record && has_rows(entry.path())) {
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
