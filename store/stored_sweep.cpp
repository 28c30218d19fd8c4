#include "store/stored_sweep.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "json/parse.h"
#include "reports/sweep/sweep_output.h"
#include "reports/sweep/sweep_page.h"
#include "reports/sweep/sweep_summary.h"
#include "requests/file_kind.h"
#include "requests/load_matrix.h"
#include "requests/sweep/sweep_columns_reader.h"
#include "requests/sweep/sweep_reader.h"
#include "store/fingerprint.h"
#include "text/input_error.h"

namespace treeline::store {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

/// Flags that change what a sweep answers; the others say where the answer goes.
constexpr std::array answer_flags = {"top", "by", "pareto", "group_by", "where", "quantiles"};

SweepRequest request_of(json::Document document, const std::string& text, const fs::path& folder,
                        const requests::FlagTexts& texts, bool ignore_memory, const requests::Catalogue& catalogue) {
    requests::Descriptions descriptions(catalogue, folder);
    SweepRequest request{requests::read_sweep(document, descriptions), requests::sweep_options(texts, ignore_memory), {}};
    requests::check_columns(request.options, request.input);
    requests::check_groups(request.options, request.input);
    requests::check_size(texts, request.options, request.input.space);
    Json flags = Json::object();
    for (const char* flag : answer_flags) {
        if (!requests::given(texts, flag).empty()) {
            flags[flag] = requests::given(texts, flag);
        }
    }
    if (ignore_memory) {
        flags["ignore_memory"] = true;
    }
    if (!requests::given(texts, "report").empty()) {
        flags["report"] = "page";
        reports::add_page_groups(request.input.space, request.options);
    }
    request.question = {request.input.title,       text, folder.string(),     flags.dump(), TREELINE_VERSION,
                        catalogue_hash(catalogue), "",   request.options.part};
    return request;
}

std::vector<std::string> cell_names() {
    std::vector<std::string> names = reports::sweep_titles();
    names.back() = "fits";
    return names;
}

Row cells_of(const sweeps::SweepInput& input, const sweeps::SweepPoint& point) {
    Row cells;
    for (const std::string& label : reports::sweep_labels(input.space.variants[point.variant])) {
        cells.emplace_back(label);
    }
    for (const std::string& label : reports::sweep_labels(sweeps::speculation_of(input, point))) {
        cells.emplace_back(label);
    }
    for (const sweeps::SweepColumn& column : sweeps::sweep_columns) {
        const double value = column.value(point.figures(input.space));
        cells.push_back(std::isfinite(value) ? Cell(value) : Cell());
    }
    cells.emplace_back(std::int64_t{point.estimate.fits});
    return cells;
}

std::vector<StoredRow> rows_of(const SweepRequest& request, const sweeps::SweepSummary& summary) {
    std::vector<StoredRow> rows;
    const auto add = [&](const std::string& list, const sweeps::SweepPoint& point) {
        const bool goes_on = !rows.empty() && rows.back().list == list;
        rows.push_back({list, goes_on ? rows.back().place + 1 : 1, cells_of(request.input, point)});
    };
    for (const sweeps::SweepPoint& point : summary.best) {
        add("best", point);
    }
    for (std::size_t i = 0; i < summary.groups.size(); ++i) {
        if (request.options.groups[i].for_page) {
            continue;
        }
        std::string list = "best of each";
        for (const std::string& axis : request.options.groups[i].axes) {
            list += (list.back() == 'h' ? " " : ",") + axis;
        }
        for (const sweeps::GroupList::Entry& entry : summary.groups[i].entries) {
            add(list, entry.point);
        }
    }
    for (const sweeps::SweepPoint& point : summary.pareto) {
        add("pareto", point);
    }
    return rows;
}

/// Adds what a run has found so far. The share of a small space may hold no points, and then nothing was found.
void merge_stored(sweeps::ReductionState& state, const StoredRun& run) try {
    if (!run.state.kept.empty()) {
        state.merge(run.state.kept);
    }
} catch (const std::invalid_argument& error) {
    throw text::InputError({fmt::format("run {} of the store cannot be read: {}", run.id, error.what())});
}

void finish(Store& store, std::int64_t id, const SweepRequest& request, const sweeps::SweepState& state,
            const sweeps::SweepSummary& summary) {
    store.finish(id, state, static_cast<std::int64_t>(summary.points),
                 reports::sweep_summary_json({request.input, request.options, summary, true, true}), cell_names(),
                 rows_of(request, summary));
}

}  // namespace

SweepRequest sweep_request(const std::string& file, const requests::FlagTexts& texts, bool ignore_memory,
                           const requests::Catalogue& catalogue) {
    json::Document document = requests::load_question(file);
    requests::refuse_other_kinds(document.root().raw(), file, {requests::FileKind::sweep});
    const std::string text = document.root().raw().dump();
    const fs::path folder = fs::path(file).parent_path();
    return request_of(std::move(document), text, folder.empty() ? folder : fs::absolute(folder), texts, ignore_memory,
                      catalogue);
}

