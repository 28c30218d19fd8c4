#include "cli/calibrate/kernel_tables.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "calibrate/kernel_fit.h"
#include "json/reader.h"
#include "json/wording.h"

namespace treeline {
namespace {

namespace fs = std::filesystem;

constexpr double most_rows = 1024.0;

std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

/// "h100" of "h100-sxm".
std::string first_word(const std::string& device) { return device.substr(0, device.find('-')); }

/// Values of a row, with every problem noted.
class Row {
public:
    Row(const MeasuredRow& row, std::vector<std::string>& problems) : row_(row), problems_(problems) {}

    [[nodiscard]] bool has(std::string_view name) const { return row_.values.find(name) != row_.values.end(); }

    std::string text(std::string_view name) {
        const auto at = row_.values.find(name);
        if (at == row_.values.end()) {
            problem(fmt::format("has no column {}", name));
            return {};
        }
        return at->second;
    }

    double number(std::string_view name, double least) {
        const std::string written = text(name);
        double value = 0.0;
        const auto [end, error] = std::from_chars(written.data(), written.data() + written.size(), value);
        const bool whole = error == std::errc() && end == written.data() + written.size() && std::isfinite(value);
        if (good_ && (!whole || value < least)) {
            problem(fmt::format("{} must be a number of at least {:g}, not \"{}\"", name, least, written));
        }
        return whole ? value : least;
    }

    NumberFormat format(std::string_view name) {
        const std::string written = text(name);
        const std::optional<NumberFormat> found = number_format(written);
        if (good_ && !found) {
            problem(fmt::format("{} \"{}\" is no number format", name, written));
        }
        return found.value_or(NumberFormat::bf16);
    }

    [[nodiscard]] bool good() const { return good_; }
    [[nodiscard]] Seconds time() const { return row_.time; }

private:
    void problem(const std::string& sentence) {
        good_ = false;
        problems_.push_back(fmt::format("{}: {}", row_.place, sentence));
    }

