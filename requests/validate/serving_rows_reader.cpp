#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "requests/validate/measured_rows_reader.h"
#include "sim/input_limits.h"
#include "text/csv.h"
#include "text/input_error.h"
#include "text/input_file.h"
#include "text/parse_number.h"
#include "text/problems.h"
#include "text/version.h"
#include "text/wording.h"

namespace treeline::requests {
namespace {

const std::vector<std::string> required_columns = {"id",  "backend", "model",      "system", "precision",
                                                   "isl", "osl",     "batch_size", "tp",     "tpot_ms"};
const std::vector<std::string> optional_columns = {"backend_version", "moe_precision", "pp",      "attention_dp",
                                                   "moe_tp",          "moe_ep",        "ttft_ms", "concurrency"};

constexpr std::size_t longest_word = 60;

/// "vllm@0.5", "vllm 0.10.1".
bool holds_version(const std::string& engine) {
    const std::size_t digit = engine.find_first_of("0123456789");
    return engine.find('@') != std::string::npos ||
           (digit != std::string::npos && text::version_in(std::string_view(engine).substr(digit)).size() > 1);
}

/// A release, a date or a build has a digit; other words are the branches that people build, and those of the name table.
bool is_version(const std::string& text, const validation::EngineEntry& engine) {
    const std::string word = validation::normalised(text);
    return word.empty() || word.find_first_of("0123456789") != std::string::npos ||
           validation::fits_any({"nightly*", "main*", "master*", "latest*", "dev*"}, word) ||
           std::any_of(engine.versions.begin(), engine.versions.end(),
                       [&](const validation::VersionEntry& entry) { return validation::fits_any(entry.patterns, word); });
}

/// Other words for sixteen bits.
std::string usual_word(const std::string& format) {
    const std::string word = validation::normalised(format);
    return word == "bfloat16" || word == "float16" ? "bf16" : format;
}

class ServingFile {
public:
    ServingFile(const std::filesystem::path& path, const validation::NameTable* names)
        : name_(path.filename().string()), text_(text::read_file(path)), csv_(text_), names_(names) {}

    std::vector<validation::ServingRun> read(std::vector<std::string>& notes, std::vector<std::string>* bad_rows) {
        check_header(notes);
        std::vector<validation::ServingRun> rows;
        for (std::size_t number = 1; csv_.next(); ++number) {
            place_ = {name_, number};
            const std::size_t before = problems_.size();
            if (!csv_.problem().empty()) {
                problem(csv_.problem());
            } else if (validation::ServingRun read = row(); problems_.size() == before) {
                rows.push_back(std::move(read));
            }
        }
        if (rows.empty()) {
            throw text::InputError(problems_.empty() ? std::vector<std::string>{name_ + ": holds no rows"} : problems_);
        }
        std::vector<std::string>& left_out = bad_rows == nullptr ? notes : *bad_rows;
        for (const std::string& problem : problems_) {
            text::add_problem(left_out, problem + text::left_out_row);
        }
        return rows;
    }

private:
    void check_header(std::vector<std::string>& notes) {
        for (const std::string& column : required_columns) {
            if (!csv_.column(column)) {
                problems_.push_back(fmt::format("{}: the column \"{}\" is missing", name_, column));
            }
        }
        if (!problems_.empty()) {
            throw text::InputError(problems_);
        }
        for (const std::string& column : csv_.header()) {
            const auto knows = [&](const std::vector<std::string>& known) {
                return std::find(known.begin(), known.end(), column) != known.end();
            };
            if (!knows(required_columns) && !knows(optional_columns)) {
                notes.push_back(fmt::format("{}: the column \"{}\" is not used", name_, column));
            }
        }
    }

    void problem(const std::string& what) {
        text::add_problem(problems_, fmt::format("{}: row {} (line {}): {}", name_, place_.number, csv_.line(), what));
    }

    std::string text(const char* column) { return csv_.column(column) ? csv_[column] : ""; }

    /// A number of at least `low`; `low` after noting a problem.
    double number(const char* column, double low) {
        const std::string& field = csv_[column];
        const std::optional<double> value = text::parse_number(field);
        if (!value || *value < low) {
            problem(fmt::format("{}: must be a number of at least {}, not \"{}\"", column, low, field));
            return low;
        }
        return *value;
    }

    /// A whole number of devices: nothing without the column; 0 where the field is empty.
    std::optional<double> ranks_or_none(const char* column) {
        if (!csv_.column(column)) {
            return std::nullopt;
        }
        const double ranks = csv_[column].empty() ? 0.0 : number(column, 0.0);
        if (ranks != std::floor(ranks) || ranks > sim::most_ranks) {
            problem(fmt::format("{}: must be a whole number up to {}, not {}", column, sim::most_ranks, csv_[column]));
        }
        return ranks;
    }

    validation::ServingRun row() {
        validation::ServingRun row;
        row.place = place_;
        row.id = text("id");
        row.engine = text("backend");
        row.engine_version = text("backend_version");
        row.model = text("model");
        row.device = text("system");
        row.format = usual_word(text("precision"));
        row.expert_format = usual_word(text("moe_precision"));
        row.prompt_tokens = number("isl", 1.0);
        row.output_tokens = number("osl", 1.0);
        row.batch = number("batch_size", 1.0);
        row.ranks.tensor = ranks_or_none("tp");
        row.ranks.pipeline = ranks_or_none("pp");
        row.ranks.attention_data = ranks_or_none("attention_dp");
        row.ranks.expert_tensor = ranks_or_none("moe_tp");
        row.ranks.expert = ranks_or_none("moe_ep");
        if (csv_.column("ttft_ms") && !csv_["ttft_ms"].empty()) {
            row.ttft_ms = number("ttft_ms", 0.0);
        }
        row.tpot_ms = number("tpot_ms", 1e-6);
        if (names_ != nullptr) {
            check_names(row);
        }
        return row;
    }

    void check_names(const validation::ServingRun& row) {
        const validation::EngineEntry* engine = validation::engine_for(*names_, row.engine);
        const auto check_format = [&](const char* column, const std::string& text) {
            if (validation::format_in(*names_, text, engine == nullptr ? "" : engine->names.name) == nullptr) {
                problem(fmt::format("{}: must be a number format such as bf16, fp8, int4 or nvfp4, not \"{}\"", column,
                                    text::shortened(text, longest_word)));
            }
        };
        check_format("precision", row.format);
        if (!row.expert_format.empty()) {
            check_format("moe_precision", row.expert_format);
        }
        if (holds_version(row.engine)) {
            problem(fmt::format("backend: names a version (\"{}\"), which belongs under backend_version",
                                text::shortened(row.engine, longest_word)));
        }
        if (engine != nullptr && !is_version(row.engine_version, *engine)) {
            problem(fmt::format("backend_version: names no version that is known: \"{}\"",
                                text::shortened(row.engine_version, longest_word)));
        }
    }

    std::string name_, text_;
    text::CsvReader csv_;
    const validation::NameTable* names_;
    validation::RowPlace place_;
    std::vector<std::string> problems_;
};

}  // namespace

std::vector<validation::ServingRun> read_serving_rows(const std::filesystem::path& path, std::vector<std::string>& notes,
                                                      std::vector<std::string>* bad_rows, const validation::NameTable* names) {
    return ServingFile(path, names).read(notes, bad_rows);
}

}  // namespace treeline::requests
