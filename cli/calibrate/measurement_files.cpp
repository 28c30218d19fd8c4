#include "cli/calibrate/measurement_files.h"

#include <algorithm>
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
        "# rotation_bytes: memory over which weights, caches and states rotate; drifted: 1 where the sentinel moved by more "
        "than 2 %\n",
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

std::string line(const Machine& machine, const KernelCase& kernel, const Measurement& measured, std::size_t rotation_bytes,
                 const Parts& parts) {
    std::string text;
    for (const auto& [column, value] : kernel.columns) {
        text += value + ",";
    }
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
            const TableKind* kind = kind_of(row);
            std::vector<std::pair<std::string, std::string>> columns;
            for (const auto& [name, value] : row.values) {
                if (!is_of_measurement(name)) {
                    columns.emplace_back(name, value);
                }
            }
            known_.insert(key_of(kind != nullptr ? std::string(kind->name) : "", std::move(columns)));
        }
    }
}

bool MeasurementFiles::holds(const KernelCase& kernel) const { return known_.count(key_of(kernel.table, kernel.columns)) > 0; }

fs::path MeasurementFiles::file_of(const std::string& table) const {
    return folder_ / fmt::format("{}_{}.csv", machine_.name, table);
}

void MeasurementFiles::append(const KernelCase& kernel, const Measurement& measurement, std::size_t rotation_bytes,
                              const Parts& parts) {
    const fs::path path = file_of(kernel.table);
    const bool fresh = !fs::exists(path) || fs::file_size(path) == 0;
    std::ofstream out(path, std::ios::binary | std::ios::app);
    out << (fresh ? header(machine_, kernel, parts) : "") << line(machine_, kernel, measurement, rotation_bytes, parts)
        << std::flush;
    if (!out) {
        throw OutputError(fmt::format("{}: cannot be written", path.string()));
    }
    known_.insert(key_of(kernel.table, kernel.columns));
}

std::vector<MeasuredFile> MeasurementFiles::read() const {
    std::vector<fs::path> paths;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_)) {
        if (entry.path().extension() == ".csv" && has_rows(entry.path())) {
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
