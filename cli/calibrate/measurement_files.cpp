#include "cli/calibrate/measurement_files.h"

#include <algorithm>
#include <cstdio>
#include <fstream>

#include <fmt/format.h>

#include "cli/calibrate/table_rows.h"
#include "json/reader.h"
#include "reports/output_file.h"

namespace treeline {
namespace {

namespace fs = std::filesystem;

using Parts = std::vector<std::pair<std::string, double>>;

/// An interrupted run may have left half a line.
void drop_half_line(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    const std::size_t end = text.rfind('\n');
    if (!text.empty() && end + 1 != text.size()) {
        fs::resize_file(file, end == std::string::npos ? 0 : end + 1);
    }
}

/// A case that is measured again has one line all the same.
void drop_line(const fs::path& file, const std::string& beginning) {
    std::ifstream in(file);
    std::string kept;
    for (std::string line; std::getline(in, line);) {
        if (!line.starts_with(beginning)) {
            kept += line + "\n";
        }
    }
    in.close();
    write_file(file, kept);
}

constexpr std::string_view conditions_ending = "_conditions.csv";

bool has_rows(const fs::path& file) {
    std::ifstream in(file);
    int lines = 0;
    for (std::string line; std::getline(in, line);) {
        lines += !line.empty() && line.front() != '#' ? 1 : 0;
    }
    return lines > 1;
}

/// What a file begins with. Columns are those of the case, then these.
std::string header(const Machine& machine, const KernelCase& kernel, const Parts& parts) {
    std::string text = fmt::format(
        "# Kernels measured by treeline calibrate\n# device: {}\n# driver: {}\n"
        "# latency_us, quartiles: microseconds of one run; spread: median absolute deviation / median;\n"
        "# rotation_bytes: memory over which weights, caches and states rotate; drifted: 1 where the "
        "machine's conditions changed\n",
        machine.title, machine.driver);
    for (const auto& [column, value] : kernel.columns) {
        text += column + ",";
    }
    text += "device,latency_us,first_quartile_us,third_quartile_us,spread,samples,rotation_bytes,drifted";
    for (const auto& [part, seconds] : parts) {
        text += "," + part + "_us";
    }
    return text + "\n";
}

/// What the line of a case begins with.
std::string values_of(const KernelCase& kernel) {
    std::string text;
    for (const auto& [column, value] : kernel.columns) {
        text += value + ",";
    }
    return text;
}

std::string line(const Machine& machine, const KernelCase& kernel, const Measurement& measured, std::size_t rotation_bytes,
                 const Parts& parts) {
    std::string text = values_of(kernel);
    text += fmt::format("{},{:.6g},{:.6g},{:.6g},{:.4g},{},{},{}", machine.name, 1e6 * measured.median,
                        1e6 * measured.first_quartile, 1e6 * measured.third_quartile, measured.deviation / measured.median,
                        measured.samples, rotation_bytes, measured.drifted ? 1 : 0);
    for (const auto& [part, seconds] : parts) {
        text += fmt::format(",{:.6g}", 1e6 * seconds);
    }
    return text + "\n";
}

/// The name that a case with these values has. The columns of a case come first, in the order of the file's header, but values
/// are kept by name: so the names' order does not matter here.
std::string key_of(const std::string& table, std::vector<std::pair<std::string, std::string>> columns) {
    std::sort(columns.begin(), columns.end());
    KernelCase kernel;
    kernel.table = table;
    kernel.columns = std::move(columns);
    return kernel.name();
}

bool is_of_measurement(const std::string& column) {
    static const std::set<std::string> names = {"device", "spread", "samples", "rotation_bytes", "drifted"};
    return column.ends_with("_us") || names.count(column) > 0;
}

std::string key_of(const MeasuredRow& row) {
    const TableKind* kind = kind_of(row);
    std::vector<std::pair<std::string, std::string>> columns;
    for (const auto& [name, value] : row.values) {
        if (!is_of_measurement(name)) {
            columns.emplace_back(name, value);
        }
    }
    return key_of(kind != nullptr ? std::string(kind->name) : "", std::move(columns));
}

}  // namespace

MeasurementFiles::MeasurementFiles(fs::path folder, const Machine& machine) : folder_(std::move(folder)), machine_(machine) {
    std::error_code error;
    fs::create_directories(folder_, error);
    if (!fs::is_directory(folder_)) {
        throw OutputError(fmt::format("{}: cannot be made ({})", folder_.string(), error.message()));
    }
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_)) {
        if (entry.path().extension() == ".csv") {
            drop_half_line(entry.path());
        }
    }
    for (const MeasuredFile& file : read()) {
        if (file.device != machine_.name) {
            throw InputError({fmt::format("{}: was measured on {}, but this is {}; give another folder with --output",
                                          file.path, file.device.empty() ? "an unnamed device" : file.device, machine_.name)});
        }
        for (const MeasuredRow& row : file.rows) {
            lines_.insert(key_of(row));
            known_.insert(key_of(row));
        }
        for (const MeasuredRow& row : file.drifted) {
            lines_.insert(key_of(row));
        }
    }
}

