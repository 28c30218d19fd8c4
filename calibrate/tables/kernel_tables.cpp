#include "calibrate/tables/kernel_tables.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include <fmt/format.h>

#include "calibrate/kernel_fit.h"
#include "calibrate/tables/row_agreement.h"
#include "calibrate/tables/table_rows.h"
#include "json/reader.h"
#include "numerics/quantile.h"
#include "sim/law_choice.h"

namespace treeline::calibrate {
namespace {

namespace fs = std::filesystem;

std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

/// "h100" of "h100-sxm".
std::string first_word(const std::string& device) { return device.substr(0, device.find('-')); }

/// How tables are called: as their kind, or as one of these further tables of a kind.
std::vector<std::string> table_names() {
    std::vector<std::string> names;
    for (const TableKind& kind : table_kinds()) {
        names.emplace_back(kind.name);
        if (kind.name == "gemm" || kind.name == "experts") {
            names.emplace_back(kind.name == "gemm" ? "gemm_scaled" : "experts_fp4");
        }
    }
    return names;
}

/// A sentence if a file is of another device, by its content or its name ("l40s_gemm.csv").
std::string device_problem(const MeasuredFile& file, const sim::Device& device) {
    const std::string word = first_word(device.name);
    if (!file.device.empty() && lower(file.device).find(word) == std::string::npos) {
        return fmt::format("{}: was measured on {}, not on {}", file.path, file.device, device.name);
    }
    const std::string stem = fs::path(file.path).stem().string();
    for (const std::string& table : table_names()) {
        const std::string suffix = "_" + table;
        if (stem.size() > suffix.size() && stem.ends_with(suffix) && stem.substr(0, stem.size() - suffix.size()) != word &&
            stem.substr(0, stem.size() - suffix.size()) != device.name) {
            return fmt::format("{}: is a table of {} by its name, not of {}", file.path,
                               stem.substr(0, stem.size() - suffix.size()), device.name);
        }
    }
    return {};
}

/// Traffic below this share of the last-level cache takes no time beyond the launch.
constexpr double tiny_share = 1.0 / 32.0;

KernelTable& table_of(const TableKind& kind, const ConvertedRow& converted, const sim::Device& device, const std::string& file,
                      std::vector<KernelTable>& tables) {
    const auto table = std::find_if(tables.begin(), tables.end(), [&](const KernelTable& known) {
        return known.kernel == converted.kernel && known.format == converted.format && known.family == converted.family;
    });
    if (table != tables.end()) {
        return *table;
    }
    KernelTable made;
    made.kernel = converted.kernel;
    made.format = converted.format;
    made.family = converted.family;
    made.ours = converted.ours;
    made.ramp_bytes = device.cache * (converted.kernel == sim::KernelClass::gemm ? 2.0 : 1.0);
    made.domain = kind.domain;
    made.on_cpu = device.kind == sim::DeviceKind::cpu;
    made.workers = device.multiprocessors;
    made.file = file;
    tables.push_back(std::move(made));
    return tables.back();
}

/// Whether reading the data from memory rather than the cache would hardly lengthen the time.
bool is_short(const ConvertedRow& converted, const sim::Device& device) {
    constexpr double hardly = 0.1;
    return converted.short_ones_count && bytes_at(converted.sample) / device.bandwidth < converted.sample.time * hardly;
}

/// A table may hold a size twice: NCCL's in 16 bits and in int8, which NVLink switches do not add. The faster one counts.
bool replaces_slower(const KernelSample& sample, KernelTable& table) {
    for (KernelSample& known : table.samples) {
        if (known.site == sample.site && known.operation.ranks == sample.operation.ranks) {
            known.time = std::min(known.time, sample.time);
            return true;
        }
    }
    return false;
}

void add(const TableKind& kind, ConvertedRow converted, const sim::Device& device, const std::string& file,
         std::vector<KernelTable>& tables) {
    KernelTable& table = table_of(kind, converted, device, file, tables);
    if (converted.of_decoding && (converted.stationary > device.cache || is_short(converted, device))) {
        if (converted.kernel != sim::KernelClass::all_reduce || !replaces_slower(converted.sample, table)) {
            table.samples.push_back(std::move(converted.sample));
        }
    } else if (converted.of_decoding && !converted.short_ones_count && bytes_at(converted.sample) < device.cache * tiny_share) {
        table.tiny.push_back(std::move(converted.sample));
    } else {
        ++table.left_out;
        if (converted.of_decoding) {
            table.from_cache.push_back(std::move(converted.sample));
        }
    }
}

void add_row(const TableKind& kind, const MeasuredRow& measured, const sim::Device& device, const std::string& file,
             RowAgreement& agreement, std::vector<KernelTable>& tables, std::vector<std::string>& problems) {
    TableRow row(measured, problems);
    ConvertedRow converted = kind.convert(row);
    converted.sample.spread = row.number_or("spread", 0.0, 0.0);
    if (device.kind == sim::DeviceKind::cpu && converted.kernel == sim::KernelClass::attention_ungrouped) {
        converted.kernel =
            sim::KernelClass::attention;  // one kernel runs both, and its law tells them apart by the rows per cache
    }
    // Our own measurements say over how much memory their data rotated: however small a case is, it comes from main memory.
    if (row.has("rotation_bytes")) {
        converted.stationary = std::max(converted.stationary, Bytes(0.5 * row.number("rotation_bytes", 0.0)));
        converted.ours = converted.kernel != sim::KernelClass::gemm;  // linear layers run a library's kernels
        if (device.kind == sim::DeviceKind::gpu && !kind.stands_for.empty()) {
            converted.family = sim::own_family(converted.sample.operation);
        }
    }
    if (row.good()) {
        agreement.check(measured, converted, problems);
        add(kind, std::move(converted), device, file, tables);
    }
}

/// The tables of the device in a folder; none if it holds none.
std::vector<fs::path> tables_in(const fs::path& folder, const sim::Device& device) {
    std::vector<fs::path> files;
    for (const std::string& table : table_names()) {
        for (const std::string& name : {first_word(device.name), device.name}) {
            for (const char* ending : {"csv", "json"}) {
                const fs::path file = folder / fmt::format("{}_{}.{}", name, table, ending);
                if (fs::is_regular_file(file) && std::find(files.begin(), files.end(), file) == files.end()) {
                    files.push_back(file);
                }
            }
        }
    }
    return files;
}

/// A row by its time and its values in these columns.
std::string row_text(const MeasuredRow& row, const std::vector<std::string>& columns) {
    std::string text = fmt::format("{}", row.time.value());
    for (const std::string& column : columns) {
        const auto value = row.values.find(column);
        text += "|" + (value == row.values.end() ? std::string() : value->second);
    }
    return text;
}

/// Columns that the first rows of two files share: a later edition of a table may have more.
std::vector<std::string> shared_columns(const MeasuredFile& a, const MeasuredFile& b) {
    std::vector<std::string> shared;
    for (const auto& [column, value] : a.rows.front().values) {
        if (b.rows.front().values.contains(column)) {
            shared.push_back(column);
        }
    }
    return shared;
}

/// Leaves out of `file` what an earlier file of the same name says already: folders may hold editions of one table.
void leave_out_repeated(const std::vector<MeasuredFile>& earlier, MeasuredFile& file) {
    for (const MeasuredFile& known : earlier) {
        if (fs::path(known.path).filename() != fs::path(file.path).filename() || known.rows.empty() || file.rows.empty()) {
            continue;
        }
        const std::vector<std::string> columns = shared_columns(known, file);
        std::set<std::string> rows;
        for (const MeasuredRow& row : known.rows) {
            rows.insert(row_text(row, columns));
        }
        std::erase_if(file.rows, [&](const MeasuredRow& row) { return rows.contains(row_text(row, columns)); });
    }
}

/// A family measured on too few shapes needs no law where another one of the same class and format has one.
void leave_out_rare_families(std::vector<KernelTable>& tables) {
    const std::vector<KernelTable> all = tables;
    std::erase_if(tables, [&](const KernelTable& table) {
        return !problems(table).empty() && std::any_of(all.begin(), all.end(), [&](const KernelTable& other) {
            return other.kernel == table.kernel && other.format == table.format && other.family != table.family &&
                   problems(other).empty();
        });
    });
    // The first family serves engines whose own was not measured: another engine's kernels are nearer to it than NCCL.
    std::stable_partition(tables.begin(), tables.end(), [](const KernelTable& table) { return table.family != "nccl"; });
}

/// Times of one row over those of two, of each layer that has both.
std::vector<double> one_row_over_two(const std::vector<KernelSample>& samples) {
    std::map<std::string, std::array<double, 2>> times;
    for (const KernelSample& sample : samples) {
        if (sample.shape.sequences == 1.0 || sample.shape.sequences == 2.0) {
            times[sample.site][sample.shape.sequences == 1.0 ? 0 : 1] = sample.time.value();
        }
    }
    std::vector<double> ratios;
    for (const auto& [site, pair] : times) {
        if (pair[0] > 0.0 && pair[1] > 0.0) {
            ratios.push_back(pair[0] / pair[1]);
        }
    }
    return ratios;
}

/// A layer of one row takes no longer than of two: where most of a table say so, something else was in the time of that one row
/// (12 to 19 us in fp8 on GB200 and B300 in vLLM 0.24, whatever the shape, in no other version or engine).
void leave_out_slow_single_rows(KernelTable& table) {
    constexpr double more_than_noise = 1.08;
    std::vector<double> ratios = one_row_over_two(table.samples);
    if (table.kernel != sim::KernelClass::gemm || ratios.empty() || numerics::quantile(ratios, 0.5) < more_than_noise) {
        return;
    }
    table.left_out += std::erase_if(table.samples, [](const KernelSample& sample) { return sample.shape.sequences == 1.0; });
}

}  // namespace

std::vector<KernelTable> kernel_tables_of(const std::vector<MeasuredFile>& files, const sim::Device& device) {
    constexpr std::size_t most_problems = 5;
    std::vector<std::string> problems;
    std::vector<KernelTable> tables;
    RowAgreement agreement;
    for (const MeasuredFile& file : files) {
        if (std::string problem = device_problem(file, device); !problem.empty()) {
            problems.push_back(std::move(problem));
            continue;
        }
        for (const MeasuredRow& measured : file.rows) {
            const TableKind* kind = kind_of(measured);
            if (kind == nullptr) {
                problems.push_back(fmt::format(
                    "{}: is not a gemm, attention, experts, collective, recurrent or convolution row by its columns",
                    measured.place));
            } else if (kind->convert != nullptr) {
                add_row(*kind, measured, device, file.path, agreement, tables, problems);
            }
            if (problems.size() >= most_problems) {
                throw text::InputError(std::move(problems));
            }
        }
    }
    if (!problems.empty()) {
        throw text::InputError(std::move(problems));
    }
    std::for_each(tables.begin(), tables.end(), leave_out_slow_single_rows);
    leave_out_rare_families(tables);
    return tables;
}

std::vector<std::string> why_not_fitted(const KernelTable& table) {
    std::vector<std::string> sentences;
    for (const std::string& problem : problems(table)) {
        sentences.push_back(fmt::format("{}: {}", table.file, problem));
    }
    return sentences;
}

void require_fittable(const std::vector<KernelTable>& tables) {
    std::vector<std::string> all;
    for (const KernelTable& table : tables) {
        const std::vector<std::string> sentences = why_not_fitted(table);
        all.insert(all.end(), sentences.begin(), sentences.end());
    }
    if (!all.empty()) {
        throw text::InputError(std::move(all));
    }
}

std::vector<MeasuredFile> read_measured_files(const std::vector<std::string>& files_or_folders, const sim::Device& device) {
    std::vector<MeasuredFile> files;
    std::vector<std::string> without;
    const auto add_file = [&](const fs::path& path) {
        MeasuredFile file = read_measured_rows(path);
        leave_out_repeated(files, file);
        files.push_back(std::move(file));
    };
    for (const std::string& path : files_or_folders) {
        if (!fs::is_directory(path)) {
            add_file(path);
            continue;
        }
        const std::vector<fs::path> tables = tables_in(path, device);
        std::for_each(tables.begin(), tables.end(), add_file);
        if (tables.empty()) {
            without.push_back(
                fmt::format("{}: holds no table of {} (such as {}_gemm.csv)", path, device.name, first_word(device.name)));
        }
    }
    if (files.empty() && !without.empty()) {
        throw text::InputError(std::move(without));
    }
    return files;
}

std::vector<KernelTable> read_kernel_tables(const std::vector<std::string>& files_or_folders, const sim::Device& device) {
    std::vector<KernelTable> tables = kernel_tables_of(read_measured_files(files_or_folders, device), device);
    require_fittable(tables);
    return tables;
}

}  // namespace treeline::calibrate
