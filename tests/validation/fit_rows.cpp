#include "fit_rows.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "requests/point_file.h"
#include "requests/validate/measured_rows_reader.h"
#include "requests/validate/serving_parts.h"
#include "shared_measurements.h"
#include "source_folder.h"
#include "sweeps/estimate.h"
#include "text/csv.h"
#include "text/input_error.h"
#include "text/input_file.h"
#include "text/parse_number.h"
#include "validation/serving/families.h"
#include "validation/serving/predict.h"

namespace treeline::testing {
namespace {

using validation::MeasuredPoint;
using validation::ServingParts;
using validation::SpeculativePoint;
using Labels = std::map<std::string, std::string>;

/// Words of the row itself, before anything is looked up.
Labels stated_by(const validation::ServingRun& row) {
    return {{"stated engine", row.engine},
            {"stated device", row.device},
            {"stated model", row.model},
            {"stated format", row.format},
            {"stated ranks", fmt::format("{}", row.ranks.tensor.value_or(1.0))}};
}

Labels stated_by(const validation::SpeculationRow& row) {
    return {{"series", row.series},
            {"series but for its end", row.series.substr(0, row.series.rfind('/'))},
            {"stated version", row.engine_version},
            {"stated model", row.model},
            {"stated drafter", row.drafter},
            {"data set", row.dataset},
            {"metric", row.metric}};
}

/// `counts_as` has the last word.
Labels labels_of(const MeasuredPoint& point, Labels labels, const ServingParts& parts, const FitRows& rows) {
    for (const auto& [grouping, name] : names_in(validation::Grouping{})) {
        labels.emplace(name, validation::group_of(point, parts, grouping));
    }
    const auto number = [&](const char* label, double value) { labels[label] = fmt::format("{}", value); };
    number("requests", point.batch);
    number("prompt tokens", point.prompt_tokens);
    number("answer tokens", point.output_tokens);
    number("context tokens", point.context);
    number("shared prompt tokens", point.shared_prefix);
    number("share of experts", point.expert_pool);
    number("ranks that share a cache", point.cut.parallel.context);
    labels["stack"] = point.stack;
    labels["math"] = name_of(point.precision.math);
    labels["ranks cut"] = sim::text_of(point.cut.tensor, point.cut.parallel);
    labels["prompt"] = fmt::format("{} {}", point.prompt_tokens, point.output_tokens);
    labels["interconnect"] = point.interconnect;
    labels["attention kernels"] = point.attention_kernels;
    labels["expert kernels"] = point.expert_kernels;
    for (const auto& [label, values] : rows.counts_as) {
        const auto value = values.find(labels.at(label));
        labels[label] = value == values.end() ? labels.at(label) : value->second;
    }
    return labels;
}

/// All of a case but what was measured, and how it is predicted.
FitCase case_of(const MeasuredPoint& point, Labels labels, const ServingParts& parts, sim::CostMode mode) {
    FitCase at;
    at.setup = setup_of(point, parts, mode);
    at.labels = std::move(labels);
    at.labels["mode"] = name_of(mode);
    at.owners = {"stacks/" + at.labels.at("stack"),
                 "gpu/" + point.device,
                 "models/" + point.model,
                 "attention_kernels/" + point.attention_kernels,
                 "expert_kernels/" + point.expert_kernels,
                 "traffic"};
    return at;
}

/// Time per token without speculation.
FitCase step_case(FitCase at, const MeasuredPoint& point, double measured) {
    at.measured = measured;
    at.predicted = [setup = at.setup, where = sim::DesignPoint{0, point.batch, point.context}](const Change& change) {
        sim::RoundSetup changed = setup;
        change(changed);
        return sim::evaluate(sim::compile_round(changed), where).time_per_token.value();
    };
    return at;
}

SpeculativePoint changed(SpeculativePoint point, const Change& change) {
    point.change(change);
    return point;
}

/// The speed-up with the accept length that the row states.
FitCase given_case(FitCase at, const MeasuredPoint& point, const ServingParts& parts, sim::CostMode mode) {
    at.labels["accept length"] = "given";
    at.measured = point.measured;
    at.predicted = [priced = SpeculativePoint(point, parts, mode), length = *point.accept_length](const Change& change) {
        return changed(priced, change).speed_up(length);
    };
    return at;
}

/// The speed-up with the accept length by which that of the smallest batch is met.
FitCase smallest_case(FitCase at, const MeasuredPoint& point, const MeasuredPoint& smallest, const ServingParts& parts,
                      sim::CostMode mode) {
    at.labels["accept length"] = "of the smallest batch";
    at.measured = point.measured;
    at.predicted = [priced = SpeculativePoint(point, parts, mode), first = SpeculativePoint(smallest, parts, mode),
                    of_first = smallest.measured](const Change& change) {
        return changed(priced, change).speed_up(changed(first, change).accept_length_for(of_first));
    };
    return at;
}

/// Lengths have no measured value: they are compared with each other.
FitCase length_case(FitCase at, const MeasuredPoint& point, const ServingParts& parts, sim::CostMode mode) {
    at.measured = 1.0;
    at.predicted = [priced = SpeculativePoint(point, parts, mode), measured = point.measured](const Change& change) {
        return changed(priced, change).accept_length_for(measured);
    };
    return at;
}

ServingParts parts_of_catalogue() {
    std::vector<std::string> notes;
    return requests::read_serving_parts(requests::catalogue_in(source_folder(), "this checkout"), {}, notes);
}

std::vector<FitCase> cases_of_runs(const std::filesystem::path& file, const FitRows& rows) {
    std::vector<std::string> notes;
    const ServingParts parts = parts_of_catalogue();
    const std::vector<validation::ServingRun> runs = requests::read_serving_rows(file, notes);
    const std::vector<MeasuredPoint> points = points_of(runs, parts).points;
    std::vector<FitCase> cases;
    for (const sim::CostMode mode : rows.modes) {
        for (const MeasuredPoint& point : points) {
            const Labels labels = labels_of(point, stated_by(runs[point.row]), parts, rows);
            cases.push_back(step_case(case_of(point, labels, parts, mode), point, point.measured));
        }
    }
    return cases;
}

bool is_cited(const std::string& citation, const FitRows& rows) {
    return validation::fits_any(rows.citations, validation::normalised(citation));
}

/// Points of the fit's citations. Those that the ledger does not know would count as unseen.
std::vector<MeasuredPoint> cited_points(const std::vector<validation::SpeculationRow>& pairs, const ServingParts& parts,
                                        const FitRows& rows) {
    std::vector<MeasuredPoint> points = points_of(pairs, parts).points;
    std::erase_if(points, [&](const MeasuredPoint& point) { return !is_cited(point.citation, rows); });
    for (const MeasuredPoint& point : points) {
        if (!point.seen) {
            throw text::InputError(
                {fmt::format("validation/serving/evidence.json does not list {}, which a fit reads", point.citation)});
        }
    }
    return points;
}

/// The smallest batch of each series.
std::map<std::string, const MeasuredPoint*> smallest_of(const std::vector<MeasuredPoint>& points,
                                                        const std::vector<validation::SpeculationRow>& pairs) {
    std::map<std::string, const MeasuredPoint*> smallest;
    for (const MeasuredPoint& point : points) {
        const MeasuredPoint*& of_series = smallest[pairs[point.row].series];
        of_series = of_series != nullptr && of_series->batch < point.batch ? of_series : &point;
    }
    return smallest;
}

void add_pair(const FitRows& rows, const FitCase& at, const MeasuredPoint& point, const MeasuredPoint& smallest,
              const ServingParts& parts, sim::CostMode mode, std::vector<FitCase>& cases) {
    if (rows.quantity == FitQuantity::step) {
        if (point.plain_step > 0.0) {
            cases.push_back(step_case(at, point, point.plain_step));
        }
        return;
    }
    if (rows.quantity == FitQuantity::accept_length) {
        cases.push_back(length_case(at, point, parts, mode));
        return;
    }
    if (point.accept_length) {
        cases.push_back(given_case(at, point, parts, mode));
    }
    const bool both = rows.quantity == FitQuantity::both_lengths;
    if ((both || !point.accept_length) && point.batch > smallest.batch) {
        cases.push_back(smallest_case(at, point, smallest, parts, mode));
    }
}

std::vector<FitCase> cases_of_pairs(const std::filesystem::path& file, const FitRows& rows) {
    std::vector<std::string> notes;
    const ServingParts parts = parts_of_catalogue();
    const std::vector<validation::SpeculationRow> pairs = requests::read_speculation_rows(file, notes);
    const std::vector<MeasuredPoint> points = cited_points(pairs, parts, rows);
    const auto smallest = smallest_of(points, pairs);
    std::vector<FitCase> cases;
    for (const sim::CostMode mode : rows.modes) {
        for (const MeasuredPoint& point : points) {
            const validation::SpeculationRow& pair = pairs[point.row];
            const FitCase at = case_of(point, labels_of(point, stated_by(pair), parts, rows), parts, mode);
            add_pair(rows, at, point, *smallest.at(pair.series), parts, mode, cases);
        }
    }
    return cases;
}

/// 1 where a table has no such column.
int count_in(const text::CsvReader& csv, std::string_view column) {
    return csv.column(column) ? static_cast<int>(text::parse_number(csv[column]).value()) : 1;
}

FitCase case_of_step(text::CsvReader& csv, const requests::Catalogue& catalogue) {
    const double context = text::parse_number(csv["context"]).value();
    const int requests = count_in(csv, "requests"), ranks = count_in(csv, "ranks");
    const std::string stack(csv["stack"]), device(csv["device"]), model(csv["model"]);
    const nlohmann::json input = {{"target", {{"model", model}, {"precision", std::string(csv["precision"])}}},
                                  {"platform", {{"device", device}, {"stack", stack}, {"tensor_parallel", ranks}}},
                                  {"batch", requests},
                                  {"context", context}};
    const sweeps::PointInput point = requests::read_point_text(input.dump(), "row", source_folder(), catalogue).input;
    FitCase at;
    at.setup = setup_of(point, policies_to_try(point).front());
    at.measured = 1.0 / text::parse_number(csv["tokens_per_s"]).value();
    at.predicted = [setup = at.setup, requests, context](const Change& change) {
        sim::RoundSetup changed = setup;
        change(changed);
        return sim::evaluate(sim::compile_round(changed), {0, static_cast<double>(requests), context}).time_per_token.value();
    };
    at.owners = {"stacks/" + stack, "gpu/" + device, "models/" + model};
    const std::string chose(csv["chose"]);
    at.labels = {{"source", std::string(csv["source"])},
                 {"device", device},
                 {"model", model},
                 {"stack", stack},
                 {"requests", fmt::format("{}", requests)},
                 {"ranks", fmt::format("{}", ranks)},
                 {"precision", std::string(csv["precision"])},
                 {"mode", std::string(name_of(at.setup.platform.mode))},
                 {"chose", chose.empty() ? "nothing" : chose}};
    return at;
}

std::vector<FitCase> cases_of_steps(const std::filesystem::path& file, const FitRows& rows) {
    const requests::Catalogue catalogue = requests::catalogue_in(source_folder(), "fit");
    const std::string text = text::read_file(file);
    text::CsvReader csv(text);
    std::vector<FitCase> cases;
    while (csv.next()) {
        FitCase at = case_of_step(csv, catalogue);
        if (holds(rows.fitted, at.labels) && !is_cited(at.labels.at("source"), rows)) {
            throw text::InputError({fmt::format("{} is fitted to, but no citation of the fit", at.labels.at("source"))});
        }
        cases.push_back(std::move(at));
    }
    return cases;
}

std::vector<FitCase> read_cases(const std::filesystem::path& file, const FitRows& rows) {
    return rows.kind == FitSource::runs    ? cases_of_runs(file, rows)
           : rows.kind == FitSource::pairs ? cases_of_pairs(file, rows)
                                           : cases_of_steps(file, rows);
}

}  // namespace

std::optional<std::vector<FitCase>> cases_of(const FitFile& fit) {
    constexpr std::string_view shared = "../shared/";
    const std::string& name = fit.rows.file;
    const auto file = name.starts_with(shared) ? shared_measurements(name.substr(shared.size())) : source_folder() / name;
    return file ? std::optional(counted_cases(fit, read_cases(*file, fit.rows))) : std::nullopt;
}

}  // namespace treeline::testing