    const MeasuredRow& row_;
    std::vector<std::string>& problems_;
    bool good_ = true;
};

/// A sample and the table it belongs to.
struct Converted {
    KernelClass kernel = KernelClass::gemm;
    NumberFormat format = NumberFormat::bf16;
    KernelSample sample;
    Bytes stationary;         ///< what a replay finds in the cache where it fits: weights, keys and values, states
    bool of_decoding = true;  ///< false: not a kernel that decoding runs
};

Converted linear_row(Row& row) {
    const NumberFormat format = row.format("dtype");
    const double m = row.number("m", 1), n = row.number("n", 1), k = row.number("k", 1);
    const KernelSample sample = linear_sample(m, n, k, format, row.time());
    // Half the weights count: tables are measured with several copies in turn, which stay in the cache together more easily.
    return {KernelClass::gemm, format, sample, sample.operation.bytes.fixed * 0.5, m <= most_rows};
}

Converted attention_row(Row& row) {
    const NumberFormat format = row.format("kv_dtype");
    const AttentionShape shape{row.number("batch", 1),   row.number("query_tokens", 1), row.number("context", 1),
                               row.number("q_heads", 1), row.number("kv_heads", 1),     row.number("head_dim", 1),
                               row.number("window", 0)};
    const bool grouped = shape.query_heads > shape.kv_heads;
    return {grouped ? KernelClass::attention : KernelClass::attention_ungrouped, format,
            attention_sample(shape, format, row.time()), cache_bytes(shape, format)};
}

Converted recurrent_row(Row& row) {
    const NumberFormat format = row.format("state_dtype");
    const RecurrentShape shape{row.number("batch", 1), row.number("tokens", 1), row.number("heads", 1),
                               row.number("head_k_dim", 1), row.number("head_v_dim", 1)};
    const bool alone = row.number("fused_conv", 0) == 0.0;
    return {KernelClass::scan, format, recurrent_sample(shape, format, row.time()), state_bytes(shape, format) * shape.batch,
            alone};
}

/// SGLang's verification rows run the one-token kernel over batch · tokens rows, which only approximates serving (README of the
/// tables).
Converted convolution_row(Row& row) {
    const bool update = row.text("phase") != "context";
    const bool stand_in = row.text("phase") == "verify" && row.has("framework") && row.text("framework") == "sglang";
    const double batch = row.number("batch", 1), tokens = row.number("tokens", 1);
    const double channels = row.number("channels", 1), width = row.number("d_conv", 1);
    const KernelSample sample = convolution_sample(batch, tokens, channels, width, row.time());
    const Bytes traffic = bytes_of<false, false>(sample.operation, terms_of(sample.shape));
    return {KernelClass::convolution, NumberFormat::bf16, sample, traffic, update && !stand_in};
}

struct TableKind {
    std::string_view name;
    std::string_view telling_column;  ///< that only this kind has
    Converted (*convert)(Row&);
    std::string_view domain;
};

constexpr std::array<TableKind, 4> kinds = {{
    {"gemm", "k", linear_row, "weights above twice the last-level cache, at most 512 rows"},
    {"attention_decode", "kv_dtype", attention_row, "keys and values above the last-level cache"},
    {"recurrent_verify", "state_dtype", recurrent_row,
     "kernels of the recurrence alone, live states above the last-level cache"},
    {"conv1d", "d_conv", convolution_row, "updates whose traffic is above the last-level cache"},
}};

const TableKind* kind_of(const MeasuredRow& row) {
    const auto benchmark = row.values.find("benchmark");
    for (const TableKind& kind : kinds) {
        if (benchmark != row.values.end() ? benchmark->second == kind.name
                                          : row.values.find(kind.telling_column) != row.values.end()) {
            return &kind;
        }
    }
    return nullptr;
}

/// A sentence where a file is of another device, by what it says or by its name ("l40s_gemm.csv").
std::string device_problem(const MeasuredFile& file, const Device& device) {
    const std::string word = first_word(device.name);
    if (!file.device.empty() && lower(file.device).find(word) == std::string::npos) {
        return fmt::format("{}: was measured on {}, not on {}", file.path, file.device, device.name);
    }
    const std::string stem = fs::path(file.path).stem().string();
    for (const TableKind& kind : kinds) {
        const std::string suffix = fmt::format("_{}", kind.name);
        if (stem.size() > suffix.size() && stem.ends_with(suffix) && stem.substr(0, stem.size() - suffix.size()) != word &&
            stem.substr(0, stem.size() - suffix.size()) != device.name) {
            return fmt::format("{}: is a table of {} by its name, not of {}", file.path,
                               stem.substr(0, stem.size() - suffix.size()), device.name);
        }
    }
    return {};
}

/// Traffic below this share of the last-level cache takes no time beside the launch.
constexpr double tiny_share = 1.0 / 32.0;

void add(const TableKind& kind, Converted converted, const Device& device, std::vector<KernelTable>& tables) {
    auto table = std::find_if(tables.begin(), tables.end(), [&](const KernelTable& known) {
        return known.kernel == converted.kernel && known.format == converted.format;
    });
    if (table == tables.end()) {
        const Bytes ramp = device.cache * (converted.kernel == KernelClass::gemm ? 2.0 : 1.0);
        tables.push_back({converted.kernel, converted.format, {}, {}, ramp, std::string(kind.domain), 0});
        table = std::prev(tables.end());
    }
    if (converted.of_decoding && converted.stationary > device.cache) {
        table->samples.push_back(std::move(converted.sample));
    } else if (converted.of_decoding && bytes_at(converted.sample) < device.cache * tiny_share) {
        table->tiny.push_back(std::move(converted.sample));
    } else {
        ++table->left_out;
    }
}

std::vector<fs::path> tables_in(const fs::path& folder, const Device& device) {
    std::vector<fs::path> files;
    for (const TableKind& kind : kinds) {
        for (const std::string& name : {first_word(device.name), device.name}) {
            for (const char* ending : {"csv", "json"}) {
                const fs::path file = folder / fmt::format("{}_{}.{}", name, kind.name, ending);
                if (fs::is_regular_file(file) && std::find(files.begin(), files.end(), file) == files.end()) {
                    files.push_back(file);
                }
            }
        }
    }
    if (files.empty()) {
        throw InputError({fmt::format("{}: holds no table of {} (such as {}_gemm.csv)", folder.string(), device.name,
                                      first_word(device.name))});
    }
    return files;
}

}  // namespace

std::vector<KernelTable> kernel_tables_of(const std::vector<MeasuredFile>& files, const Device& device) {
    constexpr std::size_t most_problems = 5;
    std::vector<std::string> problems;
    std::vector<KernelTable> tables;
    for (const MeasuredFile& file : files) {
        if (std::string problem = device_problem(file, device); !problem.empty()) {
            problems.push_back(std::move(problem));
            continue;
        }
        for (const MeasuredRow& measured : file.rows) {
            const TableKind* kind = kind_of(measured);
            if (kind == nullptr) {
                problems.push_back(fmt::format(
                    "{}: is no gemm, attention_decode, recurrent_verify or conv1d row by its columns", measured.place));
            } else {
                Row row(measured, problems);
                Converted converted = kind->convert(row);
                if (row.good()) {
                    add(*kind, std::move(converted), device, tables);
                }
            }
            if (problems.size() >= most_problems) {
                throw InputError(std::move(problems));
            }
        }
    }
    for (const KernelTable& table : tables) {
        for (const std::string& problem : treeline::problems(table)) {
            problems.push_back(fmt::format("{}: {}", files.front().path, problem));
        }
    }
    if (!problems.empty()) {
        throw InputError(std::move(problems));
    }
    return tables;
}

std::vector<KernelTable> read_kernel_tables(const std::vector<std::string>& files_or_folder, const Device& device) {
    std::vector<MeasuredFile> files;
    for (const std::string& path : files_or_folder) {
        if (fs::is_directory(path)) {
            for (const fs::path& file : tables_in(path, device)) {
                files.push_back(read_measured_rows(file));
            }
        } else {
            files.push_back(read_measured_rows(path));
        }
    }
    return kernel_tables_of(files, device);
}

}  // namespace treeline
