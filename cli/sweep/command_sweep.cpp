// treeline sweep: prices a whole design space.
#include <cstring>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/sweep/sweep_output.h"
#include "reports/output_file.h"

namespace treeline {
namespace {

struct SweepFlags {
    CommonFlags common;
    std::string file, csv, json;
    std::string threads = "0", top = "10";
};

/// What one chunk adds to the CSV and to the JSON, packed into the one text that the sweep hands over in order.
struct ChunkText {
    std::string csv, json;

    [[nodiscard]] std::string packed() const {
        const std::uint64_t length = csv.size();
        std::string text(sizeof length, '\0');
        std::memcpy(text.data(), &length, sizeof length);
        return text + csv + json;
    }
    static std::pair<std::string_view, std::string_view> unpacked(std::string_view text) {
        std::uint64_t length = 0;
        std::memcpy(&length, text.data(), sizeof length);
        text.remove_prefix(sizeof length);
        return {text.substr(0, length), text.substr(length)};
    }
};

/// The files that a sweep fills as it runs.
class SweepFiles {
public:
    SweepFiles(const std::string& csv, const std::string& json, const SweepInput& input) {
        if (!csv.empty()) {
            csv_.emplace(csv);
            csv_->write(sweep_csv_header());
        }
        if (!json.empty()) {
            json_.emplace(json);
            json_->write(sweep_json_head(input));
        }
    }

    [[nodiscard]] std::string format(const SweepChunk& chunk) const {
        ChunkText text;
        if (csv_) {
            append_csv(chunk, text.csv);
        }
        if (json_) {
            append_json(chunk, text.json);
        }
        return text.packed();
    }

    void write(std::string_view packed) {
        auto [csv, json] = ChunkText::unpacked(packed);
        if (csv_) {
            csv_->write(csv);
        }
        if (json_ && !json.empty()) {
            if (first_) {
                json.remove_prefix(std::string_view(",\n").size());
                first_ = false;
            }
            json_->write(json);
        }
    }

    void finish(const SweepInput& input, const SweepSummary& summary) {
        if (json_) {
            json_->write(sweep_json_tail(input, summary));
        }
        for (std::optional<OutputFile>* file : {&csv_, &json_}) {
            if (*file) {
                (*file)->commit();
            }
        }
    }

    [[nodiscard]] bool any() const { return csv_ || json_; }

private:
    std::optional<OutputFile> csv_, json_;
    bool first_ = true;
};

/// --format says what goes to --output; --csv and --json name further files.
void resolve_outputs(SweepFlags& flags) {
    const Format format = flags.common.chosen_format();
    std::string& named = format == Format::csv ? flags.csv : flags.json;
    if (format != Format::table) {
        if (!named.empty()) {
            throw InputError(
                {fmt::format("--format {0} and --{0} both say where the {0} goes; give one of them", flags.common.format)});
        }
        named = flags.common.output;
    }
    if (!flags.csv.empty() && flags.csv == flags.json && flags.csv != "-") {
        throw InputError({fmt::format("--csv and --json both name {}", flags.csv)});
    }
    const std::string& table = format == Format::table ? flags.common.output : "";
    const int to_stdout = (flags.csv == "-") + (flags.json == "-");
    if (to_stdout > 1) {
        throw InputError({"--csv and --json cannot both write to standard output"});
    }
    if (to_stdout == 1 && table == "-") {
        flags.common.output.clear();  // the summary must not end up among the data
    }
}

void sweep(SweepFlags flags) {
    resolve_outputs(flags);
    SweepOptions options;
    options.threads = static_cast<unsigned>(whole_number("--threads", flags.threads, 0, 1024));
    options.best_count = static_cast<std::size_t>(whole_number("--top", flags.top, 0, 100'000));
    json::Document document = json::Document::load(flags.file);
    Descriptions descriptions(flags.common.find(), std::filesystem::path(flags.file).parent_path());
    const SweepInput input = read_sweep(document, descriptions);

    SweepFiles files(flags.csv, flags.json, input);
    if (files.any()) {
        options.format = [&files](const SweepChunk& chunk) { return files.format(chunk); };
        options.write = [&files](const std::string& packed) { files.write(packed); };
    }
    SweepSummary summary;
    {
        const InterruptGuard guard;
        Progress progress;
        options.progress = [&progress](std::uint64_t done, std::uint64_t total) {
            InterruptGuard::check();
            progress.show(done, total);
        };
        summary = run_sweep(input.space, options);
    }
    files.finish(input, summary);
    if (flags.common.chosen_format() == Format::table && !flags.common.output.empty()) {
        flags.common.deliver(sweep_table(input, summary));
    }
}

}  // namespace

Run add_sweep(CLI::App& app) {
    auto flags = std::make_shared<SweepFlags>();
    app.add_option("FILE", flags->file, "Axes of the design space (JSON)")->required();
    app.add_option("--csv", flags->csv, "Write every point to this CSV file; - is standard output")->type_name("FILE");
    app.add_option("--json", flags->json, "Write every point to this JSON file; - is standard output")->type_name("FILE");
    app.add_option("--threads", flags->threads, "Threads to use; 0 is one a core")->type_name("N")->capture_default_str();
    app.add_option("--top", flags->top, "Points with the highest speed-up to list")->type_name("N")->capture_default_str();
    add_common_flags(app, flags->common);
    app.footer(
        "The axes: target, precision, platform (or device, tensor_parallel, stack, mode), drafter, rollback, draft_tokens,\n"
        "shapes, verification, batch, context; numbers as [1, 2, 4], {\"from\": 1, \"to\": 8} or {\"powers_of_two\": "
        "{\"from\": 1, \"to\": 256}}.\n"
        "Conditions keep a point only if an expression of draft_tokens, depth, batch, context and tensor_parallel\nholds.\n\n"
        "Example:\n  treeline sweep examples/spire-study.json --csv spire.csv");
    return [flags] { sweep(*flags); };
}

}  // namespace treeline
