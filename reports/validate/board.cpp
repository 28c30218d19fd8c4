// Predictions against measurements, row by row, for the page of `treeline validate`: what its filters choose among.
#include <array>
#include <filesystem>
#include <map>
#include <optional>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "reports/validate/serving_output.h"
#include "reports/validate/validation_output.h"
#include "sim/traits.h"
#include "text/number_text.h"

namespace treeline::reports {
namespace {

using Json = nlohmann::ordered_json;

/// Texts repeat in thousands of rows, so a row holds the place of each in the list of its column.
class Texts {
public:
    std::size_t place(const std::string& text) {
        const auto [known, is_new] = places_.emplace(text, places_.size());
        if (is_new) {
            list_.push_back(text);
        }
        return known->second;
    }
    [[nodiscard]] const Json& list() const { return list_; }

private:
    std::map<std::string, std::size_t> places_;
    Json list_ = Json::array();
};

struct BoardRow {
    std::string what, mode, kind, model, device, engine, source, fitted, row, stated_at;
    double batch = 0.0, measured = 0.0, predicted = 0.0, error = 0.0;
    std::optional<std::size_t> record;  ///< of the rows that open
};

class Board {
public:
    void add(const BoardRow& row) {
        Json cells = Json::array();
        std::size_t column = 0;
        for (const std::string* text : {&row.what, &row.mode, &row.kind, &row.model, &row.device, &row.engine, &row.source,
                                        &row.fitted, &row.row, &row.stated_at}) {
            cells.push_back(texts_[column++].place(*text));
        }
        for (const double number : {row.batch, row.measured, row.predicted, row.error}) {
            cells.push_back(std::stod(fmt::format("{:.5g}", number)));  // pages are sent around: no digits that nobody reads
        }
        cells.push_back(row.record ? Json(*row.record) : Json());
        rows_.push_back(std::move(cells));
    }
    void leave_out(const std::string& source, const std::string& row, const std::string& reason, const std::string& detail) {
        left_out_.push_back({{"source", source}, {"row", row}, {"reason", reason}, {"detail", detail}});
    }
    [[nodiscard]] Json json() const {
        Json categories;
        for (std::size_t i = 0; i < texts_.size(); ++i) {
            categories[names[i]] = texts_[i].list();
        }
        Json columns = names;
        for (const char* number : {"batch", "measured", "predicted", "percent", "record"}) {
            columns.push_back(number);
        }
        return {{"columns", columns}, {"categories", categories}, {"rows", rows_}, {"left_out", left_out_}};
    }

private:
    static constexpr std::array names = {"what",   "mode",   "kind",   "model", "device",
                                         "engine", "source", "fitted", "row",   "stated_at"};
    std::array<Texts, names.size()> texts_;
    Json rows_ = Json::array(), left_out_ = Json::array();
};

std::string source_of(const std::string& citation, const std::string& file) {
    return citation.empty() ? std::filesystem::path(file).stem().string() : citation;
}

/// Laws of steps without speculation are fitted to such runs; docs/trust.md scores them by whole families left out.
const char* fitted_text(const validation::MeasuredPoint& point, bool times) {
    return times        ? "laws of such runs are fitted"
           : point.seen ? "numbers fitted to its source"
                        : "nothing fitted to its source";
}

void add_study(Board& board, const validation::ServingStudy& study) {
    for (const validation::ErrorTable* table : tables_of(study)) {
        const bool times = table->id == "time-per-token";
        const double unit = times ? text::to_ms : 1.0;
        for (const validation::ScoredPoint& row : table->rows) {
            const validation::MeasuredPoint& point = point_of(study, *table, row);
            const NamedRow name = named_row(study, *table, row);
            const auto group = [&](validation::Grouping grouping) { return group_of(point, study.input.parts, grouping); };
            board.add({table->what + (times ? " (ms)" : " (times)"),
                       std::string(name_of(study.input.mode)),
                       group(validation::Grouping::kind),
                       point.model,
                       point.device,
                       group(validation::Grouping::engine),
                       source_of(point.citation, name.file),
                       fitted_text(point, times),
                       name.id,
                       times ? fmt::format("{}, row {}", std::filesystem::path(name.file).filename().string(), name.number)
                             : study.input.speculation[point.row].source,
                       point.batch,
                       unit * row.error.measured,
                       unit * row.error.predicted,
                       100.0 * row.error.relative(),
                       {}});
        }
    }
}

/// The same in every mode, so one study says it.
void add_left_out(Board& board, const validation::ServingStudy& study) {
    for (const validation::LeftOutPoint& left : study.serving.left_out) {
        const validation::ServingRun& row = study.input.serving[left.row];
        board.leave_out(source_of("", row.place.file), row.id, left.reason, left.detail);
    }
    for (const auto* all : {&study.speculation.left_out, &study.not_scored}) {
        for (const validation::LeftOutPoint& left : *all) {
            const validation::SpeculationRow& row = study.input.speculation[left.row];
            board.leave_out(source_of(row.citation, row.place.file), row.id, left.reason, left.detail);
        }
    }
}

void add_papers(Board& board, const validation::Validation& validation) {
    const Json rows = validation_json(validation).at("rows");
    for (std::size_t i = 0; i < validation.rows.size(); ++i) {
        const validation::PredictedRow& row = validation.rows[i];
        const validation::Experiments& paper = validation.papers[row.paper];
        if (!paper.tables[row.table].measured) {
            continue;
        }
        const validation::ExperimentPoint& point = *validation.row(row).point;
        board.add({fmt::format("published results ({})", rows[i].at("unit").get<std::string>()), "of each paper",
                   sim::kind_of_model(point.setup.target), point.setup.target.name, rows[i].at("platform").get<std::string>(),
                   point.fpga ? "accelerator" : sim::engine_of_stack(point.setup.platform.stack.name), paper.paper,
                   row.role == validation::Role::fit ? "this row was fitted" : "this row was not fitted",
                   validation.row(row).name, rows[i].at("source").get<std::string>(), rows[i].at("batch").get<double>(),
                   rows[i].at("measured").get<double>(), rows[i].at("predicted").get<double>(), 100.0 * row.error.relative(),
                   i});
    }
    for (const validation::LeftOutRow& left : validation.left_out) {
        board.leave_out(validation.papers[left.paper].paper, validation.row(left).name, left.reason,
                        validation.papers[left.paper].tables[left.table].id);
    }
}

}  // namespace

Json board_json(const validation::Validation* papers, const std::vector<validation::ServingStudy>& studies) {
    Board board;
    for (auto study = studies.rbegin(); study != studies.rend(); ++study) {  // the mode that was asked for last comes first
        add_study(board, *study);
    }
    if (!studies.empty()) {
        add_left_out(board, studies.front());
    }
    if (papers != nullptr) {
        add_papers(board, *papers);
    }
    return board.json();
}

}  // namespace treeline::reports
