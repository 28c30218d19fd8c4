#include "store/results.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "json/wording.h"
#include "store/diff.h"
#include "store/stored_recommendation.h"
#include "store/stored_sweep.h"
#include "text/csv.h"
#include "text/input_error.h"
#include "text/number_text.h"
#include "text/parse_number.h"
#include "text/table.h"

namespace treeline::store {
namespace {

using Json = nlohmann::ordered_json;

/// A table of a store, however it is printed.
struct Listing {
    std::vector<std::string> columns;
    std::vector<Row> rows;
};

Json json_of(const Cell& cell) {
    if (const auto* whole = std::get_if<std::int64_t>(&cell)) {
        return *whole;
    }
    if (const auto* number = std::get_if<double>(&cell)) {
        return *number;
    }
    const std::string text = cell_text(cell);
    return std::holds_alternative<std::monostate>(cell) ? Json() : Json(text);
}

/// {"columns": {name: [values]}}: what pandas.DataFrame and DuckDB's read_json take as it is.
std::string as_json(const Listing& listing) {
    Json columns = Json::object();
    for (std::size_t i = 0; i < listing.columns.size(); ++i) {
        Json& column = columns[listing.columns[i]] = Json::array();
        for (const Row& row : listing.rows) {
            column.push_back(json_of(row[i]));
        }
    }
    return Json{{"format", "treeline-results"}, {"version", 1}, {"rows", listing.rows.size()}, {"columns", columns}}.dump(1) +
           "\n";
}

std::string as_csv(const Listing& listing) {
    std::string text = text::csv_line(listing.columns);
    for (const Row& row : listing.rows) {
        std::vector<std::string> cells;
        for (const Cell& cell : row) {
            cells.push_back(cell_text(cell));
        }
        text += text::csv_line(cells);
    }
    return text;
}

std::string as_table(const Listing& listing) {
    std::vector<text::Column> titles;
    for (std::size_t i = 0; i < listing.columns.size(); ++i) {
        const bool is_text = std::any_of(listing.rows.begin(), listing.rows.end(),
                                         [&](const Row& row) { return std::holds_alternative<std::string>(row[i]); });
        titles.push_back({listing.columns[i], is_text ? text::Align::left : text::Align::right});
    }
    text::TextTable table(titles);
    for (const Row& row : listing.rows) {
        std::vector<std::string> cells;
        for (const Cell& cell : row) {
            const auto* number = std::get_if<double>(&cell);
            cells.push_back(number != nullptr ? text::short_text(*number) : cell_text(cell));
        }
        table.add(std::move(cells));
    }
    return table.text();
}

std::string printed(const Listing& listing, const std::string& format) {
    return format == "json" ? as_json(listing) : format == "csv" ? as_csv(listing) : as_table(listing);
}

std::string part_text(const sweeps::SweepPart& part) {
    return part.count > 1 ? fmt::format("part {} of {}", part.index + 1, part.count) : "";
}

std::string state_text(const StoredRun& run) {
    if (run.finished) {
        return "finished";
    }
    const auto [first, last] = sweeps::tasks_of(run.question.part, run.tasks);
    const double share =
        last > first ? 100.0 * static_cast<double>(run.state.next_task - first) / static_cast<double>(last - first) : 0.0;
    return fmt::format("{:.0f} % done", share);
}

std::string asked_text(const Question& question) {
    return is_recommendation(question) ? "a recommendation"
           : question.flags == "{}"    ? "the best points and the Pareto set"
                                       : question.flags;
}

Listing list_of(Store& store) {
    Listing listing{{"run", "question", "what was asked", "part", "state", "points", "saved (UTC)", "program", "catalogue"},
                    {}};
    for (const StoredRun& run : store.runs()) {
        const Question& question = run.question;
        listing.rows.push_back({run.id, question.title.empty() ? question.whole_key().substr(0, 8) : question.title,
                                asked_text(question), part_text(question.part), state_text(run), run.points, run.saved,
                                question.program, question.catalogue.substr(0, 8)});
    }
    return listing;
}

Listing rows_of(Store& store, std::int64_t id) {
    Listing listing;
    listing.columns = store.rows(id, listing.rows);
    return listing;
}

/// The columns that tell configurations apart, and what they reach.
Listing shown(const Listing& all) {
    const std::vector<std::string> wanted = {"list",
                                             "place",
                                             "device",
                                             "tensor_parallel",
                                             "stack",
                                             "drafter",
                                             "shape",
                                             "batch",
                                             "context",
                                             "speedup",
                                             "tpot_ms",
                                             "tokens_per_s_user",
                                             "tokens_per_s_device",
                                             "memory_gb"};
    Listing listing;
    listing.rows.resize(all.rows.size());
    for (const std::string& name : wanted) {
        const auto found = std::find(all.columns.begin(), all.columns.end(), name);
        if (found == all.columns.end()) {
            continue;
        }
        listing.columns.push_back(name);
        for (std::size_t i = 0; i < all.rows.size(); ++i) {
            listing.rows[i].push_back(all.rows[i][static_cast<std::size_t>(found - all.columns.begin())]);
        }
    }
    return listing;
}

std::string show(Store& store, std::int64_t id, const std::string& format) {
    const StoredRun run = store.run(id);
    if (format == "json" && run.finished) {
        return run.summary;
    }
    const Listing rows = rows_of(store, id);
    if (format != "table") {
        return printed(rows, format);
    }
    text::FactList facts;
    facts.add("Run", std::to_string(run.id) + (run.question.title.empty() ? "" : ": " + run.question.title));
    facts.add("Asked", asked_text(run.question));
    facts.add("State", state_text(run) + (run.question.part.count > 1 ? ", " + part_text(run.question.part) : ""));
    facts.add("Points", text::grouped_text(run.points));
    facts.add("Begun, last saved", run.started + ", " + run.saved + " UTC");
    facts.add("Program, catalogue", run.question.program + ", " + run.question.catalogue);
    return facts.text() + (rows.rows.empty() ? "" : "\n" + as_table(shown(rows)));
}

std::int64_t number_of(const std::string& text) {
    const auto number = text::parse_number<std::int64_t>(text);
    if (!number) {
        throw text::InputError(
            {fmt::format("results: \"{}\" is not the number of a run; `treeline results list` shows them", text)});
    }
    return *number;
}

/// The same question, asked of today's catalogue and program, and kept as a run of its own where its figures are others.
std::int64_t asked_again(Store& store, std::int64_t id, const requests::Catalogue& catalogue) {
    const Question question = store.run(id).question;
    return is_recommendation(question) ? answer_from(store, recommend_request(question, catalogue), 0).run
                                       : answer_from(store, sweep_request(question, catalogue), sweeps::run_sweep).run;
}

std::string lines_of(const std::vector<std::string>& sentences) {
    std::string text;
    for (const std::string& sentence : sentences) {
        text += sentence + "\n";
    }
    return text;
}

void check(const ResultsRequest& request) {
    std::vector<std::string> verbs;
    for (const ResultsVerb& verb : results_verbs()) {
        verbs.push_back(verb.name);
    }
    if (std::find(verbs.begin(), verbs.end(), request.verb) == verbs.end()) {
        const std::string hint = text::did_you_mean(request.verb, verbs);
        throw text::InputError({fmt::format("results: there is no command \"{}\"{}", request.verb,
                                            hint.empty() ? "; it has " + text::listed(verbs, "and") : hint)});
    }
    const std::size_t least = request.verb == "list" ? 0 : 1;
    const std::size_t most = request.verb == "merge" ? 1'000'000 : request.verb == "diff" ? 2 : least;
    const std::size_t count = request.arguments.size();
    if (count < least || count > most) {
        const auto verb = std::find_if(results_verbs().begin(), results_verbs().end(),
                                       [&](const ResultsVerb& v) { return v.name == request.verb; });
        throw text::InputError(
            {fmt::format("results {}: needs {}", request.verb, verb->arguments.empty() ? "no argument" : verb->arguments)});
    }
    if (request.format != "table" && request.format != "csv" && request.format != "json") {
        throw text::InputError({fmt::format("--format: must be table, json or csv, not \"{}\"", request.format)});
    }
}

}  // namespace

const std::vector<ResultsVerb>& results_verbs() {
    static const std::vector<ResultsVerb> verbs = {
        {"list", "list what a store holds", ""},
        {"show", "show what a run found", "the number of a run"},
        {"query", "run an SQL statement over the tables `runs` and `rows`", "one SQL statement"},
        {"diff", "say what differs between two runs, or between a run and the same question asked today",
         "the numbers of one run or two"},
        {"export", "write every column of a run's lists", "the number of a run"},
        {"merge", "copy the runs of other stores, and join parts of sweeps", "files to copy from"},
    };
    return verbs;
}

std::string results_text(const ResultsRequest& request, const requests::Catalogue& catalogue) {
    const std::string& verb = request.verb;
    const std::vector<std::string>& arguments = request.arguments;
    check(request);
    Store store(request.store, verb == "merge" || (verb == "diff" && arguments.size() == 1) ? Access::write : Access::read);
    if (verb == "list") {
        return printed(list_of(store), request.format);
    }
    if (verb == "query") {
        Listing listing;
        listing.columns = store.query(arguments[0], listing.rows);
        return printed(listing, request.format);
    }
    if (verb == "merge") {
        return lines_of(merge_stores(store, arguments, catalogue));
    }
    const std::int64_t id = number_of(arguments[0]);
    if (verb == "show") {
        return show(store, id, request.format);
    }
    if (verb == "export") {
        static_cast<void>(store.run(id));
        return printed(rows_of(store, id), request.format == "table" ? "csv" : request.format);
    }
    const std::int64_t other = arguments.size() == 2 ? number_of(arguments[1]) : asked_again(store, id, catalogue);
    if (arguments.size() == 1 && other == id) {
        return fmt::format("Nothing has changed since run {}: this program and catalogue give the same figures.\n", id);
    }
    return difference_text(store, id, other);
}

}  // namespace treeline::store