bool MeasurementFiles::holds(const KernelCase& kernel) const { return known_.count(key_of(kernel.table, kernel.columns)) > 0; }

fs::path MeasurementFiles::file_of(const std::string& table) const {
    return folder_ / fmt::format("{}_{}.csv", machine_.name, table);
}

void MeasurementFiles::write(const KernelCase& kernel, const Measurement& measurement, std::size_t rotation_bytes,
                             const Parts& parts) {
    const fs::path path = file_of(kernel.table);
    const std::string key = key_of(kernel.table, kernel.columns);
    if (!lines_.insert(key).second) {
        drop_line(path, values_of(kernel));
    }
    const bool fresh = !fs::exists(path) || fs::file_size(path) == 0;
    std::ofstream out(path, std::ios::binary | std::ios::app);
    out << (fresh ? header(machine_, kernel, parts) : "") << line(machine_, kernel, measurement, rotation_bytes, parts)
        << std::flush;
    if (!out) {
        throw OutputError(fmt::format("{}: cannot be written", path.string()));
    }
    if (!measurement.drifted) {
        known_.insert(key);
    }
}

fs::path MeasurementFiles::conditions_file() const { return folder_ / (machine_.name + std::string(conditions_ending)); }

void MeasurementFiles::write_conditions(const ProtocolRun& run) const {
    const fs::path path = conditions_file();
    const bool fresh = !fs::exists(path);
    std::ofstream out(path, std::ios::binary | std::ios::app);
    if (fresh) {
        out << fmt::format(
            "# Conditions of each block of measurements on {}: before and after it, in the order of the run\n"
            "# read_us: a block of main memory read; launch_us: a launch of nothing (0: not asked); clock_mhz: 0 where "
            "unknown;\n"
            "# temperature_c: empty where unknown; load: per core, over the last minute; drifted: as in the other files\n"
            "cases,attempts,drifted,read_us,read_after_us,launch_us,launch_after_us,clock_mhz,clock_after_mhz,temperature_c,"
            "temperature_after_c,load,load_after\n",
            machine_.title);
    }
    const auto degrees = [](const Conditions& c) { return c.temperature ? fmt::format("{:.0f}", *c.temperature) : ""; };
    for (const BlockRecord& block : run.blocks) {
        const Conditions &a = block.before, &b = block.after;
        out << fmt::format("{},{},{},{:.5g},{:.5g},{:.4g},{:.4g},{:.5g},{:.5g},{},{},{:.2f},{:.2f}\n", block.cases,
                           block.attempts, block.drifted ? 1 : 0, 1e6 * a.read, 1e6 * b.read, 1e6 * a.launch, 1e6 * b.launch,
                           1e-6 * a.clock, 1e-6 * b.clock, degrees(a), degrees(b), a.load, b.load);
    }
    if (!out.flush()) {
        throw OutputError(fmt::format("{}: cannot be written", path.string()));
    }
}

std::vector<Conditions> MeasurementFiles::conditions() const {
    std::vector<Conditions> found;
    std::ifstream in(conditions_file());
    for (std::string line; std::getline(in, line);) {
        int cases = 0, attempts = 0, drifted = 0;
        double read[2] = {}, launch[2] = {}, clock[2] = {};
        if (std::sscanf(line.c_str(), "%d,%d,%d,%lf,%lf,%lf,%lf,%lf,%lf", &cases, &attempts, &drifted, &read[0], &read[1],
                        &launch[0], &launch[1], &clock[0], &clock[1]) == 9 &&
            drifted == 0) {
            for (const int i : {0, 1}) {
                found.emplace_back();
                found.back().read = 1e-6 * read[i];
                found.back().launch = 1e-6 * launch[i];
                found.back().clock = 1e6 * clock[i];
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

}  // namespace treeline
