#include "reports/run/run_output.h"

#include <cmath>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "reports/json_rows.h"
#include "text/number_text.h"
#include "text/table.h"

namespace treeline::reports {
namespace {

using Json = nlohmann::ordered_json;

/// Half a 90 % interval of a normal law.
constexpr double half_of_90 = 1.645;

std::string with_error(double value, double error, int decimals) {
    return error > 0.0
               ? fmt::format("{} ± {}", text::fixed_text(value, decimals), text::fixed_text(half_of_90 * error, decimals))
               : text::fixed_text(value, decimals);
}

std::string time_cell(const runs::MeasuredMean& mean) {
    return mean.known() ? with_error(1e3 * mean.mean(), 1e3 * mean.standard_error(), 2) : "";
}

std::string count_text(double value) { return value > 0.0 ? text::short_text(value) : ""; }

/// "4", or of a tree "31 (sglang:5,8,32)".
std::string tokens_text(const runs::RunCell& cell) {
    return std::to_string(cell.draft_tokens) + (cell.shape.empty() ? "" : " (" + cell.shape + ")");
}

template <class Add>
void add_settings(const runs::RunSettings& settings, const Add& add) {
    if (settings.graphs != runs::GraphMode::unknown) {
        const std::string mode = settings.graphs == runs::GraphMode::full        ? "whole passes"
                                 : settings.graphs == runs::GraphMode::piecewise ? "pieces of passes"
                                                                                 : "none";
        add("graphs", mode + (settings.graphs_because.empty() ? "" : " (" + settings.graphs_because + ")"));
    }
    add("weights", settings.weights);
    add("cache", settings.cache_format);
    add("attention", settings.attention);
    add("scheduling", settings.scheduling);
    add("engines of data parallelism", settings.data_parallel > 1.0 ? text::short_text(settings.data_parallel) : "");
}

std::string identity_text(const runs::MeasuredRun& run) {
    text::FactList facts;
    const runs::RunIdentity& identity = run.identity;
    const auto add = [&](const char* name, const std::string& value) {
        if (!value.empty()) {
            facts.add(name, value);
        }
    };
    add("engine", identity.engine + (identity.version.empty() ? "" : " " + identity.version));
    add("model", identity.model);
    add("drafter", identity.drafter);
    add("method", identity.method);
    add("device", identity.device);
    add("ranks", identity.ranks > 0.0 ? text::short_text(identity.ranks) : "");
    add_settings(run.settings, add);
    for (const runs::RunSource& source : run.sources) {
        facts.add(source.file, source.format);
    }
    return facts.text();
}

/// Accept lengths that were printed without counts: of each load, since they fall with the context and the batch.
void add_stated(const runs::MeasuredRun& run, const runs::RunCell& draft, text::TextTable& table) {
    for (const runs::RunCell& cell : run.cells) {
        if (cell.draft_tokens == draft.draft_tokens && cell.shape == draft.shape && !cell.acceptance.known() &&
            cell.stated_length > 0.0) {
            std::string load = cell.batch > 0.0 ? fmt::format(", batch {:g}", cell.batch) : "";
            load += cell.context > 0.0 ? fmt::format(", context {:.0f}", cell.context) : "";
            table.add({tokens_text(draft), "", text::fixed_text(cell.stated_length, 2), "stated mean, without counts" + load});
        }
    }
}

std::string acceptance_text(const runs::MeasuredRun& run) {
    text::TextTable table({{"Draft tokens"}, {"rounds"}, {"accept length"}, {"by position", text::Align::left}});
    for (const runs::RunCell& draft : run.drafts()) {
        const runs::AcceptanceCounts counts = run.acceptance(draft.draft_tokens, draft.shape);
        add_stated(run, draft, table);
        if (!counts.known()) {
            continue;
        }
        const std::vector<double> positions = counts.rates(), errors = counts.position_errors();
        std::string by_position;
        for (std::size_t i = 0; i < positions.size(); ++i) {
            by_position += (i > 0 ? ", " : "") + with_error(positions[i], errors[i], 3);
        }
        table.add({tokens_text(draft), text::grouped_text(std::llround(counts.drafts)),
                   with_error(counts.accept_length(), counts.accept_length_error(), 3), by_position});
    }
    return table.empty() ? ""
                         : "\nAcceptance, with 90 % sampling intervals (bonus token in the accept length)\n\n" + table.text();
}

std::string times_text(const runs::MeasuredRun& run) {
    text::TextTable table({{"Batch"},
                           {"draft tokens"},
                           {"context"},
                           {"accept length"},
                           {"round, ms"},
                           {"TPOT, ms"},
                           {"TTFT, ms"},
                           {"tokens/s"},
                           {"drafting, ms"}});
    for (const runs::RunCell& cell : run.cells) {
        if (cell.round_seconds() <= 0.0 && !cell.tpot.known()) {
            continue;
        }
        table.add({count_text(cell.batch), tokens_text(cell), count_text(std::round(cell.context)),
                   cell.draft_tokens > 0 && cell.accept_length() > 0.0 ? text::fixed_text(cell.accept_length(), 2) : "",
                   time_cell(cell.round), time_cell(cell.tpot), time_cell(cell.ttft),
                   cell.tokens_per_second.known() ? text::short_text(cell.tokens_per_second.mean()) : "",
                   time_cell(cell.drafting)});
    }
    return table.empty() ? "" : "\nTimes (batch: running requests, or requests in flight)\n\n" + table.text();
}

/// What was accepted with other back ends, builds, caches or devices, beside what was accepted with this one.
std::string elsewhere_text(const runs::MeasuredRun& run) {
    text::TextTable table({{"Ran with", text::Align::left}, {"batch"}, {"draft tokens"}, {"context"}, {"accept length"}});
    for (const std::vector<runs::RunCell>* cells : {&run.cells, &run.elsewhere}) {
        for (const runs::RunCell& cell : *cells) {
            if (cell.draft_tokens > 0 && cell.accept_length() >= 1.0) {
                table.add({cell.variant, count_text(cell.batch), tokens_text(cell), count_text(std::round(cell.context)),
                           text::fixed_text(cell.accept_length(), 2)});
            }
        }
    }
    return run.elsewhere.empty() || table.empty() ? "" : "\nAcceptance of deployments that are kept apart\n\n" + table.text();
}

std::string passes_text(const runs::MeasuredRun& run) {
    text::TextTable table({{"Tokens of a pass"}, {"context"}, {"time, ms"}});
    for (const runs::PassTime& pass : run.passes) {
        table.add({text::short_text(pass.tokens), text::short_text(pass.context), time_cell(pass.seconds)});
    }
    return table.empty() ? "" : "\nPasses over several tokens\n\n" + table.text();
}

Json row_of(const runs::RunCell& cell) {
    const auto known = [](double value) { return value > 0.0 ? Json(value) : Json(); };
    return {{"batch", known(cell.batch)},
            {"draft_tokens", cell.draft_tokens},
            {"shape", cell.shape.empty() ? Json() : Json(cell.shape)},
            {"context", known(cell.context)},
            {"rounds", known(cell.acceptance.drafts)},
            {"accept_length", known(cell.accept_length())},
            {"accept_length_error", known(cell.acceptance.accept_length_error())},
            {"round_ms", known(1e3 * cell.round.mean())},
            {"tpot_ms", known(1e3 * cell.tpot.mean())},
            {"ttft_ms", known(1e3 * cell.ttft.mean())},
            {"tokens_per_s", known(cell.tokens_per_second.mean())},
            {"drafting_ms", known(1e3 * cell.drafting.mean())}};
}

}  // namespace

std::string run_table(const runs::MeasuredRun& run) {
    std::string text = identity_text(run) + acceptance_text(run) + times_text(run) + elsewhere_text(run) + passes_text(run);
    for (const std::string& remark : run.remarks) {
        text += "\n" + text::wrapped(remark, 110) + "\n";
    }
    return text;
}

std::string run_csv(const runs::MeasuredRun& run) {
    Json rows = Json::array();
    for (const runs::RunCell& cell : run.cells) {
        rows.push_back(row_of(cell));
    }
    return csv_of({"batch", "draft_tokens", "context", "rounds", "accept_length", "accept_length_error", "round_ms", "tpot_ms",
                   "ttft_ms", "tokens_per_s", "drafting_ms", "shape"},
                  rows);
}

}  // namespace treeline::reports
