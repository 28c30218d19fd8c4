#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "calibrate/timings/llama_bench.h"
#include "calibrate/timings/timing_formats.h"
#include "json/reader.h"
#include "text/problems.h"
#include "text/wording.h"

namespace treeline::calibrate {
namespace {

using Json = nlohmann::ordered_json;

constexpr double most_tokens = 1e9;

/// A time under "time_ms" or the like; nothing if no such key exists.
std::optional<Seconds> time_under(json::Reader& row, const std::string& prefix, bool zero_allowed) {
    std::optional<Seconds> found;
    for (const TimeUnit& unit : time_units) {
        const std::string key = fmt::format("{}_{}", prefix, unit.name);
        if (!row.has(key)) {
            continue;
        }
        if (found) {
            row.problem(key, "states the time twice, as another unit is given");
        }
        const double value = row.number(key, 0.0, longest_time / unit.seconds);
        if (!zero_allowed && value <= 0.0) {
            row.problem(key, "must be above zero");
        }
        found = Seconds(value * unit.seconds);
    }
    return found;
}

/// A row in a document of its own, so that its problems are known apart.
void read_row(const Json& tree, const std::string& name, TimingFile& file, std::vector<std::string>& bad_rows) {
    json::Document document = json::Document::of(tree, name);
    json::Reader row = document.root();
    const double tokens = row.number("tokens", 0.0, most_tokens);
    const std::optional<Seconds> time = time_under(row, "time", false);
    if (!time) {
        row.problem({}, "needs one of time_s, time_ms, time_us and time_ns");
    }
    const std::optional<Seconds> spread = time_under(row, "spread", true);
    const std::string series = row.text_or("series", "");
    row.finish();
    if (document.problems().empty()) {
        add_timing(file, series, {tokens, time.value_or(Seconds(1.0)), spread});
    } else {
        text::add_problem(bad_rows, text::listed(document.problems(), "and"));
    }
}

}  // namespace

void read_timings_json(const std::string& text, TimingFile& file, std::vector<std::string>& bad_rows) {
    const bool array = text.find_first_not_of(" \t\r\n") != std::string::npos && text[text.find_first_not_of(" \t\r\n")] == '[';
    json::Document document = json::Document::parse(array ? "{\"rows\":" + text + "}" : text, file.path);
    document.throw_if_problems();
    json::Reader root = document.root();
    file.title = root.text_or("title", "");
    file.source = root.text_or("source", "");
    if (root.text_or("format", "treeline-fit") != "treeline-fit") {
        root.problem("format", "must be treeline-fit if given");
    }
    for (const char* const of_result : {"version", "series", "notes"}) {
        static_cast<void>(root.has(of_result));
    }
    std::vector<json::Reader> rows = root.objects("rows");
    root.finish();
    if (root.raw().contains("rows") && is_llama_bench(root.raw()["rows"])) {
        const LlamaPasses read = read_llama_passes(std::move(rows), root.raw()["rows"]);
        for (const LlamaPass& pass : read.passes) {
            add_timing(file, fmt::format("{} at context {:.0f}{}", pass.model, pass.context, pass.settings),
                       {pass.tokens, pass.time, pass.spread});
        }
        file.notes.insert(file.notes.end(), read.notes.begin(), read.notes.end());
    } else {
        document.throw_if_problems();
        for (std::size_t i = 0; i < rows.size(); ++i) {
            read_row(rows[i].raw(), fmt::format("{}: rows[{}]", file.path, i), file, bad_rows);
        }
    }
    document.throw_if_problems();
}

}  // namespace treeline::calibrate
