#include "validation/validate.h"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "validation/predict.h"

namespace treeline::validation {
namespace {

/// A row and where it stands.
struct Place {
    std::size_t paper = 0, table = 0, row = 0;
    const ExperimentRow* data = nullptr;
    bool may_fit = false;
};

using PlacesByPlatform = std::map<std::string, std::vector<Place>>;

std::string place_text(const Experiments& paper, const ExperimentTable& table, const ExperimentRow& row) {
    return fmt::format("{}: {}, {}", paper.file, table.id, row.name);
}

class Run {
public:
    Run(Validation& result, const std::vector<ExperimentPlatform>& platforms) : result_(result), platforms_(platforms) {}

    void gather();
    void fit_and_predict();

private:
    void sort_in(std::size_t paper, std::size_t table, std::size_t row);
    void fit_and_predict(const ExperimentPlatform& platform, const std::vector<Place>& places);
    void note_memory(const Place& place, const sim::Platform& fitted);
    [[nodiscard]] const ExperimentPlatform* platform_named(const std::string& name) const;

    Validation& result_;
    const std::vector<ExperimentPlatform>& platforms_;
    PlacesByPlatform places_;
    std::map<std::string, std::size_t> rows_of_platform_;             ///< of the file that declares it, left-out ones included
    std::map<std::string, std::vector<FittedNumber>> known_numbers_;  ///< fitted and inherited, by platform
};

const ExperimentPlatform* Run::platform_named(const std::string& name) const {
    const auto found = std::find_if(platforms_.begin(), platforms_.end(), [&](const auto& p) { return p.name == name; });
    return found == platforms_.end() ? nullptr : &*found;
}

void Run::sort_in(std::size_t paper, std::size_t table, std::size_t row) {
    const Experiments& source = result_.papers[paper];
    const ExperimentTable& in = source.tables[table];
    const ExperimentRow& data = in.rows[row];
    const ExperimentPlatform* platform = platform_named(data.platform);
    if (platform != nullptr && platform->file == source.file) {
        ++rows_of_platform_[data.platform];
    }
    if (!data.not_reproduced.empty()) {
        result_.left_out.push_back({paper, table, row, data.not_reproduced});
        return;
    }
    if (platform == nullptr) {
        result_.problems.push_back(
            fmt::format("{}: unknown platform '{}'; it is left out", place_text(source, in, data), data.platform));
        return;
    }
    if (std::string problem = prediction_problem(data, platform->platform); !problem.empty()) {
        result_.problems.push_back(fmt::format("{}: {}; it is left out", place_text(source, in, data), problem));
        return;
    }
    places_[data.platform].push_back({paper, table, row, &data, platform->file == source.file});
}

void Run::gather() {
    for (std::size_t paper = 0; paper < result_.papers.size(); ++paper) {
        const auto& tables = result_.papers[paper].tables;
        for (std::size_t table = 0; table < tables.size(); ++table) {
            for (std::size_t row = 0; row < tables[table].rows.size(); ++row) {
                sort_in(paper, table, row);
            }
        }
    }
}

void Run::fit_and_predict(const ExperimentPlatform& platform, const std::vector<Place>& places) {
    std::vector<const ExperimentRow*> fit_rows;
    for (const Place& place : places) {
        if (place.may_fit && place.data->role == Role::fit && has_number(*place.data)) {
            fit_rows.push_back(place.data);
        }
    }
    if (const std::string problem = fit_problem(platform, fit_rows.size(), rows_of_platform_[platform.name]);
        !problem.empty()) {
        result_.problems.push_back(fmt::format("{}: {}; its {} rows are left out", platform.file, problem, places.size()));
        return;
    }
    std::vector<FittedNumber>& numbers = known_numbers_[platform.name];
    numbers = known_numbers_[platform.inherits];
    ExperimentPlatform informed = platform;
    for (const FittedNumber& inherited : numbers) {
        set_value(inherited.parameter, inherited.value, informed.platform);
    }
    const std::size_t fit = result_.fits.size();
    result_.fits.push_back(fit_platform(informed, fit_rows));
    result_.fits.back().inherited = numbers;
    numbers.insert(numbers.end(), result_.fits.back().parameters.begin(), result_.fits.back().parameters.end());
    const sim::Platform& fitted = result_.fits.back().fitted;
    for (const Place& place : places) {
        note_memory(place, fitted);
        if (has_number(*place.data)) {
            const Role role = place.may_fit ? place.data->role : Role::test;
            result_.rows.push_back(
                {place.paper, place.table, place.row, role, fit, {place.data->measured, predicted(*place.data, fitted)}});
        }
    }
}

void Run::note_memory(const Place& place, const sim::Platform& fitted) {
    const ExperimentRow& row = *place.data;
    if (row.observable == Observable::memory && !row.relative_to && !row.point->fpga) {
        const bool fits = sim::evaluate(compiled_round(*row.point, fitted), design_point(*row.point)).fits;
        result_.memory_cells.push_back({place.paper, place.table, place.row, !row.out_of_memory, fits});
    }
}

void Run::fit_and_predict() {
    for (const ExperimentPlatform& platform : platforms_) {
        if (const auto found = places_.find(platform.name); found != places_.end()) {
            fit_and_predict(platform, found->second);
        }
    }
    std::sort(result_.rows.begin(), result_.rows.end(), [](const PredictedRow& a, const PredictedRow& b) {
        return std::tie(a.paper, a.table, a.row) < std::tie(b.paper, b.table, b.row);
    });
}

bool larger_is_better(Observable observable) {
    return observable == Observable::speed || observable == Observable::throughput_multiplier ||
           observable == Observable::net_saving || observable == Observable::decoding_saved;
}

void compare_choices(Validation& result) {
    struct Group {
        std::vector<Choice> choices;
        Observable observable = Observable::speed;
    };
    std::map<std::tuple<std::size_t, std::size_t, std::string>, Group> groups;
    for (const PredictedRow& row : result.rows) {
        const ExperimentRow& data = result.row(row);
        if (!data.choice_of.empty() && result.papers[row.paper].tables[row.table].measured) {
            Group& group = groups[{row.paper, row.table, data.choice_of}];
            group.choices.push_back({data.name, row.error.measured, row.error.predicted});
            group.observable = data.observable;
        }
    }
    std::size_t right = 0;
    for (const auto& [key, group] : groups) {
        if (group.choices.size() > 1) {
            const auto& [paper, table, name] = key;
            result.choices.push_back(
                {paper, table, name, group.choices.size(), outcome_of(group.choices, larger_is_better(group.observable))});
            right += result.choices.back().outcome.right ? 1 : 0;
            result.regret += result.choices.back().outcome.regret;
        }
    }
    if (!result.choices.empty()) {
        result.choices_right = static_cast<double>(right) / static_cast<double>(result.choices.size());
        result.regret /= static_cast<double>(result.choices.size());
    }
}

template <class Belongs>
std::vector<RowError> test_errors(const Validation& result, Belongs belongs) {
    std::vector<RowError> errors;
    for (const PredictedRow& row : result.rows) {
        if (row.role == Role::test && belongs(row)) {
            errors.push_back(row.error);
        }
    }
    return errors;
}

/// Rows of a table in any list of rows.
template <class Rows>
std::size_t count_in(const Rows& rows, std::size_t paper, std::size_t table, auto accept) {
    return static_cast<std::size_t>(std::count_if(
        rows.begin(), rows.end(), [&](const auto& row) { return row.paper == paper && row.table == table && accept(row); }));
}

TableScore score_table(const Validation& result, std::size_t paper, std::size_t table) {
    TableScore score{paper, table, {}, 0, 0, 0, 0};
    const auto in_table = [&](const auto& row) { return row.paper == paper && row.table == table; };
    const auto any = [](const auto&) { return true; };
    score.test = summary_of(test_errors(result, in_table));
    score.fit_rows = count_in(result.rows, paper, table, [](const PredictedRow& row) { return row.role == Role::fit; });
    score.left_out = count_in(result.left_out, paper, table, any);
    score.choices = count_in(result.choices, paper, table, any);
    score.right_choices = count_in(result.choices, paper, table, [](const ComparedChoices& c) { return c.outcome.right; });
    return score;
}

void summarise(Validation& result) {
    const auto measured = [&](const PredictedRow& row) { return result.papers[row.paper].tables[row.table].measured; };
    result.measured = summary_of(test_errors(result, measured));
    result.not_measured = summary_of(test_errors(result, std::not_fn(measured)));
    result.memory = summary_of(
        test_errors(result, [&](const PredictedRow& row) { return result.row(row).observable == Observable::memory; }));
}

void score(Validation& result, const std::vector<ExperimentPlatform>& platforms) {
    for (std::size_t paper = 0; paper < result.papers.size(); ++paper) {
        PaperScore sum{paper, summary_of(test_errors(result, [&](const auto& row) { return row.paper == paper; })), 0, 0, 0};
        for (std::size_t table = 0; table < result.papers[paper].tables.size(); ++table) {
            result.tables.push_back(score_table(result, paper, table));
            sum.fit_rows += result.tables.back().fit_rows;
            sum.left_out += result.tables.back().left_out;
        }
        for (const PlatformFit& fit : result.fits) {
            const auto declared = [&](const ExperimentPlatform& p) {
                return p.name == fit.platform && p.file == result.papers[paper].file;
            };
            sum.fitted_numbers += std::any_of(platforms.begin(), platforms.end(), declared) ? fit.fitted_numbers() : 0;
        }
        result.scores.push_back(sum);
    }
    summarise(result);
}

}  // namespace

MemoryCount Validation::memory_count(bool measured_fits) const {
    MemoryCount count;
    for (const MemoryCell& cell : memory_cells) {
        if (cell.measured_fits == measured_fits) {
            ++count.cells;
            count.right += cell.predicted_fits == measured_fits ? 1 : 0;
        }
    }
    return count;
}

namespace {

Validation scored(std::vector<Experiments> papers, const std::vector<ExperimentPlatform>& platforms) {
    Validation result;
    result.papers = std::move(papers);
    Run run(result, platforms);
    run.gather();
    run.fit_and_predict();
    compare_choices(result);
    score(result, platforms);
    return result;
}

/// Rows of both runs are in order of paper, table and row.
void note_unfitted(const Validation& unfitted, Validation& result) {
    const auto place = [](const PredictedRow& row) { return std::tie(row.paper, row.table, row.row); };
    auto found = unfitted.rows.begin();
    for (PredictedRow& row : result.rows) {
        while (found != unfitted.rows.end() && place(*found) < place(row)) {
            ++found;
        }
        row.unfitted = found != unfitted.rows.end() && place(*found) == place(row) ? found->error.predicted : 0.0;
    }
}

}  // namespace

Validation of_papers(Validation all, const std::vector<std::size_t>& papers) {
    const auto is_other = [&](const auto& entry) {
        return std::find(papers.begin(), papers.end(), entry.paper) == papers.end();
    };
    std::erase_if(all.rows, is_other);
    std::erase_if(all.left_out, is_other);
    std::erase_if(all.choices, is_other);
    std::erase_if(all.memory_cells, is_other);
    std::erase_if(all.tables, is_other);
    std::erase_if(all.scores, is_other);
    std::erase_if(all.unfitted.papers, is_other);
    std::vector<PlatformFit> fits;
    for (std::size_t fit = 0; fit < all.fits.size(); ++fit) {
        const bool used = std::any_of(all.rows.begin(), all.rows.end(), [&](PredictedRow& row) { return row.fit == fit; });
        for (PredictedRow& row : all.rows) {
            row.fit = row.fit == fit ? fits.size() : row.fit;  // never above `fit`, so no row is moved twice
        }
        if (used) {
            fits.push_back(all.fits[fit]);
        }
    }
    all.fits = std::move(fits);
    const auto compared = static_cast<double>(std::max<std::size_t>(1, all.choices.size()));
    all.choices_right = all.regret = 0.0;
    for (const ComparedChoices& each : all.choices) {
        all.choices_right += each.outcome.right ? 1.0 / compared : 0.0;
        all.regret += each.outcome.regret / compared;
    }
    summarise(all);
    return all;
}

Validation validate(std::vector<Experiments> papers, const std::vector<ExperimentPlatform>& platforms) {
    std::vector<ExperimentPlatform> as_described = platforms;
    for (ExperimentPlatform& platform : as_described) {
        platform.free.clear();
    }
    const Validation unfitted = scored(papers, as_described);
    Validation result = scored(std::move(papers), platforms);
    note_unfitted(unfitted, result);
    result.unfitted = {unfitted.measured, unfitted.scores, unfitted.choices.size(),
                       static_cast<std::size_t>(std::count_if(unfitted.choices.begin(), unfitted.choices.end(),
                                                              [](const ComparedChoices& c) { return c.outcome.right; }))};
    return result;
}

}  // namespace treeline::validation