SweepRequest sweep_request(const Question& stored, const requests::Catalogue& catalogue) {
    requests::FlagTexts texts;
    bool ignore_memory = false;
    const Json flags = json::parse_foreign<Json>(stored.flags).value_or(Json::object());
    for (const auto& [name, value] : flags.items()) {
        if (value.is_string()) {
            texts[name] = value.get<std::string>();
        } else {
            ignore_memory = true;
        }
    }
    return request_of(json::Document::parse(stored.input, stored.title.empty() ? "stored sweep" : stored.title), stored.input,
                      stored.folder, texts, ignore_memory, catalogue);
}

std::string log_line(const StoredAnswer& answer, const std::string& store) {
    const char* how = answer.was_known        ? "answered from"
                      : answer.went_on_at > 0 ? "went on where an earlier run had stopped, kept in"
                                              : "kept in";
    return fmt::format("{} {} as run {}", how, store, answer.run);
}

StoredAnswer answer_from(Store& store, const SweepRequest& request, const RunSweep& run) {
    Question question = request.question;
    question.fingerprint = fingerprint_of(request.input.provenance, request.input.space);
    const sweeps::DesignSpace& space = request.input.space;
    StoredRun stored = store.claim(question, sweeps::SweepRun(space, request.options).tasks());
    const auto [first, last] = sweeps::tasks_of(question.part, stored.tasks);
    StoredAnswer answer;
    answer.run = stored.id;
    answer.was_known = stored.state.next_task == last && stored.finished;
    answer.went_on_at = stored.state.next_task > first && !answer.was_known ? stored.state.next_task : 0;
    sweeps::SweepOptions options = request.options;
    sweeps::SweepState latest = stored.state;
    if (!stored.state.kept.empty()) {
        sweeps::ReductionState state = sweeps::SweepRun(space, request.options).nothing();
        merge_stored(state, stored);
        options.resume = stored.state;
    }
    options.save = [&](const sweeps::SweepState& state) {
        latest = state;
        store.save(stored.id, state);
    };
    answer.summary = run(space, options);
    if (!answer.was_known) {
        finish(store, stored.id, request, latest, answer.summary);
    } else {
        store.release(stored.id);
    }
    return answer;
}

std::vector<std::string> merge_stores(Store& into, const std::vector<std::string>& files,
                                      const requests::Catalogue& catalogue) {
    std::vector<std::string> done;
    for (const std::string& file : files) {
        Store from(file, Access::read);
        std::size_t copied = 0;
        for (const StoredRun& run : from.runs()) {
            const auto last = sweeps::tasks_of(run.question.part, run.tasks).second;
            const StoredRun mine = into.claim(run.question, run.tasks);
            if (run.state.next_task == last && run.finished && !mine.finished) {
                std::vector<Row> rows;
                std::vector<std::string> columns = from.rows(run.id, rows);
                columns.erase(columns.begin(), columns.begin() + 2);  // list and place
                std::vector<StoredRow> lists;
                for (Row& row : rows) {
                    lists.push_back({cell_text(row[0]), whole_of(row[1]), {row.begin() + 2, row.end()}});
                }
                into.finish(mine.id, run.state, run.points, run.summary, columns, lists);
                ++copied;
            } else {
                into.release(mine.id);
            }
        }
        done.push_back(fmt::format("{}: {} finished run{} copied.", file, copied, copied == 1 ? "" : "s"));
    }
    std::map<std::string, std::vector<StoredRun>> parts;
    for (const StoredRun& run : into.runs()) {
        if (run.question.part.count > 1) {
            parts[run.question.whole_key()].push_back(run);
        }
    }
    for (const auto& [key, runs] : parts) {
        const std::uint64_t count = runs.front().question.part.count;
        const auto finished = static_cast<std::uint64_t>(std::count_if(
            runs.begin(), runs.end(), [&](const StoredRun& run) { return run.finished && run.question.part.count == count; }));
        const std::string title = runs.front().question.title.empty() ? "the sweep" : "\"" + runs.front().question.title + "\"";
        if (finished < count) {
            done.push_back(
                fmt::format("{}: {} of {} parts are finished; the others are still missing.", title, finished, count));
            continue;
        }
        SweepRequest request = sweep_request(runs.front().question, catalogue);
        Question whole = runs.front().question;
        whole.part = {};
        if (fingerprint_of(request.input.provenance, request.input.space) != whole.fingerprint) {
            throw text::InputError({title + " cannot be joined: the catalogue is not the one that its parts were priced with"});
        }
        sweeps::SweepRun sweep(request.input.space, request.options);
        sweeps::ReductionState state = sweep.nothing();
        for (const StoredRun& run : runs) {
            if (run.question.part.count == count) {
                merge_stored(state, run);
            }
        }
        const StoredRun joined = into.claim(whole, sweep.tasks());
        finish(into, joined.id, request, {sweep.tasks(), state.bytes()}, sweep.summary(state));
        done.push_back(fmt::format("{}: {} parts joined as run {}.", title, count, joined.id));
    }
    return done;
}

}  // namespace treeline::store
